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
