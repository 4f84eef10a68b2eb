// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// DefaultTenant is the tenant that exists if none is configured. The daemon generates its token.
const DefaultTenant = "default"

// Config is the content of the configuration file. Every list has a default if it is omitted.
type Config struct {
	// Zones on offer; zone-a, zone-b and zone-c by default.
	Zones []Zone `json:"zones,omitempty"`
	// InstanceTypes on offer; small, medium and large by default.
	InstanceTypes []InstanceType `json:"instanceTypes,omitempty"`
	// Tenants that may call the API; by default one named "default", without quota.
	Tenants []Tenant `json:"tenants,omitempty"`
}

// Zone is a failure domain.
type Zone struct {
	// Name of the zone, a DNS label.
	Name string `json:"name"`
	// ControlPlane is true if the zone is meant for control planes; true by default.
	ControlPlane *bool `json:"controlPlane,omitempty"`
}

// InstanceType is a size of instance.
type InstanceType struct {
	// Name of the type, a DNS label.
	Name string `json:"name"`
	// CPUs of an instance, at least 1.
	CPUs int `json:"cpus"`
	// Memory of an instance, for example 4Gi.
	Memory resource.Quantity `json:"memory"`
	// Disk is how much an instance may write to its disk, for example 20Gi; no limit if omitted.
	Disk resource.Quantity `json:"disk,omitempty"`
}

// Tenant is a tenant that may call the API.
type Tenant struct {
	// Name of the tenant, a DNS label.
	Name string `json:"name"`
	// TokenFile holds the tenant's token. If empty, the daemon generates a token in its state
	// folder.
	TokenFile string `json:"tokenFile,omitempty"`
	// ViewerTokenFile holds a token for calls that change nothing, for example of the web console.
	// If empty, the daemon generates one in its state folder.
	ViewerTokenFile string `json:"viewerTokenFile,omitempty"`
	// RequestsPerSecond that the tenant may make; 0, the default, means no limit.
	RequestsPerSecond int `json:"requestsPerSecond,omitempty"`
	// Quota of the tenant; none by default.
	Quota Quota `json:"quota,omitempty"`
}

// Quota limits what a tenant may have. A field that is zero or omitted means no limit.
type Quota struct {
	// Instances, including the instances of pools.
	Instances int `json:"instances,omitempty"`
	// CPUs of all instances, according to their types.
	CPUs int `json:"cpus,omitempty"`
	// Memory of all instances, according to their types, for example 16Gi.
	Memory resource.Quantity `json:"memory,omitempty"`
	// LoadBalancers of the tenant.
	LoadBalancers int `json:"loadBalancers,omitempty"`
}

// Load reads a configuration file, or returns the defaults if path is empty. Unknown fields are
// errors.
func Load(path string) (*Config, error) {
	var c Config
	if path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read the configuration: %w", err)
		}
		if err := decode(text, &c); err != nil {
			return nil, fmt.Errorf("configuration %s: %w", path, err)
		}
	}
	c.setDefaults()
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("configuration %s: %w", path, err)
	}
	return &c, nil
}

// decode reports unknown fields by their full path, which the YAML decoder alone does not.
func decode(text []byte, into *Config) error {
	converted, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return err
	}
	unknown, err := json.UnmarshalStrict(converted, into)
	return errors.Join(append(unknown, err)...)
}

func (c *Config) setDefaults() {
	if len(c.Zones) == 0 {
		c.Zones = []Zone{{Name: "zone-a"}, {Name: "zone-b"}, {Name: "zone-c"}}
	}
	if len(c.InstanceTypes) == 0 {
		c.InstanceTypes = []InstanceType{
			{Name: "small", CPUs: 2, Memory: resource.MustParse("2Gi")},
			{Name: "medium", CPUs: 2, Memory: resource.MustParse("4Gi")},
			{Name: "large", CPUs: 4, Memory: resource.MustParse("8Gi")},
		}
	}
	if len(c.Tenants) == 0 {
		c.Tenants = []Tenant{{Name: DefaultTenant}}
	}
}

