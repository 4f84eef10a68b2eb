//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package v1beta2_test

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

var (
	env       *envtestenv.Environment
	namespace string
)

func TestInfrastructureAPI(t *testing.T) {
	envtestenv.Run(t, "Infrastructure API v1beta2", &env, envtestenv.Start)
}

var _ = BeforeEach(func(ctx context.Context) {
	var err error
	namespace, err = env.CreateNamespace(ctx, "infrastructure")
	Expect(err).NotTo(HaveOccurred())
})

var _ = DescribeTable("templates can be empty", func(ctx context.Context, created client.Object, list client.ObjectList) {
	created.SetNamespace(namespace)
	created.SetName("empty")
	Expect(env.Client.Create(ctx, created)).To(Succeed())
	Expect(env.Client.List(ctx, list, client.InNamespace(namespace))).To(Succeed())
	Expect(meta.LenList(list)).To(Equal(1))
},
	Entry("FooClusterTemplate", &infrav1.FooClusterTemplate{}, &infrav1.FooClusterTemplateList{}),
	Entry("FooMachineTemplate", &infrav1.FooMachineTemplate{}, &infrav1.FooMachineTemplateList{}),
	Entry("FooMachinePoolTemplate", &infrav1.FooMachinePoolTemplate{}, &infrav1.FooMachinePoolTemplateList{}),
)
