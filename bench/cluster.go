// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/secret"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/internal/observer"
)

const fieldOwner = client.FieldOwner("foo-bench")

// cluster is a workload cluster that is watched while it comes up.
type cluster struct {
	key     client.ObjectKey
	began   time.Time
	reached times
	// workload reads Nodes, Deployments and DaemonSets of the cluster. It is nil until its API server is known to
	// be up.
	workload client.Reader
}

// apply creates a cluster, whose time starts now.
func (e *environment) apply(ctx context.Context, name string, objects []*unstructured.Unstructured) (*cluster, error) {
	made := &cluster{key: client.ObjectKey{Namespace: benchNamespace, Name: name}, began: time.Now(), reached: times{}}
	for _, object := range objects {
		if err := e.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), fieldOwner); err != nil {
			return nil, fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return made, nil
}

// follow watches the clusters until each has reached all of the phases.
func (e *environment) follow(ctx context.Context, clusters []*cluster, wanted ...phase) error {
	for {
		var waiting []string
		for _, c := range clusters {
			if err := e.look(ctx, c); err != nil {
				return err
			}
			if missing := c.reached.missing(wanted...); len(missing) > 0 {
				waiting = append(waiting, fmt.Sprintf("%s has not reached %q", c.key.Name, missing))
			}
		}
		if len(waiting) == 0 {
			return nil
		}
		select {
		case <-e.observer.Changes:
		case <-ctx.Done():
			return fmt.Errorf("%w: %s", context.Cause(ctx), strings.Join(waiting, "; "))
		}
	}
}

// look records which phases a cluster has reached.
func (e *environment) look(ctx context.Context, c *cluster) error {
	since := time.Since(c.began)
	now, err := e.snapshot(ctx, c)
	if err != nil {
		return err
	}
	c.reached.note(now, since)
	if c.workload != nil || !now.initialized {
		return nil
	}
	var kubeconfig corev1.Secret
	key := client.ObjectKey{Namespace: c.key.Namespace, Name: secret.Name(c.key.Name, secret.Kubeconfig)}
	if err := e.client.Get(ctx, key, &kubeconfig); err != nil {
		return err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig.Data[secret.KubeconfigDataName])
	if err != nil {
		return err
	}
	c.workload, err = observer.Start(ctx, direct(config), observer.Options{Scheme: e.scheme, Changes: e.observer.Changes},
		&corev1.Node{}, &appsv1.Deployment{}, &appsv1.DaemonSet{})
	return err
}

// snapshot reads a cluster from the observed objects.
func (e *environment) snapshot(ctx context.Context, c *cluster) (*snapshot, error) {
	var object clusterv1.Cluster
	if err := client.IgnoreNotFound(e.observer.Get(ctx, c.key, &object)); err != nil {
		return nil, err
	}
	now := &snapshot{
		infrastructure: ptr.Deref(object.Status.Initialization.InfrastructureProvisioned, false),
		initialized:    conditions.IsTrue(&object, clusterv1.ClusterControlPlaneInitializedCondition),
		available:      conditions.IsTrue(&object, clusterv1.ClusterAvailableCondition),
	}
	if err := e.readMachines(ctx, c, now); err != nil {
		return nil, err
	}
	if c.workload == nil {
		return now, nil
	}
	var nodes corev1.NodeList
	if err := c.workload.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	for _, node := range nodes.Items {
		_, controlPlane := node.Labels["node-role.kubernetes.io/control-plane"]
		now.nodes = append(now.nodes, nodeState{controlPlane: controlPlane, ready: util.IsNodeReady(&node)})
	}
	var dns appsv1.Deployment
	err := c.workload.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "coredns"}, &dns)
	now.dns = slices.ContainsFunc(dns.Status.Conditions, func(condition appsv1.DeploymentCondition) bool {
		return condition.Type == appsv1.DeploymentAvailable && condition.Status == corev1.ConditionTrue
	})
	if client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	var daemons appsv1.DaemonSetList
	if err := c.workload.List(ctx, &daemons, client.UnsafeDisableDeepCopy); err != nil {
		return nil, err
	}
	now.addOns = now.dns && !slices.ContainsFunc(daemons.Items, func(daemon appsv1.DaemonSet) bool {
		return daemon.Status.NumberReady < workers+1
	})
	return now, nil
}

func (e *environment) readMachines(ctx context.Context, c *cluster, into *snapshot) error {
	var machines clusterv1.MachineList
	var fooMachines infrav1.FooMachineList
	// Nothing modifies these objects, and copies would cost the clusters CPU time.
	options := []client.ListOption{
		client.InNamespace(c.key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: c.key.Name}, client.UnsafeDisableDeepCopy,
	}
	for _, list := range []client.ObjectList{&machines, &fooMachines} {
		if err := e.observer.List(ctx, list, options...); err != nil {
			return err
		}
	}
	byName := map[string]*infrav1.FooMachine{}
	for index := range fooMachines.Items {
		byName[fooMachines.Items[index].Name] = &fooMachines.Items[index]
	}
	for index := range machines.Items {
		machine := &machines.Items[index]
		_, controlPlane := machine.Labels[clusterv1.MachineControlPlaneLabel]
		state := machineState{controlPlane: controlPlane, ready: conditions.IsTrue(machine, clusterv1.MachineReadyCondition)}
		if fooMachine, ok := byName[machine.Spec.InfrastructureRef.Name]; ok {
			state.ordered = fooMachine.Status.InstanceID != ""
			state.running = fooMachine.Status.InstanceState == "Running"
			state.bootstrapped = fooMachine.Status.BootstrapState == "Succeeded"
		}
		into.machines = append(into.machines, state)
	}
	return nil
}

// removeAll deletes all clusters and waits until they and their instances are gone, even if a
// measurement took too long. Its context is the whole program's, because the context of a
// measurement ends with it. If the user has interrupted the program, there is no need to wait:
// stopping the environment deletes everything.
func (e *environment) removeAll(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), e.timeout, errSlow)
	defer cancel()
	err := e.client.DeleteAllOf(ctx, &clusterv1.Cluster{}, client.InNamespace(benchNamespace),
		client.PropagationPolicy(metav1.DeletePropagationBackground))
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	for {
		left, err := e.left(ctx)
		if left == 0 || err != nil {
			return err
		}
		select {
		case <-e.observer.Changes:
		case <-ctx.Done():
			return fmt.Errorf("delete the clusters: %w: %d objects are left", context.Cause(ctx), left)
		}
	}
}

// left counts the remaining objects of clusters. A Cluster's objects are deleted before the
// Cluster, and objects with instances before the others.
func (e *environment) left(ctx context.Context) (int, error) {
	var clusters clusterv1.ClusterList
	err := e.client.List(ctx, &clusters)
	return len(clusters.Items), err
}
