// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"net/netip"
	"strings"

	"github.com/miekg/dns"
)

// Record is a name in the cloud.
type Record struct {
	// Tenant whose instances know the name.
	Tenant string
	// Name as its owner has it.
	Name string
	// Address that the name resolves to.
	Address netip.Addr
	// Instance is true if the address belongs to an instance. An instance may look up names,
	// and also has a short name without its domain.
	Instance bool
}

// Table holds all names of the cloud at one moment. It is immutable.
type Table struct {
	tenants   map[netip.Addr]string
	addresses map[entry][]netip.Addr
	names     map[entry][]string
}

// entry is a name as seen by one tenant.
type entry struct{ tenant, name string }

// NewTable returns the table of the records.
func NewTable(records []Record) *Table {
	t := &Table{tenants: map[netip.Addr]string{}, addresses: map[entry][]netip.Addr{}, names: map[entry][]string{}}
	short := map[entry][]netip.Addr{}
	for _, r := range records {
		name := dns.CanonicalName(r.Name)
		t.addresses[entry{r.Tenant, name}] = append(t.addresses[entry{r.Tenant, name}], r.Address)
		if reverse, err := dns.ReverseAddr(r.Address.String()); err == nil {
			t.names[entry{r.Tenant, reverse}] = append(t.names[entry{r.Tenant, reverse}], name)
		}
		if !r.Instance {
			continue
		}
		t.tenants[r.Address] = r.Tenant
		if host, domain, _ := strings.Cut(name, "."); domain != "" {
			key := entry{r.Tenant, host + "."}
			short[key] = append(short[key], r.Address)
		}
	}
	for key, addresses := range short {
		// A full name takes precedence over a short one.
		if _, taken := t.addresses[key]; !taken {
			t.addresses[key] = addresses
		}
	}
	return t
}

// find resolves a name for the instance that has the source address. It returns the name's
// addresses or, for a reverse name, the names of its address.
func (t *Table) find(source netip.Addr, name string) ([]netip.Addr, []string) {
	tenant, known := t.tenants[source]
	if !known {
		return nil, nil
	}
	key := entry{tenant, dns.CanonicalName(name)}
	return t.addresses[key], t.names[key]
}

// reversed returns the IPv4 address that a reverse name stands for.
func reversed(name string) (netip.Addr, bool) {
	digits, found := strings.CutSuffix(dns.CanonicalName(name), ".in-addr.arpa.")
	parts := strings.Split(digits, ".")
	if !found || len(parts) != 4 {
		return netip.Addr{}, false
	}
	address, err := netip.ParseAddr(parts[3] + "." + parts[2] + "." + parts[1] + "." + parts[0])
	return address, err == nil
}
