// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
)

const (
	crossTenantCalls = 1000
	crossTenantSeed  = 20260101
)

// property is everything that one tenant owns. The other tenant uses none of the names.
type property struct {
	instances []cloud.Instance
	pool      string
	balancer  string
	fault     string
	tenant    string
	tags      cloud.Tags
}

func (w *world) acquire(c *client.Client, owner string) property {
	tags := cloud.Tags{"cluster": owner}
	single, pool, balancer := instanceSpec(owner+"-single"), poolSpec(owner+"-pool", 1), balancerSpec(owner+"-lb")
	single.Tags, pool.Tags, pool.Template.Tags, balancer.Tags = tags, tags, tags, tags
	_, err := c.EnsureInstance(ctx, single)
	w.Expect(err).NotTo(HaveOccurred())
	_, err = c.EnsurePool(ctx, pool, "")
	w.Expect(err).NotTo(HaveOccurred())
	_, err = c.EnsureLoadBalancer(ctx, balancer)
	w.Expect(err).NotTo(HaveOccurred())
	// This rule strikes nothing in the test.
	rule, err := c.EnsureFault(ctx, fault.Spec{Name: owner + "-rule", Kind: fault.Stockout, Pool: "none"})
	w.Expect(err).NotTo(HaveOccurred())
	return property{
		instances: w.settled(c), pool: pool.Name, balancer: balancer.Name, fault: rule.Name, tenant: rule.Tenant, tags: tags,
	}
}

// settled returns a tenant's two instances once both run, so that later comparisons are stable.
func (w *world) settled(c *client.Client) []cloud.Instance {
	var instances []cloud.Instance
	w.Eventually(func(g Gomega) {
		var err error
		instances, err = c.ListInstances(ctx, cloud.InstanceFilter{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(instances).To(HaveLen(2))
		g.Expect(instances).To(HaveEach(HaveField("State", cloud.InstanceRunning)))
	}, soon).Should(Succeed(), "the supervisors act on their own")
	return instances
}

// errSeen means that a list showed another tenant's objects.
var errSeen = errors.New("a list shows what belongs to another tenant")

func unseen[T any](items []T, err error) error {
	if err == nil && len(items) > 0 {
		return errSeen
	}
	return err
}

func unseenRule(c *client.Client, name string) error {
	rules, err := c.ListFaults(ctx)
	rules = slices.DeleteFunc(rules, func(r fault.Rule) bool { return r.Name != name })
	return unseen(rules, err)
}

// intrusions are calls by a tenant that name another tenant's objects. Each must return a
// NotFoundError or an empty list.
var intrusions = map[string]func(c *client.Client, p property, id string) error{
	"get instance":    func(c *client.Client, _ property, id string) error { _, err := c.GetInstance(ctx, id); return err },
	"delete instance": func(c *client.Client, _ property, id string) error { return c.DeleteInstance(ctx, id) },
	"drain instance":  func(c *client.Client, _ property, id string) error { return c.DrainInstance(ctx, id) },
	"switch instance": func(c *client.Client, _ property, id string) error { return c.SwitchInstance(ctx, id, "stop") },
	"read console": func(c *client.Client, _ property, id string) error {
		log, err := c.Log(ctx, id, client.LogOptions{})
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, log)
		return errors.Join(errSeen, err, log.Close())
	},
	"get pool":    func(c *client.Client, p property, _ string) error { _, err := c.GetPool(ctx, p.pool); return err },
	"delete pool": func(c *client.Client, p property, _ string) error { return c.DeletePool(ctx, p.pool) },
	"get load balancer": func(c *client.Client, p property, _ string) error {
		_, err := c.GetLoadBalancer(ctx, p.balancer)
		return err
	},
	"delete load balancer": func(c *client.Client, p property, _ string) error { return c.DeleteLoadBalancer(ctx, p.balancer) },
	"list instances by pool": func(c *client.Client, p property, _ string) error {
		return unseen(c.ListInstances(ctx, cloud.InstanceFilter{Pool: p.pool}))
	},
	"list instances by name": func(c *client.Client, p property, _ string) error {
		return unseen(c.ListInstances(ctx, cloud.InstanceFilter{Name: p.instances[0].Name}))
	},
	"list instances by tags": func(c *client.Client, p property, _ string) error {
		return unseen(c.ListInstances(ctx, cloud.InstanceFilter{Tags: p.tags}))
	},
	"list pools": func(c *client.Client, p property, _ string) error { return unseen(c.ListPools(ctx, p.tags)) },
	"get fault rule": func(c *client.Client, p property, _ string) error {
		_, err := c.GetFault(ctx, p.tenant, p.fault)
		return err
	},
	"remove fault rule":   func(c *client.Client, p property, _ string) error { return c.RemoveFault(ctx, p.tenant, p.fault) },
	"list fault rules":    func(c *client.Client, p property, _ string) error { return unseenRule(c, p.fault) },
	"list load balancers": func(c *client.Client, p property, _ string) error { return unseen(c.ListLoadBalancers(ctx, p.tags)) },
}

// mustFail reports whether a call names a single object and so has no empty answer.
func mustFail(call string) bool { return call[:4] != "list" }

func TestTenantsCanNotReachEachOther(t *testing.T) {
	w := newWorld(t)
	owned := []property{w.acquire(w.client, "a"), w.acquire(w.other, "b")}
	clients := []*client.Client{w.client, w.other}
	calls := []string{
		"get instance", "delete instance", "drain instance", "switch instance", "read console", "get pool", "delete pool", "get load balancer",
		"delete load balancer", "list instances by pool", "list instances by name", "list instances by tags", "list pools",
		"list load balancers", "get fault rule", "remove fault rule", "list fault rules",
	}
	w.Expect(calls).To(HaveLen(len(intrusions)))
	random := rand.New(rand.NewPCG(crossTenantSeed, crossTenantSeed))
	for i := range crossTenantCalls {
		intruder, call := random.IntN(2), calls[random.IntN(len(calls))]
		victim := owned[1-intruder]
		id := victim.instances[random.IntN(len(victim.instances))].ID
		err := intrusions[call](clients[intruder], victim, id)
		if mustFail(call) {
			w.Expect(cloud.IsNotFound(err)).To(BeTrue(), "call %d, %s: %v", i, call, err)
		} else {
			w.Expect(err).NotTo(HaveOccurred(), "call %d, %s", i, call)
		}
	}
	for i, c := range clients {
		w.Expect(w.settled(c)).To(Equal(owned[i].instances), "nothing of the owner's changed")
		w.Expect(c.GetPool(ctx, owned[i].pool)).To(HaveField("Instances", int32(1)))
		w.Expect(c.GetLoadBalancer(ctx, owned[i].balancer)).To(HaveField("Name", owned[i].balancer))
		w.Expect(c.GetFault(ctx, "", owned[i].fault)).To(HaveField("Name", owned[i].fault))
	}
}

func TestStrangersReachNothing(t *testing.T) {
	w := newWorld(t)
	owned, stranger := w.acquire(w.client, "a"), w.as("token-of-nobody")
	for name, intrusion := range intrusions {
		err := intrusion(stranger, owned, owned.instances[0].ID)
		w.Expect(cloud.IsUnauthorized(err)).To(BeTrue(), "%s: %v", name, err)
		w.Expect(cloud.IsNotFound(err)).To(BeFalse(), "%s: a refusal must not look as if the instance were gone", name)
	}
	w.Expect(w.settled(w.client)).To(Equal(owned.instances))
}

// ask sends a request without this project's client.
func (w *world) ask(token, path string) *http.Response {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.endpoint+path, http.NoBody)
	w.Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Authorization", "Bearer "+token)
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	response, err := (&http.Client{Transport: transport}).Do(request)
	w.Expect(err).NotTo(HaveOccurred())
	text, err := io.ReadAll(response.Body)
	w.Expect(errors.Join(err, response.Body.Close())).To(Succeed())
	response.Body = io.NopCloser(bytes.NewReader(text))
	return response
}

