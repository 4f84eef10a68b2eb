// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/runtime"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// patches holds the patches of an answer, and the objects of its request once they are patched.
type patches struct {
	// given holds the patches that are not empty.
	given []change
	// objects holds the patched objects by the `of` of their changes.
	objects map[string][]byte
	// unusable holds the patches that Cluster API cannot apply.
	unusable []change
	// problems says what is wrong with patches: they are unusable, or change nothing.
	problems []error
}

// change is one patch of an answer.
type change struct {
	// of is the UID of what it patches, or the patch's field in the answer.
	of    string
	kind  runtimehooksv1.PatchType
	patch []byte
}

func (c change) String() string { return fmt.Sprintf("%s %s for %s", c.kind, c.patch, c.of) }

// patchesOf applies the patches of an answer to the objects of its request.
func patchesOf(request, answer runtime.Object) patches {
	result := patches{objects: objectsIn(request)}
	for _, one := range changesIn(answer) {
		apply, err := one.decode()
		if apply == nil && err == nil {
			continue
		}
		result.given = append(result.given, one)
		object, known := result.objects[one.of]
		var changed []byte
		switch {
		case err != nil:
		case !known:
			err = errors.New("the request has no such object")
		default:
			changed, err = apply(object)
		}
		switch {
		case err != nil:
			result.unusable = append(result.unusable, one)
			result.problems = append(result.problems, fmt.Errorf("the patch %.500s cannot be applied: %w", one, err))
		case equalObjects(changed, object):
			result.problems = append(result.problems, fmt.Errorf("the patch %.500s changes nothing", one))
		default:
			result.objects[one.of] = changed
		}
	}
	return result
}

// decode returns what applies a patch; nil if the patch is empty. Cluster API's own library answers with such patches.
func (c change) decode() (apply func([]byte) ([]byte, error), err error) {
	switch c.kind {
	case runtimehooksv1.JSONMergePatchType:
		merged := map[string]any{}
		if len(c.patch) > 0 {
			err = json.Unmarshal(c.patch, &merged)
		}
		if err == nil && len(merged) > 0 {
			apply = func(object []byte) ([]byte, error) { return jsonpatch.MergePatch(object, c.patch) }
		}
	case runtimehooksv1.JSONPatchType:
		var operations jsonpatch.Patch
		if operations, err = jsonpatch.DecodePatch(c.patch); err == nil && len(operations) > 0 {
			apply = operations.Apply
		}
	default:
		err = fmt.Errorf("the type is %q, want JSONPatch or JSONMergePatch", c.kind)
	}
	return apply, err
}

// same reports whether patches lead to the same objects. Cluster API's own library lists the operations of a patch in any
// order.
func (p patches) same(other patches) bool {
	return maps.EqualFunc(p.objects, other.objects, equalObjects) && fmt.Sprint(p.unusable) == fmt.Sprint(other.unusable)
}

func equalObjects(a, b []byte) bool { return bytes.Equal(a, b) || jsonpatch.Equal(a, b) }

func (p patches) String() string { return fmt.Sprintf("the patches %s", p.given) }

// sameAnswers reports whether two answers to a request say the same.
func sameAnswers(request, a, b runtime.Object) bool {
	return fields.Show(withoutPatches(a)) == fields.Show(withoutPatches(b)) && patchesOf(request, a).same(patchesOf(request, b))
}

func withoutPatches(answer runtime.Object) runtime.Object {
	switch copied := answer.DeepCopyObject().(type) {
	case *runtimehooksv1.GeneratePatchesResponse:
		copied.Items = nil
		return copied
	case *runtimehooksv1.CanUpdateMachineResponse:
		return &runtimehooksv1.CanUpdateMachineResponse{TypeMeta: copied.TypeMeta, CommonResponse: copied.CommonResponse}
	case *runtimehooksv1.CanUpdateMachineSetResponse:
		return &runtimehooksv1.CanUpdateMachineSetResponse{TypeMeta: copied.TypeMeta, CommonResponse: copied.CommonResponse}
	default:
		return answer
	}
}

func changesIn(answer runtime.Object) []change {
	var all []change
	add := func(of string, patch runtimehooksv1.Patch) {
		if patch.IsDefined() {
			all = append(all, change{of, patch.PatchType, patch.Patch})
		}
	}
	switch a := answer.(type) {
	case *runtimehooksv1.GeneratePatchesResponse:
		for _, item := range a.Items {
			all = append(all, change{string(item.UID), item.PatchType, item.Patch})
		}
	case *runtimehooksv1.CanUpdateMachineResponse:
		add("machinePatch", a.MachinePatch)
		add("infrastructureMachinePatch", a.InfrastructureMachinePatch)
		add("bootstrapConfigPatch", a.BootstrapConfigPatch)
	case *runtimehooksv1.CanUpdateMachineSetResponse:
		add("machineSetPatch", a.MachineSetPatch)
		add("infrastructureMachineTemplatePatch", a.InfrastructureMachineTemplatePatch)
		add("bootstrapConfigTemplatePatch", a.BootstrapConfigTemplatePatch)
	}
	return all
}

// objectsIn returns the objects of a request that an answer may patch, by what changesIn calls them.
func objectsIn(request runtime.Object) map[string][]byte {
	all := map[string][]byte{}
	switch r := request.(type) {
	case *runtimehooksv1.GeneratePatchesRequest:
		for _, item := range r.Items {
			all[string(item.UID)] = item.Object.Raw
		}
	case *runtimehooksv1.CanUpdateMachineRequest:
		all["machinePatch"], _ = json.Marshal(r.Current.Machine)
		all["infrastructureMachinePatch"] = r.Current.InfrastructureMachine.Raw
		all["bootstrapConfigPatch"] = r.Current.BootstrapConfig.Raw
	case *runtimehooksv1.CanUpdateMachineSetRequest:
		all["machineSetPatch"], _ = json.Marshal(r.Current.MachineSet)
		all["infrastructureMachineTemplatePatch"] = r.Current.InfrastructureMachineTemplate.Raw
		all["bootstrapConfigTemplatePatch"] = r.Current.BootstrapConfigTemplate.Raw
	}
	return all
}
