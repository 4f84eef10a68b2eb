// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"io"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/server"
)

// changes are all calls that change something.
var changes = map[string]func(c *client.Client, p property) error{
	"ensure instance": func(c *client.Client, _ property) error {
		_, err := c.EnsureInstance(ctx, instanceSpec("x"))
		return err
	},
	"delete instance": func(c *client.Client, p property) error { return c.DeleteInstance(ctx, p.instances[0].ID) },
	"drain instance":  func(c *client.Client, p property) error { return c.DrainInstance(ctx, p.instances[0].ID) },
	"switch instance": func(c *client.Client, p property) error { return c.SwitchInstance(ctx, p.instances[0].ID, "stop") },
	"run a command": func(c *client.Client, p property) error {
		return c.Exec(ctx, p.instances[0].ID, client.ExecOptions{Command: []string{"true"}, Stdout: io.Discard})
	},
	"ensure pool": func(c *client.Client, p property) error {
		_, err := c.EnsurePool(ctx, poolSpec(p.pool, 2), "")
		return err
	},
	"scale pool":  func(c *client.Client, p property) error { _, err := c.ScalePool(ctx, p.pool, 2, ""); return err },
	"delete pool": func(c *client.Client, p property) error { return c.DeletePool(ctx, p.pool) },
	"ensure load balancer": func(c *client.Client, p property) error {
		_, err := c.EnsureLoadBalancer(ctx, balancerSpec(p.balancer))
		return err
	},
	"delete load balancer": func(c *client.Client, p property) error { return c.DeleteLoadBalancer(ctx, p.balancer) },
	"add a fault rule": func(c *client.Client, _ property) error {
		_, err := c.EnsureFault(ctx, fault.Spec{Name: "x", Kind: fault.Stockout})
		return err
	},
	"remove a fault rule": func(c *client.Client, p property) error { return c.RemoveFault(ctx, p.tenant, p.fault) },
	"delete an image":     func(c *client.Client, _ property) error { return c.DeleteContainerImage(ctx, "x") },
}

func TestViewersOnlyLook(t *testing.T) {
	w := newWorld(t)
	owned, viewer := w.acquire(w.client, "a"), w.as(viewerTokenA)
	for name, change := range changes {
		err := change(viewer, owned)
		w.Expect(cloud.IsUnauthorized(err)).To(BeTrue(), "%s: %v", name, err)
		w.Expect(err).To(MatchError(ContainSubstring("only permits calls that change nothing")), name)
	}
	w.Expect(w.settled(viewer)).To(Equal(owned.instances), "nothing changed, and a viewer sees it")
	w.Expect(viewer.GetPool(ctx, owned.pool)).To(HaveField("Size", int32(1)))
	w.Expect(viewer.ListFaults(ctx)).To(HaveLen(1))
	log, err := viewer.Log(ctx, owned.instances[0].ID, client.LogOptions{})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(log.Close()).To(Succeed())
	events, err := viewer.Watch(t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.Eventually(events, soon).Should(Receive(HaveField("Kind", cloud.EventSynced)))
}

func TestTokensTellTheirTenant(t *testing.T) {
	w := newWorld(t)
	w.Expect(w.client.Tenant(ctx)).To(Equal(api.Tenant{Name: "a"}))
	w.Expect(w.as(viewerTokenA).Tenant(ctx)).To(Equal(api.Tenant{Name: "a", ReadOnly: true}))
	_, err := w.as("wrong").Tenant(ctx)
	w.Expect(cloud.IsUnauthorized(err)).To(BeTrue())
	_, err = w.client.EnsureFault(ctx, fault.Spec{Name: "down", Kind: fault.ServerError})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.client.Tenant(ctx)).To(HaveField("Name", "a"), "faults do not strike the call")
}

func TestTokensMustDiffer(t *testing.T) {
	g := NewWithT(t)
	_, err := server.New([]server.Tenant{{Name: "a", Token: "one", ViewerToken: "one"}})
	g.Expect(err).To(MatchError(ContainSubstring(`tenant "a" has the same token for viewers and for everything`)))
	_, err = server.New([]server.Tenant{{Name: "a", Token: "one", ViewerToken: "two"}, {Name: "b", Token: "two"}})
	g.Expect(err).To(MatchError(ContainSubstring(`tenants "a" and "b" have the same token`)))
}
