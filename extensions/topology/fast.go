// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology

// patchesFolder is where kubeadm looks for patches of what it deploys.
const patchesFolder = "/etc/kubernetes/patches"

// These are the patches of the ClusterClass foo for a component.
const (
	startup = `- {op: replace, path: /spec/containers/0/startupProbe/initialDelaySeconds, value: 0}
- {op: replace, path: /spec/containers/0/startupProbe/periodSeconds, value: 1}
- {op: replace, path: /spec/containers/0/startupProbe/failureThreshold, value: 240}
`
	// election makes the controller manager try again soon if it fails to become the leader.
	election = `- {op: add, path: /spec/containers/0/command/-, value: --leader-elect-retry-period=1s}
`
	readiness = `- {op: replace, path: /spec/containers/0/readinessProbe/periodSeconds, value: 3}
`
)

// patches are the patches that the ClusterClass foo passes to kubeadm.
var patches = []file{
	{Path: patchesFolder + "/etcd+json.yaml", Content: startup + readiness},
	{Path: patchesFolder + "/kube-apiserver+json.yaml", Content: startup + readiness},
	{Path: patchesFolder + "/kube-controller-manager+json.yaml", Content: startup + election},
	{Path: patchesFolder + "/kube-scheduler+json.yaml", Content: startup + readiness},
	{Path: patchesFolder + "/corednsdeployment+json.yaml", Content: "- {op: replace, path: /spec/replicas, value: 1}\n"},
}

// changeFast adds what the variable fast stands for, except the arguments of etcd. The flavor fast
// explains why.
func (t *template) changeFast(config string) error {
	if !t.Fast {
		return nil
	}
	if err := t.setList([]string{"preflight"}, config, "initConfiguration", "skipPhases"); err != nil {
		return err
	}
	for _, command := range []string{"initConfiguration", "joinConfiguration"} {
		if err := t.setText(patchesFolder, config, command, "patches", "directory"); err != nil {
			return err
		}
	}
	return t.addFiles(patches, config, "files")
}

// etcdArguments returns the arguments of etcd. The user's arguments replace unsafe-no-fsync.
func (v *values) etcdArguments() []argument {
	if len(v.EtcdExtraArgs) == 0 && v.Fast {
		yes := "true"
		return []argument{{Name: "unsafe-no-fsync", Value: &yes}}
	}
	return v.EtcdExtraArgs
}
