/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

// Package report tells the cloud how far an instance is.
//
// The report is one JSON file in a folder that the cloud watches. It is replaced as a whole at each change, so a reader never
// sees half of it. The shape is a contract with the cloud's daemon.
package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// Folder is where the cloud expects the report.
const Folder = "/run/foo/report"

const (
	fileName = "status.json"
	tempName = ".status.json.tmp"
)

// Phase is where an instance is in its life.
type Phase string

const (
	// Booting is until the runtime is served.
	Booting Phase = "Booting"
	// Running is from then on.
	Running Phase = "Running"
	// Stopping is once the instance was asked to end.
	Stopping Phase = "Stopping"
)

// State is how far the bootstrap data has been worked through.
type State string

const (
	// Pending is before the first command.
	Pending State = "Pending"
	// InProgress is while commands run.
	InProgress State = "Running"
	// Succeeded is after all commands ended well.
	Succeeded State = "Succeeded"
	// Failed is after a command failed or the data could not be read; it is final.
	Failed State = "Failed"
)

// Bootstrap is what is reported of the bootstrap data.
type Bootstrap struct {
	// State of the bootstrap.
	State State `json:"state"`
	// Message says what failed. It holds no secret.
	Message string `json:"message,omitempty"`
}

// Status is the whole report.
type Status struct {
	// Phase of the instance.
	Phase Phase `json:"phase"`
	// Bootstrap of the instance.
	Bootstrap Bootstrap `json:"bootstrap"`
	// Warnings name what does not work in this instance though it runs, for example unanswered probes.
	Warnings []string `json:"warnings,omitempty"`
}

// Reporter writes the report, safe for use by several goroutines.
type Reporter struct {
	folder string

	mu     sync.Mutex
	status Status
}

// New returns a reporter for the folder and writes the first report: booting, bootstrap pending.
func New(folder string) (*Reporter, error) {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return nil, fmt.Errorf("report folder: %w", err)
	}
	r := &Reporter{folder: folder, status: Status{Phase: Booting, Bootstrap: Bootstrap{State: Pending}}}
	return r, r.write()
}

// SetPhase reports a phase.
func (r *Reporter) SetPhase(phase Phase) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Phase = phase
	return r.write()
}

// SetBootstrap reports the state of the bootstrap data. After Failed nothing changes it.
func (r *Reporter) SetBootstrap(bootstrap Bootstrap) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.status.Bootstrap.State == Failed {
		return nil
	}
	r.status.Bootstrap = bootstrap
	return r.write()
}

// Warn adds a warning.
func (r *Reporter) Warn(warning string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Warnings = append(r.status.Warnings, warning)
	return r.write()
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
	if err := os.Rename(temp, filepath.Join(r.folder, fileName)); err != nil {
		return fmt.Errorf("publish report: %w", err)
	}
	return nil
}
