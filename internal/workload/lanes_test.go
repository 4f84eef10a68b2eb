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

package workload

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func clusterNamed(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: "default", Name: name}
}

func TestLanes(t *testing.T) {
	g := NewWithT(t)
	l := newLanes(0, 2)
	slow := func() error { return errors.New("timeout") }
	for _, name := range []string{"a", "b", "c"} {
		g.Expect(l.run(clusterNamed(name), slow)).To(MatchError("timeout"), "whoever was not slow before is asked")
	}
	// Nobody is slow any more in what follows, but for those that have been.
	l.after = time.Hour

	hang, began, done := make(chan struct{}), make(chan struct{}), make(chan error)
	for _, name := range []string{"a", "b"} {
		go func() {
			done <- l.run(clusterNamed(name), func() error { began <- struct{}{}; <-hang; return nil })
		}()
		<-began
	}
	g.Expect(l.run(clusterNamed("c"), func() error { return nil })).To(MatchError(ErrBusy), "two are being tried already")
	for range 10 {
		g.Expect(l.run(clusterNamed("fast"), func() error { return nil })).To(Succeed(), "the others go on")
	}
	close(hang)
	g.Expect(<-done).To(Succeed())
	g.Expect(<-done).To(Succeed())
	g.Expect(l.run(clusterNamed("c"), func() error { return nil })).To(Succeed())
	g.Expect(l.slow).To(BeEmpty(), "who answers in time is slow no more")

	l.after = 0
	g.Expect(l.run(clusterNamed("a"), slow)).To(HaveOccurred())
	l.forget(clusterNamed("a"))
	g.Expect(l.slow).To(BeEmpty())
}
