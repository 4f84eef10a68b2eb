// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
)

// result describes one run of one test; test/conformance reads it.
type result struct {
	Name    string        `json:"name"`
	State   string        `json:"state"`
	Started time.Time     `json:"started"`
	Took    time.Duration `json:"took"`
	Message string        `json:"message,omitempty"`
	Where   string        `json:"where,omitempty"`
	// Stolen is the share of the machine's CPU time that its host took away while the test ran.
	Stolen float64 `json:"stolen"`
}

// results are written to the folder, unless it is empty.
var results struct {
	folder string
	// before is the machine's CPU time at the start of the test.
	before cpuTime
}

// record registers the writing of results. It must be called after the framework has read its
// flags: the framework then makes Ginkgo walk through all tests without running them, which
// discards earlier registrations.
func record() {
	if results.folder == "" {
		return
	}
	ginkgo.ReportBeforeEach(func(types.SpecReport) { results.before = readCPUTime() })
	ginkgo.ReportAfterEach(func(report types.SpecReport) {
		if err := write(report); err != nil {
			ginkgo.Fail(err.Error())
		}
	})
}

func write(report types.SpecReport) error {
	switch {
	case report.State.Is(types.SpecStateSkipped) && report.Failure.Message == "":
		return nil // not selected
	case report.State.Is(types.SpecStateInterrupted | types.SpecStateAborted | types.SpecStatePending):
		return nil // it has no result
	}
	one := result{
		Name: report.FullText(), State: report.State.String(), Started: report.StartTime, Took: time.Since(report.StartTime),
		Message: report.Failure.Message, Stolen: readCPUTime().stolenSince(results.before),
	}
	if report.Failure.Message != "" {
		one.Where = report.Failure.FailureNodeLocation.String()
	}
	content, err := json.MarshalIndent(one, "", "  ")
	if err != nil {
		return err
	}
	name := fmt.Sprintf("%x", sha256.Sum256([]byte(one.Name)))[:16] + fmt.Sprintf("-%d", one.Started.UnixMilli())
	if one.State != types.SpecStatePassed.String() {
		said := report.CapturedGinkgoWriterOutput + report.CapturedStdOutErr
		if err := os.WriteFile(filepath.Join(results.folder, name+".log"), []byte(said), 0o644); err != nil {
			return err
		}
	}
	// The rename ensures that the file is complete or does not exist.
	path := filepath.Join(results.folder, name+".json")
	if err := os.WriteFile(path+".new", content, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// cpuTime is in ticks since the machine's start.
type cpuTime struct{ all, stolen float64 }

// readCPUTime returns nothing if the machine does not report it.
func readCPUTime() cpuTime {
	content, err := os.ReadFile("/proc/stat")
	if err != nil {
		return cpuTime{}
	}
	// user nice system idle iowait irq softirq steal; the remaining fields are included in the
	// first two.
	const fields, steal = 8, 7
	line, _, _ := strings.Cut(string(content), "\n")
	var time cpuTime
	for index, field := range strings.Fields(line)[1:] {
		if index >= fields {
			break
		}
		var ticks float64
		if _, err := fmt.Sscan(field, &ticks); err != nil {
			return cpuTime{}
		}
		time.all += ticks
		if index == steal {
			time.stolen = ticks
		}
	}
	return time
}

func (c cpuTime) stolenSince(before cpuTime) float64 {
	if c.all <= before.all {
		return 0
	}
	return (c.stolen - before.stolen) / (c.all - before.all)
}
