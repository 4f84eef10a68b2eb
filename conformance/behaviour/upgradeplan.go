// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"errors"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/runtime"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
)

// maxSkew is by how many minor versions workers may be older than the control plane.
const maxSkew = 3

func planOfExtension(s *story) error {
	return s.answerConfigured("GenerateUpgradePlan", func(e *extension, hook runtimecatalog.GroupVersionHook, name string, requests []runtime.Object) error {
		for _, content := range requests {
			answer, err := e.success(hook, name, content)
			if err != nil {
				return err
			}
			request, asked := content.(*runtimehooksv1.GenerateUpgradePlanRequest)
			response, answered := answer.(*runtimehooksv1.GenerateUpgradePlanResponse)
			if !asked || !answered {
				return fmt.Errorf("its request is a %T, and its answer a %T", content, answer)
			}
			e.check("upgrade-plan", checkPlan(request, response))
		}
		return nil
	})
}

// checkPlan returns an error if Cluster API would refuse a plan.
func checkPlan(request *runtimehooksv1.GenerateUpgradePlanRequest, response *runtimehooksv1.GenerateUpgradePlanResponse) error {
	from, err := semver.ParseTolerant(request.FromControlPlaneKubernetesVersion)
	if err != nil {
		return fmt.Errorf("requests: GenerateUpgradePlan: fromControlPlaneKubernetesVersion: %w", err)
	}
	fromWorkers, err := semver.ParseTolerant(request.FromWorkersKubernetesVersion)
	if err != nil {
		return fmt.Errorf("requests: GenerateUpgradePlan: fromWorkersKubernetesVersion: %w", err)
	}
	to, err := semver.ParseTolerant(request.ToKubernetesVersion)
	if err != nil {
		return fmt.Errorf("requests: GenerateUpgradePlan: toKubernetesVersion: %w", err)
	}
	controlPlane, err := steps(response.ControlPlaneUpgrades)
	if err != nil {
		return fmt.Errorf("controlPlaneUpgrades: %w", err)
	}
	workers, err := steps(response.WorkersUpgrades)
	if err != nil {
		return fmt.Errorf("workersUpgrades: %w", err)
	}
	if err := errors.Join(checkSteps(controlPlane, from, to), checkMinors(controlPlane, from, to)); err != nil {
		return fmt.Errorf("controlPlaneUpgrades is %v: %w", controlPlane, err)
	}
	if len(workers) == 0 {
		return nil // Cluster API plans them
	}
	if err := errors.Join(checkSteps(workers, fromWorkers, to), checkWorkers(workers, fromWorkers, append([]semver.Version{from}, controlPlane...))); err != nil {
		return fmt.Errorf("workersUpgrades is %v, and controlPlaneUpgrades is %v: %w", workers, controlPlane, err)
	}
	return nil
}

func steps(upgrades []runtimehooksv1.UpgradeStep) ([]semver.Version, error) {
	versions := make([]semver.Version, 0, len(upgrades))
	for _, step := range upgrades {
		version, err := semver.ParseTolerant(step.Version)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", step.Version, err)
		}
		versions = append(versions, version)
	}
	return versions, nil
}

// equal also compares the build, as Cluster API does.
func equal(a, b semver.Version) bool { return a.EQ(b) && slices.Equal(a.Build, b.Build) }

// follows reports whether a step may come after another one: it is newer, or another build.
func follows(step, previous semver.Version) bool {
	return step.GT(previous) || step.EQ(previous) && !slices.Equal(step.Build, previous.Build)
}

func checkSteps(versions []semver.Version, from, to semver.Version) error {
	previous := from
	for _, version := range versions {
		if !follows(version, previous) {
			return fmt.Errorf("%s is not newer than %s", version, previous)
		}
		if version.GT(to) {
			return fmt.Errorf("%s is newer than the wanted version %s", version, to)
		}
		previous = version
	}
	if !equal(previous, to) {
		return fmt.Errorf("it ends with %s, and the wanted version is %s", previous, to)
	}
	return nil
}

// checkMinors looks for minor versions that a plan leaves out. Kubernetes has had one major version so far.
func checkMinors(versions []semver.Version, from, to semver.Version) error {
	for minor := from.Minor + 1; from.Major == to.Major && minor <= to.Minor; minor++ {
		if !slices.ContainsFunc(versions, func(v semver.Version) bool { return v.Minor == minor }) {
			return fmt.Errorf("it has no version of the minor %d.%d", to.Major, minor)
		}
	}
	return nil
}

// checkWorkers compares the steps of the workers with those of the control plane. Workers follow after each step that
// both have.
func checkWorkers(workers []semver.Version, current semver.Version, controlPlane []semver.Version) error {
	next := workers
	for _, step := range controlPlane {
		if step.Minor > current.Minor+maxSkew {
			return fmt.Errorf("workers with %s would be more than %d minor versions older than a control plane with %s", current, maxSkew, step)
		}
		if len(next) > 0 && equal(next[0], step) {
			current, next = next[0], next[1:]
		}
	}
	if len(next) > 0 {
		return fmt.Errorf("%s is no step of the control plane, or in another order", next[0])
	}
	return nil
}
