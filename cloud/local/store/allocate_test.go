// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"net/netip"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

func openState(t *testing.T) *Store {
	t.Helper()
	s, err := Open(filepath.Join(t.TempDir(), "state.db"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestIDsAreUnique(t *testing.T) {
	g := NewWithT(t)
	seen := map[string]bool{}
	g.Expect(openState(t).Update(func(tx *Tx) error {
		for range 2000 {
			id, err := tx.NewID()
			if err != nil {
				return err
			}
			g.Expect(id).To(MatchRegexp("^i[0-9a-z]{8}$"))
			g.Expect(seen[id]).To(BeFalse())
			seen[id] = true
		}
		return nil
	})).To(Succeed())
}

func TestEveryAddressIsGivenOnce(t *testing.T) {
	g := NewWithT(t)
	network := netip.MustParsePrefix("10.91.0.0/28")
	seen := map[string]bool{}
	g.Expect(openState(t).Update(func(tx *Tx) error {
		for range 12 {
			address, err := tx.NewAddress(network, "x")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(seen[address]).To(BeFalse())
			seen[address] = true
		}
		_, err := tx.NewAddress(network, "x")
		g.Expect(cloud.IsUnavailable(err)).To(BeTrue(), "%v", err)
		return nil
	})).To(Succeed())
	for _, reserved := range []string{"10.91.0.0", "10.91.0.1", "10.91.0.2", "10.91.0.15"} {
		g.Expect(seen).NotTo(HaveKey(reserved))
	}
}

func TestAddressesInAnyOrder(t *testing.T) {
	state := openState(t)
	network := netip.MustParsePrefix("10.91.0.0/28")
	taken := map[string]bool{}
	rapid.Check(t, func(t *rapid.T) {
		err := state.Update(func(tx *Tx) error {
			if len(taken) == 12 || (len(taken) > 0 && rapid.Bool().Draw(t, "release")) {
				address := rapid.SampledFrom(keys(taken)).Draw(t, "address")
				delete(taken, address)
				return tx.DeleteInstance(&Instance{Instance: cloud.Instance{ID: "x", Name: "x", Address: address}, Tenant: "t"})
			}
			address, err := tx.NewAddress(network, "x")
			if err != nil {
				return err
			}
			if taken[address] || !network.Contains(netip.MustParseAddr(address)) {
				t.Fatalf("address %s was given out, taken are %v", address, taken)
			}
			taken[address] = true
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func keys(set map[string]bool) []string {
	var list []string
	for key := range set {
		list = append(list, key)
	}
	return list
}

func TestUpdateIsAllOrNothing(t *testing.T) {
	g := NewWithT(t)
	state := openState(t)
	g.Expect(state.Update(func(tx *Tx) error {
		g.Expect(tx.PutPool(&Pool{PoolSpec: cloud.PoolSpec{Name: "p"}, Tenant: "t"})).To(Succeed())
		return &cloud.UnavailableError{Message: "on purpose"}
	})).NotTo(Succeed())
	g.Expect(state.View(func(tx *Tx) error {
		pool, err := tx.Pool("t", "p")
		g.Expect(pool).To(BeNil())
		return err
	})).To(Succeed())
}

func TestTenantsAreApart(t *testing.T) {
	g := NewWithT(t)
	state := openState(t)
	g.Expect(state.Update(func(tx *Tx) error {
		for i, tenant := range []string{"a", "ab"} {
			record := &Instance{Instance: cloud.Instance{ID: []string{"x", "y"}[i], Name: "same"}, Tenant: tenant}
			if err := tx.PutInstance(record); err != nil {
				return err
			}
		}
		return nil
	})).To(Succeed())
	g.Expect(state.View(func(tx *Tx) error {
		list, err := tx.Instances("a")
		g.Expect(list).To(HaveLen(1))
		all, _ := tx.Instances("")
		g.Expect(all).To(HaveLen(2))
		return err
	})).To(Succeed())
}
