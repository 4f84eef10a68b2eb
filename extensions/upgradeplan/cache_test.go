// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package upgradeplan_test

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/upgradeplan"
)

var demo = client.ObjectKey{Namespace: "default", Name: "demo"}

// said is an answer of a source.
type said struct {
	versions []string
	err      error
}

// patient returns a source that answers when the test tells it to, and that reports each request.
func patient() (source upgradeplan.Source, asked <-chan client.ObjectKey, answers chan<- said) {
	questions, replies := make(chan client.ObjectKey), make(chan said)
	return func(ctx context.Context, cluster client.ObjectKey) ([]string, error) {
		select {
		case questions <- cluster:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		reply := <-replies
		return reply.versions, reply.err
	}, questions, replies
}

// background calls a source in the background. Its answer arrives on the channel.
func background(t *testing.T, source upgradeplan.Source) <-chan said {
	answered := make(chan said, 1)
	go func() {
		versions, err := source(t.Context(), demo)
		answered <- said{versions, err}
	}()
	return answered
}

func TestAnAnswerIsKeptForAMinute(t *testing.T) {
	g := NewWithT(t)
	clock := clocktesting.NewFakeClock(time.Now())
	slow, asked, answers := patient()
	source := upgradeplan.Cached(slow, clock)

	first, second := background(t, source), background(t, source)
	g.Eventually(asked).Should(Receive(Equal(demo)), "the source is asked in its own goroutine")
	answers <- said{versions: []string{"v1.36.3"}}
	for _, one := range []<-chan said{first, second} {
		g.Eventually(one).Should(Receive(Equal(said{versions: []string{"v1.36.3"}})))
	}
	clock.Step(59 * time.Second)
	versions, err := source(t.Context(), demo)
	g.Expect(versions, err).To(Equal([]string{"v1.36.3"}), "nobody is asked: it would never answer")

	clock.Step(2 * time.Second)
	third := background(t, source)
	g.Eventually(asked).Should(Receive())
	answers <- said{versions: []string{"v1.37.0"}}
	g.Eventually(third).Should(Receive(Equal(said{versions: []string{"v1.37.0"}})))
}

func TestNobodyWaitsForASlowSource(t *testing.T) {
	g := NewWithT(t)
	clock := clocktesting.NewFakeClock(time.Now())
	slow, asked, answers := patient()
	source := upgradeplan.Cached(slow, clock)

	// waited calls the source and lets a tenth of a second pass.
	waited := func() said {
		answered := background(t, source)
		g.Eventually(clock.HasWaiters).Should(BeTrue(), "the caller waits")
		clock.Step(100 * time.Millisecond)
		var got said
		g.Eventually(answered).Should(Receive(&got))
		return got
	}
	g.Expect(waited()).To(Equal(said{err: upgradeplan.ErrNotKnownYet}))
	g.Eventually(asked).Should(Receive())
	g.Expect(waited()).To(Equal(said{err: upgradeplan.ErrNotKnownYet}), "it is not asked again meanwhile")
	answers <- said{versions: []string{"v1.36.3"}}
	g.Eventually(func() ([]string, error) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		return source(ctx, demo)
	}).Should(Equal([]string{"v1.36.3"}), "the answer is kept for whoever asks next")

	clock.Step(2 * time.Minute)
	g.Expect(waited()).To(Equal(said{versions: []string{"v1.36.3"}}), "the last answer is better than none")
	g.Eventually(asked).Should(Receive())
	answers <- said{err: errors.New("gone")}
}

func TestAFailureIsNotKept(t *testing.T) {
	g := NewWithT(t)
	clock := clocktesting.NewFakeClock(time.Now())
	slow, asked, answers := patient()
	source := upgradeplan.Cached(slow, clock)
	gone := errors.New("gone")

	first := background(t, source)
	g.Eventually(asked).Should(Receive())
	answers <- said{err: gone}
	g.Eventually(first).Should(Receive(Equal(said{err: gone})))
	second := background(t, source)
	g.Eventually(asked).Should(Receive())
	answers <- said{versions: []string{"v1.36.3"}}
	g.Eventually(second).Should(Receive(Equal(said{versions: []string{"v1.36.3"}})))

	clock.Step(2 * time.Minute)
	third := background(t, source)
	g.Eventually(asked).Should(Receive())
	answers <- said{err: gone}
	g.Eventually(third).Should(Receive(Equal(said{versions: []string{"v1.36.3"}})), "versions seldom change")
}

func TestClustersThatNobodyAsksForAreForgotten(t *testing.T) {
	g := NewWithT(t)
	clock := clocktesting.NewFakeClock(time.Now())
	slow, asked, answers := patient()
	source := upgradeplan.Cached(slow, clock)
	first := background(t, source)
	g.Eventually(asked).Should(Receive())
	answers <- said{versions: []string{"v1.36.3"}}
	g.Eventually(first).Should(Receive())

	clock.Step(61 * time.Minute)
	second := background(t, source)
	g.Eventually(asked).Should(Receive())
	answers <- said{err: errors.New("gone")}
	g.Eventually(second).Should(Receive(Equal(said{err: errors.New("gone")})), "what it said long ago is not known any more")
}
