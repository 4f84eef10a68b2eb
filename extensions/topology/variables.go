// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	"sigs.k8s.io/yaml"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/templates"
)

// readClass returns the ClusterClass foo, which nobody may change. An error means that the binary was
// built from a broken class.
var readClass = sync.OnceValues(func() (*clusterv1.ClusterClass, error) {
	class := &clusterv1.ClusterClass{}
	if err := yaml.Unmarshal(templates.ClusterClass, class); err != nil {
		return nil, fmt.Errorf("reading the ClusterClass foo: %w", err)
	}
	return class, nil
})

// DiscoverVariables answers the hook of that name with the variables and their schemas, in the order
// of the ClusterClass foo. It reads no settings.
func DiscoverVariables(_ context.Context, _ *runtimehooksv1.DiscoverVariablesRequest, response *runtimehooksv1.DiscoverVariablesResponse) {
	class, err := readClass()
	if err != nil {
		findings{err.Error()}.into(response)
		return
	}
	response.Variables = class.DeepCopy().Spec.Variables
	response.SetStatus(runtimehooksv1.ResponseStatusSuccess)
}

// values are the values of the variables and Cluster API's builtin variables. An empty value leaves
// the templates as they are.
type values struct {
	Builtin runtimehooksv1.Builtins `json:"builtin"`

	Identity                   string                                        `json:"identity"`
	Zones                      []infrav1.FooClusterZone                      `json:"zones"`
	LoadBalancerPort           int32                                         `json:"loadBalancerPort"`
	AdditionalTags             map[string]string                             `json:"additionalTags"`
	ControlPlaneInstanceType   string                                        `json:"controlPlaneInstanceType"`
	WorkerInstanceType         string                                        `json:"workerInstanceType"`
	ControlPlaneImage          string                                        `json:"controlPlaneImage"`
	ControlPlaneRootDiskGiB    int32                                         `json:"controlPlaneRootDiskGiB"`
	WorkerImage                string                                        `json:"workerImage"`
	WorkerRootDiskGiB          int32                                         `json:"workerRootDiskGiB"`
	WorkerInterruptible        bool                                          `json:"workerInterruptible"`
	ImageRepository            string                                        `json:"imageRepository"`
	Files                      []file                                        `json:"files"`
	Rollout                    rollout                                       `json:"rollout"`
	Remediation                controlplanev1.FooControlPlaneRemediationSpec `json:"remediation"`
	CertificateSANs            []string                                      `json:"certificateSANs"`
	APIServerExtraArgs         []argument                                    `json:"apiServerExtraArgs"`
	ControllerManagerExtraArgs []argument                                    `json:"controllerManagerExtraArgs"`
	SchedulerExtraArgs         []argument                                    `json:"schedulerExtraArgs"`
	KubeletExtraArgs           []argument                                    `json:"kubeletExtraArgs"`
	EtcdExtraArgs              []argument                                    `json:"etcdExtraArgs"`
	ExternalEtcdEndpoints      []string                                      `json:"externalEtcdEndpoints"`
	Fast                       bool                                          `json:"fast"`
	PoolStrategy               infrav1.FooMachinePoolStrategy                `json:"poolStrategy"`
}

// file is a file of a machine.
type file struct {
	Path        string `json:"path"`
	Content     string `json:"content"`
	Owner       string `json:"owner,omitempty"`
	Permissions string `json:"permissions,omitempty"`
}

// rollout says how machines of the control plane are replaced.
type rollout struct {
	MaxSurge               *int32 `json:"maxSurge,omitempty"`
	CertificatesExpiryDays int32  `json:"certificatesExpiryDays,omitempty"`
}

// readValues reads variables, and returns what is wrong with them. It ignores variables that this
// class does not have.
func readValues(variables map[string]apiextensionsv1.JSON) (values, findings) {
	var read values
	var wrong findings
	for name := range names() {
		value, given := variables[name]
		if !given {
			continue
		}
		if err := json.Unmarshal(fmt.Appendf(nil, "{%q:%s}", name, value.Raw), &read); err != nil {
			wrong = append(wrong, fmt.Sprintf("the variable %s %s, but must match its schema in the ClusterClass", name, unlike(err, name)))
		}
	}
	return read, wrong
}

// undiscovered returns a finding if no variable is given. Each variable has a default, so Cluster API
// gives all that it has discovered. After an upgrade of the extension it discovers new ones only some
// minutes later, so a single one may be missing.
func undiscovered(given map[string]apiextensionsv1.JSON) findings {
	for name := range names() {
		if _, ok := given[name]; ok && name != runtimehooksv1.BuiltinsName {
			return nil
		}
	}
	return findings{"there are none: the patch of the ClusterClass must name this extension as its discoverVariablesExtension too"}
}

// names yields the names of all variables.
func names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, field := range reflect.VisibleFields(reflect.TypeFor[values]()) {
			if !yield(field.Tag.Get("json")) {
				return
			}
		}
	}
}

// unlike describes how JSON differs from its type, without its values. Paths in it begin with the
// root, which may be empty.
func unlike(err error, root string) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return "cannot be read"
	}
	// What follows the JSON type of a number is the number itself.
	kind, _, _ := strings.Cut(wrong.Value, " ")
	path := strings.TrimPrefix(strings.TrimPrefix(wrong.Field, root), ".")
	if path == "" {
		return "is of the JSON type " + kind
	}
	return fmt.Sprintf("has the JSON type %s at %s", kind, path)
}
