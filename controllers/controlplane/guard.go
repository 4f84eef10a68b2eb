// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/blang/semver/v4"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
)

// inputsVersion is the prefix of each hash of inputs. Specs are hashed as JSON of their API
// version, so hashes of different API versions cannot be compared.
var inputsVersion = bootstrapv1.GroupVersion.Version + "-"

// madeFrom is what a Machine was made from, as stored in MadeFromAnnotation. It shows later whether
// a Machine is out of date because the user has changed something, or because a new release of this
// program interprets the same spec differently.
type madeFrom struct {
	// Inputs is a hash of the user's fields that can make a Machine out of date: version,
	// infrastructureRef and kubeadmConfigSpec. While the Machine is up to date, the hash is updated
	// with them.
	Inputs string `json:"inputs"`
	// Confirmed is the digest of the rollout that the user had confirmed when the Machine was made.
	Confirmed string `json:"confirmed,omitempty"`
	// Outcome is a hash of what this program makes of the inputs now. A user confirms a rollout by it.
	// It is empty if the version is invalid, in which case nothing can be made.
	Outcome string `json:"-"`
}

func isVersion(text string) bool {
	_, err := semver.ParseTolerant(text)
	return err == nil
}

// newMadeFrom describes the current FooControlPlane.
func newMadeFrom(controlPlane *controlplanev1.FooControlPlane) (madeFrom, error) {
	spec := controlPlane.Spec
	inputs, err := hash(spec.Version, spec.MachineTemplate.Spec.InfrastructureRef, lasting(spec.KubeadmConfigSpec))
	if err != nil {
		return madeFrom{}, err
	}
	result := madeFrom{Inputs: inputsVersion + inputs, Confirmed: controlPlane.Annotations[controlplanev1.ConfirmRolloutAnnotation]}
	if !isVersion(spec.Version) {
		// The plan reports it and creates nothing.
		return result, nil
	}
	made := []any{spec.Version, spec.MachineTemplate.Spec.InfrastructureRef}
	for _, as := range []role{roleInit, roleJoin} {
		config, err := desiredConfigSpec(controlPlane, as)
		if err != nil {
			return madeFrom{}, err
		}
		made = append(made, lasting(config))
	}
	result.Outcome, err = hash(made...)
	return result, err
}

// lasting drops the fields that never make a Machine out of date: those that are changed in the
// running cluster, and those that matter only while a machine joins.
func lasting(spec bootstrapv1.KubeadmConfigSpec) bootstrapv1.KubeadmConfigSpec {
	spec.ClusterConfiguration.ControlPlaneEndpoint = ""
	spec.ClusterConfiguration.DNS = bootstrapv1.DNS{}
	spec.JoinConfiguration.Discovery = bootstrapv1.Discovery{}
	spec.InitConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds = nil
	spec.JoinConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds = nil
	return spec
}

// hash is short enough for a user to copy and reveals nothing about its input. The order of fields
// does not matter.
func hash(values ...any) (string, error) {
	var sorted any
	encoded, err := json.Marshal(values)
	if err == nil {
		err = json.Unmarshal(encoded, &sorted)
	}
	if err == nil {
		encoded, err = json.Marshal(sorted)
	}
	if err != nil {
		return "", fmt.Errorf("encoding the values to hash: %w", err)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:10]), nil
}

func (m madeFrom) annotation() (string, error) {
	encoded, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("encoding what a Machine is created from: %w", err)
	}
	return string(encoded), nil
}

// recorded reads what a Machine was made from. Adopted Machines have no record, and records of
// releases that hashed something else cannot be compared.
func recorded(machine *clusterv1.Machine) (madeFrom, bool) {
	var result madeFrom
	err := json.Unmarshal([]byte(machine.Annotations[controlplanev1.MadeFromAnnotation]), &result)
	return result, err == nil && strings.HasPrefix(result.Inputs, inputsVersion)
}

// outOfStep reports whether a Machine's record must be updated: the Machine is up to date, but its
// inputs differ from those it was made from, because the user changed something irrelevant to it or
// changed something back and forth.
func (s *scope) outOfStep(machine *clusterv1.Machine) bool {
	record, _ := recorded(machine)
	return record.Inputs != s.madeFrom.Inputs && s.compared(machine) && len(s.differences[machine.Name]) == 0
}

// compared reports whether all objects that a Machine is compared by could be read.
func (s *scope) compared(machine *clusterv1.Machine) bool {
	return s.madeFrom.Outcome != "" && s.configs[machine.Name] != nil && s.infraMachines[machine.Name] != nil
}

// keepRecord updates the record of a Machine. It keeps the confirmation under which the Machine was
// made.
func (r *Reconciler) keepRecord(ctx context.Context, s *scope, machine *clusterv1.Machine) error {
	if !s.outOfStep(machine) {
		return nil
	}
	made, _ := recorded(machine)
	made.Inputs = s.madeFrom.Inputs
	record, err := made.annotation()
	if err != nil {
		return err
	}
	before := machine.DeepCopy()
	annotations.AddAnnotations(machine, map[string]string{controlplanev1.MadeFromAnnotation: record})
	// The patch fails if the Machine has changed. Otherwise its response would bring in a change that the
	// decision has not seen.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.client.Patch(ctx, machine, patch, client.FieldOwner(creatorManager)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("recording what Machine %s is created from: %w", machine.Name, err)
	}
	return nil
}

// asked marks the differences of a Machine as asked for by the user if the user's inputs differ
// from those it was made from. Without a record, a different version or template counts as asked
// for, since only the user changes these.
func (s *scope) asked(machine *clusterv1.Machine, found []plan.Difference) []plan.Difference {
	before, known := recorded(machine)
	for i := range found {
		switch {
		case found[i].Asked:
		case known:
			found[i].Asked = s.madeFrom.Inputs != before.Inputs
		default:
			found[i].Asked = found[i].Field == fieldVersion || found[i].Field == fieldTemplate
		}
	}
	return found
}
