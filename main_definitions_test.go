//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/cluster-api/feature"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

var _ = Describe("A manager with CRDs of another release", Ordered, func() {
	const name = "foocontrolplanes.controlplane.cluster.x-k8s.io"
	var environment *envtestenv.Environment
	// started returns the error with which the start of a manager of the control plane role fails.
	var started func(ctx SpecContext) error
	// change changes the CRD.
	change := func(ctx SpecContext, how func(crd *apiextensionsv1.CustomResourceDefinition)) {
		GinkgoHelper()
		crd := &apiextensionsv1.CustomResourceDefinition{}
		Expect(environment.Client.Get(ctx, client.ObjectKey{Name: name}, crd)).To(Succeed())
		how(crd)
		Expect(environment.Client.Update(ctx, crd)).To(Succeed())
	}
	BeforeAll(func(ctx SpecContext) {
		var err error
		environment, err = envtestenv.Start(ctx)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(environment.Stop()).To(Succeed()) })
		started = func(ctx SpecContext) error {
			opts, err := manager.ParseOptions([]string{
				"--providers=control-plane", "--health-addr=0", "--diagnostics-address=0", "--webhook-port=0",
			}, feature.MutableGates.DeepCopy())
			Expect(err).NotTo(HaveOccurred())
			mgr, err := program.New(environment.Config, opts)
			Expect(err).NotTo(HaveOccurred())
			return setupControlPlane(ctx, mgr, opts)
		}
	})

	It("says which version it misses", func(ctx SpecContext) {
		change(ctx, func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions[1].Served = false })
		err := started(ctx)
		var problem *manager.DefinitionsError
		Expect(errors.As(err, &problem)).To(BeTrue(), "got %v", err)
		Expect(problem.Problems).To(ConsistOf("CRD " + name + " does not serve v1beta2, which this manager needs, but only v1beta1"))
		Expect(err).To(MatchError(ContainSubstring("clusterctl upgrade apply")))
	})

	It("says which version it cannot convert", func(ctx SpecContext) {
		change(ctx, func(crd *apiextensionsv1.CustomResourceDefinition) {
			newer := crd.Spec.Versions[1].DeepCopy()
			newer.Name, newer.Served = "v1", true
			crd.Spec.Versions[1].Served, crd.Spec.Versions[1].Storage = true, false
			crd.Spec.Versions = append(crd.Spec.Versions, *newer)
		})
		Expect(started(ctx)).To(MatchError(ContainSubstring("CRD " + name + " stores objects as v1, which this manager cannot convert: it knows only v1beta1, v1beta2")))
	})

	It("says that there is none", func(ctx SpecContext) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		crd.Name = name
		Expect(environment.Client.Delete(ctx, crd)).To(Succeed())
		Eventually(func() bool {
			return apierrors.IsNotFound(environment.Client.Get(ctx, client.ObjectKey{Name: name}, crd))
		}).WithTimeout(envtestenv.Patience).Should(BeTrue(), "the API server takes a moment to look for objects of the kind")
		Expect(started(ctx)).To(MatchError(HavePrefix("CRD " + name + " is not installed: ")))
	})
})
