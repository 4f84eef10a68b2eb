// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

func TestAHangingCloudKeepsOnlyOneWorker(t *testing.T) {
	g := NewWithT(t)
	checking := &task{}
	checking.mu.Lock() // as during a check whose cloud does not answer
	g.Expect(checking.Run(t.Context(), hooks.Job{})).To(Equal(hooks.Outcome{Message: "waiting for the quota check of another Cluster", RetryAfter: lookAgain}))
}
