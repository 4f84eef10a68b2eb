//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package tenancy

import (
	"context"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
)

// place is a tenant whose machines get into trouble. It may have one machine at a time.
type place interface {
	// existing returns the IDs of all instances, asking the cloud past its API.
	existing(ctx context.Context) []string
	// boot lets the instance of a FooMachine run, unless the cloud does that by itself.
	boot(ctx context.Context, fooMachine *infrav1.FooMachine)
	// allowMore raises the quota, unless it is enough that a machine is gone.
	allowMore(ctx context.Context)
	// fill takes the room for the instance of a FooMachine, which was ordered, until it is called
	// again.
	fill(ctx context.Context, order func() *infrav1.FooMachine) (fooMachine *infrav1.FooMachine, free func())
	// stop ends the first process of an instance, and lose removes the instance.
	stop(ctx context.Context, id string)
	lose(ctx context.Context, id string)
	// cut makes the API of the cloud unreachable until it is called again.
	cut() (mend func())
}

// describeTroubles describes what happens to a machine. The conditions, events and retries are the
// same whatever the cloud is.
func describeTroubles(prepare func(ctx context.Context) (*tenant, place)) {
	var t *tenant
	var p place
	var owner *clusterv1.Cluster
	var fooMachine *infrav1.FooMachine

	order := func(ctx context.Context, name string) *infrav1.FooMachine {
		GinkgoHelper()
		Expect(c.Create(ctx, infratest.NewSecret(t.namespace, name, infratest.UserData))).To(Succeed())
		machine := infratest.NewMachine(owner, name)
		machine.Spec.Bootstrap.DataSecretName = ptr.To(name)
		Expect(c.Create(ctx, machine)).To(Succeed())
		ordered := infratest.NewFooMachine(machine)
		Expect(c.Create(ctx, ordered)).To(Succeed())
		return ordered
	}
	provisioned := func(ctx context.Context, of *infrav1.FooMachine) func(Gomega) string {
		return condition(ctx, of, infrav1.FooMachineInstanceProvisionedCondition)
	}
	fails := func(ctx context.Context, of *infrav1.FooMachine, reason string) {
		GinkgoHelper()
		Eventually(provisioned(ctx, of)).Should(HavePrefix("False " + reason + ":"))
		Expect(text(of, infrav1.FooMachineReadyCondition)).To(HavePrefix("False " + reason + ":"))
		Eventually(warnings(ctx, of)).Should(ContainElement(reason))
	}
	runs := func(ctx context.Context, of *infrav1.FooMachine) {
		GinkgoHelper()
		p.boot(ctx, of)
		Eventually(provisioned(ctx, of)).Should(HavePrefix("True"))
		Expect(p.existing(ctx)).To(HaveLen(1))
	}
	gone := func(ctx context.Context, of *infrav1.FooMachine) {
		GinkgoHelper()
		Expect(c.Delete(ctx, of)).To(Succeed())
		Eventually(func() bool { return apierrors.IsNotFound(c.Get(ctx, client.ObjectKeyFromObject(of), of)) }).Should(BeTrue())
	}

	BeforeAll(func(ctx SpecContext) {
		t, p = prepare(ctx)
		Eventually(t.ready(ctx)).Should(HavePrefix("True"))
		owner, _ = t.cluster(ctx, t.namespace)
		before := owner.DeepCopy()
		owner.Status.Initialization.InfrastructureProvisioned = ptr.To(true)
		Expect(c.Status().Patch(ctx, owner, client.MergeFrom(before))).To(Succeed())
	})

	It("waits for quota", func(ctx SpecContext) {
		first := order(ctx, "first")
		runs(ctx, first)
		second := order(ctx, "second")
		fails(ctx, second, infrav1.CloudQuotaExceededReason)
		Expect(p.existing(ctx)).To(HaveLen(1))
		gone(ctx, first)
		p.allowMore(ctx)
		runs(ctx, second)
		gone(ctx, second)
		Expect(p.existing(ctx)).To(BeEmpty())
	})

	It("waits for capacity", func(ctx SpecContext) {
		var free func()
		fooMachine, free = p.fill(ctx, func() *infrav1.FooMachine { return order(ctx, "third") })
		fails(ctx, fooMachine, infrav1.CloudOutOfCapacityReason)
		free()
		runs(ctx, fooMachine)
	})

	It("stays while the cloud cannot be reached", func(ctx SpecContext) {
		before := p.existing(ctx)
		mend := p.cut()
		noticed := fooMachine.DeepCopy()
		noticed.Annotations = map[string]string{"test": "reconcile"}
		Expect(c.Patch(ctx, noticed, client.MergeFrom(fooMachine))).To(Succeed())
		Eventually(provisioned(ctx, fooMachine)).Should(HavePrefix("Unknown " + infrav1.CloudUnavailableReason + ":"))
		Expect(text(fooMachine, infrav1.FooMachineReadyCondition)).To(HavePrefix("Unknown"), "a MachineHealthCheck must not replace it")
		Eventually(warnings(ctx, fooMachine)).Should(ContainElement(infrav1.CloudUnavailableReason))
		Expect(p.existing(ctx)).To(Equal(before))
		mend()
		Eventually(provisioned(ctx, fooMachine)).Should(HavePrefix("True"))
		Expect(p.existing(ctx)).To(Equal(before), "nothing was created twice")
		Expect(cloud.InstanceID(fooMachine.Spec.ProviderID)).To(Equal(before[0]))
	})

	It("is reported as stopped, and not started again", func(ctx SpecContext) {
		before := p.existing(ctx)
		p.stop(ctx, before[0])
		fails(ctx, fooMachine, infrav1.FooMachineInstanceStoppedReason)
		Expect(p.existing(ctx)).To(Equal(before))
	})

	It("is reported as lost, and not created again", func(ctx SpecContext) {
		p.lose(ctx, p.existing(ctx)[0])
		fails(ctx, fooMachine, infrav1.FooMachineInstanceNotFoundReason)
		Consistently(func() []string { return p.existing(ctx) }, "1s").Should(BeEmpty())
	})
}

