// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// pathsOf returns the user's kubeconfigs, and which of them gets new entries. Those that cannot exist, since
// there is no folder for them, are left out.
func pathsOf(files clientcmd.ConfigAccess) (paths []string, first string) {
	paths = slices.DeleteFunc(slices.Clone(files.GetLoadingPrecedence()), func(path string) bool { return path == "" })
	if first = files.GetDefaultFilename(); first == "" && len(paths) > 0 {
		first = paths[len(paths)-1]
	}
	paths = slices.DeleteFunc(paths, func(path string) bool { return path != first && len(missing(filepath.Dir(path))) > 0 })
	return paths, first
}

// readKubeconfigs reads kubeconfigs, as objects and as they would be written. One that does not exist is
// empty.
func readKubeconfigs(paths []string) (all map[string]*clientcmdapi.Config, written map[string][]byte, err error) {
	all, written = map[string]*clientcmdapi.Config{}, map[string][]byte{}
	for _, path := range paths {
		config, err := clientcmd.LoadFromFile(path)
		if errors.Is(err, os.ErrNotExist) {
			config, err = clientcmdapi.NewConfig(), nil
		}
		if err == nil {
			written[path], err = clientcmd.Write(*config)
		}
		if err != nil {
			return nil, nil, err
		}
		all[path] = config
	}
	return all, written, nil
}

// replaceKubeconfig writes a kubeconfig, which keeps its owner and permissions. At any time, and also if
// the disk is full, it has the old content or all of the new.
func replaceKubeconfig(path string, content []byte) error {
	path = target(path)
	folder, name := filepath.Split(path)
	file, err := os.CreateTemp(cmp.Or(folder, "."), name+".*"+unfinished)
	if err != nil {
		return err
	}
	err = copyRights(path, file)
	if err == nil {
		_, err = file.Write(content)
	}
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err == nil {
		return nil
	}
	err = errors.Join(err, os.Remove(file.Name()))
	if errors.Is(err, unix.EBUSY) { // it is mounted by itself
		return os.WriteFile(path, content, 0o600)
	}
	return err
}

// target returns what a path stands for if it is a link, which may lead nowhere. Links in a circle have
// been refused by whoever read the file.
func target(path string) string {
	for {
		link, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(link) {
			folder, _ := filepath.Split(path)
			link = folder + link // not cleaned, because folders may be links too
		}
		path = link
	}
}

// copyRights gives a file the owner and the permissions of another, if that exists.
func copyRights(from string, to *os.File) error {
	info, err := os.Stat(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); ok {
		err = to.Chown(int(owner.Uid), int(owner.Gid))
	}
	return errors.Join(err, to.Chmod(info.Mode().Perm()))
}

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
