// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/dns"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

func TestNamesFollowTheState(t *testing.T) {
	g := NewWithT(t)
	state, err := store.Open(filepath.Join(t.TempDir(), "state.db"))
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = state.Close() })
	table := &tableOf{state: state}
	first, err := table.now()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(table.now()).To(BeIdenticalTo(first), "it is made again only once the state has changed")
	record := &store.Instance{Instance: cloud.Instance{ID: "i1", Name: "ns.one", Hostname: "one", Address: "10.77.0.2"}, Tenant: "a"}
	g.Expect(state.Update(func(tx *store.Tx) error { return tx.PutInstance(record) })).To(Succeed())
	g.Expect(table.now()).NotTo(BeIdenticalTo(first))
	g.Expect(table.now()).To(Equal(dns.NewTable([]dns.Record{
		{Tenant: "a", Name: "one", Address: netip.MustParseAddr("10.77.0.2"), Instance: true},
	})))
}

func TestRecords(t *testing.T) {
	g := NewWithT(t)
	instances := []store.Instance{
		{Instance: cloud.Instance{Hostname: "pending"}, Tenant: "a"},
		{Instance: cloud.Instance{Hostname: "stopped", Address: "10.77.0.2", State: cloud.InstanceStopped}, Tenant: "a"},
		{Instance: cloud.Instance{Hostname: "deleting", Address: "10.77.0.3", State: cloud.InstanceDeleting}, Tenant: "a"},
		{Instance: cloud.Instance{Hostname: "failed", Address: "10.77.0.4", State: cloud.InstanceFailed}, Tenant: "a"},
	}
	balancers := []store.LoadBalancer{
		{LoadBalancerSpec: cloud.LoadBalancerSpec{Name: "ns.one"}, Tenant: "b", Address: "10.77.0.5"},
		{LoadBalancerSpec: cloud.LoadBalancerSpec{Name: "ns.two"}, Tenant: "b", Address: "10.77.0.6", Deleting: true},
	}
	g.Expect(records(instances, balancers)).To(Equal([]dns.Record{
		{Tenant: "a", Name: "stopped", Address: netip.MustParseAddr("10.77.0.2"), Instance: true},
		{Tenant: "b", Name: "ns.one", Address: netip.MustParseAddr("10.77.0.5")},
	}))
}

// The first address of a subnet of 127.0.0.0/8 stands in for the bridge's address.
func TestRegistryIsVerifiedByItsMirror(t *testing.T) {
	g := NewWithT(t)
	c := &checked{Options: Options{StateDir: t.TempDir(), RegistryPort: 25731}, network: netip.MustParsePrefix("127.77.0.0/24")}
	gateway, err := c.openGateway(t.Context(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(gateway.close)
	g.Expect(gateway.mirror.Endpoint).To(Equal("https://127.77.0.1:25731"))
	kept, err := os.ReadFile(filepath.Join(c.StateDir, certFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(gateway.mirror.CA).To(Equal(kept))
	block, _ := pem.Decode(gateway.mirror.CA)
	g.Expect(block.Type).To(Equal("CERTIFICATE"), "an instance never has the key")
	_, err = c.openGateway(t.Context(), nil)
	g.Expect(err).To(MatchError(And(ContainSubstring("--registry-port: DNS uses 127.77.0.1:25731"), ContainSubstring("0 for no registry"))))

	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- gateway.serve(ctx) }()
	trusted := x509.NewCertPool()
	g.Expect(trusted.AppendCertsFromPEM(gateway.mirror.CA)).To(BeTrue())
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}
	t.Cleanup(transport.CloseIdleConnections)
	response, err := (&http.Client{Transport: transport}).Get(gateway.mirror.Endpoint + "/v2/")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(response.Body.Close()).To(Succeed())
	g.Expect(response.StatusCode).To(Equal(http.StatusForbidden), "the test has an address outside of the network")
	stop()
	g.Expect(<-ended).To(Succeed())
}

func TestGatewayWithoutServices(t *testing.T) {
	g := NewWithT(t)
	gateway, err := (&checked{network: netip.MustParsePrefix("127.77.0.0/24")}).openGateway(t.Context(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(gateway.mirror).To(BeNil())
	g.Expect(gateway.serve(t.Context())).To(Succeed(), "there is nothing to serve")
}