var _ = Describe("A machine in trouble on the local cloud", Ordered, func() {
	describeTroubles(func(ctx context.Context) (*tenant, place) {
		foocloud.setTokens(map[string]string{"red": "token-of-red", "blue": "token-of-blue", "green": "token-of-green"})
		green := newTenant(ctx, "green")
		return green, localPlace{green}
	})
})

var _ = Describe("A machine in trouble on a Kubernetes cluster", Ordered, func() {
	var p *outerPlace
	describeTroubles(func(ctx context.Context) (*tenant, place) {
		p = newOuterPlace(ctx)
		return p.tenant, p
	})

	It("says that its image cannot be pulled", func(ctx SpecContext) {
		owner := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: p.name}}
		Expect(c.Get(ctx, client.ObjectKeyFromObject(owner), owner)).To(Succeed())
		machine := infratest.NewMachine(owner, "fourth")
		machine.Spec.Bootstrap.DataSecretName = ptr.To("third")
		Expect(c.Create(ctx, machine)).To(Succeed())
		fooMachine := infratest.NewFooMachine(machine)
		Expect(c.Create(ctx, fooMachine)).To(Succeed())
		p.setStatus(ctx, fooMachine, func(status *corev1.PodStatus) {
			status.ContainerStatuses = []corev1.ContainerStatus{{Name: "node", State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"},
			}}}
		})
		Eventually(condition(ctx, fooMachine, infrav1.FooMachineInstanceProvisionedCondition)).Should(
			Equal("False " + infrav1.CloudUnavailableReason + ": ImagePullBackOff: no such image"))
		Eventually(warnings(ctx, fooMachine)).Should(ContainElement(infrav1.CloudUnavailableReason))
		before := p.existing(ctx)
		p.boot(ctx, fooMachine)
		Eventually(condition(ctx, fooMachine, infrav1.FooMachineInstanceProvisionedCondition)).Should(HavePrefix("True"))
		Expect(p.existing(ctx)).To(Equal(before), "it is the same Pod")
	})
})

// warnings returns the reasons of the warnings about an object.
func warnings(ctx context.Context, object client.Object) func(Gomega) []string {
	return func(g Gomega) []string {
		list := &eventsv1.EventList{}
		g.Expect(c.List(ctx, list, client.InNamespace(object.GetNamespace()))).To(Succeed())
		var reasons []string
		for _, event := range list.Items {
			if event.Regarding.UID == object.GetUID() && event.Type == corev1.EventTypeWarning {
				reasons = append(reasons, event.Reason)
			}
		}
		return reasons
	}
}

