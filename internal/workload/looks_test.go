// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func clusterNamed(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: "default", Name: name}
}

// looksTest looks at clusters that answer when the test says so.
type looksTest struct {
	*looks[string]
	clock *clocktesting.FakeClock
	woken chan client.ObjectKey
}

func newLooksTest() *looksTest {
	clock := clocktesting.NewFakeClock(time.Now())
	woken := make(chan client.ObjectKey, 100)
	return &looksTest{looks: newLooks[string](time.Hour, clock, func(cluster client.ObjectKey) { woken <- cluster }), clock: clock, woken: woken}
}

// look returns an element of answers, or ErrPending if the clock steps past the caller's patience
// first.
func (l *looksTest) look(cluster string, answers <-chan string) (string, error) {
	return l.at(context.Background(), clusterNamed(cluster), func(ctx context.Context) (string, error) {
		select {
		case answer := <-answers:
			return answer, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	})
}

func answered(answer string) <-chan string {
	answers := make(chan string, 1)
	answers <- answer
	return answers
}

// lookInVain looks at clusters that do not answer, concurrently, until all callers have given up.
func (l *looksTest) lookInVain(g *WithT, names []string, answers <-chan string) {
	results := make(chan error, len(names))
	for _, name := range names {
		go func() {
			_, err := l.look(name, answers)
			results <- err
		}()
	}
	g.Eventually(l.clock.Waiters).Should(Equal(len(names)), "waiting callers")
	l.clock.Step(patience)
	for range names {
		g.Expect(<-results).To(MatchError(ErrPending))
	}
}

func TestClustersThatDoNotAnswerNeverHoldUpOthers(t *testing.T) {
	g := NewWithT(t)
	l := newLooksTest()
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprintf("silent-%d", i))
	}
	silent := make(chan string)
	l.lookInVain(g, names, silent)

	// A single caller is enough: the clock stands still, so a caller that waits would wait forever.
	for round := range 3 {
		for _, name := range names {
			_, err := l.look(name, silent)
			g.Expect(err).To(MatchError(ErrPending))
		}
		g.Expect(l.look("healthy", answered("fine"))).To(Equal("fine"), "round %d", round)
	}
	g.Expect(l.woken).To(BeEmpty(), "no look has ended")
	for _, name := range names {
		l.forget(clusterNamed(name))
	}
	g.Expect(l.current).To(BeEmpty())
	g.Expect(l.slow).To(BeEmpty())
}

func TestLateAnswersAreKeptForTheirCaller(t *testing.T) {
	g := NewWithT(t)
	l := newLooksTest()
	answers := make(chan string)
	l.lookInVain(g, []string{"slow"}, answers)

	answers <- "late"
	g.Expect(<-l.woken).To(Equal(clusterNamed("slow")))
	g.Expect(l.look("slow", nil)).To(Equal("late"))

	_, err := l.look("slow", answers)
	g.Expect(err).To(MatchError(ErrPending), "no caller waits for a cluster that was slow")
	answers <- "soon"
	g.Expect(<-l.woken).To(Equal(clusterNamed("slow")))
	g.Expect(l.look("slow", nil)).To(Equal("soon"))
	g.Expect(l.look("slow", answered("at once"))).To(Equal("at once"), "callers wait again for a cluster that was fast")
	g.Expect(l.woken).To(BeEmpty())
}

func TestLateAnswersDoNotStayFresh(t *testing.T) {
	g := NewWithT(t)
	l := newLooksTest()
	answers := make(chan string)
	l.lookInVain(g, []string{"slow"}, answers)
	answers <- "late"
	<-l.woken
	l.clock.Step(freshFor + time.Second)
	_, err := l.look("slow", answers)
	g.Expect(err).To(MatchError(ErrPending), "a new look starts")
	answers <- "new"
	<-l.woken
	g.Expect(l.look("slow", nil)).To(Equal("new"))
}

func TestLooksEnd(t *testing.T) {
	g := NewWithT(t)
	l := newLooksTest()
	ended := make(chan error, 1)
	block := func(ctx context.Context) (string, error) {
		deadline, ok := ctx.Deadline()
		if !ok || time.Until(deadline) > l.limit {
			return "", errors.New("the look is not bounded")
		}
		<-ctx.Done()
		ended <- ctx.Err()
		return "", ctx.Err()
	}
	l.slow[clusterNamed("gone")] = true
	caller, cancel := context.WithCancel(context.Background())
	_, err := l.at(caller, clusterNamed("gone"), block)
	g.Expect(err).To(MatchError(ErrPending))
	cancel()
	g.Expect(ended).To(BeEmpty(), "the look outlives its caller")
	l.forget(clusterNamed("gone"))
	g.Expect(<-ended).To(MatchError(context.Canceled))

	l.limit = 0
	_, err = l.at(context.Background(), clusterNamed("cut off"), block)
	g.Expect(err).To(MatchError(context.DeadlineExceeded), "each look has its own deadline")
}
