// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/cluster-api/util/kubeconfig"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ContextName returns the name of a cluster's context in the user's kubeconfig.
func ContextName(cluster string) string { return "foo-" + cluster }

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
// names, or else ~/.kube/config. With sudo, ~ is the home of the user who ran it.
func KubeconfigFiles(path string) *clientcmd.PathOptions {
	uid, _, ok := sudoer()
	if !ok {
		return kubeconfigFiles(path, "")
	}
	account, err := user.LookupId(strconv.Itoa(uid))
	if err != nil {
		return kubeconfigFiles(path, "") // only root's home is known
	}
	return kubeconfigFiles(path, account.HomeDir)
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

// write writes the user's kubeconfig. With sudo, files and folders that did not exist belong to the
// user who ran it, who could not read them otherwise.
func write(files clientcmd.ConfigAccess, config clientcmdapi.Config) error {
	created := missing(files.GetDefaultFilename())
	if err := clientcmd.ModifyConfig(files, config, false); err != nil {
		return fmt.Errorf("write your kubeconfig: %w", err)
	}
	uid, gid, ok := sudoer()
	if !ok {
		return nil
	}
	for _, path := range created {
		if err := os.Lchown(path, uid, gid); err != nil {
			return fmt.Errorf("give you your kubeconfig: %w", err)
		}
	}
	return nil
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

// MergeKubeconfig makes the cluster of a kubeconfig the current context of the user's kubeconfig.
// Everything else in that stays as it is.
func MergeKubeconfig(files clientcmd.ConfigAccess, cluster string, content []byte) error {
	from, err := clientcmd.Load(content)
	if err != nil {
		return fmt.Errorf("kubeconfig of cluster %s: %w", cluster, err)
	}
	current, ok := from.Contexts[from.CurrentContext]
	if !ok || from.Clusters[current.Cluster] == nil || from.AuthInfos[current.AuthInfo] == nil {
		return fmt.Errorf("kubeconfig of cluster %s: its current context %q is not complete", cluster, from.CurrentContext)
	}
	merged, err := files.GetStartingConfig()
	if err != nil {
		return fmt.Errorf("read your kubeconfig: %w", err)
	}
	name := ContextName(cluster)
	server, user := *from.Clusters[current.Cluster], *from.AuthInfos[current.AuthInfo]
	entry := clientcmdapi.Context{Cluster: name, AuthInfo: name}
	// An entry that exists already stays in its file.
	server.LocationOfOrigin, user.LocationOfOrigin = "", ""
	if before := merged.Clusters[name]; before != nil {
		server.LocationOfOrigin = before.LocationOfOrigin
	}
	if before := merged.AuthInfos[name]; before != nil {
		user.LocationOfOrigin = before.LocationOfOrigin
	}
	if before := merged.Contexts[name]; before != nil {
		entry.LocationOfOrigin = before.LocationOfOrigin
	}
	merged.Clusters[name], merged.AuthInfos[name], merged.Contexts[name] = &server, &user, &entry
	merged.CurrentContext = name
	return write(files, *merged)
}

// ForgetKubeconfig removes a cluster from the user's kubeconfig.
func ForgetKubeconfig(files clientcmd.ConfigAccess, cluster string) error {
	config, err := files.GetStartingConfig()
	if err != nil {
		return fmt.Errorf("read your kubeconfig: %w", err)
	}
	name := ContextName(cluster)
	if config.Clusters[name] == nil && config.AuthInfos[name] == nil && config.Contexts[name] == nil {
		return nil
	}
	delete(config.Clusters, name)
	delete(config.AuthInfos, name)
	delete(config.Contexts, name)
	if config.CurrentContext == name {
		config.CurrentContext = ""
	}
	return write(files, *config)
}
