// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/cluster-api/util/kubeconfig"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/internal/observer"
	"github.com/capfoo/cluster-api-provider-foo/internal/quickstart/progress"
)

// FailedError reports that the workload cluster cannot become available, or did not become
// available in time.
type FailedError struct {
	// Reason in one line.
	Reason string
	// Details are the conditions that explain the reason.
	Details []string
	// Instance is the ID of the instance whose console is most informative; empty if there is none.
	Instance string
}

func (e *FailedError) Error() string {
	return strings.Join(append([]string{e.Reason}, e.Details...), "\n  ")
}

// noProxy makes a client ignore the proxy settings of the environment.
func noProxy(*http.Request) (*url.URL, error) { return nil, nil }

// follower watches a workload cluster until it is up.
type follower struct {
	config     Config
	say        *printer
	live       client.Client
	management *observer.Observer
	workload   *observer.Observer
	began      time.Time
	tracker    progress.Tracker
	// seen means that the cluster existed.
	seen bool
}

// newFollower starts to watch the objects of a cluster, which need not exist yet, until ctx ends. The
// time starts at zero.
func newFollower(ctx context.Context, config Config, management *rest.Config, say *printer) (*follower, error) {
	live, err := newClient(management)
	if err != nil {
		return nil, err
	}
	observed, err := observeManagement(ctx, management, config.Namespace)
	if err != nil {
		return nil, err
	}
	say.restart()
	return &follower{config: config, say: say, live: live, management: observed, began: time.Now()}, nil
}

// follow returns once the cluster is available, or a FailedError.
func (f *follower) follow(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, f.config.Timeout, errTimeout)
	defer cancel()
	for {
		all, snapshot, err := f.look(ctx)
		if err != nil {
			return err
		}
		next, missing := progress.Next(snapshot)
		if !missing {
			return nil
		}
		if len(snapshot.Failures) > 0 {
			return &FailedError{Reason: "the cluster cannot come up", Details: snapshot.Failures, Instance: all.suspect()}
		}
		f.say.waitingFor(next.Waiting)
		select {
		case <-f.management.Changes:
		case <-f.workloadChanged():
		case <-ctx.Done():
			return f.ended(ctx, next)
		}
	}
}

var errTimeout = errors.New("timeout")

// ended returns the error for the end of the context.
func (f *follower) ended(ctx context.Context, next progress.Milestone) error {
	if !errors.Is(context.Cause(ctx), errTimeout) {
		return context.Cause(ctx)
	}
	failed := &FailedError{Reason: fmt.Sprintf("the cluster is not available after %s: still waiting for %s", f.config.Timeout, next.Waiting)}
	if all, err := readObjects(context.WithoutCancel(ctx), f.management, f.config.key()); err == nil {
		failed.Details, failed.Instance = all.unready(), all.suspect()
	}
	return failed
}

// workloadChanged blocks forever while the workload cluster is not watched.
func (f *follower) workloadChanged() <-chan struct{} {
	if f.workload == nil {
		return nil
	}
	return f.workload.Changes
}

// look reads everything, reports what is new, and starts to watch the workload cluster once it is
// reachable.
func (f *follower) look(ctx context.Context) (*objects, progress.Snapshot, error) {
	all, err := readObjects(ctx, f.management, f.config.key())
	if err != nil {
		return nil, progress.Snapshot{}, err
	}
	exists := all.cluster.Name != ""
	if f.seen && !exists || !all.cluster.DeletionTimestamp.IsZero() {
		return nil, progress.Snapshot{}, errDeleted
	}
	f.seen = exists
	nodes, err := workloadNodes(ctx, f.workload)
	if err != nil {
		return nil, progress.Snapshot{}, err
	}
	snapshot := all.snapshot(nodes)
	for _, reached := range f.tracker.Observe(snapshot, time.Since(f.began)) {
		f.say.done(reached.Text)
	}
	if f.workload == nil && snapshot.Initialized {
		if err := f.watchWorkload(ctx); err != nil {
			return nil, snapshot, err
		}
		return f.look(ctx)
	}
	return all, snapshot, nil
}

// watchWorkload writes the workload cluster's kubeconfig into the state folder and starts to watch
// its Nodes.
func (f *follower) watchWorkload(ctx context.Context) error {
	config, err := writeWorkloadKubeconfig(ctx, f.live, f.config)
	if err != nil {
		return err
	}
	f.say.waitingFor("the API server of the workload cluster to answer")
	f.workload, err = observe(ctx, config, "", &corev1.Node{})
	if err != nil {
		return fmt.Errorf("workload cluster: %w", err)
	}
	return nil
}

func writeWorkloadKubeconfig(ctx context.Context, reader client.Reader, config Config) (*rest.Config, error) {
	content, err := kubeconfig.FromSecret(ctx, reader, config.key())
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of the workload cluster: %w", err)
	}
	if err := os.WriteFile(config.workloadKubeconfig(), content, 0o600); err != nil {
		return nil, err
	}
	restConfig, err := clientcmd.RESTConfigFromKubeConfig(content)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of the workload cluster: %w", err)
	}
	restConfig.Proxy = noProxy // the cluster's network is on this machine
	return restConfig, nil
}
