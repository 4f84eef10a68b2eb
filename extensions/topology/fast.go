// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// patchesFolder is where kubeadm looks for patches of what it deploys.
const patchesFolder = "/etc/kubernetes/patches"

// startup is the patch of the ClusterClass foo for the startup probe of a component.
const startup = `- {op: replace, path: /spec/containers/0/startupProbe/initialDelaySeconds, value: 0}
- {op: replace, path: /spec/containers/0/startupProbe/periodSeconds, value: 1}
- {op: replace, path: /spec/containers/0/startupProbe/failureThreshold, value: 240}
`

// patches are the patches that the ClusterClass foo passes to kubeadm, by their files in
// patchesFolder.
var patches = []struct{ file, content string }{
	{"etcd+json.yaml", startup},
	{"kube-apiserver+json.yaml", startup},
	{"kube-controller-manager+json.yaml", startup},
	{"kube-scheduler+json.yaml", startup},
	{"corednsdeployment+json.yaml", "- {op: replace, path: /spec/replicas, value: 1}\n"},
}

// changeFast adds what the variable fast stands for, except the arguments of etcd. The flavor fast
// explains why.
func (t *template) changeFast(said tree, config string) {
	if !t.values.fast {
		return
	}
	said.set([]string{"preflight"}, config, "initConfiguration", "skipPhases")
	for _, command := range []string{"initConfiguration", "joinConfiguration"} {
		said.set(patchesFolder, config, command, "patches", "directory")
	}
	said.set(t.withPatches(config), config, "files")
}

// withPatches returns the files of the template together with the patches, because a merge patch
// replaces the whole list.
func (t *template) withPatches(config string) []any {
	files, _, _ := unstructured.NestedSlice(t.object, "spec", "template", "spec", config, "files")
	there := map[any]bool{}
	for _, file := range files {
		if fields, isObject := file.(map[string]any); isObject {
			there[fields["path"]] = true
		}
	}
	for _, patch := range patches {
		if path := patchesFolder + "/" + patch.file; !there[path] {
			files = append(files, tree{"path": path, "content": patch.content})
		}
	}
	return files
}

// etcdArguments returns the arguments of etcd. The user's arguments replace unsafe-no-fsync.
func (v *values) etcdArguments() []argument {
	if len(v.etcdExtraArgs) == 0 && v.fast {
		yes := "true"
		return []argument{{Name: "unsafe-no-fsync", Value: &yes}}
	}
	return v.etcdExtraArgs
}
