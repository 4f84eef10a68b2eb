// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package clusteridentity

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"sigs.k8s.io/cluster-api/util/predicates"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/cloudfault"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/gate"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
)

const (
	controllerName = "fooclusteridentity"
	// checkInterval is the interval between checks: the cloud does not announce revoked tokens.
	checkInterval = time.Minute
	// jitter spreads the checks of several identities.
	jitter = 0.1
)

// Checker checks the credentials of an identity and starts using them.
type Checker interface {
	// Check returns what is wrong with an identity; see cloudidentity.Resolver.
	Check(ctx context.Context, identity *infrav1.FooClusterIdentity) error
	// Forget closes the connection of an identity that is gone.
	Forget(identity string)
}

// Options configures the controller.
type Options struct {
	// Checker checks credentials and starts using them. Required.
	Checker Checker
	// WatchFilterValue restricts the controller to objects with this value of the label
	// cluster.x-k8s.io/watch-filter; empty, the default, selects all objects.
	WatchFilterValue string
	// Controller holds options of controller-runtime. The rate limiter defaults to
	// cloudfault.RateLimiter.
	Controller controller.Options
}

type reconciler struct {
	client client.Client
	// cached reads the metadata of Secrets from the cache; client would read it from the API
	// server.
	cached client.Reader
	// live bypasses the cache.
	live     client.Reader
	checker  Checker
	gate     gate.Gate
	reporter report.Reporter
}

// ownerIndex indexes Secrets by the names of the identities that own them.
const ownerIndex = "fooclusteridentity"

// SetupWithManager adds the controller to a manager.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, options Options) error {
	if options.Checker == nil {
		return fmt.Errorf("the %s controller needs a checker", controllerName)
	}
	if options.Controller.RateLimiter == nil {
		options.Controller.RateLimiter = cloudfault.RateLimiter()
	}
	c := mgr.GetClient()
	r := &reconciler{
		client: c, cached: mgr.GetCache(), live: mgr.GetAPIReader(), checker: options.Checker,
		gate: gate.Gate{Client: c, WatchFilter: options.WatchFilterValue, Finalizer: infrav1.FooClusterIdentityFinalizer},
		reporter: report.Reporter{
			Client: c, Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder(controllerName),
			Owned: []string{infrav1.FooClusterIdentityReadyCondition},
		},
	}
	if err := mgr.GetFieldIndexer().IndexField(ctx, secretMetadata(), ownerIndex, owners); err != nil {
		return fmt.Errorf("indexing Secrets by their identity: %w", err)
	}
	log := ctrl.LoggerFrom(ctx).WithValues("controller", controllerName)
	return ctrl.NewControllerManagedBy(mgr).
		Named(controllerName).
		For(&infrav1.FooClusterIdentity{}, builder.WithPredicates(
			predicates.ResourceHasFilterLabel(mgr.GetScheme(), log, options.WatchFilterValue), gate.BesidesStatus())).
		WatchesMetadata(secretMetadata(), handler.EnqueueRequestsFromMapFunc(r.secretToIdentities)).
		Watches(&infrav1.FooCluster{}, handler.EnqueueRequestsFromMapFunc(fooClusterToIdentity), builder.WithPredicates(gate.Deleted())).
		WithOptions(options.Controller).
		Complete(r)
}

func secretMetadata() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}}
}

// owners returns the identities that own a Secret.
func owners(secret client.Object) []string {
	var names []string
	for _, reference := range secret.GetOwnerReferences() {
		if reference.Kind == "FooClusterIdentity" {
			names = append(names, reference.Name)
		}
	}
	return names
}

func (r *reconciler) secretToIdentities(ctx context.Context, secret client.Object) []reconcile.Request {
	identities := &infrav1.FooClusterIdentityList{}
	if err := r.client.List(ctx, identities); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "A changed Secret is used only when its identity is checked next")
		return nil
	}
	var requests []reconcile.Request
	for i := range identities.Items {
		if credentials(&identities.Items[i]) == client.ObjectKeyFromObject(secret) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&identities.Items[i])})
		}
	}
	return requests
}

// credentials returns the key of an identity's Secret.
func credentials(identity *infrav1.FooClusterIdentity) client.ObjectKey {
	return client.ObjectKey{Namespace: identity.Spec.CredentialsRef.Namespace, Name: identity.Spec.CredentialsRef.Name}
}

func fooClusterToIdentity(_ context.Context, object client.Object) []reconcile.Request {
	fooCluster, ok := object.(*infrav1.FooCluster)
	if !ok || !fooCluster.Spec.IdentityRef.IsDefined() {
		return nil
	}
	return []reconcile.Request{{NamespacedName: client.ObjectKey{Name: fooCluster.Spec.IdentityRef.Name}}}
}

// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusteridentities,verbs=get;list;watch;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusteridentities/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusteridentities/finalizers,verbs=update
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusters,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch

// Reconcile checks the credentials of one identity, starts using them, and reports whether the
// cloud accepts them.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	identity := &infrav1.FooClusterIdentity{}
	if mine, err := r.gate.Read(ctx, req.NamespacedName, identity); err != nil || !mine {
		return ctrl.Result{}, err
	}
	if added, err := r.gate.Hold(ctx, identity); err != nil || added {
		return ctrl.Result{}, err
	}
	written, err := r.reporter.Begin(ctx, nil, identity)
	if err != nil || written == nil {
		return ctrl.Result{}, err
	}
	s, err := r.observe(ctx, identity)
	if err != nil {
		return ctrl.Result{}, err
	}
	d := decide(s)
	setStatus(s, d)
	if err := kerrors.NewAggregate([]error{r.apply(ctx, s, d), written.Write(ctx)}); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: wait.Jitter(checkInterval, jitter)}, nil
}
