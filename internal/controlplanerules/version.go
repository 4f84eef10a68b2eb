// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplanerules

import (
	"errors"
	"fmt"
	"strings"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/version"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

func parse(text string) (semver.Version, error) { return semver.Parse(strings.TrimPrefix(text, "v")) }

func validateVersion(text string, path *field.Path) field.ErrorList {
	if text == "" {
		return field.ErrorList{field.Required(path, "a Kubernetes version such as v1.36.3")}
	}
	if _, err := parse(text); err != nil {
		return field.ErrorList{field.Invalid(path, text, "must be a semantic version such as v1.36.3")}
	}
	return nil
}

// CheckReplicas returns an error if a control plane that runs its own etcd cannot have this number
// of replicas.
func CheckReplicas(replicas int) error {
	if err := CheckReplicasOfExternalEtcd(replicas); err != nil {
		return err
	}
	if replicas%2 == 0 {
		return errors.New("must be odd: an even number of etcd members tolerates no more failures than one member fewer; even numbers are only for external etcd")
	}
	return nil
}

// CheckReplicasOfExternalEtcd returns an error if a control plane with external etcd cannot have
// this number of replicas.
func CheckReplicasOfExternalEtcd(replicas int) error {
	if replicas < 1 {
		return errors.New("must be at least 1: to remove the control plane, delete the FooControlPlane")
	}
	return nil
}

// ValidateReplicas returns what is wrong with a number of replicas. The webhook of the scale
// subresource uses it too.
func ValidateReplicas(replicas *int32, etcd bootstrapv1.Etcd, path *field.Path) field.ErrorList {
	if replicas == nil {
		return nil
	}
	check := CheckReplicas
	if etcd.External.IsDefined() {
		check = CheckReplicasOfExternalEtcd
	}
	if err := check(int(*replicas)); err != nil {
		return field.ErrorList{field.Invalid(path, *replicas, err.Error())}
	}
	return nil
}

// SkipsMinor reports whether wanted is more than one minor version above running. A pre-release
// counts as its release.
func SkipsMinor(wanted, running semver.Version) bool {
	ceiling := semver.Version{Major: running.Major, Minor: running.Minor + 2}
	return version.Compare(wanted, ceiling, version.WithoutPreReleases()) >= 0
}

// validateVersionChange compares the wanted version with the oldest version of any Machine. The
// status does not tell which of the newer Machines have joined, so the controller decides whether a
// rollout may still be reverted. Before a control plane is initialized, any version is allowed.
func validateVersionChange(before, after *controlplanev1.FooControlPlane, path *field.Path) field.ErrorList {
	wanted, err := parse(after.Spec.Version)
	if err != nil || before.Spec.Version == after.Spec.Version {
		return nil
	}
	oldest, known := oldestVersion(before)
	if !known {
		return nil
	}
	var errs field.ErrorList
	if SkipsMinor(wanted, oldest) {
		errs = append(errs, field.Invalid(path, after.Spec.Version,
			fmt.Sprintf("must be at most one minor version above v%s, the oldest version in the control plane: upgrade to v%d.%d first", oldest, oldest.Major, oldest.Minor+1)))
	}
	if wanted.LT(oldest) {
		errs = append(errs, field.Invalid(path, after.Spec.Version,
			fmt.Sprintf("must not be below v%s, the oldest version in the control plane: Kubernetes cannot be downgraded", oldest)))
	}
	return errs
}

// oldestVersion returns the oldest version of the Machines of an initialized control plane. If the
// status does not list the versions, it uses the spec's.
func oldestVersion(controlPlane *controlplanev1.FooControlPlane) (oldest semver.Version, known bool) {
	if !ptr.Deref(controlPlane.Status.Initialization.ControlPlaneInitialized, false) {
		return oldest, false
	}
	running := controlPlane.Status.Versions
	if len(running) == 0 {
		running = []clusterv1.StatusVersion{{Version: controlPlane.Spec.Version}}
	}
	for _, one := range running {
		parsed, err := parse(one.Version)
		if err == nil && (!known || parsed.LT(oldest)) {
			oldest, known = parsed, true
		}
	}
	return oldest, known
}
