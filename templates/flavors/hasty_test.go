// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package flavors_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"text/template"

	jsonpatch "github.com/evanphx/json-patch/v5"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

// hasty lists words in settings that trade safety for speed.
var hasty = []string{"unsafe-no-fsync", "skipPhases", "startupProbe", "/etc/kubernetes/patches"}

// Unsafe settings exist only where a user requested them by name.
func TestOnlyWhatIsCalledFastIsHasty(t *testing.T) {
	for _, one := range build(t).Files() {
		t.Run(one.File, func(t *testing.T) {
			g := NewWithT(t)
			text := string(one.Content)
			if one.File == "clusterclass-foo.yaml" {
				// Its patches contain them, but apply them only if the variable is set.
				text = jsonOf(g, objectsBesidesClass(t, g, one)) + jsonOf(g, withVariables(g, one, map[string]any{
					"certificateSANs": []string{"api.example.com"}, "etcdExtraArgs": []map[string]string{{"name": "snapshot-count", "value": "1000"}},
				}))
			}
			for _, word := range hasty {
				if one.Name == flavors.Fast {
					g.Expect(text).To(ContainSubstring(word))
				} else {
					g.Expect(text).NotTo(ContainSubstring(word))
				}
			}
		})
	}
}

func TestTheClassIsNotFastByDefault(t *testing.T) {
	g := NewWithT(t)
	all := build(t)
	g.Expect(withVariables(g, all.Classes[0], nil)).To(Equal(configOf(g, all.Flavors[0])))
}

func TestTheFastClassIsTheFastFlavor(t *testing.T) {
	g := NewWithT(t)
	all := build(t)
	g.Expect(withVariables(g, all.Classes[0], map[string]any{"fast": true})).To(Equal(configOf(g, named(g, all, flavors.Fast))))
}

// The variables of one part of etcd or of the API server do not affect the others, and a user's
// settings for etcd take precedence.
func TestAFastClassTakesItsOtherVariables(t *testing.T) {
	g := NewWithT(t)
	class := build(t).Classes[0]
	arguments := []any{map[string]any{"name": "v", "value": "4"}}
	config := withVariables(g, class, map[string]any{
		"fast": true, "certificateSANs": []any{"api.example.com"}, "apiServerExtraArgs": arguments, "etcdExtraArgs": arguments,
	})
	components, ok := config["clusterConfiguration"].(map[string]any)
	g.Expect(ok).To(BeTrue())
	g.Expect(components["apiServer"]).To(Equal(map[string]any{"certSANs": []any{"api.example.com"}, "extraArgs": arguments}))
	g.Expect(components["etcd"]).To(Equal(map[string]any{"local": map[string]any{"extraArgs": arguments}}))
	config = withVariables(g, class, map[string]any{"fast": true, "externalEtcdEndpoints": []any{"https://192.0.2.1:2379"}})
	g.Expect(config["clusterConfiguration"]).To(HaveKeyWithValue("etcd", And(HaveKey("external"), Not(HaveKey("local")))))
}

// A user's files are added to the files of the class, and to those of fast.
func TestFilesAreAdded(t *testing.T) {
	g := NewWithT(t)
	all := build(t)
	file := map[string]any{"path": "/etc/motd", "content": "hello"}
	for name, flavor := range map[bool]flavors.Template{false: all.Flavors[0], true: named(g, all, flavors.Fast)} {
		var want []any
		files, ok := configOf(g, flavor)["files"].([]any)
		g.Expect(ok).To(BeTrue())
		want = append(append(append(want, files[0]), file), files[1:]...)
		g.Expect(withVariables(g, all.Classes[0], map[string]any{"fast": name, "files": []any{file}})["files"]).To(Equal(want))
	}
}

// configOf returns the kubeadm configuration of a flavor's control plane.
func configOf(g *WithT, one flavors.Template) map[string]any {
	config, found, err := unstructured.NestedMap(only(g, one, "FooControlPlane").Object, "spec", "kubeadmConfigSpec")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(BeTrue(), one.File)
	return config
}

// objectsBesidesClass returns the other objects that a class is published with.
func objectsBesidesClass(t *testing.T, g *WithT, one flavors.Template) []unstructured.Unstructured {
	t.Helper()
	objects, err := one.Render(t.Context(), "default", nil)
	g.Expect(err).NotTo(HaveOccurred())
	var found []unstructured.Unstructured
	for _, object := range objects {
		if object.GetKind() != "ClusterClass" {
			found = append(found, object)
		}
	}
	g.Expect(found).NotTo(BeEmpty())
	return found
}

// withVariables returns the kubeadm configuration that the patches of a class produce for a control
// plane if a Cluster sets these variables and all others have their defaults.
func withVariables(g *WithT, one flavors.Template, variables map[string]any) map[string]any {
	var class clusterv1.ClusterClass
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(only(g, one, "ClusterClass").Object, &class)).To(Succeed())
	values := map[string]any{}
	for _, variable := range class.Spec.Variables {
		var value any
		g.Expect(json.Unmarshal(variable.Schema.OpenAPIV3Schema.Default.Raw, &value)).To(Succeed(), variable.Name)
		values[variable.Name] = value
	}
	for name, value := range variables {
		g.Expect(values).To(HaveKey(name))
		values[name] = value
	}
	object := []byte(jsonOf(g, only(g, one, "FooControlPlaneTemplate")))
	for _, patch := range class.Spec.Patches {
		if patch.EnabledIf != "" && fill(g, patch.EnabledIf, values) != "true" {
			continue
		}
		for _, definition := range patch.Definitions {
			if definition.Selector.Kind == "FooControlPlaneTemplate" {
				object = apply(g, object, definition.JSONPatches, values)
			}
		}
	}
	var changed map[string]any
	g.Expect(json.Unmarshal(object, &changed)).To(Succeed())
	config, found, err := unstructured.NestedMap(changed, "spec", "template", "spec", "kubeadmConfigSpec")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(BeTrue())
	return config
}

// apply does what Cluster API does with the patches of a class.
func apply(g *WithT, object []byte, patches []clusterv1.JSONPatch, values map[string]any) []byte {
	operations := make([]map[string]any, 0, len(patches))
	for _, patch := range patches {
		operation := map[string]any{"op": patch.Op, "path": patch.Path}
		switch {
		case patch.Value != nil:
			operation["value"] = json.RawMessage(patch.Value.Raw)
		case patch.ValueFrom.Variable != "":
			operation["value"] = values[patch.ValueFrom.Variable]
		default:
			var value any
			g.Expect(yaml.Unmarshal([]byte(fill(g, patch.ValueFrom.Template, values)), &value)).To(Succeed())
			operation["value"] = value
		}
		operations = append(operations, operation)
	}
	patch, err := jsonpatch.DecodePatch([]byte(jsonOf(g, operations)))
	g.Expect(err).NotTo(HaveOccurred())
	changed, err := patch.Apply(object)
	g.Expect(err).NotTo(HaveOccurred())
	return changed
}

// fill renders a template of a patch.
func fill(g *WithT, text string, values map[string]any) string {
	parsed, err := template.New("").Funcs(template.FuncMap{
		"toJson": func(value any) string { return jsonOf(g, value) },
		"hasKey": func(values map[string]any, key string) bool { _, found := values[key]; return found },
	}).Parse(text)
	g.Expect(err).NotTo(HaveOccurred())
	var out bytes.Buffer
	g.Expect(parsed.Execute(&out, values)).To(Succeed())
	return out.String()
}

func jsonOf(g *WithT, value any) string {
	content, err := json.Marshal(value)
	g.Expect(err).NotTo(HaveOccurred())
	return string(content)
}
