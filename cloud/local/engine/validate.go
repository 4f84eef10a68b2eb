// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

const (
	maxName     = 253
	maxPoolName = 247
	maxPoolSize = 10000
	maxUserData = 1 << 20
)

func validateName(field, name string, limit int) error {
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return &cloud.InvalidError{Field: field, Value: name, Problem: strings.Join(problems, "; ")}
	}
	if len(name) > limit {
		return &cloud.InvalidError{Field: field, Value: name, Problem: fmt.Sprintf("must be at most %d characters", limit)}
	}
	return nil
}

func validateBalancer(spec cloud.LoadBalancerSpec) error {
	if err := validateName("name", spec.Name, maxName); err != nil {
		return err
	}
	if problems := validation.IsValidPortNum(int(spec.Port)); len(problems) > 0 {
		return &cloud.InvalidError{
			Field: "port", Value: strconv.Itoa(int(spec.Port)), Problem: "is no TCP port", Allowed: []string{"1-65535"},
		}
	}
	if len(spec.Selector) == 0 {
		return &cloud.InvalidError{Field: "selector", Problem: "must hold at least one tag, or every instance would be a backend"}
	}
	return nil
}

func (e *Engine) validateInstance(spec cloud.InstanceSpec) error {
	if err := validateName("name", spec.Name, maxName); err != nil {
		return err
	}
	if err := validateName("hostname", spec.Hostname, cloud.MaxHostname); err != nil {
		return err
	}
	if spec.Zone != "" {
		if err := e.validateZone("zone", spec.Zone); err != nil {
			return err
		}
	}
	return e.validateTemplate("", spec.InstanceTemplate)
}

func validateSize(size int32) error {
	if size >= 0 && size <= maxPoolSize {
		return nil
	}
	return &cloud.InvalidError{
		Field: "size", Value: strconv.Itoa(int(size)), Problem: "is out of range", Allowed: []string{fmt.Sprintf("0-%d", maxPoolSize)},
	}
}

func (e *Engine) validatePool(spec cloud.PoolSpec) error {
	if err := validateName("name", spec.Name, maxPoolName); err != nil {
		return err
	}
	if err := validateName("hostnamePrefix", spec.HostnamePrefix, cloud.MaxHostnamePrefix); err != nil {
		return err
	}
	if err := validateSize(spec.Size); err != nil {
		return err
	}
	for _, zone := range spec.Zones {
		if err := e.validateZone("zones", zone); err != nil {
			return err
		}
	}
	return e.validateTemplate("template.", spec.Template)
}

func (e *Engine) validateZone(field, zone string) error {
	names := e.zoneNames()
	if slices.Contains(names, zone) {
		return nil
	}
	return &cloud.InvalidError{Field: field, Value: zone, Problem: "unknown zone", Allowed: names}
}

func (e *Engine) validateTemplate(prefix string, template cloud.InstanceTemplate) error {
	if _, err := e.instanceType(prefix+"type", template.Type); err != nil {
		return err
	}
	if size := len(template.UserData); size > maxUserData {
		return &cloud.InvalidError{
			Field: prefix + "userData", Value: fmt.Sprintf("%d bytes", size),
			Problem: fmt.Sprintf("must be at most %d bytes", maxUserData),
		}
	}
	return e.validateImage(prefix+"kubernetesVersion", template.KubernetesVersion)
}

func (e *Engine) instanceType(field, name string) (cloud.InstanceType, error) {
	names := make([]string, 0, len(e.options.InstanceTypes))
	for _, kind := range e.options.InstanceTypes {
		if kind.Name == name {
			return kind, nil
		}
		names = append(names, kind.Name)
	}
	slices.Sort(names)
	return cloud.InstanceType{}, &cloud.InvalidError{Field: field, Value: name, Problem: "unknown instance type", Allowed: names}
}

func (e *Engine) validateImage(field, version string) error {
	images, err := e.options.Images()
	if err != nil {
		return &cloud.UnavailableError{Message: err.Error()}
	}
	versions := make([]string, 0, len(images))
	for _, image := range images {
		if image.KubernetesVersion == version {
			return nil
		}
		versions = append(versions, image.KubernetesVersion)
	}
	return &cloud.InvalidError{
		Field: field, Value: version, Allowed: versions,
		Problem: fmt.Sprintf("no image of this Kubernetes version, build one with `make node KUBERNETES_VERSION=%s`", buildable(version)),
	}
}

// buildable returns the version in the form that the build expects, or a placeholder if it is not a
// version at all.
func buildable(version string) string {
	if strings.HasPrefix(version, "v") {
		return version
	}
	return "v<major>.<minor>.<patch>"
}

func (e *Engine) zoneNames() []string {
	names := make([]string, 0, len(e.options.Zones))
	for _, zone := range e.options.Zones {
		names = append(names, zone.Name)
	}
	slices.Sort(names)
	return names
}

// immutable returns an InvalidError if a request would change an immutable field.
func immutable(field, have, want string) error {
	if have == want {
		return nil
	}
	return &cloud.InvalidError{Field: field, Value: want, Problem: "cannot change", Allowed: []string{have}}
}
