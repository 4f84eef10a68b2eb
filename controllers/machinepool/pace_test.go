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

package machinepool

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	fakeclient "sigs.k8s.io/controller-runtime/pkg/client/fake"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
)

// newReconciler is a reconciler of one pool with three instances, whose Cluster is provisioned.
func newReconciler(g Gomega, c *fake.Cloud) (*reconciler, *infrav1.FooMachinePool, *clocktesting.FakePassiveClock) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, infrav1.AddToScheme} {
		g.Expect(add(scheme)).To(Succeed())
	}
	cluster := infratest.NewCluster("ns", "one")
	cluster.Status.Initialization.InfrastructureProvisioned = ptr.To(true)
	machinePool := infratest.NewMachinePool(cluster, "workers", 3)
	pool := infratest.NewFooMachinePool(machinePool)
	pool.UID = "workers"
	objects := []client.Object{cluster, machinePool, pool, infratest.NewSecret("ns", "workers", infratest.UserData)}
	kube := fakeclient.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(objects...).
		WithIndex(&infrav1.FooMachine{}, poolIndex, poolKeys).WithIndex(&clusterv1.Machine{}, poolIndex, poolKeys).Build()
	passive := clocktesting.NewFakePassiveClock(time.Now())
	return &reconciler{
		client: kube, live: kube, clouds: cloudidentity.One(c), recorder: events.NewFakeRecorder(100),
		clock: passive, expected: newExpected(), pace: newPace(),
	}, pool, passive
}

// A rest after a failure would end the backoff of the queue, which then never grows.
func TestAPoolRestsAfterALookAndNotAfterAFailure(t *testing.T) {
	g := NewWithT(t)
	c := fake.New(fake.Options{Mode: fake.Instant})
	r, pool, passive := newReconciler(g, c)
	key := client.ObjectKeyFromObject(pool)
	look := func() error {
		passive.SetTime(passive.Now().Add(time.Second))
		_, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key})
		return err
	}
	for range 3 {
		g.Expect(look()).To(Succeed())
	}
	g.Expect(r.pace.rest(key, passive.Now())).To(Equal(3 * pacePerMember))

	g.Expect(r.client.Get(t.Context(), key, pool)).To(Succeed())
	pool.Spec.Template.InstanceType = "large"
	g.Expect(r.client.Update(t.Context(), pool)).To(Succeed())
	c.Fail(fake.CallEnsurePool, &cloud.UnavailableError{Message: "maintenance"})
	g.Expect(look()).To(MatchError(ContainSubstring("maintenance")))
	g.Expect(r.pace.rest(key, passive.Now())).To(BeZero())

	c.Heal(fake.CallEnsurePool)
	g.Expect(look()).To(Succeed())
	g.Expect(r.pace.rest(key, passive.Now())).To(Equal(3 * pacePerMember))
}
