// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package stopwatch measures how long something takes without delays caused by the test's machine:
// its host may give most of its processors to others for minutes, and a small machine does not have
// enough of them for a whole cluster.
package stopwatch

import (
	"context"
	"runtime"
	"sort"
	"sync"
	"time"

	"github.com/prometheus/procfs"
)

// interval is the time between two samples of the machine.
const interval = 50 * time.Millisecond

// Stopwatch samples the machine continuously.
type Stopwatch struct {
	mu    sync.Mutex
	looks []look
}

// look is a sample of what the machine's processors have done and have to do.
type look struct {
	at time.Time
	// total is the time of all processors since the machine was started, in seconds, and stolen the
	// part of it that the host gave to others.
	total, stolen float64
	// wanted is how many threads were running or waiting for a processor, besides the sampling one.
	wanted float64
}

// Start starts a stopwatch. It samples the machine until ctx ends.
func Start(ctx context.Context) *Stopwatch {
	s := &Stopwatch{}
	s.look()
	go func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				s.look()
			}
		}
	}()
	return s
}

// HeldUp returns how much of the time between two moments was lost because of the machine: the
// longest time in which nothing here could run, or the time that a thread had to wait for a
// processor, whichever is longer.
func (s *Stopwatch) HeldUp(from, to time.Time) time.Duration {
	looks := s.between(from, to)
	pause, last := time.Duration(0), from
	for _, one := range looks {
		pause, last = max(pause, one.at.Sub(last)), one.at
	}
	pause = max(pause, to.Sub(last))
	return max(pause, time.Duration(withheld(looks, runtime.NumCPU())*float64(to.Sub(from))))
}

func (s *Stopwatch) look() {
	now := observe()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks = append(s.looks, now)
}

func (s *Stopwatch) between(from, to time.Time) []look {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := sort.Search(len(s.looks), func(i int) bool { return !s.looks[i].at.Before(from) })
	end := sort.Search(len(s.looks), func(i int) bool { return s.looks[i].at.After(to) })
	return s.looks[first:max(first, end)]
}

// observe samples the machine. Without data, the machine counts as idle.
func observe() look {
	now := look{at: time.Now()}
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return now
	}
	stat, err := proc.Stat()
	if err != nil {
		return now
	}
	cpu := stat.CPUTotal
	now.total = cpu.User + cpu.Nice + cpu.System + cpu.Idle + cpu.Iowait + cpu.IRQ + cpu.SoftIRQ + cpu.Steal
	now.stolen, now.wanted = cpu.Steal, float64(stat.ProcessesRunning)-1
	return now
}

// withheld is the share, from 0 to 1, of the time that a runnable thread could not run, because the
// host gave the processors to others or because there were more runnable threads than processors.
func withheld(looks []look, processors int) float64 {
	if len(looks) == 0 {
		return 0
	}
	first, last := looks[0], looks[len(looks)-1]
	stolen := 0.0
	if all := last.total - first.total; all > 0 {
		stolen = min(1, max(0, (last.stolen-first.stolen)/all))
	}
	wanted := 0.0
	for _, one := range looks {
		wanted += one.wanted / float64(len(looks))
	}
	return 1 - (1-stolen)*min(1, float64(processors)/max(1, wanted))
}
