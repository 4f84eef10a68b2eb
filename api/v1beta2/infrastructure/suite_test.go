//go:build integration

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

package infrastructure_test

import (
	"context"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

var (
	env       *envtestenv.Environment
	namespace string
)

func TestInfrastructureAPI(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "Infrastructure API v1beta2")
}

var _ = BeforeSuite(func(ctx context.Context) {
	var err error
	env, err = envtestenv.Start(ctx)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(env.Stop)
})

var _ = BeforeEach(func(ctx context.Context) {
	var err error
	namespace, err = env.CreateNamespace(ctx, "infrastructure")
	Expect(err).NotTo(HaveOccurred())
})
