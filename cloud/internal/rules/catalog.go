// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

const (
	maxName     = 253
	maxPoolName = 247
	maxPoolSize = 10000
	maxUserData = 1 << 20
)

// Catalog is what a tenant can order.
type Catalog struct {
	// Zones, InstanceTypes and Images on offer.
	Zones         []cloud.Zone
	InstanceTypes []cloud.InstanceType
	Images        []cloud.Image
	// NoDisks explains why no instance can get a disk of limited size; empty if every instance can.
	NoDisks string
}

func validateName(field, name string, limit int) error {
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return &cloud.InvalidError{Field: field, Value: name, Problem: strings.Join(problems, "; ")}
	}
	if len(name) > limit {
		return &cloud.InvalidError{Field: field, Value: name, Problem: fmt.Sprintf("must be at most %d characters", limit)}
	}
	return nil
}

func validateSize(field, unit string, size, limit int) error {
	if size <= limit {
		return nil
	}
	return &cloud.InvalidError{Field: field, Value: fmt.Sprintf("%d %s", size, unit), Problem: fmt.Sprintf("must be at most %d %s", limit, unit)}
}

func validateTags(field string, tags cloud.Tags) error {
	if err := validateSize(field, "tags", len(tags), cloud.MaxTags); err != nil {
		return err
	}
	// In this order, so that a repeated call is refused for the same reason.
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if err := validateSize(field, "bytes in a key", len(key), cloud.MaxTagKey); err != nil {
			return err
		}
		if err := validateSize(field+"."+key, "bytes", len(tags[key]), cloud.MaxTagValue); err != nil {
			return err
		}
	}
	return nil
}

// LoadBalancer returns an InvalidError if the spec cannot be ordered.
func LoadBalancer(spec cloud.LoadBalancerSpec) error {
	if err := cmp.Or(
		validateName("name", spec.Name, maxName), validateTags("tags", spec.Tags), validateTags("selector", spec.Selector),
	); err != nil {
		return err
	}
	if problems := validation.IsValidPortNum(int(spec.Port)); len(problems) > 0 {
		return &cloud.InvalidError{
			Field: "port", Value: strconv.Itoa(int(spec.Port)), Problem: "is no TCP port", Allowed: []string{"1-65535"},
		}
	}
	if problems := validation.IsValidPortNum(int(cmp.Or(spec.TargetPort, spec.Port))); len(problems) > 0 {
		return &cloud.InvalidError{
			Field: "targetPort", Value: strconv.Itoa(int(spec.TargetPort)), Problem: "is no TCP port", Allowed: []string{"1-65535"},
		}
	}
	if len(spec.Selector) == 0 {
		return &cloud.InvalidError{Field: "selector", Problem: "must hold at least one tag, or every instance would be a backend"}
	}
	return nil
}

// Instance returns an InvalidError if the spec cannot be ordered.
func (c Catalog) Instance(spec cloud.InstanceSpec) error {
	if err := cmp.Or(
		validateName("name", spec.Name, maxName), validateName("hostname", spec.Hostname, cloud.MaxHostname), validateTags("spread", spec.Spread),
	); err != nil {
		return err
	}
	if spec.Zone != "" {
		if err := c.Zone("zone", spec.Zone); err != nil {
			return err
		}
	}
	if _, err := c.OfferedZones(spec.Zones); err != nil {
		return err
	}
	return cmp.Or(c.template("", spec.InstanceTemplate), c.Image("", spec.InstanceTemplate))
}

// Size returns an InvalidError if no pool can have the size.
func Size(size int32) error {
	if size >= 0 && size <= maxPoolSize {
		return nil
	}
	return &cloud.InvalidError{
		Field: "size", Value: strconv.Itoa(int(size)), Problem: "is out of range", Allowed: []string{fmt.Sprintf("0-%d", maxPoolSize)},
	}
}

// Shrink returns an InvalidError if a pool has more instances than the size that it is to get.
func Shrink(size, instances int32) error {
	if size >= instances {
		return nil
	}
	return &cloud.InvalidError{
		Field: "size", Value: strconv.Itoa(int(size)), Problem: fmt.Sprintf("below the number of instances, %d: delete instances by name", instances),
	}
}

// Pool returns an InvalidError if the spec cannot be ordered. The cloud may have lost zones and the image
// that the pool had before. For a new pool, before is empty.
func (c Catalog) Pool(spec, before cloud.PoolSpec) error {
	if err := cmp.Or(
		validateName("name", spec.Name, maxPoolName), validateName("hostnamePrefix", spec.HostnamePrefix, cloud.MaxHostnamePrefix),
		Size(spec.Size), validateTags("tags", spec.Tags), validateSize("revision", "bytes", len(spec.Revision), cloud.MaxRevision),
	); err != nil {
		return err
	}
	for _, zone := range spec.Zones {
		if slices.Contains(before.Zones, zone) {
			continue
		}
		if err := c.Zone("zones", zone); err != nil {
			return err
		}
	}
	return cmp.Or(c.template("template.", spec.Template), c.poolImage(spec, before))
}

