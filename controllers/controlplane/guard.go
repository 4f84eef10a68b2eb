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
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/types"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

// hashVersion says how inputs are hashed. Another version makes hashes that can not be compared with these.
const hashVersion = "v1-"

// madeFrom is what a Machine was made from, as the annotation MadeFromAnnotation holds it. It shows later whether a
// Machine is out of date because the user has changed something, or because this program sees things differently.
type madeFrom struct {
	// Inputs is a hash of what the user wrote: version, kubeadmConfigSpec and infrastructureRef.
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
	inputs, err := hash(version, reference, controlPlane.Spec.KubeadmConfigSpec)
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
		made[as] = spec
	}
	return hash(controlPlane.Spec.Version, controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef, made)
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

// changedSince says whether the user has changed something since.
func (m madeFrom) changedSince(before madeFrom) bool {
	sameObject := m.UID == before.UID && m.Generation == before.Generation
	return m.Inputs != before.Inputs && !sameObject
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
