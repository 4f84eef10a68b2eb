// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"strings"
)

// Sequence returns a task that runs several tasks in order, each once the previous ones are done.
// Tasks that the settings do not want are skipped. Finished tasks run again each time, which every
// Task must support.
func Sequence(tasks ...Task) Task { return sequence(tasks) }

type sequence []Task

// Wanted implements Task.
func (s sequence) Wanted(settings map[string]string) (bool, error) {
	wanted := false
	for _, task := range s {
		one, err := task.Wanted(settings)
		if err != nil {
			return false, err
		}
		wanted = wanted || one
	}
	return wanted, nil
}

// Run implements Task.
func (s sequence) Run(ctx context.Context, job Job) (Outcome, error) {
	var messages, reports []string
	for _, task := range s {
		wanted, err := task.Wanted(job.Settings)
		if err != nil {
			return Outcome{}, err
		}
		if !wanted {
			continue
		}
		outcome, err := task.Run(ctx, job)
		if err != nil {
			return Outcome{}, err
		}
		if outcome.Report != "" {
			reports = append(reports, strings.TrimRight(outcome.Report, "\n"))
		}
		if !outcome.Done {
			outcome.Report = strings.Join(reports, "\n")
			return outcome, nil
		}
		if outcome.Message != "" {
			messages = append(messages, outcome.Message)
		}
	}
	return Outcome{Done: true, Message: strings.Join(messages, "; "), Report: strings.Join(reports, "\n")}, nil
}
