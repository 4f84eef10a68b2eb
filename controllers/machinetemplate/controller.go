// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package machinetemplate reports for each FooMachineTemplate what a node created from it will
// have: CPUs, memory, architecture and operating system. The cluster autoscaler reads it to add the
// first node of a group.
//
// Limits: a cloud announces no changes of its catalog, so a changed size is noticed only when a
// template changes or at a resync.
package machinetemplate

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"sigs.k8s.io/cluster-api/util/patch"
	"sigs.k8s.io/cluster-api/util/predicates"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/cloudfault"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/gate"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

const controllerName = "foomachinetemplate"

// Options configures the controller.
type Options struct {
	// Clouds provides the instance types. Required.
	Clouds cloudidentity.Clouds
	// WatchFilterValue restricts the controller to objects with this value of the label
	// cluster.x-k8s.io/watch-filter; empty, the default, selects all objects.
	WatchFilterValue string
	// Controller holds options of controller-runtime. The rate limiter defaults to
	// cloudfault.RateLimiter.
	Controller controller.Options
}

type reconciler struct {
	client client.Client
	clouds cloudidentity.Clouds
	gate   gate.Gate
}

// SetupWithManager adds the controller to a manager.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	if options.Clouds == nil {
		return fmt.Errorf("the %s controller needs a cloud", controllerName)
	}
	if options.Controller.RateLimiter == nil {
		options.Controller.RateLimiter = cloudfault.RateLimiter()
	}
	c := mgr.GetClient()
	r := &reconciler{client: c, clouds: options.Clouds, gate: gate.Gate{Client: c, WatchFilter: options.WatchFilterValue}}
	log := ctrl.LoggerFrom(ctx).WithValues("controller", controllerName)
	return ctrl.NewControllerManagedBy(mgr).
		Named(controllerName).
		For(&infrav1.FooMachineTemplate{}, builder.WithPredicates(
			predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, options.WatchFilterValue), gate.BesidesStatus())).
		Watches(&infrav1.FooClusterIdentity{}, handler.EnqueueRequestsFromMapFunc(cloudidentity.ToObjects(c, &infrav1.FooMachineTemplateList{})),
			builder.WithPredicates(cloudidentity.Changed())).
		WithOptions(options.Controller).
		Complete(r)
}

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=foomachinetemplates;fooclusters;fooclusteridentities,verbs=get;list;watch
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=foomachinetemplates/status,verbs=get;patch;update

// Reconcile writes what the clouds of the template's clusters report about its instance type. A
// template has no finalizer and no conditions, and writing its capacity changes nothing outside of
// it, so there is nothing to pause.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	template := &infrav1.FooMachineTemplate{}
	if mine, err := r.gate.Read(ctx, req.NamespacedName, template); err != nil || !mine {
		return ctrl.Result{}, err
	}
	sizes, err := r.observe(ctx, template)
	if err != nil {
		return cloudfault.Of(err).Result()
	}
	helper, err := patch.NewHelper(template, r.client)
	if err != nil {
		return ctrl.Result{}, err
	}
	setStatus(template, sizes)
	return ctrl.Result{}, helper.Patch(ctx, template)
}

// observe returns the template's instance type in the cloud of each Cluster that uses the template,
// or in the manager's cloud if no Cluster does, as for a ClusterClass. A cloud without the type
// adds a nil.
func (r *reconciler) observe(ctx context.Context, template *infrav1.FooMachineTemplate) ([]*cloud.InstanceType, error) {
	clouds := []cloud.Catalog{}
	for _, cluster := range cloudidentity.ClustersOf(template) {
		clouds = append(clouds, r.clouds.OfCluster(ctx, cluster))
	}
	if len(clouds) == 0 {
		clouds = append(clouds, r.clouds.OfFooCluster(ctx, &infrav1.FooCluster{}))
	}
	sizes := make([]*cloud.InstanceType, 0, len(clouds))
	for _, catalog := range clouds {
		types, err := catalog.InstanceTypes(ctx)
		if err != nil {
			return nil, err
		}
		var size *cloud.InstanceType
		for i := range types {
			if types[i].Name == template.Spec.Template.Spec.InstanceTypeOrDefault() {
				size = &types[i]
			}
		}
		sizes = append(sizes, size)
	}
	return sizes, nil
}

// setStatus sets the whole status. It is empty if a cloud does not have the instance type, so that
// nobody scales up in vain, or if the clouds of several clusters disagree.
func setStatus(template *infrav1.FooMachineTemplate, sizes []*cloud.InstanceType) {
	template.Status = infrav1.FooMachineTemplateStatus{}
	for _, size := range sizes {
		if size == nil || size.CPUs != sizes[0].CPUs || size.MemoryBytes != sizes[0].MemoryBytes || size.Architecture != sizes[0].Architecture {
			template.Status = infrav1.FooMachineTemplateStatus{}
			return
		}
		template.Status.Capacity, template.Status.NodeInfo = ownertags.NodeCapacity(*size)
	}
}
