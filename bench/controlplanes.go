// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

// The compared kinds of control planes. Both accept the same spec.
const (
	kindFooControlPlane     = "FooControlPlane"
	kindKubeadmControlPlane = "KubeadmControlPlane"
)

// controlPlaneArguments runs the controller of each kind of control plane alone in its own process.
func controlPlaneArguments(options) []string {
	return []string{"--kubeadm-control-plane", "--manager-per-provider"}
}

// Units of a control plane, from its creation until all its Machines have been replaced.
const (
	// unitCreated is the time from applying the objects until its Machines are available, and
	// unitRolled that from changing the version until the same number of Machines with it are
	// available and no others are left.
	unitCreated = "created-s"
	unitRolled  = "rolled-s"
	// unitRequests are the requests of the controller to the management cluster and to the control
	// plane itself, and unitControllerCPU is its CPU time.
	unitRequests      = "API-requests"
	unitControllerCPU = "CPU-s"
	// Another manager runs the same program file as Foo's controller, so its PSS counts half of the
	// loaded file; RSS counts all of it.
	unitPSS = "PSS-MiB"
	unitRSS = "RSS-MiB"
)

// controlPlaneTargets are the maximum ratios of a FooControlPlane to a KubeadmControlPlane.
var controlPlaneTargets = map[string]float64{
	unitCreated: 0.5, unitRolled: 0.6, unitRequests: 0.8, unitControllerCPU: 0.7, unitPSS: 1, unitRSS: 1,
}

// controlPlaneContender is a kind of control plane with its controller.
type controlPlaneContender struct {
	kind, benchmark string
	// controls reports whether a process is the controller of this kind.
	controls func(process) bool
}

var controlPlaneContenders = []controlPlaneContender{{
	kind: kindFooControlPlane, benchmark: benchmarkFooControlPlane,
	controls: func(p process) bool {
		return p.kind == "manager" && slices.Contains(p.args, "--providers=control-plane")
	},
}, {
	kind: kindKubeadmControlPlane, benchmark: benchmarkKubeadmControlPlane,
	controls: func(p process) bool { return p.kind == "kubeadm-control-plane" },
}}

// comparison compares the kinds of control plane in one environment.
type comparison struct {
	*environment
	metrics *metricsReader
}

// compareControlPlanes alternates between the kinds, and changes which one comes first.
func compareControlPlanes(ctx context.Context, options options, env *environment, results *results) error {
	reader, err := newMetricsReader(ctx, env.client)
	if err != nil {
		return fmt.Errorf("read metrics: %w", err)
	}
	compare := comparison{environment: env, metrics: reader}
	contenders := slices.Clone(controlPlaneContenders)
	for turn := 1; turn <= options.runs; turn++ {
		for _, contender := range contenders {
			run, err := compare.run(ctx, contender, turn)
			if err != nil {
				return fmt.Errorf("%s, run %d: %w", contender.kind, turn, err)
			}
			results.add(run)
		}
		slices.Reverse(contenders)
	}
	return nil
}

// run measures a control plane of one kind from applying its objects until all its Machines have
// been replaced.
func (c comparison) run(ctx context.Context, contender controlPlaneContender, turn int) (run *measurement, err error) {
	run = newMeasurement(contender.benchmark)
	before, err := c.sample(ctx, contender)
	if err != nil {
		return nil, err
	}
	defer func(whole context.Context) { err = errors.Join(err, c.removeAll(whole)) }(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, 2*c.timeout, errSlow)
	defer cancel()
	name := fmt.Sprintf("rolled-%d-%s", turn, strings.ToLower(contender.kind))
	if err := c.makeAndRoll(ctx, name, contender.kind, run); err != nil {
		return nil, err
	}
	after, err := c.sample(ctx, contender)
	if err != nil {
		return nil, err
	}
	return run, run.addUsage(before, after)
}

