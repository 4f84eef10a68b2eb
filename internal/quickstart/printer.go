// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/capfoo/cluster-api-provider-foo/internal/supervisor"
)

// maxSilence is how long the printer prints nothing at most.
const maxSilence = 10 * time.Second

// redrawInterval is the time between two updates of the line on a terminal that says what is being
// waited for.
const redrawInterval = 200 * time.Millisecond

// Control sequences of terminals.
const (
	clearLine = "\r\x1b[K"
	green     = "\x1b[32m"
	faint     = "\x1b[2m"
	plain     = "\x1b[0m"
)

// printer tells the user what happens, with the elapsed time. On a terminal, its last line says what
// is being waited for. It is safe for concurrent use.
type printer struct {
	mu  sync.Mutex
	out io.Writer
	// terminal is the output; nil if it is no terminal, or one without control sequences or a width.
	terminal *os.File
	colors   bool
	began    time.Time
	last     time.Time
	waiting  string
}

// newPrinter returns a printer. From then on, this program does not end halfway because nobody reads
// its output any more, as head does.
func newPrinter(out io.Writer) *printer {
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE)
	now := time.Now()
	p := &printer{out: out, began: now, last: now}
	if file, ok := out.(*os.File); ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb" {
		if width(file) > 0 {
			p.terminal, p.colors = file, os.Getenv("NO_COLOR") == ""
		}
	}
	return p
}

// width returns the number of columns of a terminal; 0 if it is not known.
func width(terminal *os.File) int {
	width, _, err := term.GetSize(int(terminal.Fd()))
	if err != nil {
		return 0
	}
	return width
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
	p.clear()
	_, _ = fmt.Fprintf(p.out, "%s  %s\n", p.color(green, fmt.Sprintf("%8s", prefix)), text)
}

func (p *printer) color(color, text string) string {
	if !p.colors {
		return text
	}
	return color + text + plain
}

func (p *printer) clear() {
	if p.terminal != nil {
		_, _ = io.WriteString(p.out, clearLine)
	}
}

// end leaves the output to others.
func (p *printer) end() {
	p.waitingFor("")
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// draw updates the last line of a terminal.
func (p *printer) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.waiting == "" {
		return
	}
	line := fmt.Sprintf("%8s  waiting for %s", seconds(time.Since(p.began)), p.waiting)
	line = line[:min(len(line), max(0, width(p.terminal)-1))]
	_, _ = io.WriteString(p.out, clearLine+p.color(faint, line))
}

// repeatWaiting prints what the quickstart is waiting for, until ctx ends: all the time on a
// terminal, and otherwise whenever nothing has been printed for a while.
func (p *printer) repeatWaiting(ctx context.Context) {
	interval := time.Second
	if p.terminal != nil {
		interval = redrawInterval
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if p.terminal != nil {
			p.draw()
			continue
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
