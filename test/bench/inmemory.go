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

package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"path/filepath"
)

// inMemoryTemplate is the cluster of the in-memory provider.
//
//go:embed inmemory.yaml
var inMemoryTemplate []byte

// inMemoryPhases are the phases that are observed of clusters of any provider.
var inMemoryPhases = []phase{phaseInfrastructure, phaseInitialized, phaseFirstNode, phaseRegistered, phaseNodes, phaseMachines, phaseAvailable}

// inMemoryRun measures one cluster of Cluster API's in-memory provider, in which everything is fake and nothing waits. On
// a busy machine Cluster API may fail to reach its API server within 5 s time and again, each time after 30 s more. One
// that does not come up says nothing of speed, so it is measured once more, and the results say so.
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

// startInMemory starts the in-memory provider.
func startInMemory(ctx context.Context, env *environment) error {
	inMemory := provider{
		program:       filepath.Join(env.binDir, "tools/in-memory-provider"),
		module:        "sigs.k8s.io/cluster-api/test",
		moduleFile:    "inmemory.mod",
		kustomization: "infrastructure/docker/config/crd",
		// Where it listens for its API servers.
		variables: []string{"POD_IP=127.0.0.1"},
	}
	started, err := env.startProvider(ctx, inMemory)
	if err == nil {
		env.inMemory = started
		return nil
	}
	err = fmt.Errorf("start %s: %w", inMemory.program, err)
	if started != nil {
		err = errors.Join(err, started.interrupt())
	}
	return err
}
