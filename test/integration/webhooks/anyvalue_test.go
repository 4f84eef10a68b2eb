//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/cluster-api/util/contract"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// strange returns values that fit the type of a field and may fit nothing else.
func strange(leaf apiextensionsv1.JSONSchemaProps) []any {
	switch {
	case leaf.XIntOrString:
		return []any{"soon", -1, "999%"}
	case leaf.Format == "date-time":
		return []any{"", "soon", "2026-01-01t00:00:00z", "2026-01-01T00:00:00,5Z", "2026-02-30T00:00:00Z"}
	case leaf.Type == "string":
		return []any{"", "soon", "-1s", "9999999999h", "\x00/ \u2028"}
	case leaf.Type == "integer":
		return []any{-1, 0, int64(math.MaxInt32) + 1, int64(math.MaxInt64)}
	case leaf.Type == "boolean":
		return []any{true, false}
	default:
		return nil
	}
}

// patches returns merge patches, by description, that set each leaf below a schema to each strange
// value.
func patches(of apiextensionsv1.JSONSchemaProps) map[string]any {
	result := map[string]any{}
	for index, value := range strange(of) {
		result[fmt.Sprint(" #", index)] = value
	}
	for name, child := range of.Properties {
		for path, value := range patches(child) {
			result["."+name+path] = map[string]any{name: value}
		}
	}
	if of.Items != nil && of.Items.Schema != nil {
		for path, value := range patches(*of.Items.Schema) {
			result["[]"+path] = []any{withRequired(*of.Items.Schema, value)}
		}
	}
	if of.AdditionalProperties != nil && of.AdditionalProperties.Schema != nil {
		for path, value := range patches(*of.AdditionalProperties.Schema) {
			result["{}"+path] = map[string]any{"key": value}
		}
	}
	return result
}

// withRequired adds the fields that the schema requires to an item, since lists are replaced, not
// merged.
func withRequired(of apiextensionsv1.JSONSchemaProps, item any) any {
	object, isObject := item.(map[string]any)
	if !isObject {
		return item
	}
	for _, name := range of.Required {
		if _, found := object[name]; !found {
			object[name] = plausible(of.Properties[name])
		}
		if name == "token" && object[name] == "a" {
			object[name] = "abcdef.0123456789abcdef"
		}
	}
	return object
}

func plausible(of apiextensionsv1.JSONSchemaProps) any {
	switch {
	case len(of.Enum) > 0:
		return of.Enum[0]
	case of.Format == "date-time":
		return "2026-01-01T00:00:00Z"
	case of.Type == "string":
		return strings.Repeat("a", int(max(1, valueOf(of.MinLength))))
	case of.Type == "integer":
		return 1
	case of.Type == "boolean":
		return true
	case of.Type == "array":
		return []any{}
	}
	return withRequired(of, map[string]any{})
}

func valueOf(number *int64) int64 {
	if number == nil {
		return 0
	}
	return *number
}

// A bad value is the user's fault. The server that converts and admits objects must not answer with
// an error of its own.
var _ = Describe("No value of a field is answered by an error of the server", Label("bad-input"), func() {
	for kind := range valid {
		It("in a "+kind.Version+" "+kind.Kind, func(ctx SpecContext) {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			Expect(environment.Client.Get(ctx, client.ObjectKey{Name: contract.CalculateCRDName(kind.Group, kind.Kind)}, crd)).To(Succeed())
			base := fixture(ctx, kind.Version, kind.Kind, nil)
			all := patches(specSchema(crd, kind))
			Expect(all).NotTo(BeEmpty())
			for _, path := range slices.Sorted(maps.Keys(all)) {
				object := merged(valid[kind], map[string]any{"spec": all[path]})
				object.SetNamespace(base.GetNamespace())
				object.SetName(fixtureName)
				err := environment.Client.Create(ctx, object, client.DryRunAll)
				if err != nil && strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
					// A busy machine may give a webhook too little time to answer.
					err = environment.Client.Create(ctx, object, client.DryRunAll)
				}
				if err == nil {
					continue
				}
				status, isStatus := err.(apierrors.APIStatus)
				if !isStatus || status.Status().Code >= http.StatusInternalServerError {
					AddReportEntry("error of the server", path+": "+err.Error())
				}
			}
			Expect(CurrentSpecReport().ReportEntries).To(BeEmpty())
		})
	}
})

func specSchema(crd *apiextensionsv1.CustomResourceDefinition, kind schema.GroupVersionKind) apiextensionsv1.JSONSchemaProps {
	GinkgoHelper()
	for _, version := range crd.Spec.Versions {
		if version.Name == kind.Version {
			return version.Schema.OpenAPIV3Schema.Properties["spec"]
		}
	}
	Fail("no schema of " + kind.String())
	return apiextensionsv1.JSONSchemaProps{}
}
