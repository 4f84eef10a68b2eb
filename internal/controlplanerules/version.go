// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplanerules

import (
	"errors"
	"strings"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/util/validation/field"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/util/version"
)

// ParseVersion parses a Kubernetes version, with or without a leading v.
func ParseVersion(text string) (semver.Version, error) {
	return semver.Parse(strings.TrimPrefix(text, "v"))
}

func validateVersion(text string, path *field.Path) field.ErrorList {
	if text == "" {
		return field.ErrorList{field.Required(path, "a Kubernetes version such as v1.36.3")}
	}
	if _, err := ParseVersion(text); err != nil {
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
		return errors.New("must be odd: an even number of etcd members tolerates no more failures than one member fewer; even numbers are allowed with external etcd only")
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
