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

// maxSilence is how long the printer prints nothing at most.
const maxSilence = 10 * time.Second

// printer tells the user what happens, with the elapsed time. It is safe for concurrent use.
type printer struct {
	mu      sync.Mutex
	out     io.Writer
	began   time.Time
	last    time.Time
	waiting string
}

func newPrinter(out io.Writer) *printer {
	now := time.Now()
	return &printer{out: out, began: now, last: now}
}

// restart resets the elapsed time to zero.
func (p *printer) restart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.began = time.Now()
	p.last = p.began
}

// done reports that something has been reached.
func (p *printer) done(text string) { p.print(p.elapsed(), text) }

// note prints a message without a time.
func (p *printer) note(format string, args ...any) { p.print("", fmt.Sprintf(format, args...)) }

// waitingFor sets the message for when nothing else has been printed for a while.
func (p *printer) waitingFor(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = text
}

// process reports that a program died, or is running again.
func (p *printer) process(event supervisor.Event) {
	if event.Err == nil {
		p.done(event.Name + " is running again")
		return
	}
	p.done(fmt.Sprintf("%v; restarting it in %s", event.Err, event.RestartIn))
}

func (p *printer) elapsed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return seconds(time.Since(p.began))
}

func (p *printer) print(prefix, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	_, _ = fmt.Fprintf(p.out, "%8s  %s\n", prefix, text)
}

// repeatWaiting prints what the quickstart is waiting for whenever nothing has been printed for a
// while, until ctx ends.
func (p *printer) repeatWaiting(ctx context.Context) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if text, due := p.due(); due {
			p.print(p.elapsed(), "waiting for "+text)
		}
	}
}

func (p *printer) due() (string, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting, p.waiting != "" && time.Since(p.last) > maxSilence-time.Second
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