// localPlace is the tenant green of the local cloud.
type localPlace struct{ *tenant }

func (p localPlace) existing(ctx context.Context) []string {
	var ids []string
	for _, one := range p.instances(ctx) {
		ids = append(ids, one.ID)
	}
	return ids
}

func (p localPlace) boot(context.Context, *infrav1.FooMachine) {}

func (p localPlace) allowMore(context.Context) {}

func (p localPlace) fill(ctx context.Context, order func() *infrav1.FooMachine) (*infrav1.FooMachine, func()) {
	GinkgoHelper()
	_, err := foocloud.engine.Tenant(p.name).EnsureFault(ctx, fault.ReachOwn, fault.Spec{Name: "full", Kind: fault.Stockout})
	Expect(err).NotTo(HaveOccurred())
	return order(), func() {
		Expect(foocloud.engine.Tenant(p.name).RemoveFault(ctx, fault.ReachOwn, p.name, "full")).To(Succeed())
	}
}

func (p localPlace) stop(_ context.Context, id string) { foocloud.machines.Die(id, "killed") }

func (p localPlace) lose(ctx context.Context, id string) {
	GinkgoHelper()
	Eventually(func() error { return foocloud.engine.Tenant(p.name).DeleteInstance(ctx, id) }).Should(MatchError(cloud.IsNotFound, "a NotFoundError"))
}

func (p localPlace) cut() func() {
	foocloud.down.Store(true)
	foocloud.web.CloseClientConnections()
	mend := func() { foocloud.down.Store(false) }
	DeferCleanup(mend)
	return mend
}

// outerPlace is a namespace of an outer cluster without a scheduler and kubelets, which the test
// stands in for.
type outerPlace struct {
	*tenant

	machines string
	gate     *gate
}

// newOuterPlace returns a namespace whose quota allows one Pod.
func newOuterPlace(ctx context.Context) *outerPlace {
	GinkgoHelper()
	server, err := url.Parse(env.Config.Host)
	Expect(err).NotTo(HaveOccurred())
	p := &outerPlace{machines: "troubled", gate: newGate(server.Host)}
	p.tenant = newOuterTenant(ctx, p.machines, "https://"+p.gate.listener.Addr().String())
	p.limit(ctx, "1")
	return p
}

// limit sets the quota, as a controller of a complete cluster would.
func (p *outerPlace) limit(ctx context.Context, pods string) {
	GinkgoHelper()
	hard := corev1.ResourceList{corev1.ResourcePods: resource.MustParse(pods)}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: p.machines, Name: "limit"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	Expect(client.IgnoreAlreadyExists(c.Create(ctx, quota))).To(Succeed())
	Eventually(func(g Gomega) {
		g.Expect(c.Get(ctx, client.ObjectKeyFromObject(quota), quota)).To(Succeed())
		quota.Spec.Hard = hard
		g.Expect(c.Update(ctx, quota)).To(Succeed())
		quota.Status.Hard = hard
		if quota.Status.Used == nil {
			quota.Status.Used = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}
		}
		g.Expect(c.Status().Update(ctx, quota)).To(Succeed())
	}).Should(Succeed())
}

func (p *outerPlace) pods(ctx context.Context) []corev1.Pod {
	GinkgoHelper()
	list := &corev1.PodList{}
	Expect(c.List(ctx, list, client.InNamespace(p.machines))).To(Succeed())
	return list.Items
}

// setStatus changes the status of the Pod of a FooMachine, once there is one.
func (p *outerPlace) setStatus(ctx context.Context, fooMachine *infrav1.FooMachine, change func(*corev1.PodStatus)) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		list := &corev1.PodList{}
		g.Expect(c.List(ctx, list, client.InNamespace(p.machines))).To(Succeed())
		index := slices.IndexFunc(list.Items, func(pod corev1.Pod) bool { return strings.HasPrefix(pod.Name, p.namespace+"-"+fooMachine.Name+"-") })
		g.Expect(index).To(BeNumerically(">=", 0), "FooMachine %s has no Pod", fooMachine.Name)
		change(&list.Items[index].Status)
		g.Expect(c.Status().Update(ctx, &list.Items[index])).To(Succeed())
	}).Should(Succeed())
}

