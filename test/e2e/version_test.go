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
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("A cluster of the minor version before", Label("version"), func() {
	It("comes up", Label("contract:control-plane.version", "contract:infra-machinepool.initialization-completed"), func(ctx SpecContext) {
		m := sharedManagement(ctx)
		m.namespace(ctx, "version")
		c := m.newCluster(ctx, client.ObjectKey{Namespace: "version", Name: "old"}, shape{controlPlanes: 1, workers: 1, version: previousVersion})
		c.available(ctx)
		for _, node := range c.nodesReady(ctx, 1, 1) {
			Expect(node.Status.NodeInfo.KubeletVersion).To(Equal(previousVersion))
		}
		Expect(c.on(ctx, "version")).To(ContainSubstring("Server Version: " + previousVersion))
		c.controlPlaneReady(ctx, 1)
	}, NodeTimeout(2*clusterUp))
})
