// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
)

// soon is a generous timeout for the work of a few goroutines on a busy machine.
const soon = time.Minute

var ctx = context.Background()

func instanceSpec(name string) cloud.InstanceSpec {
	return cloud.InstanceSpec{Name: name, Hostname: "host", InstanceTemplate: cloud.InstanceTemplate{
		Type: "small", KubernetesVersion: version, UserData: []byte("secret"), Tags: cloud.Tags{"cluster": "one"},
	}}
}

func poolSpec(name string, size int32) cloud.PoolSpec {
	return cloud.PoolSpec{
		Name: name, HostnamePrefix: "worker", Size: size, Revision: "r1", Template: instanceSpec(name).InstanceTemplate,
		Tags: cloud.Tags{"kind": "pool"},
	}
}

func balancerSpec(name string) cloud.LoadBalancerSpec {
	return cloud.LoadBalancerSpec{Name: name, Port: 6443, Selector: cloud.Tags{"cluster": "one"}}
}

// http returns a client that is not Foo's.
func (w *world) http() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
}

func (w *world) get(path string) *http.Response {
	response, err := w.http().Get(w.endpoint + path)
	w.Expect(err).NotTo(HaveOccurred())
	return response
}

func (w *world) eventuallyState(id string, state cloud.InstanceState) {
	w.Eventually(func() (cloud.InstanceState, error) {
		instance, err := w.client.GetInstance(ctx, id)
		return instance.State, err
	}, soon).Should(Equal(state), "the supervisor acts on its own")
}

func (w *world) eventuallyGone(gone func() error) {
	w.Eventually(func() bool { return cloud.IsNotFound(gone()) }, soon).Should(BeTrue(), "a deletion ends with NotFound")
}

func TestCatalog(t *testing.T) {
	w := newWorld(t)
	zones, err := w.client.Zones(ctx)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(zones).To(Equal([]cloud.Zone{{Name: "zone-a", ControlPlane: true}, {Name: "zone-b"}}))
	types, err := w.client.InstanceTypes(ctx)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(types).To(HaveLen(1))
	images, err := w.client.Images(ctx)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(images).To(Equal([]cloud.Image{{KubernetesVersion: version}, {Name: "gpu", KubernetesVersion: version}}))
	quota, err := w.client.Quota(ctx)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(quota.Limits.Instances).To(Equal(3))
}