func (p *outerPlace) existing(ctx context.Context) []string {
	var ids []string
	for _, pod := range p.pods(ctx) {
		id, err := cloud.InstanceID(providerIDOf(pod))
		Expect(err).NotTo(HaveOccurred())
		ids = append(ids, id)
	}
	return ids
}

// providerIDOf returns the provider ID that the record of a Pod has.
func providerIDOf(pod corev1.Pod) string {
	_, rest, _ := strings.Cut(pod.Annotations["foocloud.cluster.x-k8s.io/instance"], `"providerID":"`)
	providerID, _, _ := strings.Cut(rest, `"`)
	return providerID
}

func (p *outerPlace) boot(ctx context.Context, fooMachine *infrav1.FooMachine) {
	GinkgoHelper()
	p.setStatus(ctx, fooMachine, func(status *corev1.PodStatus) {
		status.Phase, status.PodIP, status.PodIPs = corev1.PodRunning, "10.9.0.1", []corev1.PodIP{{IP: "10.9.0.1"}}
		status.Conditions = nil
		status.ContainerStatuses = []corev1.ContainerStatus{{Name: "node", Started: ptr.To(true), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	})
}

func (p *outerPlace) allowMore(ctx context.Context) { p.limit(ctx, "9") }

func (p *outerPlace) fill(ctx context.Context, order func() *infrav1.FooMachine) (*infrav1.FooMachine, func()) {
	GinkgoHelper()
	fooMachine := order()
	p.setStatus(ctx, fooMachine, func(status *corev1.PodStatus) {
		status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/3 nodes are available",
		}}
	})
	return fooMachine, func() {}
}

// stop evicts the Pod of an instance, as a kubelet does whose node is short of memory.
func (p *outerPlace) stop(ctx context.Context, id string) {
	GinkgoHelper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.machines, Name: id[:strings.LastIndex(id, "-")]}}
	Expect(c.Get(ctx, client.ObjectKeyFromObject(pod), pod)).To(Succeed())
	pod.Status.Phase, pod.Status.Reason, pod.Status.Message = corev1.PodFailed, "Evicted", "The node was low on resource: memory."
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "node", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137}}}}
	Expect(c.Status().Update(ctx, pod)).To(Succeed())
}

func (p *outerPlace) lose(ctx context.Context, id string) {
	GinkgoHelper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: p.machines, Name: id[:strings.LastIndex(id, "-")]}}
	Expect(c.Delete(ctx, pod, client.GracePeriodSeconds(0))).To(Succeed())
}

func (p *outerPlace) cut() func() {
	p.gate.shut(true)
	mend := func() { p.gate.shut(false) }
	DeferCleanup(mend)
	return mend
}

// gate forwards connections to a server while it is open.
type gate struct {
	listener net.Listener
	target   string

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]struct{}
}

func newGate(target string) *gate {
	GinkgoHelper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	Expect(err).NotTo(HaveOccurred())
	g := &gate{listener: listener, target: target, conns: map[net.Conn]struct{}{}}
	DeferCleanup(func() {
		g.shut(true)
		_ = listener.Close()
	})
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go g.forward(client)
		}
	}()
	return g
}

func (g *gate) forward(client net.Conn) {
	server, err := net.Dial("tcp", g.target)
	if err != nil {
		_ = client.Close()
		return
	}
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		_, _ = client.Close(), server.Close()
		return
	}
	g.conns[client], g.conns[server] = struct{}{}, struct{}{}
	g.mu.Unlock()
	ended := make(chan struct{}, 2)
	for from, to := range map[net.Conn]net.Conn{client: server, server: client} {
		go func() {
			_, _ = io.Copy(to, from)
			ended <- struct{}{}
		}()
	}
	<-ended
	_, _ = client.Close(), server.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.conns, client)
	delete(g.conns, server)
}

// shut closes all connections, and refuses new ones until it is opened again.
func (g *gate) shut(closed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = closed
	for conn := range g.conns {
		if closed {
			_ = conn.Close()
		}
	}
}
