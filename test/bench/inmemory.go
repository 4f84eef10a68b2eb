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

// inMemoryRun measures one cluster of Cluster API's in-memory provider, in which everything is fake and nothing waits.
func inMemoryRun(ctx context.Context, options options, env *environment, turn int, results *results) (err error) {
	run := clusterTimes{Load: loadAverage()}
	defer func(whole context.Context) { err = errors.Join(err, env.removeAll(whole)) }(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, options.timeout, errSlow)
	defer cancel()
	name := fmt.Sprintf("in-memory-%d", turn)
	objects, err := render(inMemoryTemplate, map[string]string{
		"NAMESPACE": benchNamespace, "CLUSTER_NAME": name, "KUBERNETES_VERSION": options.kubernetesVersion,
		"WORKER_MACHINE_COUNT": fmt.Sprint(workers),
	})
	if err != nil {
		return err
	}
	made, err := env.apply(ctx, name, objects)
	if err != nil {
		return err
	}
	if err := env.follow(ctx, []*cluster{made}, inMemoryPhases...); err != nil {
		return err
	}
	run.Reached = made.reached
	results.InMemory = append(results.InMemory, run)
	progress("cluster of the in-memory provider, run %d: initialized %s, all Nodes Ready %s, available %s (load %.1f)", turn,
		seconds(run.Reached[phaseInitialized]), seconds(run.Reached[phaseNodes]), seconds(run.end()), run.Load)
	return nil
}

// startInMemory starts the in-memory provider, and the control plane provider that it is used with. What it returns
// ends them.
func startInMemory(ctx context.Context, env *environment) (func() error, error) {
	kubeadm := provider{
		program:       filepath.Join(env.binDir, "tools/kubeadm-control-plane"),
		module:        "sigs.k8s.io/cluster-api",
		moduleFile:    "go.mod",
		kustomization: "controlplane/kubeadm/config/crd",
	}
	inMemory := provider{
		program:       filepath.Join(env.binDir, "tools/in-memory-provider"),
		module:        "sigs.k8s.io/cluster-api/test",
		moduleFile:    "inmemory.mod",
		kustomization: "infrastructure/docker/config/crd",
		// Where it listens for its API servers.
		variables: []string{"POD_IP=127.0.0.1"},
	}
	var started []*program
	stop := func() error {
		errs := make([]error, 0, len(started))
		for _, program := range started {
			errs = append(errs, program.interrupt())
		}
		return errors.Join(errs...)
	}
	for _, provider := range []provider{kubeadm, inMemory} {
		program, err := env.startProvider(ctx, provider)
		if program != nil {
			started = append(started, program)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("start %s: %w", provider.program, err), stop())
		}
	}
	return stop, nil
}
