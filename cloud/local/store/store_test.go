// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestRecordsOfEarlierVersionsAreRead(t *testing.T) {
	g := NewWithT(t)
	s := openState(t)
	g.Expect(s.Update(func(tx *Tx) error {
		return tx.tx.Bucket(instances).Put([]byte("i1"), []byte(`{"id":"i1","tenant":"default","cpus":2,"memoryBytes":1024,"runtime":"process"}`))
	})).To(Succeed())
	g.Expect(s.View(func(tx *Tx) error {
		record, err := tx.Instance("i1")
		g.Expect(record).To(And(HaveField("ID", "i1"), HaveField("CPUs", 2), HaveField("MemoryBytes", int64(1024))))
		return err
	})).To(Succeed())
}
