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

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
func inMemoryRun(ctx context.Context, env *environment, turn int, results *results) error {
	attempt := func(suffix string) (*measurement, error) {
		return env.alone(ctx, benchmarkInMemory, fmt.Sprintf("in-memory-%d%s", turn, suffix), inMemoryCluster, inMemoryPhases)
	}
	run, err := attempt("")
	repeated := errors.Is(err, errSlow)
	if repeated {
		progress("run %d is repeated: %v; the end of the provider's log:\n%s", turn, err, env.inMemory.last())
		run, err = attempt("-again")
	}
	if err != nil {
		return err
	}
	if repeated {
		run.add("repeated", 1)
	}
	results.add(run)
	return nil
}

// manyInMemoryRun measures the time until several clusters of the in-memory provider are up.
func manyInMemoryRun(ctx context.Context, env *environment, number int, results *results) (err error) {
	run := newMeasurement(benchmarkManyInMemory(number))
	defer func(whole context.Context) { err = errors.Join(err, env.removeAll(whole)) }(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, env.timeout, errSlow)
	defer cancel()
	if _, err := env.together(ctx, run, func() ([]*cluster, error) {
		return env.bringUp(ctx, fmt.Sprintf("many-in-memory-%d", number), number, inMemoryCluster)
	}, phaseNodes); err != nil {
		return err
	}
	results.add(run)
	return nil
}

// inMemoryCluster returns the objects of a cluster of the in-memory provider with as many machines
// as one of Foo has.
func inMemoryCluster(ctx context.Context, name, kubernetesVersion string) ([]*unstructured.Unstructured, error) {
	return render(ctx, inMemoryTemplate, map[string]string{
		"NAMESPACE": benchNamespace, "CLUSTER_NAME": name, "KUBERNETES_VERSION": kubernetesVersion, "WORKER_MACHINE_COUNT": fmt.Sprint(workers),
	})
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
	if err := started.until(ctx, func(ctx context.Context) error { return healthy(ctx, ready) }); err != nil {
		return errors.Join(fmt.Errorf("start the in-memory provider: %w", err), started.interrupt())
	}
	env.inMemory = started
	return nil
}

func healthy(ctx context.Context, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}
