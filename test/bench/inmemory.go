// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/capfoo/cluster-api-provider-foo/test/inmemory"
)

// toolsFolder holds the module files of other programs, seen from the root of the repository.
const toolsFolder = "hack/tools"

// inMemoryTemplate is the cluster of the in-memory provider.
//
//go:embed inmemory.yaml
var inMemoryTemplate []byte

// inMemoryPhases are the phases that can be observed with any provider.
var inMemoryPhases = []phase{phaseInfrastructure, phaseInitialized, phaseFirstNode, phaseRegistered, phaseNodes, phaseMachines, phaseAvailable}

// inMemoryRun measures one cluster of Cluster API's in-memory provider, in which everything is fake
// and nothing waits. On a busy machine, Cluster API may repeatedly fail to reach its API server
// within 5 s, and retries only after 30 s. A cluster that does not come up says nothing about
// speed, so it is measured again, and the results report that.
func inMemoryRun(ctx context.Context, options options, env *environment, turn int, results *results) error {
	name := fmt.Sprintf("in-memory-%d", turn)
	run, err := inMemoryAttempt(ctx, options, env, name)
	if errors.Is(err, errSlow) {
		results.InMemoryRepeated++
		progress("run %d is repeated: %v (load %.1f); the end of the provider's log:\n%s", turn, err, loadAverage(), env.inMemory.said.last(logLines))
		run, err = inMemoryAttempt(ctx, options, env, name+"-again")
	}
	if err != nil {
		return err
	}
	results.InMemory = append(results.InMemory, *run)
	progress("cluster of the in-memory provider, run %d: initialized %s, all Nodes Ready %s, available %s (load %.1f)", turn,
		seconds(run.Reached[phaseInitialized]), seconds(run.Reached[phaseNodes]), seconds(run.end()), run.Load)
	return nil
}

// logLines is how much of a log is shown.
const logLines = 20

func inMemoryAttempt(ctx context.Context, options options, env *environment, name string) (run *clusterTimes, err error) {
	run = &clusterTimes{Load: loadAverage()}
	defer func(whole context.Context) { err = errors.Join(err, env.removeAll(whole)) }(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, options.timeout, errSlow)
	defer cancel()
	objects, err := render(inMemoryTemplate, map[string]string{
		"NAMESPACE": benchNamespace, "CLUSTER_NAME": name, "KUBERNETES_VERSION": options.kubernetesVersion,
		"WORKER_MACHINE_COUNT": fmt.Sprint(workers),
	})
	if err != nil {
		return nil, err
	}
	made, err := env.apply(ctx, name, objects)
	if err != nil {
		return nil, err
	}
	run.Reached = made.reached
	return run, env.follow(ctx, []*cluster{made}, inMemoryPhases...)
}

// startInMemory installs the in-memory provider and starts it.
func startInMemory(ctx context.Context, env *environment) error {
	ctx, cancel := context.WithTimeoutCause(ctx, env.timeout, errSlow)
	defer cancel()
	if err := inmemory.InstallCRDs(ctx, env.client, toolsFolder); err != nil {
		return err
	}
	arguments, ready, err := inmemory.Arguments(ctx, env.kubeconfig(), filepath.Join(env.stateDir, "in-memory"))
	if err != nil {
		return err
	}
	started, err := startProgram(ctx, []string{inmemory.Variable}, filepath.Join(env.binDir, inmemory.Program), arguments...)
	if err != nil {
		return fmt.Errorf("start the in-memory provider: %w", err)
	}
	if err := started.healthy(ctx, ready); err != nil {
		return errors.Join(fmt.Errorf("start the in-memory provider: %w", err), started.interrupt())
	}
	env.inMemory = started
	return nil
}

// healthy waits until a program reports that it is healthy. It polls, because there is nothing to
// watch.
func (p *program) healthy(ctx context.Context, url string) error {
	return wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		if p.ended() {
			return false, fmt.Errorf("%s ended with %s: %s", p.cmd.Path, p.cmd.ProcessState, p.said)
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return false, err
		}
		return answersOK(request), nil
	})
}

// answersOK also returns false while nothing is listening.
func answersOK(request *http.Request) bool {
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
}
