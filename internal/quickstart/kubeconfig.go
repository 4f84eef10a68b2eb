// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/cluster-api/util/kubeconfig"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ContextName returns the name of a cluster's context in the user's kubeconfig. It has the namespace
// unless that is the default. A dot, which neither name can have, separates them.
func ContextName(cluster client.ObjectKey) string {
	name := "foo-" + cluster.Name
	if cluster.Namespace != metav1.NamespaceDefault {
		name += "." + cluster.Namespace
	}
	return name
}

// Context is the name of the cluster's context in the user's kubeconfig.
func (c Config) Context() string { return ContextName(c.key()) }

func (c Config) key() client.ObjectKey {
	return client.ObjectKey{Namespace: c.Namespace, Name: c.ClusterName}
}

// CheckKubeconfig returns an InvalidError if no cluster can be added to the user's kubeconfig. That must not be
// in a state folder, whose kubeconfigs only foo changes.
func CheckKubeconfig(config Config, files clientcmd.ConfigAccess) error {
	if _, err := files.GetStartingConfig(); err != nil {
		return invalid("your kubeconfig cannot be read: %v; correct it, or name another with --kubeconfig", err)
	}
	_, first := pathsOf(files)
	if first == "" {
		return invalid("KUBECONFIG names no file; unset it, or name one with --kubeconfig")
	}
	file, err := filepath.Abs(target(first))
	if err != nil {
		return err
	}
	_, other := readSettings(filepath.Dir(file))
	if other == nil || strings.HasPrefix(file, filepath.Clean(config.StateDir)+"/") {
		return invalid("foo's own file %s cannot be your kubeconfig; unset KUBECONFIG, or name yours with --kubeconfig", first)
	}
	return nil
}

// AddKubeconfig makes a cluster the current context of the user's kubeconfig, and says in which file that is:
// with sudo, it can be another than the user's kubectl reads.
func AddKubeconfig(ctx context.Context, config Config, files clientcmd.ConfigAccess, out io.Writer) error {
	if err := CheckKubeconfig(config, files); err != nil {
		return err
	}
	content, err := Kubeconfig(ctx, config)
	if err == nil {
		err = config.exclusively(ctx, out, func() error { return mergeKubeconfig(files, config.Context(), config.StateDir, content) })
	}
	if err == nil {
		sayWhere(files, config.Context(), out)
	}
	return orContinue(ctx, err, config.Command("kubeconfig"))
}

// sayWhere names the file of a context. The context is there even if nobody reads this.
func sayWhere(files clientcmd.ConfigAccess, name string, out io.Writer) {
	if known, err := files.GetStartingConfig(); err == nil && known.Contexts[name] != nil {
		_, _ = fmt.Fprintf(out, "The context %s is in %s.\n", name, known.Contexts[name].LocationOfOrigin)
	}
}

// RemoveKubeconfig removes a cluster from the user's kubeconfig, unless the context belongs to a cluster
// of the same name in another state folder.
func RemoveKubeconfig(ctx context.Context, config Config, files clientcmd.ConfigAccess, out io.Writer) error {
	err := config.exclusively(ctx, out, func() error { return forgetKubeconfig(files, config.Context(), config.StateDir) })
	return orContinue(ctx, err, config.DeleteCommand())
}

// AlreadyDeleted returns nil if an interrupted command has deleted a missing cluster, but not its context in
// the user's kubeconfig. It returns the error that says that the cluster is missing if there is no context, and
// another InvalidError if the cluster is in another state folder, or may have been moved.
func AlreadyDeleted(config Config, files clientcmd.ConfigAccess, missing error) error {
	known, err := files.GetStartingConfig()
	if err != nil || known.Contexts[config.Context()] == nil {
		return cmp.Or(err, missing)
	}
	here := config.StateDir
	if config.StateDir = folderOf(known.Contexts[config.Context()]); !isFolder(config.StateDir, here) {
		return invalid("cluster %q is in %s, and not in %s; delete it with: %s", config.ClusterName, config.StateDir, here, config.DeleteCommand())
	}
	var reason *InvalidError
	if errors.As(missing, &reason) && reason.moved {
		return invalid("%s; if it is deleted, remove its context with: %s%s config delete-context %s", reason.Error(), config.Kubectl(), config.kubeconfigFlag(), config.Context())
	}
	return nil
}

