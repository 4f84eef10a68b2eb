// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
)

// An instance of a large pool waits until others have started, however long that takes. The wait
// does not count as a start that takes too long.
func TestStartsWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		d := &Driver{starts: make(chan struct{}, 1)}
		d.starts <- struct{}{}
		ctx, giveUp := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := d.Start(ctx, engine.MachineSpec{}, nil)
			ended <- err
		}()
		<-time.After(100 * startTimeout)
		g.Expect(ended).NotTo(Receive(), "another instance is still being started")
		giveUp()
		g.Expect(<-ended).To(MatchError(context.Canceled))
	})
}
