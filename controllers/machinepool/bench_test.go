//go:build integration

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
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
	"github.com/capfoo/cluster-api-provider-foo/internal/providerid"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

// maxRatio is how much more a machine of a pool of 2,000 may cost than one of a pool of 500.
const maxRatio = 1.3

// cost is what a pool cost from no machine to all of them and back.
type cost struct {
	time, cpu time.Duration
	// requests are those of the controller of pools alone, writes among them those that change something.
	requests, writes int64
}

func (c cost) String() string {
	return fmt.Sprintf("%s, %s CPU, %d requests, %d writes", c.time.Round(time.Millisecond), c.cpu.Round(time.Millisecond), c.requests, c.writes)
}

// counter counts the requests of the controller.
type counter struct{ requests, writes atomic.Int64 }

type countingTransport struct {
	*counter
	next http.RoundTripper
}

// RoundTrip counts a request.
func (c countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	if r.Method != http.MethodGet {
		c.writes.Add(1)
	}
	return c.next.RoundTrip(r)
}

// others does what the controllers of Machines and FooMachines do, for one machine at a time.
type others struct {
	client client.Client
	cloud  *fake.Cloud
}

// Reconcile makes the Machine of a FooMachine and ends both when the Machine is deleted.
func (o *others) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	fooMachine, machine := &infrav1.FooMachine{}, &clusterv1.Machine{}
	if err := o.client.Get(ctx, req.NamespacedName, fooMachine); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	err := o.client.Get(ctx, req.NamespacedName, machine)
	switch {
	case client.IgnoreNotFound(err) != nil:
		return ctrl.Result{}, err
	case err != nil && fooMachine.DeletionTimestamp.IsZero():
		return ctrl.Result{}, o.create(ctx, fooMachine)
	case err == nil && !machine.DeletionTimestamp.IsZero():
		return ctrl.Result{}, o.end(ctx, fooMachine, machine)
	case err == nil && !conditions.IsTrue(machine, clusterv1.MachineAvailableCondition):
		return ctrl.Result{}, o.join(ctx, machine)
	default:
		return ctrl.Result{}, nil
	}
}

func (o *others) create(ctx context.Context, fooMachine *infrav1.FooMachine) error {
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: fooMachine.Namespace, Name: fooMachine.Labels[clusterv1.ClusterNameLabel]}}
	pool := &clusterv1.MachinePool{}
	if err := o.client.Get(ctx, client.ObjectKey{Namespace: fooMachine.Namespace, Name: fooMachine.Labels[clusterv1.MachinePoolNameLabel]}, pool); err != nil {
		return err
	}
	machine := infratest.NewMachine(cluster, fooMachine.Name)
	machine.Labels, machine.Finalizers = fooMachine.Labels, []string{clusterv1.MachineFinalizer}
	machine.Spec.Bootstrap = clusterv1.Bootstrap{DataSecretName: ptr.To("")}
	machine.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(pool, clusterv1.GroupVersion.WithKind("MachinePool"))}
	return client.IgnoreAlreadyExists(o.client.Create(ctx, machine))
}

func (o *others) join(ctx context.Context, machine *clusterv1.Machine) error {
	o.cloud.SetBootstrap(machine.Namespace+"."+machine.Name, cloud.Bootstrap{State: cloud.BootstrapSucceeded})
	before := machine.DeepCopy()
	machine.Status.NodeRef = clusterv1.MachineNodeReference{Name: machine.Name}
	conditions.Set(machine, metav1.Condition{Type: clusterv1.MachineAvailableCondition, Status: metav1.ConditionTrue, Reason: "Test"})
	return client.IgnoreNotFound(o.client.Status().Patch(ctx, machine, client.MergeFrom(before)))
}

func (o *others) end(ctx context.Context, fooMachine *infrav1.FooMachine, machine *clusterv1.Machine) error {
	id, err := providerid.InstanceID(fooMachine.Spec.ProviderID)
	if err != nil {
		return err
	}
	if err := o.cloud.DeleteInstance(ctx, id); err != nil && !cloud.IsNotFound(err) {
		return err
	}
	if err := o.client.Delete(ctx, fooMachine); client.IgnoreNotFound(err) != nil {
		return err
	}
	for object, finalizer := range map[client.Object]string{fooMachine: infrav1.FooMachineFinalizer, machine: clusterv1.MachineFinalizer} {
		before := object.DeepCopyObject().(client.Object)
		controllerutil.RemoveFinalizer(object, finalizer)
		if err := o.client.Patch(ctx, object, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func newManager(b *testing.B, env *envtestenv.Environment, count *counter) ctrl.Manager {
	b.Helper()
	config := rest.CopyConfig(env.Config)
	config.QPS = -1
	if count != nil {
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return countingTransport{counter: count, next: next} })
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: env.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}, Controller: ctrlconfig.Controller{SkipNameValidation: ptr.To(true)},
	})
	NewWithT(b).Expect(err).NotTo(HaveOccurred())
	return mgr
}

