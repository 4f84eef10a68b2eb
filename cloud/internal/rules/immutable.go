// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// SameInstance returns an InvalidError if a spec asks for other than the existing instance of its
// name. The spec need not name the zone that the cloud chose, and its user data may differ.
func SameInstance(have cloud.Instance, spec cloud.InstanceSpec) error {
	if have.Pool != "" {
		return &cloud.InvalidError{
			Field: "name", Value: spec.Name, Problem: fmt.Sprintf("is an instance of pool %q, which alone can make it", have.Pool),
		}
	}
	if !have.Tags.Equal(spec.Tags) {
		return &cloud.InvalidError{Field: "tags", Value: fmt.Sprint(spec.Tags), Problem: "cannot change", Allowed: []string{fmt.Sprint(have.Tags)}}
	}
	return cmp.Or(
		Immutable("interruptible", strconv.FormatBool(have.Interruptible), strconv.FormatBool(spec.Interruptible)),
		Immutable("hostname", have.Hostname, spec.Hostname),
		Immutable("zone", have.Zone, cmp.Or(spec.Zone, have.Zone)),
		Immutable("type", have.Type, spec.Type),
		Immutable("kubernetesVersion", have.KubernetesVersion, spec.KubernetesVersion),
		Immutable("image", have.Image, spec.Image),
		Immutable("diskBytes", byteCount(have.DiskBytes), byteCount(cmp.Or(spec.DiskBytes, have.DiskBytes))),
	)
}

// Immutable returns an InvalidError if a request would change an immutable field.
func Immutable(field, have, want string) error {
	if have == want {
		return nil
	}
	return &cloud.InvalidError{Field: field, Value: want, Problem: "cannot change", Allowed: []string{have}}
}

func byteCount(size int64) string { return strconv.FormatInt(size, 10) }
