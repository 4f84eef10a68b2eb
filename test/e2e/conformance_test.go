//go:build e2e

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

package e2e

import (
	"os/exec"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// conformanceRun is for a cluster and 60 short tests on a slow and busy machine.
const conformanceRun = 45 * time.Minute

// Kubernetes' own tests know nothing of Foo: what they find in a cluster is what its users find.
var _ = Describe("A cluster", Label("conformance", "slow"), func() {
	It("passes 60 of Kubernetes' conformance tests of nodes, networks, storage and apps", func(ctx SpecContext) {
		for _, name := range []string{"e2e.test", "images.tar"} {
			Expect(filepath.Join(bin, "conformance", name)).To(BeARegularFile(), "build it with `make conformance-parts`")
		}
		results := filepath.Join(suiteDir, "conformance")
		cmd := exec.CommandContext(ctx, "go", "run", "./test/conformance", "run", "--tests=test/conformance/subset.txt", "--results="+results,
			"--state-dir="+filepath.Join(suiteDir, "conformance-state"), "--bridge="+quickstartBridge, "--network="+quickstartNetwork)
		cmd.Dir = filepath.Dir(bin)
		Expect(output(cmd)).To(ContainSubstring("60 of 60 passed"))
	}, NodeTimeout(conformanceRun))
})
