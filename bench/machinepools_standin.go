// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/patch"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
)

// standIn does what Cluster API and the Nodes do for the Machines of pools, one machine at a time.
type standIn struct{ *infratest.Suite }

// addStandIn adds the stand-in to a manager.
func addStandIn(mgr ctrl.Manager, cloud *fake.Cloud) error {
	return ctrl.NewControllerManagedBy(mgr).Named("stand-in").For(&infrav1.FooMachine{}).
		Watches(&clusterv1.Machine{}, &handler.EnqueueRequestForObject{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: machineWorkers}).
		Complete(standIn{&infratest.Suite{Client: mgr.GetClient(), Cloud: cloud}})
}

// Reconcile creates the Machine of a FooMachine, lets its Node join, and removes both when the
// Machine is deleted.
func (s standIn) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	fooMachine, machine := &infrav1.FooMachine{}, &clusterv1.Machine{}
	hasFooMachine, fooErr := s.found(ctx, req.NamespacedName, fooMachine)
	hasMachine, machineErr := s.found(ctx, req.NamespacedName, machine)
	if err := errors.Join(fooErr, machineErr); err != nil {
		return ctrl.Result{}, err
	}
	switch {
	case hasMachine && !machine.DeletionTimestamp.IsZero():
		return ctrl.Result{}, s.end(ctx, machine, fooMachine)
	case !hasFooMachine || !fooMachine.DeletionTimestamp.IsZero():
		return ctrl.Result{}, nil
	case !hasMachine:
		return ctrl.Result{}, s.create(ctx, fooMachine)
	case ptr.Deref(fooMachine.Status.Initialization.Provisioned, false) && !conditions.IsTrue(machine, clusterv1.MachineAvailableCondition):
		return ctrl.Result{}, s.join(ctx, machine)
	default:
		return ctrl.Result{}, nil
	}
}

// found reads an object and reports whether it exists.
func (s standIn) found(ctx context.Context, key client.ObjectKey, object client.Object) (bool, error) {
	err := s.Client.Get(ctx, key, object)
	return err == nil, client.IgnoreNotFound(err)
}

func (s standIn) create(ctx context.Context, fooMachine *infrav1.FooMachine) error {
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: fooMachine.Namespace, Name: fooMachine.Labels[clusterv1.ClusterNameLabel]}}
	_, err := s.CreateMachineFor(ctx, cluster, fooMachine)
	return client.IgnoreNotFound(client.IgnoreAlreadyExists(err)) // the FooMachine may be gone meanwhile
}

func (s standIn) join(ctx context.Context, machine *clusterv1.Machine) error {
	s.Cloud.SetBootstrap(machine.Namespace+"."+machine.Name, cloud.Bootstrap{State: cloud.BootstrapSucceeded})
	return client.IgnoreNotFound(s.SetMachineAvailable(ctx, machine, metav1.ConditionTrue))
}

// end deletes the FooMachine, as if the Node had been drained, and then releases the Machine.
func (s standIn) end(ctx context.Context, machine *clusterv1.Machine, fooMachine *infrav1.FooMachine) error {
	if fooMachine.Name != "" {
		if !fooMachine.DeletionTimestamp.IsZero() {
			return nil
		}
		return client.IgnoreNotFound(s.Client.Delete(ctx, fooMachine))
	}
	helper, err := patch.NewHelper(machine, s.Client)
	if err != nil {
		return err
	}
	controllerutil.RemoveFinalizer(machine, clusterv1.MachineFinalizer)
	return client.IgnoreNotFound(helper.Patch(ctx, machine))
}