// BenchmarkPool brings pools of 500 and of 2,000 machines up and down again. Run it with
// go test -tags integration -run '^$' -bench BenchmarkPool -benchtime 1x ./controllers/machinepool
func BenchmarkPool(b *testing.B) {
	ctrl.SetLogger(logr.Discard())
	g := NewWithT(b)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	env, err := envtestenv.Start(ctx)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(env.Stop()).To(Succeed()) }()
	defer cancel()

	count, c := &counter{}, fake.New(fake.Options{})
	events := cloudevents.New(c, wait.Backoff{Duration: 10 * time.Millisecond, Factor: 1, Steps: 1})
	pools := newManager(b, env, count)
	g.Expect(pools.Add(events)).To(Succeed())
	g.Expect(SetupWithManager(ctx, pools, Options{Cloud: c, Events: events})).To(Succeed())
	machines := newManager(b, env, nil)
	g.Expect(ctrl.NewControllerManagedBy(machines).Named("others").For(&infrav1.FooMachine{}).
		Watches(&clusterv1.Machine{}, &handler.EnqueueRequestForObject{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 8}).
		Complete(&others{client: machines.GetClient(), cloud: c})).To(Succeed())
	for _, mgr := range []ctrl.Manager{pools, machines} {
		go func() { _ = mgr.Start(ctx) }()
	}
	for b.Loop() {
		small := measure(b, env, count, 500)
		large := measure(b, env, count, 2000)
		for what, ratio := range map[string]float64{
			"time-ratio":     float64(large.time) / float64(small.time) / 4,
			"cpu-ratio":      float64(large.cpu) / float64(small.cpu) / 4,
			"requests-ratio": float64(large.requests) / float64(small.requests) / 4,
		} {
			b.ReportMetric(ratio, what)
			if ratio > maxRatio {
				b.Errorf("%s of a machine at 2,000 to one at 500 is %.2f, allowed: %.1f", what, ratio, maxRatio)
			}
		}
	}
}

// measure brings one pool up and down.
func measure(b *testing.B, env *envtestenv.Environment, count *counter, size int32) cost {
	b.Helper()
	g, ctx := NewWithT(b), b.Context()
	namespace, err := env.CreateNamespace(ctx, "bench")
	g.Expect(err).NotTo(HaveOccurred())
	cluster := infratest.NewCluster(namespace, "one")
	g.Expect(env.Client.Create(ctx, cluster)).To(Succeed())
	cluster.Status.Initialization.InfrastructureProvisioned = ptr.To(true)
	g.Expect(env.Client.Status().Update(ctx, cluster)).To(Succeed())
	g.Expect(env.Client.Create(ctx, infratest.NewSecret(namespace, "workers", infratest.UserData))).To(Succeed())
	machinePool := infratest.NewMachinePool(cluster, "workers", 0)
	g.Expect(env.Client.Create(ctx, machinePool)).To(Succeed())
	pool := infratest.NewFooMachinePool(machinePool)
	g.Expect(env.Client.Create(ctx, pool)).To(Succeed())
	has := func(replicas int32) {
		g.Eventually(func(g Gomega) {
			g.Expect(env.Client.Get(ctx, client.ObjectKeyFromObject(pool), pool)).To(Succeed())
			g.Expect(pool.Status.AvailableReplicas).To(HaveValue(Equal(replicas)))
			g.Expect(pool.Status.Replicas).To(HaveValue(Equal(replicas)))
			g.Expect(pool.Spec.ProviderIDList).To(HaveLen(int(replicas)))
		}, "10m", "100ms").Should(Succeed(), "the pool comes to its size")
	}
	has(0)
	begin, used := time.Now(), cpu(g)
	requests, writes := count.requests.Load(), count.writes.Load()
	for _, replicas := range []int32{size, 0} {
		before := machinePool.DeepCopy()
		machinePool.Spec.Replicas = &replicas
		g.Expect(env.Client.Patch(ctx, machinePool, client.MergeFrom(before))).To(Succeed())
		has(replicas)
		b.Logf("%d machines: at %d after %s", size, replicas, time.Since(begin).Round(time.Millisecond))
	}
	result := cost{
		time: time.Since(begin), cpu: cpu(g) - used, requests: count.requests.Load() - requests, writes: count.writes.Load() - writes,
	}
	b.Logf("%d machines: %s; for each %s, %s CPU, %.2f requests", size, result, (result.time / time.Duration(size)).Round(time.Microsecond),
		(result.cpu / time.Duration(size)).Round(time.Microsecond), float64(result.requests)/float64(size))
	g.Consistently(count.writes.Load, "2s").Should(Equal(count.writes.Load()), "a settled pool is not written")
	return result
}

// cpu is the CPU time of this process: of the controller, and of what stands in for the others.
func cpu(g Gomega) time.Duration {
	usage := syscall.Rusage{}
	g.Expect(syscall.Getrusage(syscall.RUSAGE_SELF, &usage)).To(Succeed())
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
