// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"encoding/json"
	"path/filepath"

	"k8s.io/apimachinery/pkg/runtime"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// extension is the name of the extension that a context has for a note.
const extension = "foo"

// note says in the user's kubeconfig where a cluster is.
type note struct {
	StateDir string `json:"stateDir"`
}

// noteFolder returns a note about a state folder.
func noteFolder(stateDir string) (runtime.Object, error) {
	content, err := json.Marshal(note{StateDir: filepath.Clean(stateDir)})
	return &runtime.Unknown{Raw: content, ContentType: runtime.ContentTypeJSON}, err
}

// folderOf returns the state folder of a context; empty if there is no context, or no note in it.
func folderOf(context *clientcmdapi.Context) string {
	if context == nil {
		return ""
	}
	known, ok := context.Extensions[extension].(*runtime.Unknown)
	var found note
	if !ok || json.Unmarshal(known.Raw, &found) != nil {
		return ""
	}
	return found.StateDir
}

// isFolder reports whether the state folder of a context is this one, as far as it is known.
func isFolder(noted, stateDir string) bool {
	return noted == "" || noted == filepath.Clean(stateDir)
}
