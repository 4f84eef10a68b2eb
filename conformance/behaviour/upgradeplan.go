// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"errors"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/runtime"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// maxSkew is by how many minor versions workers may be older than the control plane.
const maxSkew = 3

func planOfExtension(s *story) error {
	found := findings{}
	err := s.answerConfigured("GenerateUpgradePlan", func(h handler, content runtime.Object) error {
		request, ok := content.(*runtimehooksv1.GenerateUpgradePlanRequest)
		if !ok {
			return fmt.Errorf("its request is a %T", content)
		}
		asked, err := upgradeOf(request)
		if err != nil {
			return err
		}
		answer, err := h.success(request)
		if err != nil {
			return err
		}
		response, ok := answer.(*runtimehooksv1.GenerateUpgradePlanResponse)
		if !ok {
			return fmt.Errorf("its answer is a %T", answer)
		}
		found.add("upgrade-plan", asked.check(response))
		return nil
	})
	return s.record(found, err)
}

// upgrade is what a plan is about.
type upgrade struct {
	from, to semver.Version
	// workers is the oldest version of workers; nil if the Cluster has none.
	workers *semver.Version
	// current is how the request writes the version of the control plane: Cluster API compares steps as texts.
	current string
}

func upgradeOf(request *runtimehooksv1.GenerateUpgradePlanRequest) (upgrade, error) {
	asked := upgrade{current: request.FromControlPlaneKubernetesVersion}
	if request.FromWorkersKubernetesVersion != "" {
		asked.workers = &semver.Version{}
	}
	for _, field := range []struct {
		name, value string
		version     *semver.Version
	}{
		{fromControlPlane, request.FromControlPlaneKubernetesVersion, &asked.from},
		{fromWorkers, request.FromWorkersKubernetesVersion, asked.workers},
		{"toKubernetesVersion", request.ToKubernetesVersion, &asked.to},
	} {
		if field.version == nil {
			continue
		}
		version, err := semver.ParseTolerant(field.value)
		if err != nil {
			return upgrade{}, fmt.Errorf("requests: GenerateUpgradePlan: %s is %q: %w", field.name, field.value, err)
		}
		*field.version = version
	}
	return asked, nil
}

// check returns an error if Cluster API would refuse a plan. It does what DefaultAndValidateUpgradePlans does, which
// stands in a package with the dependencies of all of Cluster API.
func (u upgrade) check(response *runtimehooksv1.GenerateUpgradePlanResponse) error {
	controlPlane, workers := steps(response.ControlPlaneUpgrades), steps(response.WorkersUpgrades)
	if err := u.checkControlPlane(controlPlane); err != nil {
		return fmt.Errorf("controlPlaneUpgrades is %v: %w", controlPlane, err)
	}
	if err := u.checkWorkers(workers, controlPlane); err != nil {
		return fmt.Errorf("workersUpgrades is %v, and controlPlaneUpgrades is %v: %w", workers, controlPlane, err)
	}
	return nil
}

func steps(upgrades []runtimehooksv1.UpgradeStep) []string {
	versions := make([]string, 0, len(upgrades))
	for _, step := range upgrades {
		versions = append(versions, step.Version)
	}
	return versions
}

func (u upgrade) checkControlPlane(steps []string) error {
	if fields.Compare(u.from, u.to) != 0 {
		return u.checkSteps(u.from, steps, 1)
	}
	if len(steps) > 0 {
		return errors.New("the control plane has the wanted version already")
	}
	return nil
}

func (u upgrade) checkWorkers(steps, controlPlane []string) error {
	if len(steps) == 0 {
		return nil // Cluster API plans them
	}
	if u.workers == nil || fields.Compare(*u.workers, u.to) == 0 {
		return errors.New("there are no workers, or they have the wanted version already")
	}
	for _, step := range steps {
		if len(controlPlane) > 0 && step != u.current && !slices.Contains(controlPlane, step) {
			return fmt.Errorf("%s is no step of the control plane", step)
		}
	}
	if err := u.checkSteps(*u.workers, steps, maxSkew); err != nil {
		return err
	}
	return u.checkBuilds(steps, controlPlane)
}

// checkSteps returns an error unless steps lead from a version to the wanted one, each at most some minor versions further.
func (u upgrade) checkSteps(current semver.Version, steps []string, minors uint64) error {
	for _, step := range steps {
		next, err := semver.ParseTolerant(step)
		switch {
		case err != nil:
			return fmt.Errorf("%q: %w", step, err)
		case fields.Compare(next, current) <= 0:
			return fmt.Errorf("%s is not newer than %s", step, current)
		case next.Minor-current.Minor > minors:
			return fmt.Errorf("%s follows %s, and may be newer by at most %d in the minor version", next, current, minors)
		}
		current = next
	}
	if fields.Compare(current, u.to) != 0 {
		return fmt.Errorf("it ends with %s, and the wanted version is %s", current, u.to)
	}
	return nil
}

// checkBuilds returns an error unless builds of one version have the order that they have for the control plane.
func (u upgrade) checkBuilds(steps, controlPlane []string) error {
	order := map[string]int{u.current: -1}
	for i, step := range controlPlane {
		order[step] = i
	}
	current := *u.workers
	for _, step := range steps {
		next, err := semver.ParseTolerant(step)
		if err != nil {
			return err
		}
		if fields.Compare(next, current) == fields.Unordered {
			position, known := order[step]
			previous, alsoKnown := order["v"+current.String()]
			if !known || !alsoKnown || position < previous {
				return fmt.Errorf("for the control plane, %s does not come before %s", current, step)
			}
		}
		current = next
	}
	return nil
}
