// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
)

// patchesFolder is where kubeadm looks for patches of what it deploys.
const patchesFolder = "/etc/kubernetes/patches"

// fastFiles returns the files that the variable fast adds in the ClusterClass foo: patches for
// kubeadm. An error means that the binary was built from a broken class.
var fastFiles = sync.OnceValues(func() ([]file, error) {
	class, err := readClass()
	if err != nil {
		return nil, err
	}
	var files []file
	for _, patch := range class.Spec.Patches {
		if patch.Name != "fast" {
			continue
		}
		for _, operation := range patch.Definitions[0].JSONPatches {
			if !strings.HasSuffix(operation.Path, "/files/-") {
				continue
			}
			var added file
			if err := json.Unmarshal(operation.Value.Raw, &added); err != nil {
				return nil, fmt.Errorf("patch fast of the ClusterClass foo: %w", err)
			}
			files = append(files, added)
		}
	}
	return files, nil
})

// changeFast adds what the variable fast stands for, except the arguments of etcd. The flavor fast
// explains why.
func (t *template) changeFast() error {
	if !t.Fast {
		return nil
	}
	files, err := fastFiles()
	if err != nil {
		return err
	}
	return t.set(
		change{kubeadmPath + ".initConfiguration", &bootstrapv1.InitConfiguration{SkipPhases: []string{"preflight"}}},
		change{kubeadmPath + ".initConfiguration.patches", &bootstrapv1.Patches{Directory: patchesFolder}},
		change{kubeadmPath + ".joinConfiguration.patches", &bootstrapv1.Patches{Directory: patchesFolder}},
		change{kubeadmPath + ".files", files},
	)
}

// etcdArguments returns the arguments of etcd. The user's arguments replace unsafe-no-fsync.
func (v *values) etcdArguments() []argument {
	if len(v.EtcdExtraArgs) == 0 && v.Fast {
		yes := "true"
		return []argument{{Name: "unsafe-no-fsync", Value: &yes}}
	}
	return v.EtcdExtraArgs
}
