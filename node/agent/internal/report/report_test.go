// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

func read(t *testing.T, folder string) contract.Report {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, contract.ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	var status contract.Report
	if err := json.Unmarshal(data, &status); err != nil {
		t.Fatal(err)
	}
	return status
}

func TestReporter(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "report")
	reporter, err := New(folder)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, folder); got.Phase != contract.PhaseBooting || got.Bootstrap.State != contract.BootstrapPending {
		t.Errorf("first report is %+v", got)
	}
	if err := reporter.SetPhase(contract.PhaseRunning); err != nil {
		t.Fatal(err)
	}
	if err := reporter.SetBootstrap(contract.Bootstrap{State: contract.BootstrapFailed, Message: "why"}); err != nil {
		t.Fatal(err)
	}
	if err := reporter.SetBootstrap(contract.Bootstrap{State: contract.BootstrapSucceeded}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, folder); got.Phase != contract.PhaseRunning || got.Bootstrap != (contract.Bootstrap{State: contract.BootstrapFailed, Message: "why"}) {
		t.Errorf("a failure is not final: %+v", got)
	}
	for _, phase := range []contract.Phase{contract.PhaseStopping, contract.PhaseRunning} {
		if err := reporter.SetPhase(phase); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, folder); got.Phase != contract.PhaseStopping {
		t.Errorf("an instance that stops is %s", got.Phase)
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 1 {
		t.Errorf("folder holds %v, %v", entries, err)
	}
}

func TestAReportWaitsForRoomOnTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		folder := t.TempDir()
		reporter, err := New(folder)
		if err != nil {
			t.Fatal(err)
		}
		obstacle := filepath.Join(folder, tempName)
		if err := os.Mkdir(obstacle, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := reporter.SetBootstrap(contract.Bootstrap{State: contract.BootstrapSucceeded}); err == nil {
			t.Fatal("a report that could not be written is no error")
		}
		if err := reporter.SetPhase(contract.PhaseRunning); err == nil {
			t.Fatal("a report that could not be written is no error")
		}
		<-time.After(time.Minute)
		if err := os.Remove(obstacle); err != nil {
			t.Fatal(err)
		}
		<-time.After(time.Minute)
		if got := read(t, folder); got.Bootstrap.State != contract.BootstrapSucceeded || got.Phase != contract.PhaseRunning {
			t.Errorf("once there is room, the report is still %+v", got)
		}
	})
}
