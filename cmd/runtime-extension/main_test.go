// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// The server serves all clusters, so it must not contain libraries of object stores, nor open the
// database of a workload cluster. The snapshot Job does both.
func TestTheServerNeitherTalksToObjectStoresNorOpensDatabases(t *testing.T) {
	g := NewWithT(t)
	output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	g.Expect(err).NotTo(HaveOccurred())
	dependencies := strings.Fields(string(output))
	g.Expect(dependencies).To(ContainElement("sigs.k8s.io/cluster-api/exp/runtime/server"), "the list is that of the server")
	for _, dependency := range dependencies {
		for _, foreign := range []string{
			"gocloud.dev", "github.com/aws/", "github.com/Azure/", "cloud.google.com/", "google.golang.org/api/",
			"go.etcd.io/bbolt", "go.etcd.io/etcd/server", "go.etcd.io/etcd/etcdutl",
		} {
			g.Expect(dependency).NotTo(HavePrefix(foreign))
		}
	}
}
