// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

// values are the values of the variables. An empty value leaves the templates as they are.
type values struct {
	identity                   string
	controlPlaneInstanceType   string
	workerInstanceType         string
	workerInterruptible        bool
	imageRepository            string
	files                      []file
	rollout                    rollout
	remediation                controlplanev1.FooControlPlaneRemediationSpec
	certificateSANs            []string
	apiServerExtraArgs         []argument
	controllerManagerExtraArgs []argument
	schedulerExtraArgs         []argument
	kubeletExtraArgs           []argument
	etcdExtraArgs              []argument
	externalEtcdEndpoints      []string
	fast                       bool
	poolStrategy               infrav1.FooMachinePoolStrategy
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

// reader decodes the JSON of a variable into its field.
type reader func(*values, []byte) error

// readers holds the readers of all variables by name.
var readers = map[string]reader{
	"identity":                   into(func(v *values) *string { return &v.identity }),
	"controlPlaneInstanceType":   into(func(v *values) *string { return &v.controlPlaneInstanceType }),
	"workerInstanceType":         into(func(v *values) *string { return &v.workerInstanceType }),
	"workerInterruptible":        into(func(v *values) *bool { return &v.workerInterruptible }),
	"imageRepository":            into(func(v *values) *string { return &v.imageRepository }),
	"files":                      into(func(v *values) *[]file { return &v.files }),
	"rollout":                    into(func(v *values) *rollout { return &v.rollout }),
	"remediation":                into(func(v *values) *controlplanev1.FooControlPlaneRemediationSpec { return &v.remediation }),
	"certificateSANs":            into(func(v *values) *[]string { return &v.certificateSANs }),
	"apiServerExtraArgs":         into(func(v *values) *[]argument { return &v.apiServerExtraArgs }),
	"controllerManagerExtraArgs": into(func(v *values) *[]argument { return &v.controllerManagerExtraArgs }),
	"schedulerExtraArgs":         into(func(v *values) *[]argument { return &v.schedulerExtraArgs }),
	"kubeletExtraArgs":           into(func(v *values) *[]argument { return &v.kubeletExtraArgs }),
	"etcdExtraArgs":              into(func(v *values) *[]argument { return &v.etcdExtraArgs }),
	"externalEtcdEndpoints":      into(func(v *values) *[]string { return &v.externalEtcdEndpoints }),
	"fast":                       into(func(v *values) *bool { return &v.fast }),
	"poolStrategy":               into(func(v *values) *infrav1.FooMachinePoolStrategy { return &v.poolStrategy }),
}

// into replaces a field as a whole, because copies of values share their lists.
func into[T any](field func(*values) *T) reader {
	return func(v *values, raw []byte) error {
		var read T
		if err := json.Unmarshal(raw, &read); err != nil {
			return err
		}
		*field(v) = read
		return nil
	}
}

// read reads the variables and Cluster API's builtin variables. It ignores variables that this
// class does not have. If a name occurs several times, the last one counts. It returns what is
// wrong with the variables.
func (v *values) read(variables []runtimehooksv1.Variable, builtins *runtimehooksv1.Builtins) findings {
	var wrong findings
	for _, variable := range variables {
		var err error
		if variable.Name == runtimehooksv1.BuiltinsName {
			err = json.Unmarshal(variable.Value.Raw, builtins)
		} else if read, known := readers[variable.Name]; known {
			err = read(v, variable.Value.Raw)
		}
		if err != nil {
			wrong = append(wrong, fmt.Sprintf("the variable %s %s, want what its schema in the ClusterClass allows", variable.Name, unlike(err)))
		}
	}
	return wrong
}

// missing names the variables that are not given at all. Each variable has a default, so Cluster
// API gives all variables that it has discovered.
func missing(variables []runtimehooksv1.Variable) findings {
	given := map[string]bool{}
	for _, variable := range variables {
		given[variable.Name] = true
	}
	var wrong findings
	for name := range readers {
		if !given[name] {
			wrong = append(wrong, fmt.Sprintf("spec.topology.variables: the variable %s is missing: the patch of the ClusterClass must name this extension as its "+
				"discoverVariablesExtension too", name))
		}
	}
	return wrong
}

// unlike describes how a variable differs from its schema, without its value.
func unlike(err error) string {
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong):
		return "cannot be read"
	case wrong.Field == "":
		return "is of the JSON type " + kindOf(wrong)
	default:
		return fmt.Sprintf("has the JSON type %s at %s", kindOf(wrong), wrong.Field)
	}
}

// kindOf returns the JSON type of a value, without the number that follows the type of a number.
func kindOf(wrong *json.UnmarshalTypeError) string {
	kind, _, _ := strings.Cut(wrong.Value, " ")
	return kind
}
