// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/yaml"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	utilyaml "sigs.k8s.io/cluster-api/util/yaml"

	"github.com/capfoo/cluster-api-provider-foo/internal/kustomize"
)

const module = "github.com/capfoo/cluster-api-provider-foo/"

// Cluster API's Tilt environment takes the name and the type of the provider from its Namespace, and
// looks for a Deployment with the same label.
func TestTiltFindsTheProvider(t *testing.T) {
	g := NewWithT(t)
	content, err := kustomize.Build("config/default")
	g.Expect(err).NotTo(HaveOccurred())
	objects, err := utilyaml.ToUnstructured(content)
	g.Expect(err).NotTo(HaveOccurred())
	providers := map[string]string{}
	for _, object := range objects {
		providers[object.GetKind()] = object.GetLabels()[clusterv1.ProviderNameLabel]
	}
	g.Expect(providers).To(And(HaveKeyWithValue("Namespace", "infrastructure-foo"), HaveKeyWithValue("Deployment", "infrastructure-foo")))
}

// Tilt rebuilds the manager when one of these changes, and only then.
func TestTiltWatchesWhatTheManagerIsBuiltFrom(t *testing.T) {
	g := NewWithT(t)
	content, err := os.ReadFile("tilt-provider.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	var provider struct {
		Config struct {
			Dependencies []string `json:"live_reload_deps"`
		} `json:"config"`
	}
	g.Expect(yaml.Unmarshal(content, &provider)).To(Succeed())
	watched := sets.New(provider.Config.Dependencies...)
	for entry := range watched {
		g.Expect(entry).To(Or(BeAnExistingFile(), BeADirectory()))
	}

	packages, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	g.Expect(err).NotTo(HaveOccurred())
	needed := sets.New("main.go", "go.mod", "go.sum")
	for name := range strings.FieldsSeq(string(packages)) {
		if local, is := strings.CutPrefix(name, module); is {
			needed.Insert(strings.Split(local, "/")[0])
		}
	}
	g.Expect(watched.UnsortedList()).To(ConsistOf(needed.UnsortedList()))
}
