// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	runtimeclient "sigs.k8s.io/cluster-api/exp/runtime/client"
	"sigs.k8s.io/cluster-api/feature"
)

// Patch answers the hook GeneratePatches.
type Patch func(context.Context, *runtimehooksv1.GeneratePatchesRequest, *runtimehooksv1.GeneratePatchesResponse)

// patches are the external patches that this process can compute itself, by the names that
// ClusterClasses give them. To Cluster API's code they look like a client of extensions, but they
// call nobody.
type patches map[string]Patch

var _ runtimeclient.Client = patches{}

// errNotHere is the error for everything that only a real client of extensions can do.
var errNotHere = errors.New("no extension is called to compute what a topology asks for")

// computable removes from a class the patches that cannot be computed here or do not change what is
// ordered. It reports whether there were patches that cannot be computed. Cluster API's code
// computes external patches only with the feature gate RuntimeSDK.
func (p patches) computable(class *clusterv1.ClusterClass) (rest bool) {
	var kept []clusterv1.ClusterClassPatch
	for _, patch := range class.Spec.Patches {
		if patch.External == nil {
			patch.Definitions = slices.DeleteFunc(patch.Definitions, changesNothing)
			if len(patch.Definitions) > 0 {
				kept = append(kept, patch)
			}
			continue
		}
		name := patch.External.GeneratePatchesExtension
		switch {
		case name == "":
			// A patch that only validates changes nothing.
		case p[name] != nil && feature.Gates.Enabled(feature.RuntimeSDK):
			patch.External.ValidateTopologyExtension = ""
			kept = append(kept, patch)
		default:
			rest = true
		}
	}
	class.Spec.Patches = kept
	return rest
}

// changesNothing reports whether a part of a patch is for templates that order nothing.
func changesNothing(part clusterv1.PatchDefinition) bool {
	return !orders(schema.FromAPIVersionAndKind(part.Selector.APIVersion, part.Selector.Kind))
}

// CallExtension computes the patches with a name.
func (p patches) CallExtension(ctx context.Context, _ runtimecatalog.Hook, _ client.Object, name string,
	request runtimehooksv1.RequestObject, response runtimehooksv1.ResponseObject, _ ...runtimeclient.CallExtensionOption,
) error {
	asked, isPatch := request.(*runtimehooksv1.GeneratePatchesRequest)
	answer, expected := response.(*runtimehooksv1.GeneratePatchesResponse)
	if p[name] == nil || !isPatch || !expected {
		return errNotHere
	}
	p[name](ctx, asked, answer)
	if answer.Status != runtimehooksv1.ResponseStatusSuccess {
		return fmt.Errorf("patches %s: %s", name, answer.Message)
	}
	return nil
}

func (patches) WarmUp(*runtimev1.ExtensionConfigList) error { return errNotHere }

func (patches) IsReady() bool { return true }

func (patches) Discover(context.Context, *runtimev1.ExtensionConfig) (*runtimev1.ExtensionConfig, error) {
	return nil, errNotHere
}

func (patches) Register(*runtimev1.ExtensionConfig) error { return errNotHere }

func (patches) Unregister(*runtimev1.ExtensionConfig) error { return errNotHere }

func (patches) GetAllExtensions(context.Context, runtimecatalog.Hook, client.Object) ([]string, error) {
	return nil, errNotHere
}

func (patches) CallAllExtensions(context.Context, runtimecatalog.Hook, client.Object, runtimehooksv1.RequestObject, runtimehooksv1.ResponseObject) error {
	return errNotHere
}