// Kubeconfig returns the kubeconfig of a cluster's administrator.
func Kubeconfig(ctx context.Context, config Config) ([]byte, error) {
	management, cluster, err := config.find(ctx)
	if err != nil {
		return nil, err
	}
	live, err := newClient(management)
	if err != nil {
		return nil, err
	}
	content, err := kubeconfig.FromSecret(ctx, live, client.ObjectKeyFromObject(cluster))
	switch {
	case apierrors.IsNotFound(err) && !cluster.DeletionTimestamp.IsZero():
		return nil, invalid("cluster %q is being deleted; `foo get clusters` shows when it is gone", cluster.Name)
	case apierrors.IsNotFound(err):
		return nil, invalid("cluster %q has no kubeconfig yet; try again once `foo get clusters` shows that it is available", cluster.Name)
	case err != nil:
		return nil, fmt.Errorf("kubeconfig of cluster %s: %w", cluster.Name, err)
	}
	return content, nil
}

// KubeconfigFiles returns the user's kubeconfig: the file at path, or else those that KUBECONFIG
// names, or else ~/.kube/config. With sudo, ~ is the home of the user who ran it. It returns an InvalidError if
// that is unknown: the user's kubectl would not read root's file.
func KubeconfigFiles(ctx context.Context, path string) (*clientcmd.PathOptions, error) {
	uid, _, ok := sudoer()
	if !ok || path != "" || os.Getenv(clientcmd.RecommendedConfigPathEnvVar) != "" {
		return kubeconfigFiles(path, ""), nil
	}
	home, err := homeOf(ctx, strconv.Itoa(uid))
	if err != nil {
		return nil, err
	}
	return kubeconfigFiles("", home), nil
}

// homeOf returns a user's home folder. Without cgo, package user knows only what is in /etc/passwd; getent also
// asks LDAP, SSSD and systemd-homed.
func homeOf(ctx context.Context, uid string) (string, error) {
	if account, err := user.LookupId(uid); err == nil && account.HomeDir != "" {
		return account.HomeDir, nil
	}
	const home = 5 // name:password:UID:GID:comment:home:shell
	entry, err := exec.CommandContext(ctx, "getent", "passwd", uid).Output()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if fields := strings.Split(string(entry), ":"); err == nil && len(fields) > home && filepath.IsAbs(fields[home]) {
		return fields[home], nil
	}
	return "", invalid("the home folder of user %s, who ran sudo, is unknown; name your kubeconfig with --kubeconfig", uid)
}

// kubeconfigFiles returns the kubeconfig of the user with this home; this process's if it is empty.
func kubeconfigFiles(path, home string) *clientcmd.PathOptions {
	options := clientcmd.NewDefaultPathOptions()
	options.LoadingRules.ExplicitPath = path
	if home != "" {
		options.GlobalFile = filepath.Join(home, clientcmd.RecommendedHomeDir, clientcmd.RecommendedFileName)
		if os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "" {
			options.LoadingRules.Precedence = []string{options.GlobalFile}
		}
	}
	return options
}

// sudoer returns the IDs of the user who ran this program with sudo, and of the user's group.
func sudoer() (uid, gid int, ok bool) {
	uid, errUser := strconv.Atoi(os.Getenv("SUDO_UID"))
	gid, errGroup := strconv.Atoi(os.Getenv("SUDO_GID"))
	return uid, gid, os.Geteuid() == 0 && errUser == nil && errGroup == nil
}

// missing returns a path and its parents, as far as they do not exist.
func missing(path string) []string {
	var paths []string
	for ; ; path = filepath.Dir(path) {
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			return paths
		}
		paths = append(paths, path)
	}
}

