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
	err := s.resize(ctx, p, replicas+1)
	record("infrastructure-machinepool/scale", err)
	if err != nil {
		return err
	}
	if unwatched := s.now.undrainable(&p); unwatched != nil {
		record("infrastructure-machinepool/machine-deletion", unwatched)
		err = s.resize(ctx, p, replicas)
		record("infrastructure-machinepool/scale", err)
		return err
	}
	drained, err := s.shrink(ctx, p, replicas)
	if err != nil {
		record("infrastructure-machinepool/scale", err)
		return err
	}
	record("infrastructure-machinepool/machine-deletion", drained)
	return nil
}

// undrainable returns why the drain of a pool's Nodes cannot be watched; nil if it can.
func (v *view) undrainable(p *pool) error {
	if len(v.machinesOf(p)) == 0 {
		return fmt.Errorf("%w: the pool has no Machines", errNotClaimed)
	}
	return v.unknownNodes()
}

func (s *story) resize(ctx context.Context, p pool, count int32) error {
	if err := s.change(ctx, &p.MachinePool, func() { p.Spec.Replicas = ptr.To(count) }); err != nil {
		return err
	}
	return s.settle(ctx, func(v *view) error {
		if members := v.machinesOf(&p); len(members) > 0 && len(members) != int(count) {
			return fmt.Errorf("the pool has the Machines %v, want %d", names(members), count)
		}
		return nil
	})
}

// shrink removes a machine from a pool, while each of its Nodes has a Pod that does not go away. It
// returns what is wrong with how that machine was removed.
func (s *story) shrink(ctx context.Context, p pool, count int32) (problem, err error) {
	members := s.now.machinesOf(&p)
	workload, err := s.now.connect()
	if err != nil {
		return nil, err
	}
	var pods []*corev1.Pod
	for _, member := range members {
		pod := holdingPod(member.Status.NodeRef.Name)
		if err := workload.Create(ctx, pod); err != nil {
			return nil, fmt.Errorf("create a Pod on the Node %s: %w", member.Status.NodeRef.Name, err)
		}
		pods = append(pods, pod)
	}
	release := func() error {
		errs := make([]error, 0, len(pods))
		for _, pod := range pods {
			errs = append(errs, release(context.WithoutCancel(ctx), workload, pod))
		}
		return errors.Join(errs...)
	}
	if err := s.change(ctx, &p.MachinePool, func() { p.Spec.Replicas = ptr.To(count) }); err != nil {
		return nil, errors.Join(err, release())
	}
	problem = until(ctx, s.Patience, func() error {
		v, err := s.read(ctx)
		if err != nil {
			return err
		}
		return v.drains(&p, members, pods, func(pod *corev1.Pod) error { return workload.Get(ctx, client.ObjectKeyFromObject(pod), pod) })
	})
	if err := release(); err != nil {
		return problem, err
	}
	return problem, s.settle(ctx, func(v *view) error {
		if left := v.machinesOf(&p); len(left) != int(count) {
			return fmt.Errorf("the pool has the Machines %v, want %d", names(left), count)
		}
		return nil
	})
}

// holdingPod is a Pod on a Node that stays after its deletion, until it is released.
func holdingPod(node string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, GenerateName: "conformance-", Finalizers: []string{changedLabel}},
		Spec: corev1.PodSpec{
			NodeName: node, AutomountServiceAccountToken: ptr.To(false), TerminationGracePeriodSeconds: ptr.To[int64](0),
			Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			// It need not run: a drain deletes Pods that cannot start, too.
			Containers: []corev1.Container{{Name: "pause", Image: "registry.k8s.io/pause:3.10.1", ImagePullPolicy: corev1.PullIfNotPresent}},
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