func TestInstanceLife(t *testing.T) {
	w := newWorld(t)
	made, err := w.client.EnsureInstance(ctx, instanceSpec("ns.one"))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(made.ID).To(MatchRegexp("^[a-z0-9]{3,12}$"))
	w.Expect(made.ProviderID).To(Equal("foo:///zone-a/" + made.ID))
	w.Expect(made.Address).To(Equal("10.91.0.3"))
	w.eventuallyState(made.ID, cloud.InstanceRunning)
	w.Expect(w.machines.Spec(made.ID).UserData).To(Equal([]byte("secret")))

	again, err := w.client.EnsureInstance(ctx, instanceSpec("ns.one"))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(again.ID).To(Equal(made.ID), "the call is idempotent")

	w.machines.Report(made.ID, cloud.Bootstrap{State: cloud.BootstrapFailed, Message: "it broke"})
	w.Eventually(func() (string, error) {
		now, err := w.client.GetInstance(ctx, made.ID)
		return now.Bootstrap.Message, err
	}, soon).Should(Equal("it broke"), "reports are events")

	w.machines.Die(made.ID, "signal: killed")
	w.eventuallyState(made.ID, cloud.InstanceStopped)
	stopped, err := w.client.GetInstance(ctx, made.ID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(stopped.Message).To(ContainSubstring("signal: killed"))

	w.Expect(w.client.DeleteInstance(ctx, made.ID)).To(Succeed())
	w.eventuallyGone(func() error { return w.client.DeleteInstance(ctx, made.ID) })
}

func TestInstanceFilters(t *testing.T) {
	w := newWorld(t)
	_, err := w.client.EnsureInstance(ctx, instanceSpec("one"))
	w.Expect(err).NotTo(HaveOccurred())
	tagged := instanceSpec("two")
	tagged.Tags = cloud.Tags{"foo.io/odd": "a=b&c", "cluster": "two"}
	_, err = w.client.EnsureInstance(ctx, tagged)
	w.Expect(err).NotTo(HaveOccurred())
	for _, test := range []struct {
		filter cloud.InstanceFilter
		names  []string
	}{
		{cloud.InstanceFilter{}, []string{"one", "two"}},
		{cloud.InstanceFilter{Name: "one"}, []string{"one"}},
		{cloud.InstanceFilter{Tags: cloud.Tags{"foo.io/odd": "a=b&c"}}, []string{"two"}},
		{cloud.InstanceFilter{Tags: cloud.Tags{"cluster": "one", "foo.io/odd": "a=b&c"}}, []string{}},
		{cloud.InstanceFilter{Pool: "none"}, []string{}},
	} {
		list, err := w.client.ListInstances(ctx, test.filter)
		w.Expect(err).NotTo(HaveOccurred())
		names := []string{}
		for _, instance := range list {
			names = append(names, instance.Name)
		}
		w.Expect(names).To(Equal(test.names))
	}
	foreign, err := w.other.ListInstances(ctx, cloud.InstanceFilter{})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(foreign).To(BeEmpty(), "tenants do not see each other")
}

func TestWhatIsAskedForOfAnInstance(t *testing.T) {
	w := newWorld(t)
	spec := instanceSpec("one")
	spec.Image, spec.DiskBytes, spec.Tags = "gpu", 1<<30, cloud.Tags{"team": "red"}
	made, err := w.client.EnsureInstance(ctx, spec)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect([]any{made.Image, made.DiskBytes, made.Tags}).To(Equal([]any{"gpu", int64(1 << 30), cloud.Tags{"team": "red"}}))
	w.eventuallyState(made.ID, cloud.InstanceRunning)
	w.Expect(w.machines.Spec(made.ID).Instance).To(And(HaveField("Image", "gpu"), HaveField("DiskBytes", int64(1<<30))))
	for field, change := range map[string]func(*cloud.InstanceSpec){
		"image": func(s *cloud.InstanceSpec) { s.Image = "" }, "diskBytes": func(s *cloud.InstanceSpec) { s.DiskBytes = 2 << 30 },
		"tags": func(s *cloud.InstanceSpec) { s.Tags = nil },
	} {
		other := spec
		change(&other)
		_, err := w.client.EnsureInstance(ctx, other)
		w.Expect(cloud.IsInvalid(err)).To(BeTrue(), field)
		w.Expect(err).To(MatchError(ContainSubstring(field)))
	}

	pool := poolSpec("pool", 1)
	pool.Template.Image, pool.Template.DiskBytes = "gpu", 1<<30
	_, err = w.client.EnsurePool(ctx, pool, "")
	w.Expect(err).NotTo(HaveOccurred())
	members, err := w.client.ListInstances(ctx, cloud.InstanceFilter{Pool: "pool"})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(members).To(ConsistOf(And(HaveField("Image", "gpu"), HaveField("DiskBytes", int64(1<<30)))))
}

func TestPoolLife(t *testing.T) {
	w := newWorld(t)
	pool, err := w.client.EnsurePool(ctx, poolSpec("ns.pool", 2), "")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(pool.Instances).To(BeEquivalentTo(2))
	w.Expect(pool.Template.UserData).To(BeEmpty(), "bootstrap data is never returned")

	list, err := w.client.ListInstances(ctx, cloud.InstanceFilter{Pool: "ns.pool"})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(list).To(HaveLen(2))
	w.Expect([]string{list[0].Zone, list[1].Zone}).To(ConsistOf("zone-a", "zone-b"))
	w.Expect(list[0].Revision).To(Equal("r1"))

	_, err = w.client.ScalePool(ctx, "ns.pool", 1, pool.Version)
	w.Expect(cloud.IsInvalid(err)).To(BeTrue(), "a pool shrinks only by deletions: %v", err)
	w.Expect(w.client.DeleteInstance(ctx, list[0].ID)).To(Succeed())
	pool, err = w.client.GetPool(ctx, "ns.pool")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect([]int32{pool.Size, pool.Instances}).To(Equal([]int32{1, 1}))

	pools, err := w.client.ListPools(ctx, cloud.Tags{"kind": "pool"})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(pools).To(HaveLen(1))
	w.Expect(w.client.DeletePool(ctx, "ns.pool")).To(Succeed())
	w.eventuallyGone(func() error { return w.client.DeletePool(ctx, "ns.pool") })
	w.Expect(w.machines.Running()).To(BeZero())
}

func TestPoolWaitsForQuota(t *testing.T) {
	w := newWorld(t)
	single, err := w.client.EnsureInstance(ctx, instanceSpec("one"))
	w.Expect(err).NotTo(HaveOccurred())
	pool, err := w.client.EnsurePool(ctx, poolSpec("pool", 3), "")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(pool.Instances).To(BeEquivalentTo(2))
	w.Expect(pool.Problem).NotTo(BeNil())
	w.Expect(pool.Problem.Reason).To(Equal(cloud.ReasonQuotaExceeded))
	w.Expect(w.client.DeleteInstance(ctx, single.ID)).To(Succeed())
	w.Eventually(func() (int32, error) {
		pool, err = w.client.GetPool(ctx, "pool")
		return pool.Instances, err
	}, soon).Should(BeEquivalentTo(3), "quota that becomes free is used at once")
	w.Expect(pool.Problem).To(BeNil())
}

func TestDrain(t *testing.T) {
	w := newWorld(t)
	_, err := w.client.EnsureLoadBalancer(ctx, balancerSpec("ns.lb"))
	w.Expect(err).NotTo(HaveOccurred())
	made, err := w.client.EnsureInstance(ctx, instanceSpec("ns.one"))
	w.Expect(err).NotTo(HaveOccurred())
	w.eventuallyState(made.ID, cloud.InstanceRunning)
	w.Expect(w.client.DrainInstance(ctx, made.ID)).To(Succeed())
	w.Expect(w.client.DrainInstance(ctx, made.ID)).To(Succeed(), "the call is idempotent")
	want := []cloud.Backend{{InstanceID: made.ID, Address: made.Address, Draining: true}}
	w.Eventually(w.balancers.Backends, soon).Should(Equal(want), "the load balancer is told")
	now, err := w.client.GetLoadBalancer(ctx, "ns.lb")
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(now.Backends).To(Equal(want))
	drained, err := w.client.GetInstance(ctx, made.ID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(drained.Draining).To(BeTrue())
	w.Expect(drained.State).To(Equal(cloud.InstanceRunning))
	w.Expect(cloud.IsNotFound(w.client.DrainInstance(ctx, "none"))).To(BeTrue())
}

func TestLoadBalancerLife(t *testing.T) {
	w := newWorld(t)
	made, err := w.client.EnsureLoadBalancer(ctx, balancerSpec("ns.lb"))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(made.Address).NotTo(BeEmpty(), "the address is known before it is ready")
	instance, err := w.client.EnsureInstance(ctx, instanceSpec("one"))
	w.Expect(err).NotTo(HaveOccurred())
	w.Eventually(w.balancers.Addresses, soon).Should(Equal([]string{instance.Address}), "a running instance is a backend")
	w.Eventually(func() (cloud.LoadBalancer, error) { return w.client.GetLoadBalancer(ctx, "ns.lb") }, soon).Should(And(
		HaveField("Ready", BeTrue()), HaveField("Backends", Equal([]cloud.Backend{{InstanceID: instance.ID, Address: instance.Address}}))))

	w.balancers.KillAll()
	w.Eventually(w.balancers.Running, soon).Should(Equal(1), "one that died is started again")
	w.machines.Die(instance.ID, "killed")
	w.Eventually(w.balancers.Addresses, soon).Should(BeEmpty(), "a stopped instance is no backend")

	list, err := w.client.ListLoadBalancers(ctx, nil)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(list).To(HaveLen(1))
	w.Expect(w.client.DeleteLoadBalancer(ctx, "ns.lb")).To(Succeed())
	w.eventuallyGone(func() error { return w.client.DeleteLoadBalancer(ctx, "ns.lb") })
	w.Expect(w.balancers.Running()).To(BeZero())
}

func TestTypedErrors(t *testing.T) {
	w := newWorld(t)
	_, err := w.client.GetInstance(ctx, "nobody")
	w.Expect(err).To(Equal(&cloud.NotFoundError{Kind: "instance", Name: "nobody"}))

	wrong := instanceSpec("one")
	wrong.Type = "huge"
	_, err = w.client.EnsureInstance(ctx, wrong)
	w.Expect(err).To(Equal(&cloud.InvalidError{Field: "type", Value: "huge", Problem: "unknown instance type", Allowed: []string{"small"}}))

	_, err = w.client.EnsureLoadBalancer(ctx, balancerSpec("one"))
	w.Expect(err).NotTo(HaveOccurred())
	_, err = w.client.EnsureLoadBalancer(ctx, balancerSpec("two"))
	w.Expect(err).To(Equal(&cloud.QuotaExceededError{Resource: "loadBalancers", Limit: 1, Used: 1, Requested: 1}))

	_, err = w.as("wrong").Zones(ctx)
	w.Expect(cloud.IsUnauthorized(err)).To(BeTrue(), "%v", err)
	w.Expect(err.Error()).NotTo(ContainSubstring("wrong"), "a token is never shown")

	w.Eventually(func() bool {
		_, err = w.slow.Zones(ctx)
		after, throttled := cloud.RetryAfter(err)
		return throttled && after > 0 && after <= time.Second
	}, soon).Should(BeTrue(), "who asks too often is told when to come again")
}

func TestUnreachable(t *testing.T) {
	g := NewWithT(t)
	endpoint := "unix://" + filepath.Join(t.TempDir(), "none.sock")
	c, err := client.NewClient(client.Options{Endpoint: endpoint, Token: "x"})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.Zones(ctx)
	g.Expect(cloud.IsUnavailable(err)).To(BeTrue(), "%v", err)
	g.Expect(err.Error()).To(ContainSubstring(endpoint))
}

func TestClientOptions(t *testing.T) {
	g := NewWithT(t)
	empty := filepath.Join(t.TempDir(), "token")
	g.Expect(os.WriteFile(empty, nil, 0o600)).To(Succeed())
	for _, options := range []client.Options{
		{Endpoint: "unix:///x"},
		{Endpoint: "unix:///x", Token: "a", TokenFile: "b"},
		{Endpoint: "http://localhost:1", Token: "a"},
		{Endpoint: "unix://relative/path", Token: "a"},
		{Endpoint: "https://localhost:1", Token: "a", CAFile: "/does/not/exist"},
		{Endpoint: "https://localhost:1", Token: "a", CAFile: empty},
	} {
		_, err := client.NewClient(options)
		g.Expect(err).To(HaveOccurred(), "%+v", options)
	}
	c, err := client.NewClient(client.Options{Endpoint: "unix:///x", TokenFile: empty})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = c.Zones(ctx)
	g.Expect(cloud.IsUnauthorized(err)).To(BeTrue(), "%v", err)
}

func TestUnknownPathIsNoNotFound(t *testing.T) {
	w := newWorld(t)
	response := w.get("/v1/nothing")
	var sent api.Error
	w.Expect(json.NewDecoder(response.Body).Decode(&sent)).To(Succeed())
	w.Expect(sent.Reason).To(Equal(cloud.ReasonUnknown), "a client must not take a wrong path for a deleted thing")
}

func TestLog(t *testing.T) {
	w := newWorld(t)
	instance, err := w.client.EnsureInstance(ctx, instanceSpec("one"))
	w.Expect(err).NotTo(HaveOccurred())
	log, err := w.client.Log(ctx, instance.ID, client.LogOptions{Source: "kubelet"})
	w.Expect(err).NotTo(HaveOccurred())
	text, err := io.ReadAll(log)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(string(text)).To(Equal("the kubelet of " + instance.ID + "\n"))
	_, err = w.client.Log(ctx, instance.ID, client.LogOptions{Source: "diary"})
	w.Expect(cloud.IsInvalid(err)).To(BeTrue(), "%v", err)
	_, err = w.other.Log(ctx, instance.ID, client.LogOptions{})
	w.Expect(cloud.IsNotFound(err)).To(BeTrue(), "%v", err)
}

func TestWatch(t *testing.T) {
	w := newWorld(t)
	watching, stop := context.WithCancel(ctx)
	events, err := w.client.Watch(watching)
	w.Expect(err).NotTo(HaveOccurred())
	w.Eventually(events, soon).Should(Receive(Equal(cloud.Event{Kind: cloud.EventSynced})), "Synced is the first event")
	_, err = w.other.EnsureInstance(ctx, instanceSpec("foreign"))
	w.Expect(err).NotTo(HaveOccurred())
	pool, err := w.client.EnsurePool(ctx, poolSpec("pool", 1), "")
	w.Expect(err).NotTo(HaveOccurred())
	seen := map[cloud.EventKind]cloud.Event{}
	w.Eventually(func() map[cloud.EventKind]cloud.Event {
		select {
		case event := <-events:
			w.Expect(event.Name).NotTo(Equal("foreign"), "tenants do not see each other")
			seen[event.Kind] = event
		default:
		}
		return seen
	}, soon).Should(HaveLen(2), "the pool and its instance changed")
	w.Expect(seen[cloud.EventPool]).To(Equal(cloud.Event{Kind: cloud.EventPool, Name: "pool", Tags: pool.Tags}))
	w.Expect(seen[cloud.EventInstance].Pool).To(Equal("pool"))
	stop()
	w.Eventually(func() bool {
		_, open := <-events
		return open
	}, soon).Should(BeFalse(), "the channel is closed with the context")
}

func TestErrorsTravelWhole(t *testing.T) {
	g := NewWithT(t)
	for _, err := range []error{
		&cloud.NotFoundError{Kind: "pool", Name: "a.b"},
		&cloud.InvalidError{Field: "f", Value: "v", Problem: "p", Allowed: []string{"a", "b"}},
		&cloud.QuotaExceededError{Resource: "cpus", Limit: 4, Used: 3, Requested: 2},
		&cloud.CapacityError{Zone: "zone-a", Message: "m"},
		&cloud.UnauthorizedError{Message: "m"},
		&cloud.ThrottledError{RetryAfter: 1500 * time.Millisecond},
		&cloud.UnavailableError{Message: "m"},
	} {
		text, encodeErr := json.Marshal(api.NewError(err))
		g.Expect(encodeErr).NotTo(HaveOccurred())
		var sent api.Error
		g.Expect(json.Unmarshal(text, &sent)).To(Succeed())
		g.Expect(sent.Typed()).To(Equal(err))
		g.Expect(sent.Status()).To(BeNumerically(">=", http.StatusBadRequest))
	}
}

func TestValidation(t *testing.T) {
	w := newWorld(t)
	instance := func(change func(*cloud.InstanceSpec)) func() error {
		spec := instanceSpec("one")
		change(&spec)
		return func() error { _, err := w.client.EnsureInstance(ctx, spec); return err }
	}
	balancer := func(change func(*cloud.LoadBalancerSpec)) func() error {
		spec := balancerSpec("one")
		change(&spec)
		return func() error { _, err := w.client.EnsureLoadBalancer(ctx, spec); return err }
	}
	pool := func(change func(*cloud.PoolSpec)) func() error {
		spec := poolSpec("one", 1)
		change(&spec)
		return func() error { _, err := w.client.EnsurePool(ctx, spec, ""); return err }
	}
	for _, test := range []struct {
		name  string
		call  func() error
		words []string
	}{
		{"name", instance(func(s *cloud.InstanceSpec) { s.Name = "Not_A_Name" }), []string{`name "Not_A_Name"`, "lower case"}},
		{"host name", instance(func(s *cloud.InstanceSpec) { s.Hostname = string(slices.Repeat([]byte("a"), 64)) }), []string{"hostname", "63"}},
		{"zone", instance(func(s *cloud.InstanceSpec) { s.Zone = "zone-z" }), []string{"zone-z", "allowed: zone-a, zone-b"}},
		{"image", instance(func(s *cloud.InstanceSpec) { s.KubernetesVersion = "v1.2.3" }), []string{`"v1.2.3"`, "allowed: " + version}},
		{"odd image", instance(func(s *cloud.InstanceSpec) { s.KubernetesVersion = "latest" }), []string{"allowed: " + version}},
		{"named image", instance(func(s *cloud.InstanceSpec) { s.Image = "tpu" }), []string{`image "tpu"`, "for Kubernetes " + version, "allowed: gpu"}},
		{"small disk", instance(func(s *cloud.InstanceSpec) { s.DiskBytes = 1 << 20 }), []string{`diskBytes "1048576"`, "allowed: 0, 67108864-8796093022208"}},
		{"zones", instance(func(s *cloud.InstanceSpec) { s.Zones = []string{"zone-z"} }), []string{"zones", "zone-z", "allowed: zone-a, zone-b"}},
		{"target port", balancer(func(s *cloud.LoadBalancerSpec) { s.TargetPort = -1 }), []string{`targetPort "-1"`, "1-65535"}},
		{"port", balancer(func(s *cloud.LoadBalancerSpec) { s.Port = 70000 }), []string{`port "70000"`, "1-65535"}},
		{"selector", balancer(func(s *cloud.LoadBalancerSpec) { s.Selector = nil }), []string{"selector", "at least one tag"}},
		{"size", pool(func(s *cloud.PoolSpec) { s.Size = -1 }), []string{`size "-1"`, "0-"}},
		{"pool zone", pool(func(s *cloud.PoolSpec) { s.Zones = []string{"moon"} }), []string{"zones", "moon", "allowed"}},
		{"pool type", pool(func(s *cloud.PoolSpec) { s.Template.Type = "" }), []string{"template.type", "small"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			err := test.call()
			g.Expect(cloud.IsInvalid(err)).To(BeTrue(), "%v", err)
			for _, word := range test.words {
				g.Expect(err.Error()).To(ContainSubstring(word))
			}
		})
	}
}