// change changes the user's kubeconfig, after other programs that are changing it. edit gets the
// content of each file, their paths, and which of them gets new entries. With sudo, files and folders
// that did not exist belong to the user who ran it, who could not read them otherwise.
func change(files clientcmd.ConfigAccess, edit func(all map[string]*clientcmdapi.Config, paths []string, first string)) (err error) {
	paths, first := pathsOf(files)
	if first == "" {
		return errors.New("KUBECONFIG names no file")
	}
	created := missing(first)
	defer func() { // also if the disk is full: the folder may exist by now
		if given := giveToSudoer(created); err == nil && given != nil {
			err = fmt.Errorf("give you your kubeconfig: %w", given)
		}
	}()
	unlock, err := lockFiles(paths)
	if err != nil {
		return fmt.Errorf("lock your kubeconfig: %w", err)
	}
	defer unlock()
	all, before, err := readKubeconfigs(paths)
	if err != nil {
		return fmt.Errorf("read your kubeconfig: %w", err)
	}
	edit(all, paths, first)
	for path, config := range all {
		content, err := clientcmd.Write(*config)
		if err == nil && !bytes.Equal(content, before[path]) {
			err = replaceKubeconfig(path, content)
		}
		if err != nil {
			return fmt.Errorf("write your kubeconfig: %w", err)
		}
	}
	return nil
}

// giveToSudoer makes the user who ran sudo the owner of files and folders.
func giveToSudoer(paths []string) error {
	uid, gid, ok := sudoer()
	if !ok {
		return nil
	}
	for _, path := range paths {
		if err := os.Lchown(path, uid, gid); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// lockFiles locks kubeconfigs as kubectl does.
func lockFiles(paths []string) (unlock func(), err error) {
	var locked []string
	unlock = func() {
		for _, path := range locked {
			_ = os.Remove(path)
		}
	}
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		if err := lockOne(path + ".lock"); err != nil {
			unlock()
			return nil, err
		}
		locked = append(locked, path+".lock")
	}
	return unlock, nil
}

// lockOne makes the file that locks a kubeconfig. While another program has it, lockOne tries again.
func lockOne(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	err := patiently(func() error {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL, 0)
		if err != nil {
			return err
		}
		return file.Close()
	}, os.ErrExist)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%w; another program is changing it: if there is none, remove that file", err)
	}
	return err
}

// mergeKubeconfig makes the cluster of a kubeconfig the current context of the user's kubeconfig,
// under this name, and notes its state folder. Everything else in that stays as it is.
func mergeKubeconfig(files clientcmd.ConfigAccess, name, stateDir string, content []byte) error {
	from, err := clientcmd.Load(content)
	if err != nil {
		return fmt.Errorf("kubeconfig of %s: %w", name, err)
	}
	current, ok := from.Contexts[from.CurrentContext]
	if !ok || from.Clusters[current.Cluster] == nil || from.AuthInfos[current.AuthInfo] == nil {
		return fmt.Errorf("kubeconfig of %s: its current context %q is not complete", name, from.CurrentContext)
	}
	where, err := noteFolder(stateDir)
	if err != nil {
		return err
	}
	return change(files, func(all map[string]*clientcmdapi.Config, paths []string, first string) {
		file := first
		for _, path := range slices.Backward(paths) {
			if all[path].Contexts[name] != nil { // a cluster that is known already stays in its file
				file = path
			}
			forget(all[path], name)
		}
		config := all[file]
		config.Clusters[name], config.AuthInfos[name] = from.Clusters[current.Cluster], from.AuthInfos[current.AuthInfo]
		config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Extensions: map[string]runtime.Object{extension: where}}
		all[first].CurrentContext = name
	})
}

// forgetKubeconfig removes what mergeKubeconfig has added under this name for this state folder.
func forgetKubeconfig(files clientcmd.ConfigAccess, name, stateDir string) error {
	return change(files, func(all map[string]*clientcmdapi.Config, _ []string, _ string) {
		for _, config := range all {
			if isFolder(folderOf(config.Contexts[name]), stateDir) {
				forget(config, name)
			}
		}
	})
}

func forget(config *clientcmdapi.Config, name string) {
	delete(config.Clusters, name)
	delete(config.AuthInfos, name)
	delete(config.Contexts, name)
	if config.CurrentContext == name {
		config.CurrentContext = ""
	}
}
