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
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// benchNamespace holds all clusters.
const benchNamespace = "bench"

// environment is a management cluster with the Foo cloud and all controllers, started by
// quickstart.
type environment struct {
	options
	client   client.Client
	observer *observer
	cloud    *cloudClient
	program  *program
	// inMemory is the in-memory provider while it is running.
	inMemory *program
	stopAll  context.CancelFunc
}

// startEnvironment starts quickstart with additional arguments and returns once everything is up.
// The caller must stop the environment.
func startEnvironment(ctx context.Context, options options, arguments ...string) (*environment, error) {
	began := time.Now()
	progress("starting a management cluster on %s", options.stateDir)
	program, err := startProgram(ctx, nil, filepath.Join(options.binDir, "quickstart"), append([]string{
		"--management-only", "--state-dir=" + options.stateDir, "--bridge=" + options.bridge, "--network=" + options.network,
		"--kubernetes-version=" + options.kubernetesVersion,
	}, arguments...)...)
	if err != nil {
		return nil, err
	}
	watching, stopAll := context.WithCancel(ctx)
	env := &environment{options: options, program: program, stopAll: stopAll}
	if err := env.connect(ctx, watching); err != nil {
		_ = env.stop() // the startup error is more useful
		return nil, err
	}
	progress("management cluster up after %s", seconds(time.Since(began)))
	return env, nil
}

// connect waits until everything is up; its clients live as long as the context watching.
func (e *environment) connect(ctx, watching context.Context) error {
	variables, err := e.program.environment(ctx, filepath.Join(e.stateDir, "env"))
	if err != nil {
		return err
	}
	if e.cloud, err = newCloudClient(variables["FOO_CLOUD_ENDPOINT"], variables["FOO_CLOUD_TOKEN_FILE"]); err != nil {
		return err
	}
	config, err := restConfig(e.kubeconfig())
	if err != nil {
		return err
	}
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	if e.client, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: benchNamespace}}
	if err := e.client.Create(ctx, namespace); err != nil {
		return err
	}
	e.observer, err = observe(watching, config, scheme)
	return err
}

// kubeconfig is the path of the management cluster's kubeconfig.
func (e *environment) kubeconfig() string { return filepath.Join(e.stateDir, "management.kubeconfig") }

// stop stops everything; quickstart deletes everything that it and the cloud created.
func (e *environment) stop() error {
	e.stopAll()
	progress("deleting everything")
	return e.program.interrupt()
}

// program is a program that runs until it is stopped.
type program struct {
	cmd  *exec.Cmd
	said *tail
	done chan struct{}
}

// startProgram starts a program with additional environment variables. The program ends when this
// one does, even if this one is killed.
func startProgram(ctx context.Context, variables []string, path string, args ...string) (*program, error) {
	// It does not end with ctx, because it cleans up only when it is interrupted.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), path, args...)
	p := &program{cmd: cmd, said: &tail{}, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.said, p.said
	cmd.Env = append(os.Environ(), variables...)
	// In its own process group, it gets Ctrl-C only through stop.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	started := make(chan error, 1)
	go func() {
		// The kernel sends the signal when the thread that started the program ends, so keep the
		// thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.done)
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // ProcessState has the result
		}
	}()
	return p, <-started
}

// environment waits for quickstart to write its file of variables, and returns the variables.
func (p *program) environment(ctx context.Context, path string) (map[string]string, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	defer func() { _ = watcher.Close() }()
	// quickstart creates the folder of the file, so watch its parent folder first.
	if err := watcher.Add(filepath.Dir(filepath.Dir(path))); err != nil {
		return nil, err
	}
	for {
		_ = watcher.Add(filepath.Dir(path)) // fails until quickstart has created it
		content, err := os.ReadFile(path)
		if err == nil {
			return parseVariables(string(content)), nil
		}
		select {
		case <-watcher.Events:
		case <-p.done:
			return nil, fmt.Errorf("%s ended with %s: %s", p.cmd.Path, p.cmd.ProcessState, p.said)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func parseVariables(content string) map[string]string {
	variables := map[string]string{}
	for line := range strings.Lines(content) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			variables[name] = value
		}
	}
	return variables
}

// ended reports whether the program has ended.
func (p *program) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// interrupt stops the program like Ctrl-C.
func (p *program) interrupt() error {
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.done
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("%s ended with %s: %s", p.cmd.Path, p.cmd.ProcessState, p.said)
	}
	return nil
}

// progress prints progress messages, separately from the results.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
