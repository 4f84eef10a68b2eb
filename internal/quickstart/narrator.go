// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/internal/supervisor"
)

// silence is how long the narrator may stay silent.
const silence = 10 * time.Second

// narrator tells the user what happens, with the elapsed time. It is safe for concurrent use.
type narrator struct {
	mu      sync.Mutex
	out     io.Writer
	began   time.Time
	last    time.Time
	waiting string
}

func newNarrator(out io.Writer) *narrator {
	now := time.Now()
	return &narrator{out: out, began: now, last: now}
}

// restart resets the elapsed time to zero.
func (n *narrator) restart() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.began = time.Now()
	n.last = n.began
}

// done reports that something has been reached.
func (n *narrator) done(text string) { n.print(n.elapsed(), text) }

// note prints a message without a time.
func (n *narrator) note(format string, args ...any) { n.print("", fmt.Sprintf(format, args...)) }

// waitingFor sets the message for when nothing else has been printed for a while.
func (n *narrator) waitingFor(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting = text
}

// process reports that a program died, or is running again.
func (n *narrator) process(event supervisor.Event) {
	if event.Err == nil {
		n.done(event.Name + " is running again")
		return
	}
	n.done(fmt.Sprintf("%v; restarting it in %s", event.Err, event.RestartIn))
}

func (n *narrator) elapsed() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return seconds(time.Since(n.began))
}

func (n *narrator) print(prefix, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = time.Now()
	_, _ = fmt.Fprintf(n.out, "%8s  %s\n", prefix, text)
}

// breakSilence prints what the quickstart is waiting for whenever nothing has been printed for a
// while, until ctx ends.
func (n *narrator) breakSilence(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if text, due := n.due(); due {
			n.print(n.elapsed(), "waiting for "+text)
		}
	}
}

func (n *narrator) due() (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.waiting, n.waiting != "" && time.Since(n.last) > silence-time.Second
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
