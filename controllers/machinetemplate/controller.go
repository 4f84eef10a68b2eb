/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package machinetemplate

import (
	"context"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	"sigs.k8s.io/cluster-api/util/patch"
	"sigs.k8s.io/cluster-api/util/predicates"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/gate"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudfault"
)

const controllerName = "foomachinetemplate"

// Options of the controller.
type Options struct {
	// Cloud has the instance types. Required. It is that of the manager also for templates of clusters with an identity: a
	// template may serve several.
	Cloud cloud.Catalog
	// WatchFilterValue restricts the controller to objects with this value of the label
	// cluster.x-k8s.io/watch-filter; empty, the default, is all objects.
	WatchFilterValue string
	// Controller holds options of controller-runtime. The default rate limiter is that of cloudfault.
	Controller controller.Options
}

type reconciler struct {
	client client.Client
	cloud  cloud.Catalog
}

// SetupWithManager adds the controller to a manager.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	if options.Cloud == nil {
		return fmt.Errorf("the %s controller needs a cloud", controllerName)
	}
	if options.Controller.RateLimiter == nil {
		options.Controller.RateLimiter = cloudfault.RateLimiter()
	}
	r := &reconciler{client: mgr.GetClient(), cloud: options.Cloud}
	log := ctrl.LoggerFrom(ctx).WithValues("controller", controllerName)
	return ctrl.NewControllerManagedBy(mgr).
		Named(controllerName).
		For(&infrav1.FooMachineTemplate{}, builder.WithPredicates(
			predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, options.WatchFilterValue), gate.BesidesStatus())).
		WithOptions(options.Controller).
		Complete(r)
}

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=foomachinetemplates,verbs=get;list;watch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=foomachinetemplates/status,verbs=get;patch;update

// Reconcile writes what the cloud says of the template's instance type.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	template := &infrav1.FooMachineTemplate{}
	if err := r.client.Get(ctx, req.NamespacedName, template); err != nil || !template.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	types, err := r.cloud.InstanceTypes(ctx)
	if err != nil {
		return cloudfault.Of(err).Result()
	}
	helper, err := patch.NewHelper(template, r.client)
	if err != nil {
		return ctrl.Result{}, err
	}
	setStatus(template, types)
	return ctrl.Result{}, helper.Patch(ctx, template)
}
