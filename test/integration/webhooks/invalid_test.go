//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package webhooks_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"
)

// update writes the actual messages into testdata/invalid.yaml, for review, instead of comparing
// them.
var update = flag.Bool("update", false, "write the messages of testdata/invalid.yaml")

// refusal is a case of testdata/invalid.yaml: a change of a valid object, and the resulting
// message.
type refusal struct {
	Kind    string `json:"kind"`
	Version string `json:"version"`
	// Create is a merge patch of the valid object, applied before it is created.
	Create any `json:"create,omitempty"`
	// Change is a merge patch of the created object. Without it, the creation is refused.
	Change any `json:"change,omitempty"`
	// Says is the message without the preamble.
	Says string `json:"says"`
}

var refusals = func() []*refusal {
	var result []*refusal
	read("invalid.yaml", &result)
	return result
}()

// preamble matches what the API server or a webhook says before the actual message.
var preamble = regexp.MustCompile(`^.*"` + fixtureName + `" is invalid: `)

var _ = Describe("What is invalid is refused with a reason", Label("bad-input"), func() {
	for i, each := range refusals {
		It(fmt.Sprintf("%s %s %d", each.Version, each.Kind, i), func(ctx SpecContext) {
			object := fixture(ctx, each.Version, each.Kind, each.Create)
			err := environment.Client.Create(ctx, object)
			if each.Change != nil {
				Expect(err).NotTo(HaveOccurred())
				err = environment.Client.Patch(ctx, object, mergePatch(each.Change))
			}
			Expect(err).To(HaveOccurred())
			status, isStatus := err.(apierrors.APIStatus)
			Expect(isStatus).To(BeTrue(), "%T: %v", err, err)
			Expect(status.Status().Code).To(BeElementOf(int32(http.StatusUnprocessableEntity), int32(http.StatusForbidden), int32(http.StatusBadRequest)), err.Error())
			said := preamble.ReplaceAllString(err.Error(), "")
			if *update {
				each.Says = said
				return
			}
			Expect(said).To(Equal(each.Says))
		})
	}

	It("and the valid ones are accepted", func(ctx SpecContext) {
		for kind := range valid {
			object := fixture(ctx, kind.Version, kind.Kind, nil)
			Expect(environment.Client.Create(ctx, object)).To(Succeed(), kind.String())
			Expect(environment.Client.Update(ctx, object)).To(Succeed(), kind.String())
		}
	})
})

var _ = AfterSuite(func() {
	if !*update {
		return
	}
	content, err := yaml.Marshal(refusals)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(filepath.Join("testdata", "invalid.yaml"), content, 0o644)).To(Succeed())
})