func (w *world) body(response *http.Response) string {
	text, err := io.ReadAll(response.Body)
	w.Expect(err).NotTo(HaveOccurred())
	return string(text)
}

func TestThrottledAnswersHaveTheHeader(t *testing.T) {
	w := newWorld(t)
	w.Eventually(func(g Gomega) {
		response := w.ask(tokenSlow, api.PathZones)
		g.Expect(response.StatusCode).To(Equal(http.StatusTooManyRequests))
		g.Expect(response.Header.Get("Retry-After")).To(Equal("1"))
	}, soon).Should(Succeed(), "one request a second is allowed")
}

// A call for another tenant than its token's is refused before it does anything.
func TestCallsForAnotherTenant(t *testing.T) {
	w := newWorld(t)
	wrong, err := client.NewClient(client.Options{Endpoint: w.endpoint, Token: tokenB, CAFile: w.caFile, Tenant: "a"})
	w.Expect(err).NotTo(HaveOccurred())
	_, err = wrong.EnsureInstance(ctx, instanceSpec("mine"))
	w.Expect(cloud.IsUnauthorized(err)).To(BeTrue(), "%v", err)
	w.Expect(err).To(MatchError(ContainSubstring(`the token belongs to tenant "b", but the call is for tenant "a"`)))
	_, err = wrong.GetInstance(ctx, "none")
	w.Expect(cloud.IsUnauthorized(err)).To(BeTrue(), "it is not said that there is none: %v", err)
	for _, c := range []*client.Client{w.client, w.other} {
		instances, err := c.ListInstances(ctx, cloud.InstanceFilter{})
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(instances).To(BeEmpty())
	}
	right, err := client.NewClient(client.Options{Endpoint: w.endpoint, Token: tokenA, CAFile: w.caFile, Tenant: "a"})
	w.Expect(err).NotTo(HaveOccurred())
	_, err = right.Quota(ctx)
	w.Expect(err).NotTo(HaveOccurred())
}
