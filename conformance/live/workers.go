// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// scaleWorkers adds a machine to each set of workers, and removes one.
func (s *story) scaleWorkers(ctx context.Context) error {
	for i := range s.now.deployments {
		deployment := &s.now.deployments[i]
		replicas := ptr.Deref(deployment.Spec.Replicas, 1)
		for _, count := range []int32{replicas + 1, replicas} {
			if err := s.change(ctx, deployment, func() { deployment.Spec.Replicas = ptr.To(count) }); err != nil {
				return err
			}
			if err := s.settle(ctx, func(v *view) error { return v.deploymentHas(deployment.Name, count) }); err != nil {
				return err
			}
		}
	}
	for i := range s.now.pools {
		if err := s.scalePool(ctx, s.now.pools[i]); err != nil {
			return err
		}
	}
	return nil
}

func (v *view) deploymentHas(name string, count int32) error {
	index := slices.IndexFunc(v.deployments, func(d clusterv1.MachineDeployment) bool { return d.Name == name })
	if index < 0 || ptr.Deref(v.deployments[index].Status.Replicas, 0) != count {
		return fmt.Errorf("the MachineDeployment %s does not have %d Machines", name, count)
	}
	return nil
}

// The rules about the machines of pools that this file checks.
const poolScale, poolDrain = "infrastructure-machinepool/scale", "infrastructure-machinepool/machine-deletion"

// scalePool adds a machine to a pool, and removes one.
func (s *story) scalePool(ctx context.Context, p pool) error {
	if p.infra == nil {
		return nil
	}
	record := func(rule string, problem error) {
		if p.infra.own {
			s.record(rule, p.infra.contract, p.infra.GetKind(), problem)
		}
	}
	replicas := ptr.Deref(p.Spec.Replicas, 1)
	if err := s.setReplicas(ctx, &p, replicas+1); err != nil {
		return err
	}
	if err := s.awaitReplicas(ctx, &p, replicas+1); err != nil {
		record(poolScale, err) // the rule holds only after the pool has shrunk
		return err
	}
	drained, err := s.shrink(ctx, &p, replicas)
	record(poolDrain, drained)
	if err != nil {
		return err
	}
	err = s.awaitReplicas(ctx, &p, replicas)
	record(poolScale, err)
	return err
}

func (s *story) setReplicas(ctx context.Context, p *pool, count int32) error {
	return s.change(ctx, &p.MachinePool, func() { p.Spec.Replicas = ptr.To(count) })
}

func (s *story) awaitReplicas(ctx context.Context, p *pool, count int32) error {
	return s.settle(ctx, func(v *view) error {
		if members := v.machinesOf(p); len(members) > 0 && len(members) != int(count) {
			return fmt.Errorf("the pool has the Machines %v, want %d", names(members), count)
		}
		return nil
	})
}

// shrink removes a machine from a pool, while each of its Nodes has a Pod that does not go away. It returns what is
// wrong with how that machine was removed, or why that cannot be seen; err does not come from the provider.
func (s *story) shrink(ctx context.Context, p *pool, count int32) (problem, err error) {
	members := s.now.machinesOf(p)
	held, unwatched := s.now.hold(ctx, p)
	if unwatched != nil {
		return unwatched, errors.Join(held.release(ctx), s.setReplicas(ctx, p, count))
	}
	if err := s.setReplicas(ctx, p, count); err != nil {
		return errUnknown, errors.Join(err, held.release(ctx))
	}
	problem = until(ctx, s.Patience, func() error {
		v, err := s.read(ctx)
		if err != nil {
			return err
		}
		return v.drains(p, members, held.pods, func(pod *corev1.Pod) error { return held.workload.Get(ctx, client.ObjectKeyFromObject(pod), pod) })
	})
	return problem, held.release(ctx)
}

// holding has Pods that stay on their Nodes until they are released.
type holding struct {
	workload client.Client
	pods     []*corev1.Pod
}

