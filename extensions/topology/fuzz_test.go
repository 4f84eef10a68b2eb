// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"encoding/json"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	. "github.com/onsi/gomega"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
)

// malformed are requests that differ from what Cluster API sends.
var malformed = []string{
	`{}`, `{"items":[null]}`, `{"items":[{}]}`, `{"variables":[{}],"items":[{"variables":[{"name":"builtin"}]}]}`,
	`{"items":[{"object":"text"},{"object":{"apiVersion":"a/b/c","kind":"x"}},{"object":{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta2","kind":"FooMachinePoolTemplate","spec":[]}}]}`,
	`{"variables":[{"name":"poolStrategy","value":{"maxSurge":1e400}},{"name":"builtin","value":{"cluster":{"network":{"pods":["x"],"services":["10.0.0.0/33"]}}}}]}`,
	`{"settings":{"instanceTypes":","},"items":[]}`,
}

// fuzz calls a handler twice with every input that can be decoded as a request. The server itself
// answers the others.
func fuzz[I any, O any](f *testing.F, seed *I, call func(testing.TB, *I) (*O, runtimehooksv1.ResponseObject), check func(*WithT, *I, *O)) {
	f.Add([]byte(jsonOf(seed)))
	for _, text := range malformed {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		var request I
		if json.Unmarshal(content, &request) != nil {
			return
		}
		g := NewWithT(t)
		response, answer := call(t, &request)
		switch answer.GetStatus() {
		case runtimehooksv1.ResponseStatusSuccess:
			g.Expect(answer.GetMessage()).To(BeEmpty())
			check(g, &request, response)
		case runtimehooksv1.ResponseStatusFailure:
			g.Expect(answer.GetMessage()).NotTo(BeEmpty())
		default:
			t.Fatalf("status %q", answer.GetStatus())
		}
		again, _ := call(t, &request)
		g.Expect(jsonOf(again)).To(Equal(jsonOf(response)))
	})
}

func FuzzGeneratePatches(f *testing.F) {
	fuzz(f, recorded[runtimehooksv1.GeneratePatchesRequest](f, "generate-patches.foo", 1),
		func(t testing.TB, request *runtimehooksv1.GeneratePatchesRequest) (*runtimehooksv1.GeneratePatchesResponse, runtimehooksv1.ResponseObject) {
			response := patchesOf(t, request)
			return response, response
		},
		func(g *WithT, request *runtimehooksv1.GeneratePatchesRequest, response *runtimehooksv1.GeneratePatchesResponse) {
			for _, patch := range response.Items {
				for _, item := range request.Items {
					if item.UID == patch.UID {
						_, err := jsonpatch.MergePatch(item.Object.Raw, patch.Patch)
						g.Expect(err).NotTo(HaveOccurred())
					}
				}
			}
		})
}

func FuzzValidateTopology(f *testing.F) {
	fuzz(f, recorded[runtimehooksv1.ValidateTopologyRequest](f, "validate-topology.foo", 1),
		func(t testing.TB, request *runtimehooksv1.ValidateTopologyRequest) (*runtimehooksv1.ValidateTopologyResponse, runtimehooksv1.ResponseObject) {
			response := checked(t, request)
			return response, response
		},
		func(*WithT, *runtimehooksv1.ValidateTopologyRequest, *runtimehooksv1.ValidateTopologyResponse) {})
}

func FuzzDiscoverVariables(f *testing.F) {
	want := jsonOf(discovered(f, &runtimehooksv1.DiscoverVariablesRequest{}))
	fuzz(f, &runtimehooksv1.DiscoverVariablesRequest{},
		func(t testing.TB, request *runtimehooksv1.DiscoverVariablesRequest) (*runtimehooksv1.DiscoverVariablesResponse, runtimehooksv1.ResponseObject) {
			response := discovered(t, request)
			return response, response
		},
		func(g *WithT, _ *runtimehooksv1.DiscoverVariablesRequest, response *runtimehooksv1.DiscoverVariablesResponse) {
			g.Expect(jsonOf(response)).To(Equal(want))
		})
}
