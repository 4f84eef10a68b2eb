// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	cloudclient "github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/internal/childprocess"
	"github.com/capfoo/cluster-api-provider-foo/internal/observer"
	"github.com/capfoo/cluster-api-provider-foo/internal/supervisor"
)

// benchNamespace holds all clusters.
const benchNamespace = "bench"

// environment is a management cluster with the Foo cloud and all controllers, started by
// quickstart.
type environment struct {
	options
	client   client.Client
	scheme   *runtime.Scheme
	observer *observer.Observer
	cloud    *cloudclient.Client
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
	program, err := startProgram(ctx, nil, filepath.Join(options.binDir, "foo"), append([]string{
		"quickstart", "--management-only", "--state-dir=" + options.stateDir, "--bridge=" + options.bridge, "--network=" + options.network,
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
	progress("management cluster up after %s", time.Since(began).Round(time.Second))
	return env, nil
}

// connect waits until everything is up; its clients live as long as the context watching.
func (e *environment) connect(ctx, watching context.Context) error {
	variables, err := e.variables(ctx)
	if err != nil {
		return err
	}
	e.cloud, err = cloudclient.NewClient(cloudclient.Options{Endpoint: variables["FOO_CLOUD_ENDPOINT"], TokenFile: variables["FOO_CLOUD_TOKEN_FILE"]})
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", e.kubeconfig())
	if err != nil {
		return err
	}
	e.scheme = runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, clusterv1.AddToScheme, infrav1.AddToScheme} {
		if err := add(e.scheme); err != nil {
			return err
		}
	}
	if e.client, err = client.New(direct(config), client.Options{Scheme: e.scheme}); err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: benchNamespace}}
	if err := e.client.Create(ctx, namespace); err != nil {
		return err
	}
	e.observer, err = observer.Start(watching, config, observer.Options{Scheme: e.scheme, Namespace: benchNamespace},
		&clusterv1.Cluster{}, &clusterv1.Machine{}, &infrav1.FooMachine{})
	return err
}

// direct disables rate limits and proxies for requests.
func direct(config *rest.Config) *rest.Config {
	config.QPS = -1
	config.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	return config
}

// kubeconfig is the path of the management cluster's kubeconfig.
func (e *environment) kubeconfig() string { return filepath.Join(e.stateDir, "management.kubeconfig") }

// variables waits for quickstart to write its file of variables, and returns the variables.
func (e *environment) variables(ctx context.Context) (map[string]string, error) {
	var content []byte
	err := e.program.until(ctx, func(context.Context) (err error) {
		content, err = os.ReadFile(filepath.Join(e.stateDir, "env"))
		return err
	})
	return parseVariables(string(content)), err
}

// stop stops everything; quickstart deletes everything that it and the cloud created.
func (e *environment) stop() error {
	e.stopAll()
	progress("deleting everything")
	return e.program.interrupt()
}

// program is a program that runs until it is stopped.
type program struct {
	cmd *exec.Cmd
	// log is the path of a file with its output.
	log  string
	done <-chan struct{}
}

// startProgram starts a program with additional environment variables. The program ends when this
// one does, even if this one is killed, and gets Ctrl-C only through interrupt.
func startProgram(ctx context.Context, variables []string, path string, args ...string) (*program, error) {
	log, err := os.CreateTemp("", "foo-bench-*.log")
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the program keeps its own
	// It does not end with ctx, because it cleans up only when it is interrupted.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), path, args...)
	p := &program{cmd: cmd, log: log.Name()}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), variables...)
	p.done, err = childprocess.Start(cmd)
	return p, err
}

// until polls until ready succeeds, because there is nothing to watch, or until the program ends.
func (p *program) until(ctx context.Context, ready func(context.Context) error) error {
	return wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		select {
		case <-p.done:
			return false, p.failed()
		default:
			return ready(ctx) == nil, nil
		}
	})
}

func (p *program) failed() error {
	return fmt.Errorf("%s ended with %s: %s", p.cmd.Path, p.cmd.ProcessState, p.last())
}

// last returns the last lines of its output.
func (p *program) last() string {
	lines, err := supervisor.LastLines(p.log, 20)
	if err != nil {
		return err.Error()
	}
	return strings.Join(lines, "\n")
}

// interrupt stops the program like Ctrl-C.
func (p *program) interrupt() error {
	defer func() { _ = os.Remove(p.log) }()
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.done
	if !p.cmd.ProcessState.Success() {
		return p.failed()
	}
	return nil
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

// progress prints progress messages, separately from the results.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%s %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
}