func (c comparison) makeAndRoll(ctx context.Context, name, kind string, run *measurement) error {
	objects, err := controlPlaneCluster(ctx, name, kind, c.previousVersion, c.machines)
	if err != nil {
		return err
	}
	made, err := c.apply(ctx, name, objects)
	if err != nil {
		return err
	}
	if err := c.machinesAvailable(ctx, made.key, c.previousVersion, rollTimes{}); err != nil {
		return err
	}
	run.addSeconds(unitCreated, time.Since(made.began))
	began, spent := time.Now(), rollTimes{}
	if err := c.roll(ctx, objects); err != nil {
		return err
	}
	if err := c.machinesAvailable(ctx, made.key, c.kubernetesVersion, spent); err != nil {
		return err
	}
	run.addSeconds(unitRolled, time.Since(began))
	for _, phase := range rollPhases {
		run.addSeconds(string(phase), spent[phase])
	}
	return nil
}

// controlPlaneCluster returns the objects of a cluster with a control plane of the given kind and
// no workers.
func controlPlaneCluster(ctx context.Context, name, kind, version string, machines int) ([]*unstructured.Unstructured, error) {
	objects, err := fooClusterOf(ctx, name, version, machines, 0)
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		switch object.GetKind() {
		case kindFooControlPlane:
			object.SetKind(kind)
		case "Cluster":
			if err := unstructured.SetNestedField(object.Object, kind, "spec", "controlPlaneRef", "kind"); err != nil {
				return nil, err
			}
		}
	}
	return objects, nil
}

// roll changes the version of the control plane among the objects to the new one.
func (c comparison) roll(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if object.GroupVersionKind().Group != controlplanev1.GroupVersion.Group {
			continue
		}
		patch := fmt.Appendf(nil, `{"spec":{"version":%q}}`, c.kubernetesVersion)
		if err := c.client.Patch(ctx, object.DeepCopy(), client.RawPatch("application/merge-patch+json", patch), fieldOwner); err != nil {
			return fmt.Errorf("change the version of %s: %w", object.GetName(), err)
		}
	}
	return nil
}

// machinesAvailable waits until a cluster has exactly the desired number of Machines, all with this
// version and available. It adds up the time spent in each phase.
func (c comparison) machinesAvailable(ctx context.Context, key client.ObjectKey, version string, spent rollTimes) error {
	for {
		var machines clusterv1.MachineList
		err := c.observer.List(ctx, &machines, client.InNamespace(key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: key.Name},
			client.UnsafeDisableDeepCopy)
		if err != nil {
			return err
		}
		settled := countOf(machines.Items, func(machine clusterv1.Machine) bool {
			return machine.Spec.Version == version && machine.DeletionTimestamp == nil && conditions.IsTrue(&machine, clusterv1.MachineAvailableCondition)
		})
		if settled == c.machines && len(machines.Items) == c.machines {
			return nil
		}
		phase, began := rollPhaseOf(machines.Items), time.Now()
		select {
		case <-c.observer.Changes:
			spent[phase] += time.Since(began)
		case <-ctx.Done():
			return fmt.Errorf("%w: of %d Machines %d are available with version %s, want %d", context.Cause(ctx),
				len(machines.Items), settled, version, c.machines)
		}
	}
}

// sample is the total resource usage of a controller at one time.
type sample struct {
	process  process
	requests float64
}

// sample reads the resource usage of the controller of a kind.
func (c comparison) sample(ctx context.Context, contender controlPlaneContender) (sample, error) {
	processes, err := processesOf(c.program.cmd.Process.Pid)
	if err != nil {
		return sample{}, err
	}
	index := slices.IndexFunc(processes, contender.controls)
	if index < 0 {
		return sample{}, fmt.Errorf("the controller of %s is not running", contender.kind)
	}
	one := processes[index : index+1]
	if err := readMemory(one); err != nil {
		return sample{}, err
	}
	requests, err := c.metrics.requests(ctx, one[0])
	return sample{process: one[0], requests: requests}, err
}

// addUsage adds the usage of a controller between two samples.
func (m *measurement) addUsage(before, after sample) error {
	if before.process.pid != after.process.pid {
		return fmt.Errorf("the controller was restarted meanwhile: process %d is now %d", before.process.pid, after.process.pid)
	}
	m.add(unitRequests, after.requests-before.requests)
	m.add(unitControllerCPU, after.process.cpu-before.process.cpu)
	m.add(unitPSS, inMebibytes(after.process.pss))
	m.add(unitRSS, inMebibytes(after.process.rss))
	return nil
}
