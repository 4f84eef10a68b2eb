/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package controlplane

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg"
	"sigs.k8s.io/cluster-api/util/annotations"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

// hashVersion says how inputs are hashed. Another version makes hashes that can not be compared with these, and costs one
// write for each Machine.
const hashVersion = "v2-"

// madeFrom is what a Machine was made from, as the annotation MadeFromAnnotation holds it. It shows later whether a
// Machine is out of date because the user has changed something, or because this program sees things differently. Inputs,
// UID and Generation are kept up to date for as long as the user wants nothing else of the Machine.
type madeFrom struct {
	// Inputs is a hash of what the user wrote: version, infrastructureRef, and of kubeadmConfigSpec what can make a Machine
	// out of date.
	Inputs string `json:"inputs"`
	// Outcome is a hash of what this program made of it.
	Outcome string `json:"outcome"`
	// UID of the FooControlPlane.
	UID types.UID `json:"uid"`
	// Generation of the FooControlPlane.
	Generation int64 `json:"generation"`
	// Confirmed is the digest of the rollout that the user had confirmed then.
	Confirmed string `json:"confirmed,omitempty"`
}

// newMadeFrom describes the FooControlPlane as it is now.
func newMadeFrom(controlPlane *controlplanev1.FooControlPlane) (madeFrom, error) {
	version, reference := controlPlane.Spec.Version, controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef
	inputs, err := hash(version, reference, relevant(controlPlane.Spec.KubeadmConfigSpec))
	if err != nil {
		return madeFrom{}, err
	}
	result := madeFrom{
		Inputs: hashVersion + inputs, UID: controlPlane.UID, Generation: controlPlane.Generation,
		Confirmed: controlPlane.Annotations[controlplanev1.ConfirmRolloutAnnotation],
	}
	if _, err := semver.ParseTolerant(version); err == nil {
		result.Outcome, err = newOutcome(controlPlane)
		return result, err
	}
	// Nothing can be made of it, which the plan says, and so there is nothing to confirm either.
	return result, nil
}

func newOutcome(controlPlane *controlplanev1.FooControlPlane) (string, error) {
	made := map[role]bootstrapv1.KubeadmConfigSpec{}
	for _, as := range []role{roleInit, roleJoin} {
		spec, err := desiredConfigSpec(controlPlane, as)
		if err != nil {
			return "", err
		}
		made[as] = relevant(spec)
	}
	return hash(controlPlane.Spec.Version, controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef, made)
}

// relevant leaves out what never makes a Machine out of date, by Cluster API's own notion: what is changed in the running
// cluster, and what matters only while a machine joins.
func relevant(spec bootstrapv1.KubeadmConfigSpec) bootstrapv1.KubeadmConfigSpec {
	config := &bootstrapv1.KubeadmConfig{Spec: *spec.DeepCopy()}
	// The comparison takes these two over from one side, and removes the others from both.
	config.Spec.ClusterConfiguration.ControlPlaneEndpoint = ""
	config.Spec.ClusterConfiguration.DNS = bootstrapv1.DNS{}
	config, _ = pkg.PrepareKubeadmConfigsForDiff(config, config, false)
	return config.Spec
}

// hash is short, for it is for a user to copy, and tells nothing of what is hashed.
func hash(values ...any) (string, error) {
	encoded, err := json.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("encoding the inputs of a Machine: %w", err)
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:10]), nil
}

func (m madeFrom) annotation() (string, error) {
	encoded, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("encoding what a Machine is made from: %w", err)
	}
	return string(encoded), nil
}

// recorded reads what a Machine was made from. It is not there on Machines that were adopted.
func recorded(machine *clusterv1.Machine) (madeFrom, bool) {
	var result madeFrom
	err := json.Unmarshal([]byte(machine.Annotations[controlplanev1.MadeFromAnnotation]), &result)
	return result, err == nil && strings.HasPrefix(result.Inputs, hashVersion)
}

// sameSpec says whether both are of the very same spec.
func (m madeFrom) sameSpec(before madeFrom) bool {
	return m.UID == before.UID && m.Generation == before.Generation
}

// changedSince says whether the user has changed something since.
func (m madeFrom) changedSince(before madeFrom) bool {
	return m.Inputs != before.Inputs && !m.sameSpec(before)
}

// outOfStep says whether a Machine's record is to be brought up to date, without which a change of the spec that asked
// nothing of the Machine would later be taken for the reason why it is out of date. That costs one write for each change of
// the spec. Another release of this program costs none for a Machine that it finds up to date, unless hashVersion is another.
func (s *scope) outOfStep(machine *clusterv1.Machine) bool {
	before, known := recorded(machine)
	upToDate := s.compared(machine) && len(s.differences[machine.Name]) == 0
	switch {
	case !known:
		return upToDate
	case !s.madeFrom.sameSpec(before):
		return upToDate || s.madeFrom.Inputs == before.Inputs
	}
	// This program hashes the same spec differently, and the user may change something else while that is held.
	return !upToDate && s.madeFrom.Inputs != before.Inputs
}

// compared says whether all was there that a Machine is compared by.
func (s *scope) compared(machine *clusterv1.Machine) bool {
	return s.madeFrom.Outcome != "" && s.configs[machine.Name] != nil && s.infraMachines[machine.Name] != nil
}

// broughtUpToDate is the Machine's record of the spec as it is now. What was made then, and under which confirmation, stays.
func (s *scope) broughtUpToDate(machine *clusterv1.Machine) madeFrom {
	record, _ := recorded(machine)
	record.Inputs, record.UID, record.Generation = s.madeFrom.Inputs, s.madeFrom.UID, s.madeFrom.Generation
	return record
}

// keepRecord brings the record on a Machine up to date.
func (r *Reconciler) keepRecord(ctx context.Context, s *scope, machine *clusterv1.Machine) error {
	if !s.outOfStep(machine) {
		return nil
	}
	record, err := s.broughtUpToDate(machine).annotation()
	if err != nil {
		return err
	}
	before := machine.DeepCopy()
	annotations.AddAnnotations(machine, map[string]string{controlplanev1.MadeFromAnnotation: record})
	if err := r.client.Patch(ctx, machine, client.MergeFrom(before), client.FieldOwner(creatorManager)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("recording what Machine %s is made from: %w", machine.Name, err)
	}
	return nil
}

// asked says of each difference of a Machine whether the user has asked for it. Where nothing is recorded, version and
// template are taken for the user's, since nothing else changes them.
func (s *scope) asked(machine *clusterv1.Machine, found []difference) []difference {
	before, known := recorded(machine)
	for i := range found {
		switch {
		case found[i].Asked:
		case known:
			found[i].Asked = s.madeFrom.changedSince(before)
		default:
			found[i].Asked = found[i].Field == fieldVersion || found[i].Field == fieldTemplate
		}
	}
	return found
}
