// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
)

const (
	// suiteName is what Ginkgo puts before the name of each test when it looks for the ones to run.
	suiteName = "Kubernetes e2e suite"
	// goodbye is how long the tests may clean up after Ctrl-C.
	goodbye = 2 * time.Minute
)

// run is what a user chooses.
type run struct {
	focus, list, shard        string
	resume, dryRun            bool
	processes                 int
	bin, results              string
	stateDir, bridge, network string
}

func (r run) do(command *cobra.Command) error {
	ctx := command.Context()
	if r.processes < 1 {
		return cli.Usage(command, fmt.Errorf("--processes %d: must be 1 or more", r.processes))
	}
	// Programs run in other folders.
	var err error
	if r.bin, err = filepath.Abs(r.bin); err != nil {
		return err
	}
	s, err := openSuite(ctx, r.bin)
	if err != nil {
		return err
	}
	// Results are those of one version.
	if r.results, err = filepath.Abs(filepath.Join(r.results, s.version)); err != nil {
		return err
	}
	if err := os.MkdirAll(r.results, 0o750); err != nil {
		return err
	}
	chosen, err := r.choose(s)
	if err != nil {
		return cli.Usage(command, err)
	}
	names, err := r.open(chosen)
	if err != nil {
		return err
	}
	fmt.Printf("%d of the %d conformance tests of %s are chosen, %d of them are to run\n", len(chosen), len(s.names), s.version, len(names))
	if r.dryRun {
		fmt.Println(strings.Join(names, "\n"))
		return nil
	}
	if len(names) > 0 {
		err = r.onCluster(ctx, s, names)
	}
	return errors.Join(err, r.summarize(chosen))
}

// choose returns the names of the tests that the flags choose.
func (r run) choose(s suite) ([]string, error) {
	names, err := shardOf(s.names, r.shard)
	if err != nil {
		return nil, err
	}
	if r.list != "" {
		content, err := os.ReadFile(r.list)
		if err != nil {
			return nil, fmt.Errorf("--tests: %w", err)
		}
		wanted := slices.DeleteFunc(strings.Split(string(content), "\n"), func(line string) bool { return line == "" || line[0] == '#' })
		for _, name := range wanted {
			if !slices.Contains(s.names, name) {
				return nil, fmt.Errorf("--tests %s: no conformance test of %s is called %q", r.list, s.version, name)
			}
		}
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !slices.Contains(wanted, name) })
	}
	focus, err := regexp.Compile(r.focus)
	if err != nil {
		return nil, fmt.Errorf("--focus: %w", err)
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !focus.MatchString(name) }), nil
}

// open returns the tests that are to run.
func (r run) open(names []string) ([]string, error) {
	if !r.resume {
		return names, nil
	}
	all, err := readResults(r.results)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return last(all[name]) == passed }), nil
}

// onCluster runs tests, and those that have failed once more.
func (r run) onCluster(ctx context.Context, s suite, names []string) (err error) {
	c, err := openCluster(ctx, r, s.version)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close(ctx)) }()
	if err := c.load(ctx, filepath.Join(r.bin, "conformance", "images.tar")); err != nil {
		return fmt.Errorf("load the images: %w", err)
	}
	started := time.Now()
	if err := r.ginkgo(ctx, s, c, names, r.processes); err != nil {
		return err
	}
	all, err := readResults(r.results)
	if err != nil {
		return err
	}
	failed := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		results := all[name]
		return len(results) == 0 || last(results) == passed || results[len(results)-1].Started.Before(started)
	})
	if len(failed) == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	fmt.Printf("%d tests have failed and run once more, one at a time\n", len(failed))
	return r.ginkgo(ctx, s, c, failed, 1)
}

// ginkgo runs tests. That some fail is no error: their results say so.
func (r run) ginkgo(ctx context.Context, s suite, c *cluster, names []string, processes int) error {
	quoted := make([]string, len(names))
	for index, name := range names {
		quoted[index] = regexp.QuoteMeta(name)
	}
	path := filepath.Join(r.results, "log-"+time.Now().UTC().Format("20060102-150405")+".txt")
	log, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	fmt.Printf("%d tests run, %d at once; what they say is in %s\n", len(names), processes, path)
	kubectl := filepath.Join(r.bin, "kubernetes", s.version, "kubectl")
	command := exec.CommandContext(ctx, filepath.Join(r.bin, "conformance", "ginkgo"), "run",
		"--no-color", "-v", "--timeout=24h", fmt.Sprintf("--procs=%d", processes), "--focus=^"+suiteName+" (?:"+strings.Join(quoted, "|")+")$",
		s.program, "--",
		"--results="+r.results, "--kubeconfig="+c.kubeconfig(), "--kubectl-path="+kubectl, "--provider=skeleton", "--num-nodes=2",
		"--non-blocking-taints=node-role.kubernetes.io/control-plane", "--allowed-not-ready-nodes=1",
		"--dump-logs-on-failure=false", "--disable-log-dump=true", "--delete-namespace=true")
	command.Dir = r.results
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// Ginkgo expects that its processes hear Ctrl-C as well.
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGINT) }
	command.WaitDelay = goodbye
	err = command.Run()
	if command.Process != nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // those that have not ended by now
	}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		return nil
	}
	return err
}

// summarize prints what has not passed, and returns an error unless all chosen tests have.
func (r run) summarize(chosen []string) error {
	all, err := readResults(r.results)
	if err != nil {
		return err
	}
	count := map[string]int{}
	for _, name := range chosen {
		state := last(all[name])
		count[state]++
		if state != passed {
			fmt.Printf("%s: %s\n", state, name)
		}
	}
	fmt.Printf("%d of %d passed\n", count[passed], len(chosen))
	if count[passed] < len(chosen) {
		return fmt.Errorf("%d of the %d chosen tests have not passed; results are in %s", len(chosen)-count[passed], len(chosen), r.results)
	}
	return nil
}