// hold creates such a Pod on each Node of a pool. An error says why a drain of the Nodes cannot be watched.
func (v *view) hold(ctx context.Context, p *pool) (holding, error) {
	members := v.machinesOf(p)
	if len(members) == 0 {
		return holding{}, fmt.Errorf("%w: the pool has no Machines", errNotClaimed)
	}
	if err := v.unknownNodes(); err != nil {
		return holding{}, err
	}
	workload, err := v.connect()
	if err != nil {
		return holding{}, fmt.Errorf("%w: %w", errUnknown, err)
	}
	held := holding{workload: workload}
	for _, member := range members {
		pod := holdingPod(member.Status.NodeRef.Name)
		if err := workload.Create(ctx, pod); err != nil {
			return held, fmt.Errorf("%w: create a Pod on the Node %s: %w", errUnknown, member.Status.NodeRef.Name, err)
		}
		held.pods = append(held.pods, pod)
	}
	return held, nil
}

// release lets the Pods go, even if the user has interrupted the run.
func (h holding) release(ctx context.Context) error {
	errs := make([]error, 0, len(h.pods))
	for _, pod := range h.pods {
		errs = append(errs, release(context.WithoutCancel(ctx), h.workload, pod))
	}
	return errors.Join(errs...)
}

// holdingPod is a Pod on a Node that stays after its deletion, until it is released.
func holdingPod(node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, GenerateName: "conformance-", Finalizers: []string{changedLabel}},
		Spec: corev1.PodSpec{
			NodeName: node, AutomountServiceAccountToken: ptr.To(false), TerminationGracePeriodSeconds: ptr.To[int64](0),
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			// It need not run: a drain deletes Pods that cannot start, too.
			Containers: []corev1.Container{{
				Name: "pause", Image: "registry.k8s.io/pause:3.10.1", ImagePullPolicy: corev1.PullIfNotPresent,
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
			// Clusters may admit only Pods that the Pod Security Standard "restricted" allows. The image has the same user.
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](65535), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
		},
	}
}

func release(ctx context.Context, workload client.Client, pod *corev1.Pod) error {
	if err := workload.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
		return client.IgnoreNotFound(err)
	}
	before := pod.DeepCopy()
	controllerutil.RemoveFinalizer(pod, changedLabel)
	if err := client.IgnoreNotFound(workload.Patch(ctx, pod, client.MergeFrom(before))); err != nil {
		return err
	}
	return client.IgnoreNotFound(workload.Delete(ctx, pod))
}

// drains returns nil once one Machine of the pool is being drained: it waits for its Pod, and what it
// stands for is still there.
func (v *view) drains(p *pool, before []machine, pods []*corev1.Pod, read func(*corev1.Pod) error) error {
	now := v.machinesOf(p)
	for i := range before {
		index := slices.IndexFunc(now, func(other machine) bool { return other.UID == before[i].UID })
		if index < 0 {
			return fmt.Errorf("the Machine %s is gone, although a Pod on its Node has not been drained", before[i].Name)
		}
		if now[index].DeletionTimestamp.IsZero() {
			continue
		}
		if err := read(pods[i]); err != nil && !apierrors.IsNotFound(err) {
			return err
		}
		return v.isDraining(&now[index], pods[i])
	}
	return errors.New("no Machine of the pool is being deleted")
}

func (v *view) isDraining(m *machine, pod *corev1.Pod) error {
	node, ok := v.nodes[m.Status.NodeRef.Name]
	if !ok || m.infra == nil || m.infra.GetDeletionTimestamp() != nil {
		return fmt.Errorf("the instance of the Machine %s was deleted before its Node was drained", m.Name)
	}
	if !node.Spec.Unschedulable || pod.DeletionTimestamp.IsZero() {
		return fmt.Errorf("the Node of the Machine %s is not drained yet", m.Name)
	}
	return nil
}
