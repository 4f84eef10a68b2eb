//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"testing"

	"github.com/google/nftables"
)

func TestMachineIsLeftAlone(t *testing.T) {
	if err := Machine(); err != nil {
		t.Fatal(err)
	}
	conn, err := nftables.New()
	if err != nil {
		t.Fatal(err)
	}
	tables, err := conn.ListTables()
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		if table.Name == tableName {
			t.Errorf("the machine has table %s", table.Name)
		}
	}
}
