// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
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
	files, err := fastFiles()
	if err != nil {
		return err
	}
	return t.addFiles(files, config, "files")
}

// etcdArguments returns the arguments of etcd. The user's arguments replace unsafe-no-fsync.
func (v *values) etcdArguments() []argument {
	if len(v.EtcdExtraArgs) == 0 && v.Fast {
		yes := "true"
		return []argument{{Name: "unsafe-no-fsync", Value: &yes}}
	}
	return v.EtcdExtraArgs
}
