// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package clusteridentity

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/gate"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
)

// accepting is a cloud that accepts every identity.
type accepting struct{}

func (accepting) Check(context.Context, *infrav1.FooClusterIdentity) error { return nil }
func (accepting) Forget(string)                                            {}

type world struct {
	*WithT

	ctx        context.Context
	kube       client.Client
	reconciler *reconciler
}

var secretKey = client.ObjectKey{Namespace: "team", Name: "credentials"}

// newWorld creates the objects and a Secret that holds the credentials of all identities.
func newWorld(t *testing.T, objects ...client.Object) *world {
	t.Helper()
	w := &world{WithT: NewWithT(t), ctx: t.Context()}
	scheme, err := manager.NewScheme()
	w.Expect(err).NotTo(HaveOccurred())
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: secretKey.Namespace, Name: secretKey.Name, UID: "secret"}}
	w.kube = fake.NewClientBuilder().WithScheme(scheme).WithObjects(append(objects, secret)...).
		WithStatusSubresource(&infrav1.FooClusterIdentity{}).
		WithIndex(&corev1.Secret{}, ownerIndex, owners).Build()
	w.reconciler = &reconciler{
		client: w.kube, cached: w.kube, live: w.kube, checker: accepting{},
		gate: gate.Gate{Client: w.kube, Finalizer: infrav1.FooClusterIdentityFinalizer},
		reporter: report.Reporter{
			Client: w.kube, Live: w.kube, Recorder: events.NewFakeRecorder(100), Owned: []string{infrav1.FooClusterIdentityReadyCondition},
		},
	}
	return w
}

func newIdentity(name string) *infrav1.FooClusterIdentity {
	identity := &infrav1.FooClusterIdentity{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
	identity.Spec.CredentialsRef.Namespace, identity.Spec.CredentialsRef.Name = secretKey.Namespace, secretKey.Name
	return identity
}

// reconcile reconciles each identity often enough to add the finalizer, set the Paused condition
// and do everything else.
func (w *world) reconcile(names ...string) {
	for _, name := range names {
		for range 3 {
			_, err := w.reconciler.Reconcile(w.ctx, ctrl.Request{NamespacedName: client.ObjectKey{Name: name}})
			w.Expect(err).NotTo(HaveOccurred())
		}
	}
}

// Two identities that are deleted together must not leave the finalizer on their Secret, which
// would block the deletion of its namespace forever.
func TestIdentitiesDeletedTogetherReleaseTheirSecret(t *testing.T) {
	w := newWorld(t, newIdentity("red"), newIdentity("blue"))
	w.reconcile("red", "blue")
	w.Expect(w.secret().Finalizers).To(ConsistOf(infrav1.FooClusterIdentityFinalizer))
	for _, name := range []string{"red", "blue"} {
		w.Expect(w.kube.Delete(w.ctx, newIdentity(name))).To(Succeed())
	}
	w.reconcile("red")
	w.Expect(w.secret().Finalizers).NotTo(BeEmpty(), "the other identity may still have users")
	w.reconcile("blue")
	w.Expect(w.secret().Finalizers).To(BeEmpty())
}

// A Secret that identities without users share can be deleted.
func TestSharedSecretWithoutUsersIsDeleted(t *testing.T) {
	w := newWorld(t, newIdentity("red"), newIdentity("blue"))
	w.reconcile("red", "blue")
	w.Expect(w.kube.Delete(w.ctx, w.secret())).To(Succeed())
	w.reconcile("red", "blue", "red")
	w.Expect(client.IgnoreNotFound(w.kube.Get(w.ctx, secretKey, &corev1.Secret{}))).To(Succeed())
	w.Expect(w.kube.Get(w.ctx, secretKey, &corev1.Secret{})).NotTo(Succeed(), "nothing holds it")
}

// An owner reference to a deleted identity, which only the garbage collector removes, must not hold
// the Secret.
func TestSecretThatAnIdentityThatIsGoneOwned(t *testing.T) {
	w := newWorld(t, newIdentity("red"))
	secret := w.secret()
	secret.OwnerReferences = []metav1.OwnerReference{{APIVersion: infrav1.GroupVersion.String(), Kind: "FooClusterIdentity", Name: "gone", UID: "gone"}}
	w.Expect(w.kube.Update(w.ctx, secret)).To(Succeed())
	w.reconcile("red")
	w.Expect(w.kube.Delete(w.ctx, newIdentity("red"))).To(Succeed())
	w.reconcile("red")
	w.Expect(w.secret().Finalizers).To(BeEmpty())
}

// A manager that is restricted to one namespace, or whose cache lags behind, must not release what others use.
func TestUsersThatTheCacheDoesNotShow(t *testing.T) {
	user := &infrav1.FooCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "elsewhere", Name: "one"}}
	user.Spec.IdentityRef.Name = "red"
	w := newWorld(t, newIdentity("red"), user)
	w.reconcile("red")
	w.reconciler.client = onlyIn{Client: w.kube, namespace: "team"}
	w.Expect(w.kube.Delete(w.ctx, newIdentity("red"))).To(Succeed())
	w.Expect(w.kube.Delete(w.ctx, w.secret())).To(Succeed())
	w.reconcile("red")
	w.Expect(w.kube.Get(w.ctx, client.ObjectKey{Name: "red"}, &infrav1.FooClusterIdentity{})).To(Succeed())
	w.Expect(w.secret().Finalizers).NotTo(BeEmpty())
}

// onlyIn lists FooClusters of one namespace only.
type onlyIn struct {
	client.Client

	namespace string
}

func (o onlyIn) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, ok := list.(*infrav1.FooClusterList); ok {
		options = append(options, client.InNamespace(o.namespace))
	}
	return o.Client.List(ctx, list, options...)
}

func (w *world) secret() *corev1.Secret {
	secret := &corev1.Secret{}
	w.Expect(w.kube.Get(w.ctx, secretKey, secret)).To(Succeed())
	return secret
}
