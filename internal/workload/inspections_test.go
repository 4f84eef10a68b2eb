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

// inspectionsTest inspects clusters that answer when the test says so.
type inspectionsTest struct {
	*inspections[string]
	clock *clocktesting.FakeClock
	woken chan client.ObjectKey
}

func newInspectionsTest() *inspectionsTest {
	clock := clocktesting.NewFakeClock(time.Now())
	woken := make(chan client.ObjectKey, 100)
	return &inspectionsTest{inspections: newInspections[string](time.Hour, clock, func(cluster client.ObjectKey) { woken <- cluster }), clock: clock, woken: woken}
}

// ask returns an element of answers, or ErrPending if the clock steps past the caller's patience
// first.
func (all *inspectionsTest) ask(cluster string, answers <-chan string) (string, error) {
	return all.inspect(context.Background(), clusterNamed(cluster), func(ctx context.Context) (string, error) {
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

// inspectInVain inspects clusters that do not answer, concurrently, until all callers have given up.
func (all *inspectionsTest) inspectInVain(g *WithT, names []string, answers <-chan string) {
	results := make(chan error, len(names))
	for _, name := range names {
		go func() {
			_, err := all.ask(name, answers)
			results <- err
		}()
	}
	g.Eventually(all.clock.Waiters).Should(Equal(len(names)), "waiting callers")
	all.clock.Step(patience)
	for range names {
		g.Expect(<-results).To(MatchError(ErrPending))
	}
}

func TestClustersThatDoNotAnswerNeverHoldUpOthers(t *testing.T) {
	g := NewWithT(t)
	all := newInspectionsTest()
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprintf("silent-%d", i))
	}
	silent := make(chan string)
	all.inspectInVain(g, names, silent)

	// A single caller is enough: the clock stands still, so a caller that waits would wait forever.
	for round := range 3 {
		for _, name := range names {
			_, err := all.ask(name, silent)
			g.Expect(err).To(MatchError(ErrPending))
		}
		g.Expect(all.ask("healthy", answered("fine"))).To(Equal("fine"), "round %d", round)
	}
	g.Expect(all.woken).To(BeEmpty(), "no inspection has ended")
	for _, name := range names {
		all.forget(clusterNamed(name))
	}
	g.Expect(all.current).To(BeEmpty())
	g.Expect(all.slow).To(BeEmpty())
}

func TestLateAnswersAreKeptForTheirCaller(t *testing.T) {
	g := NewWithT(t)
	all := newInspectionsTest()
	answers := make(chan string)
	all.inspectInVain(g, []string{"slow"}, answers)

	answers <- "late"
	g.Expect(<-all.woken).To(Equal(clusterNamed("slow")))
	g.Expect(all.ask("slow", nil)).To(Equal("late"))

	_, err := all.ask("slow", answers)
	g.Expect(err).To(MatchError(ErrPending), "no caller waits for a cluster that was slow")
	answers <- "soon"
	g.Expect(<-all.woken).To(Equal(clusterNamed("slow")))
	g.Expect(all.ask("slow", nil)).To(Equal("soon"))
	g.Expect(all.ask("slow", answered("at once"))).To(Equal("at once"), "callers wait again for a cluster that was fast")
	g.Expect(all.woken).To(BeEmpty())
}

func TestLateAnswersDoNotStayFresh(t *testing.T) {
	g := NewWithT(t)
	all := newInspectionsTest()
	answers := make(chan string)
	all.inspectInVain(g, []string{"slow"}, answers)
	answers <- "late"
	<-all.woken
	all.clock.Step(freshFor + time.Second)
	_, err := all.ask("slow", answers)
	g.Expect(err).To(MatchError(ErrPending), "a new inspection starts")
	answers <- "new"
	<-all.woken
	g.Expect(all.ask("slow", nil)).To(Equal("new"))
}

func TestInspectionsEnd(t *testing.T) {
	g := NewWithT(t)
	all := newInspectionsTest()
	ended := make(chan error, 1)
	block := func(ctx context.Context) (string, error) {
		deadline, ok := ctx.Deadline()
		if !ok || time.Until(deadline) > all.limit {
			return "", errors.New("the inspection is not bounded")
		}
		<-ctx.Done()
		ended <- ctx.Err()
		return "", ctx.Err()
	}
	all.slow[clusterNamed("gone")] = true
	caller, cancel := context.WithCancel(context.Background())
	_, err := all.inspect(caller, clusterNamed("gone"), block)
	g.Expect(err).To(MatchError(ErrPending))
	cancel()
	g.Expect(ended).To(BeEmpty(), "the inspection outlives its caller")
	all.forget(clusterNamed("gone"))
	g.Expect(<-ended).To(MatchError(context.Canceled))

	all.limit = 0
	_, err = all.inspect(context.Background(), clusterNamed("cut off"), block)
	g.Expect(err).To(MatchError(context.DeadlineExceeded), "each inspection has its own deadline")
}
