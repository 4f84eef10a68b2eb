// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	_ "embed"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// Document is the OpenAPI 3 document of the API, in YAML.
//
//go:embed openapi.yaml
var Document []byte

// Paths of the API. To address one object, append a slash and its name or ID to the collection's
// path.
const (
	PathHealth        = "/healthz"
	PathDocument      = "/openapi.yaml"
	PathTenant        = "/v1/tenant"
	PathZones         = "/v1/zones"
	PathInstanceTypes = "/v1/instance-types"
	PathImages        = "/v1/images"
	PathQuota         = "/v1/quota"
	PathLoadBalancers = "/v1/load-balancers"
	PathInstances     = "/v1/instances"
	PathPools         = "/v1/pools"
	PathFaults        = "/v1/faults"
	// PathContainerImages is for images that instances pull; PathImages is for images that
	// instances are created from.
	PathContainerImages = "/v1/container-images"
	PathWatch           = "/v1/watch"
	// SuffixLog follows an instance's path.
	SuffixLog = "/console"
	// SuffixExec follows an instance's path.
	SuffixExec = "/exec"
	// SuffixDrain follows an instance's path.
	SuffixDrain = "/drain"
	// SuffixPower follows an instance's path, and an action follows it.
	SuffixPower = "/power"
	// SuffixSize follows a pool's path.
	SuffixSize = "/size"
)

// Parameters of queries.
const (
	// ParameterTag filters by a tag, key=value. If it is given more than once, all tags must match.
	ParameterTag = "tag"
	// ParameterName filters instances, or names a container image.
	ParameterName = "name"
	// ParameterPool filters instances by pool.
	ParameterPool = "pool"
	// ParameterVersion is the version of a pool that the caller has seen.
	ParameterVersion = "version"
	// ParameterTenant names the tenant of a fault rule.
	ParameterTenant = "tenant"
	// ParameterSource names a log.
	ParameterSource = "source"
	// ParameterFollow is "true" to wait for more of a log.
	ParameterFollow = "follow"
	// ParameterTail is how many lines at the end of a log to start with, 0 to 100000.
	ParameterTail = "tail"
	// ParameterSince is the time, in RFC 3339 format, from which on to show a log.
	ParameterSince = "since"
	// ParameterCommand is a program to run in an instance; each further one is an argument.
	ParameterCommand = "command"
	// ParameterInput, ParameterOutput and ParameterError are "1" for each stream that the caller of
	// a command has, and ParameterTerminal is "1" to run it in a terminal. The kubelet's exec has
	// the same parameters.
	ParameterInput    = "input"
	ParameterOutput   = "output"
	ParameterError    = "error"
	ParameterTerminal = "tty"
)

// HeaderTenant names the tenant that a call is for. The cloud refuses the call if its token belongs
// to another tenant.
const HeaderTenant = "Foo-Tenant"

// Media types.
const (
	JSON  = "application/json"
	Lines = "application/x-ndjson"
	Tar   = "application/x-tar"
	Text  = "text/plain; charset=utf-8"
	YAML  = "application/yaml"
)

// List is the wire format of a list.
type List[T any] struct {
	// Items of the list, never null.
	Items []T `json:"items"`
}

// Tenant is the tenant that a token belongs to.
type Tenant struct {
	// Name of the tenant.
	Name string `json:"name"`
	// ReadOnly is true if the token permits only calls that change nothing.
	ReadOnly bool `json:"readOnly"`
}

// PoolSize requests a number of instances.
type PoolSize struct {
	// Size is the number of instances wanted.
	Size int32 `json:"size"`
}

// ContainerImage is a container image that instances pull from the cloud.
type ContainerImage struct {
	// Name of the image with its registry and tag, for example "registry.example/app:v1".
	Name string `json:"name"`
	// Digest of its manifest, or of its manifest list if it supports several platforms.
	Digest string `json:"digest"`
	// SizeBytes is the size of everything in the image.
	SizeBytes int64 `json:"sizeBytes"`
}

// Lists of the API.
type (
	// LoadBalancers is the answer to GET /v1/load-balancers.
	LoadBalancers = List[cloud.LoadBalancer]
	// Instances is the answer to GET /v1/instances.
	Instances = List[cloud.Instance]
	// Pools is the answer to GET /v1/pools.
	Pools = List[cloud.Pool]
	// ContainerImages is the answer to GET and POST /v1/container-images.
	ContainerImages = List[ContainerImage]
)
