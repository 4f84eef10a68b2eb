// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package report tells the cloud how far an instance has progressed.
package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

// tempName is the temporary file that replaces the report.
const tempName = ".status.json.tmp"

// retryDelay is how long to wait before a report is written again that could not be written.
const retryDelay = 2 * time.Second

// Reporter writes the report. It is safe for concurrent use.
type Reporter struct {
	folder string

	mu     sync.Mutex
	status contract.Report
	// retry writes the report later; nil if the last one was written.
	retry *time.Timer
}

// New returns a reporter for the folder and writes the first report: booting, bootstrap pending.
func New(folder string) (*Reporter, error) {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, fmt.Errorf("report folder: %w", err)
	}
	r := &Reporter{folder: folder, status: contract.Report{
		Phase: contract.PhaseBooting, Bootstrap: contract.Bootstrap{State: contract.BootstrapPending},
	}}
	return r, r.write()
}

// SetPhase reports a phase. PhaseStopping is final.
func (r *Reporter) SetPhase(phase contract.Phase) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status.Phase == contract.PhaseStopping {
		return nil
	}
	r.status.Phase = phase
	return r.publish()
}

// SetBootstrap reports the state of the bootstrap data. BootstrapFailed is final.
func (r *Reporter) SetBootstrap(bootstrap contract.Bootstrap) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status.Bootstrap.State == contract.BootstrapFailed {
		return nil
	}
	r.status.Bootstrap = bootstrap
	return r.publish()
}

// Warn adds a warning.
func (r *Reporter) Warn(warning string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Warnings = append(r.status.Warnings, warning)
	return r.publish()
}

// publish writes the report. If that fails, such as while the disk is full, it tries again until it
// succeeds, because nothing else tells the cloud. The caller holds the lock.
func (r *Reporter) publish() error {
	if r.retry != nil {
		r.retry.Stop()
		r.retry = nil
	}
	err := r.write()
	if err != nil {
		r.retry = time.AfterFunc(retryDelay, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			_ = r.publish() // the caller already knows
		})
	}
	return err
}

func (r *Reporter) write() error {
	data, err := json.Marshal(r.status)
	if err != nil {
		return fmt.Errorf("encode report: %w", err)
	}
	temp := filepath.Join(r.folder, tempName)
	if err := os.WriteFile(temp, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	if err := os.Rename(temp, filepath.Join(r.folder, contract.ReportFile)); err != nil {
		return fmt.Errorf("publish report: %w", err)
	}
	return nil
}
