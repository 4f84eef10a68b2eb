// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestReleasesMustBeInstallable(t *testing.T) {
	of := func(label, version string) map[string]string { return map[string]string{label: version} }
	for name, test := range map[string]struct {
		versions, previous map[string]string
		want               string
	}{
		"one release":      {of("infrastructure-demo", "v0.1.0"), nil, ""},
		"an upgrade":       {of("control-plane-demo", "v0.1.0"), of("control-plane-demo", "v0.1.0-rc.0"), ""},
		"nothing":          {nil, nil, "no provider has a release"},
		"no type":          {of("demo", "v0.1.0"), nil, `"demo" has no known type; want for example infrastructure-foo`},
		"no name":          {of("addon-", "v0.1.0"), nil, `"addon-" has no known type`},
		"no version":       {of("addon-demo", "main"), nil, `"main" of addon-demo is no semantic version`},
		"no older version": {of("ipam-demo", "v0.1.0"), of("ipam-demo", "main"), `"main" of ipam-demo is no semantic version`},
		"a newer one":      {of("bootstrap-demo", "v0.1.0"), of("bootstrap-demo", "v0.1.1"), "v0.1.1 of bootstrap-demo is not older than v0.1.0"},
		"another provider": {of("bootstrap-demo", "v0.1.0"), of("runtime-extension-demo", "v0.1.0"), "runtime-extension-demo has a previous release, and none"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			err := (&Releases{Versions: test.versions, Previous: test.previous}).Validate()
			if test.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(test.want)))
			}
		})
	}
}

func TestFlavors(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	write := func(path, content string) {
		path = filepath.Join(folder, path)
		g.Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
	}
	for _, file := range []string{"v0.1.0/cluster-template-old.yaml", "v0.2.0/cluster-template.yaml", "v0.2.0/cluster-template-ha.yaml", "v0.2.0/clusterclass-x.yaml"} {
		write("infrastructure-demo/"+file, "")
	}
	write("clusterctl.yaml", "providers:\n"+
		"- {name: demo, type: ControlPlaneProvider, url: /missing/v0.2.0/control-plane-components.yaml}\n"+
		"- {name: demo, type: InfrastructureProvider, url: \"file://"+folder+"/infrastructure-demo/v0.1.0/infrastructure-components.yaml\"}\n"+
		"- {name: far, type: InfrastructureProvider, url: \"https://github.com/example/far/releases/latest/infrastructure-components.yaml\"}\n")
	releases := Releases{Versions: map[string]string{"infrastructure-demo": "v0.2.0"}, Config: filepath.Join(folder, "clusterctl.yaml")}
	g.Expect(releases.flavors("infrastructure-demo")).To(ConsistOf("", "ha"))
	_, err := releases.flavors("infrastructure-far")
	g.Expect(err).To(MatchError(errNoFolder))
	write("clusterctl.yaml", "providers: nonsense")
	_, err = releases.flavors("infrastructure-demo")
	g.Expect(err).To(MatchError(ContainSubstring("clusterctl.yaml")))
}

// A Ctrl-C in a terminal is for all of its process group, and must not end a clean-up.
func TestClusterctlHasAProcessGroupOfItsOwn(t *testing.T) {
	g := NewWithT(t)
	out, err := (&Releases{Program: "sh"}).run(t.Context(), "-c", "read -r pid name state parent group rest < /proc/$$/stat; echo $((group - $$))")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(out)).To(Equal("0\n"))
}

func newComponent(kind, condition string) component {
	o := &unstructured.Unstructured{Object: map[string]any{"kind": kind, "metadata": map[string]any{"name": "demo"}}}
	found := o.DeepCopy()
	if condition != "" {
		found.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": condition, "status": "True"}}}
	}
	return component{o, found}
}

func TestInstalledComponents(t *testing.T) {
	for name, test := range map[string]struct {
		version string
		mutate  func([]component)
		want    string
	}{
		"as it should be":      {"v0.1.0", func([]component) {}, ""},
		"another version":      {"v0.0.9", func([]component) {}, `has demo in the version "v0.0.9", want "v0.1.0"`},
		"a component is gone":  {"v0.1.0", func(c []component) { c[0].found = nil }, "Namespace demo of the components does not exist"},
		"a manager is down":    {"v0.1.0", func(c []component) { delete(c[1].found.Object, "status") }, "Deployment demo does not have the condition Available"},
		"a kind is not served": {"v0.1.0", func(c []component) { delete(c[2].found.Object, "status") }, "CustomResourceDefinition demo does not have the condition Established"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			all := []component{newComponent("Namespace", ""), newComponent("Deployment", "Available"), newComponent("CustomResourceDefinition", "Established")}
			test.mutate(all)
			err := isInstalled("demo", test.version, "v0.1.0", all)
			if test.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(test.want)))
			}
		})
	}
}

func TestRemovedComponents(t *testing.T) {
	g := NewWithT(t)
	namespace, role, service := newComponent("Namespace", ""), newComponent("ClusterRole", ""), newComponent("Service", "")
	g.Expect(isGone([]component{namespace, role, service})).To(MatchError("left behind: Service demo"))
	service.found = nil
	g.Expect(isGone([]component{namespace, role, service})).To(Succeed())
}

func TestKept(t *testing.T) {
	for name, test := range map[string]struct {
		mutate func(*view)
		want   string
	}{
		"nothing changed":    {func(*view) {}, ""},
		"a worker was added": {func(v *view) { v.addMachine(9, "v1beta2") }, ""},
		"an object is gone":  {func(v *view) { delete(v.owns, "DemoMachine-m0") }, "replaced: DemoMachine m0"},
		"a Machine is new":   {func(v *view) { v.machines[1].UID = "new" }, "replaced: Machine m1"},
		"a Node is new":      {func(v *view) { changeNode(v, "m2", func(n *corev1.Node) { n.UID = "new" }) }, "replaced: Node m2"},
		"a Node is gone":     {func(v *view) { delete(v.nodes, "m2") }, "replaced: Node m2"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			before, after := newView("v1beta2"), newView("v1beta2")
			test.mutate(after)
			err := kept(before, after)
			if test.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(HaveSuffix(test.want)))
			}
		})
	}
}