func (c *Config) validate() error {
	names := map[string][]string{}
	for _, zone := range c.Zones {
		names["zones"] = append(names["zones"], zone.Name)
	}
	for _, kind := range c.InstanceTypes {
		names["instanceTypes"] = append(names["instanceTypes"], kind.Name)
		if err := kind.validate(); err != nil {
			return err
		}
	}
	for _, tenant := range c.Tenants {
		names["tenants"] = append(names["tenants"], tenant.Name)
		if err := tenant.validate(); err != nil {
			return err
		}
	}
	for _, list := range []string{"zones", "instanceTypes", "tenants"} {
		if err := validateNames(list, names[list]); err != nil {
			return err
		}
	}
	return nil
}

func validateNames(list string, names []string) error {
	for i, name := range names {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return &cloud.InvalidError{Field: fmt.Sprintf("%s[%d].name", list, i), Value: name, Problem: strings.Join(problems, "; ")}
		}
		if slices.Contains(names[:i], name) {
			return &cloud.InvalidError{Field: fmt.Sprintf("%s[%d].name", list, i), Value: name, Problem: "is a duplicate"}
		}
	}
	return nil
}

func (t *InstanceType) validate() error {
	field := "instanceTypes[" + t.Name + "]."
	if t.CPUs < 1 {
		return &cloud.InvalidError{Field: field + "cpus", Value: fmt.Sprint(t.CPUs), Problem: "must be at least 1"}
	}
	if t.Memory.Sign() <= 0 {
		return &cloud.InvalidError{Field: field + "memory", Value: t.Memory.String(), Problem: "must be greater than zero, for example 2Gi"}
	}
	if !t.Disk.IsZero() && (t.Disk.Value() < cloud.MinDiskBytes || t.Disk.Value() > cloud.MaxDiskBytes) {
		return &cloud.InvalidError{Field: field + "disk", Value: t.Disk.String(), Problem: "must be 64Mi to 8Ti, for example 20Gi; without it there is no limit"}
	}
	return nil
}

func (t *Tenant) validate() error {
	field := "tenants[" + t.Name + "]."
	for name, value := range map[string]int{
		"quota.instances": t.Quota.Instances, "quota.cpus": t.Quota.CPUs, "quota.loadBalancers": t.Quota.LoadBalancers,
		"quota.memory": t.Quota.Memory.Sign(), "requestsPerSecond": t.RequestsPerSecond,
	} {
		if value < 0 {
			return &cloud.InvalidError{Field: field + name, Value: fmt.Sprint(value), Problem: "must not be negative; 0 is no limit"}
		}
	}
	return nil
}

// CloudZones returns the zones as the cloud shows them.
func (c *Config) CloudZones() []cloud.Zone {
	zones := make([]cloud.Zone, 0, len(c.Zones))
	for _, zone := range c.Zones {
		zones = append(zones, cloud.Zone{Name: zone.Name, ControlPlane: zone.ControlPlane == nil || *zone.ControlPlane})
	}
	return zones
}

// CloudInstanceTypes returns the instance types as the cloud shows them.
func (c *Config) CloudInstanceTypes() []cloud.InstanceType {
	types := make([]cloud.InstanceType, 0, len(c.InstanceTypes))
	for _, kind := range c.InstanceTypes {
		types = append(types, cloud.InstanceType{Name: kind.Name, CPUs: kind.CPUs, MemoryBytes: kind.Memory.Value(), DiskBytes: kind.Disk.Value()})
	}
	return types
}

// Limits returns the quota of each tenant.
func (c *Config) Limits() map[string]cloud.Resources {
	limits := map[string]cloud.Resources{}
	for _, tenant := range c.Tenants {
		limits[tenant.Name] = cloud.Resources{
			Instances: tenant.Quota.Instances, CPUs: tenant.Quota.CPUs,
			MemoryBytes: tenant.Quota.Memory.Value(), LoadBalancers: tenant.Quota.LoadBalancers,
		}
	}
	return limits
}
