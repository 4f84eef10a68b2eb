//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package extension

import (
	"fmt"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// manyCallers is how many Clusters call a hook at the same time.
const manyCallers = 50

var _ = Describe("A handler with many concurrent callers", func() {
	for _, hook := range hooks.Names() {
		It(hook+" answers them all", func(ctx SpecContext) {
			namespace, caller := newNamespace(ctx), newCaller()
			var calls sync.WaitGroup
			for number := range manyCallers {
				cluster := newCluster(ctx, namespace, fmt.Sprintf("many-%d", number))
				calls.Go(func() {
					defer GinkgoRecover()
					for range 3 {
						Expect(caller.call(ctx, replicas[0], hook, requests(cluster, on)[hook]).Message).NotTo(BeEmpty())
					}
				})
			}
			calls.Wait()
		})
	}
})
