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

package clusteridentity

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/cluster-api/util/finalizers"
	"sigs.k8s.io/cluster-api/util/patch"
	"sigs.k8s.io/cluster-api/util/predicates"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudfault"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
)

const (
	controllerName = "fooclusteridentity"
	// checkInterval is how soon the cloud is asked again; nothing tells of a token that was revoked.
	checkInterval = time.Minute
	// jitter spreads the checks of several identities.
	jitter = 0.1
)

// Checker takes the credentials of an identity into use.
type Checker interface {
	// Check returns what is wrong with an identity; see cloudidentity.Resolver.
	Check(ctx context.Context, identity *infrav1.FooClusterIdentity) error
	// Forget lets go of an identity that is gone.
	Forget(identity string)
}

// Options of the controller.
type Options struct {
	// Checker takes credentials into use. Required.
	Checker Checker
	// WatchFilterValue restricts the controller to objects with this value of the label
	// cluster.x-k8s.io/watch-filter; empty, the default, is all objects.
	WatchFilterValue string
	// Controller holds options of controller-runtime. The default rate limiter is that of cloudfault.
	Controller controller.Options
}

type reconciler struct {
	client  client.Client
	checker Checker
}

// SetupWithManager adds the controller to a manager.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	if options.Checker == nil {
		return fmt.Errorf("the %s controller needs a checker", controllerName)
	}
	if options.Controller.RateLimiter == nil {
		options.Controller.RateLimiter = cloudfault.RateLimiter()
	}
	r := &reconciler{client: mgr.GetClient(), checker: options.Checker}
	log := ctrl.LoggerFrom(ctx).WithValues("controller", controllerName)
	return ctrl.NewControllerManagedBy(mgr).
		Named(controllerName).
		For(&infrav1.FooClusterIdentity{}, builder.WithPredicates(
			predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, options.WatchFilterValue), predicate.GenerationChangedPredicate{})).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.secretToIdentities), builder.OnlyMetadata).
		Watches(&infrav1.FooCluster{}, handler.EnqueueRequestsFromMapFunc(fooClusterToIdentity), builder.WithPredicates(onlyDeleted())).
		WithOptions(options.Controller).
		Complete(r)
}

func (r *reconciler) secretToIdentities(ctx context.Context, secret client.Object) []reconcile.Request {
	identities := &infrav1.FooClusterIdentityList{}
	if err := r.client.List(ctx, identities); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "A changed Secret is taken into use only at the next look")
		return nil
	}
	var requests []reconcile.Request
	for _, identity := range identities.Items {
		reference := identity.Spec.CredentialsRef
		if reference.Namespace == secret.GetNamespace() && reference.Name == secret.GetName() {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKey{Name: identity.Name}})
		}
	}
	return requests
}

func fooClusterToIdentity(_ context.Context, object client.Object) []reconcile.Request {
	fooCluster, ok := object.(*infrav1.FooCluster)
	if !ok || !fooCluster.Spec.IdentityRef.IsDefined() {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: fooCluster.Spec.IdentityRef.Name}}}
}

func onlyDeleted() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc:  func(event.CreateEvent) bool { return false },
		UpdateFunc:  func(event.UpdateEvent) bool { return false },
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusteridentities,verbs=get;list;watch;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusteridentities/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusteridentities/finalizers,verbs=update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch

// Reconcile looks at one identity.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	identity := &infrav1.FooClusterIdentity{}
	if err := r.client.Get(ctx, req.NamespacedName, identity); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if _, err := finalizers.EnsureFinalizer(ctx, r.client, identity, infrav1.FooClusterIdentityFinalizer); err != nil {
		return ctrl.Result{}, err
	}
	helper, err := patch.NewHelper(identity, r.client)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !identity.DeletionTimestamp.IsZero() {
		err = r.release(ctx, identity)
	} else {
		err = r.look(ctx, identity)
	}
	patchErr := helper.Patch(ctx, identity, patch.WithOwnedConditions{Conditions: []string{infrav1.FooClusterIdentityReadyCondition}})
	if err := kerrors.NewAggregate([]error{err, report.IgnoreGone(patchErr, identity)}); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: wait.Jitter(checkInterval, jitter)}, nil
}

// release lets the identity go once nothing uses it: without it, what its users have could neither be found nor be deleted.
func (r *reconciler) release(ctx context.Context, identity *infrav1.FooClusterIdentity) error {
	users, err := cloudidentity.FooClustersOf(ctx, r.client, identity.Name)
	if err != nil {
		return err
	}
	if len(users) > 0 {
		names := make([]string, 0, len(users))
		for i := range users {
			names = append(names, client.ObjectKeyFromObject(&users[i]).String())
		}
		setReady(identity, metav1.ConditionFalse, infrav1.FooClusterIdentityDeletingReason,
			"waiting for the FooClusters that use it: "+strings.Join(names, ", "))
		return nil
	}
	r.checker.Forget(identity.Name)
	controllerutil.RemoveFinalizer(identity, infrav1.FooClusterIdentityFinalizer)
	return nil
}

// look takes the credentials into use, and says in the Ready condition what came of it.
func (r *reconciler) look(ctx context.Context, identity *infrav1.FooClusterIdentity) error {
	identity.Status.ObservedGeneration = identity.Generation
	err := r.checker.Check(ctx, identity)
	var secret *cloudidentity.SecretError
	switch fault := cloudfault.Of(err); {
	case errors.As(err, &secret):
		setReady(identity, metav1.ConditionFalse, secret.Reason, secret.Message)
		return nil
	case !fault.IsZero():
		setReady(identity, metav1.ConditionFalse, fault.Reason, fault.Message)
	default:
		setReady(identity, metav1.ConditionTrue, infrav1.FooClusterIdentityReadyReason, "")
	}
	return r.own(ctx, identity)
}

// own makes the identity an owner of its Secret, so that clusterctl moves it too.
func (r *reconciler) own(ctx context.Context, identity *infrav1.FooClusterIdentity) error {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	key := client.ObjectKey{Namespace: identity.Spec.CredentialsRef.Namespace, Name: identity.Spec.CredentialsRef.Name}
	if err := r.client.Get(ctx, key, secret); err != nil {
		return client.IgnoreNotFound(err)
	}
	before := secret.DeepCopy()
	if err := controllerutil.SetOwnerReference(identity, secret, r.client.Scheme()); err != nil {
		return fmt.Errorf("making the identity an owner of Secret %s: %w", key, err)
	}
	if equality.Semantic.DeepEqual(secret.OwnerReferences, before.OwnerReferences) {
		return nil
	}
	if err := r.client.Patch(ctx, secret, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("making the identity an owner of Secret %s: %w", key, err)
	}
	return nil
}

func setReady(identity *infrav1.FooClusterIdentity, status metav1.ConditionStatus, reason, message string) {
	conditions.Set(identity, metav1.Condition{
		Type: infrav1.FooClusterIdentityReadyCondition, Status: status, Reason: reason, Message: message, ObservedGeneration: identity.Generation,
	})
}