// Zone returns an InvalidError if there is no such zone.
func (c Catalog) Zone(field, zone string) error {
	names := c.ZoneNames()
	if slices.Contains(names, zone) {
		return nil
	}
	return &cloud.InvalidError{Field: field, Value: zone, Problem: "unknown zone", Allowed: names}
}

func (c Catalog) template(prefix string, template cloud.InstanceTemplate) error {
	if _, err := c.InstanceType(prefix+"type", template.Type); err != nil {
		return err
	}
	if err := cmp.Or(
		validateSize(prefix+"userData", "bytes", len(template.UserData), maxUserData), validateTags(prefix+"tags", template.Tags),
	); err != nil {
		return err
	}
	return c.disk(prefix+"diskBytes", template.DiskBytes)
}

func (c Catalog) disk(field string, size int64) error {
	switch {
	case size == 0 || c.NoDisks == "" && size >= cloud.MinDiskBytes && size <= cloud.MaxDiskBytes:
		return nil
	case c.NoDisks != "":
		return &cloud.InvalidError{
			Field: field, Value: byteCount(size), Problem: "this cloud cannot limit the size of disks (" + c.NoDisks + ")", Allowed: []string{"0"},
		}
	default:
		return &cloud.InvalidError{
			Field: field, Value: byteCount(size), Problem: "is out of range", Allowed: []string{"0", byteCount(cloud.MinDiskBytes) + "-" + byteCount(cloud.MaxDiskBytes)},
		}
	}
}

// InstanceType returns an instance type by its name, or an InvalidError about the field.
func (c Catalog) InstanceType(field, name string) (cloud.InstanceType, error) {
	names := make([]string, 0, len(c.InstanceTypes))
	for _, kind := range c.InstanceTypes {
		if kind.Name == name {
			return kind, nil
		}
		names = append(names, kind.Name)
	}
	slices.Sort(names)
	return cloud.InstanceType{}, &cloud.InvalidError{Field: field, Value: name, Problem: "unknown instance type", Allowed: names}
}

// SortImages sorts images as a cloud.Catalog does: by Kubernetes version, oldest first, and then by name.
// What is not a semantic version comes first.
func SortImages(images []cloud.Image) {
	slices.SortFunc(images, func(a, b cloud.Image) int {
		return cmp.Or(
			semver.Compare(a.KubernetesVersion, b.KubernetesVersion), strings.Compare(a.KubernetesVersion, b.KubernetesVersion), strings.Compare(a.Name, b.Name),
		)
	})
}

// Image returns an InvalidError if no image fits the template, whose fields have the prefix.
func (c Catalog) Image(prefix string, template cloud.InstanceTemplate) error {
	version := template.KubernetesVersion
	var versions, names []string
	for _, image := range c.Images {
		switch {
		case image.KubernetesVersion == version && image.Name == template.Image:
			return nil
		case image.Name == "":
			versions = append(versions, image.KubernetesVersion)
		case image.KubernetesVersion == version:
			names = append(names, image.Name)
		}
	}
	if template.Image == "" {
		return &cloud.InvalidError{Field: prefix + "kubernetesVersion", Value: version, Problem: "no image of this Kubernetes version", Allowed: versions}
	}
	return &cloud.InvalidError{
		Field: prefix + "image", Value: template.Image, Allowed: names,
		Problem: fmt.Sprintf("no image of this name for Kubernetes %s; without a name, the cloud takes its default image", version),
	}
}

// poolImage returns an InvalidError if no image fits the template of a pool. The cloud may have lost the
// image that the pool had before: the pool cannot grow then, but it can still change. It gets no other
// revision, since no instances of that revision could be created to replace the present ones.
func (c Catalog) poolImage(spec, before cloud.PoolSpec) error {
	wanted, had := spec.Template, before.Template
	if had.KubernetesVersion != "" && wanted.KubernetesVersion == had.KubernetesVersion && wanted.Image == had.Image && spec.Revision == before.Revision {
		return nil
	}
	return c.Image("template.", wanted)
}

// ZoneNames returns the names of the zones, sorted.
func (c Catalog) ZoneNames() []string {
	names := make([]string, 0, len(c.Zones))
	for _, zone := range c.Zones {
		names = append(names, zone.Name)
	}
	slices.Sort(names)
	return names
}

// OfferedZones returns the named zones that the cloud offers, or all zones if none is named. It returns
// an InvalidError if the cloud offers none of them.
func (c Catalog) OfferedZones(named []string) ([]string, error) {
	all := c.ZoneNames()
	if len(named) == 0 {
		return all, nil
	}
	offered := slices.DeleteFunc(slices.Clone(named), func(zone string) bool { return !slices.Contains(all, zone) })
	if len(offered) == 0 {
		return nil, c.Zone("zones", named[0])
	}
	return offered, nil
}
