// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Up starts the management cluster, the cloud and the providers in the background, unless they run
// already, and returns once they are up. A kept state keeps its network.
func Up(ctx context.Context, config Config, out io.Writer) error {
	if err := config.validate(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, config.Timeout, fmt.Errorf("the management cluster is not up after %s", config.Timeout))
	defer cancel()
	pid, err := config.owner()
	if err != nil {
		return err
	}
	if pid != 0 {
		return config.waitUp(ctx, nil, func() {})
	}
	if built := config.builtVersions(); len(built) > 0 {
		config.KubernetesVersion = built[len(built)-1]
	}
	// It belongs to no single cluster.
	config.ClusterName, config.Namespace = "demo", metav1.NamespaceDefault
	if config.kept() {
		kept, err := readSettings(config.StateDir)
		if err != nil {
			return err
		}
		config.Resume, config.Network, config.Bridge = true, kept.Network, kept.Bridge
		config.ClusterName, config.Namespace = kept.ClusterName, kept.Namespace
	}
	return Detach(ctx, config, config.managementArguments(), out)
}

// validate checks what all commands that create something need.
func (c Config) validate() error {
	if os.Geteuid() != 0 {
		return notRoot()
	}
	return c.Validate()
}

// kept reports whether the state folder has the state of an earlier run.
func (c Config) kept() bool {
	entries, err := os.ReadDir(c.StateDir)
	if err != nil || free(entries) {
		return false
	}
	_, err = readSettings(c.StateDir)
	return err == nil
}

// managementArguments are the arguments of a quickstart that only runs the management cluster.
func (c Config) managementArguments() []string {
	arguments := []string{
		"quickstart", "--management-only", "--keep", "--state-dir=" + c.StateDir, "--bridge=" + c.Bridge, "--network=" + c.Network,
		"--cluster-name=" + c.ClusterName, "--namespace=" + c.Namespace, "--kubernetes-version=" + c.KubernetesVersion, "--timeout=" + c.Timeout.String(), "--cloud-config=" + c.CloudConfig,
	}
	if c.Resume {
		arguments = append(arguments, "--resume")
	}
	return arguments
}

// Stop ends the programs in the background. The clusters keep running, and Up continues with them.
func Stop(ctx context.Context, config Config) error {
	if os.Geteuid() != 0 {
		return notRoot()
	}
	return config.stopOwner(ctx)
}

// CreateCluster creates a cluster and returns once it is available. It starts the management
// cluster first if that does not run.
func CreateCluster(ctx context.Context, config Config, out io.Writer) error {
	if err := config.validate(); err != nil {
		return err
	}
	var wrong problems
	config.checkVersion(&wrong)
	if err := wrong.err(); err != nil {
		return err
	}
	if err := Up(ctx, config, out); err != nil {
		return err
	}
	management, live, err := config.management()
	if err != nil {
		return err
	}
	if err := config.refuseExisting(ctx, live); err != nil {
		return err
	}
	say := newPrinter(out)
	talking, hush := context.WithCancel(ctx)
	defer hush()
	go say.repeatWaiting(talking)
	_, _, err = createWorkload(ctx, config, management, say)
	hush()
	say.end()
	if err != nil && ctx.Err() == nil {
		reported := explain(config, err, say)
		reported.Advice += "; delete the cluster with: foo delete cluster " + config.ClusterName
		return reported
	}
	return err
}

// refuseExisting returns an InvalidError if there is a cluster with the name already.
func (c Config) refuseExisting(ctx context.Context, live client.Client) error {
	existing := &clusterv1.Cluster{}
	err := live.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.ClusterName}, existing)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case !existing.DeletionTimestamp.IsZero():
		return invalid("cluster %q is being deleted; try again once `foo get clusters` does not list it any more", c.ClusterName)
	default:
		return invalid("cluster %q exists; choose another name, or delete it with: foo delete cluster %s", c.ClusterName, c.ClusterName)
	}
}

func invalid(format string, args ...any) error {
	return &InvalidError{Problems: []string{fmt.Sprintf(format, args...)}}
}

// management returns how to reach the management cluster.
func (c Config) management() (*rest.Config, client.Client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", c.managementKubeconfig())
	if err != nil {
		return nil, nil, fmt.Errorf("management cluster: %w", err)
	}
	config.Proxy, config.QPS = noProxy, -1
	live, err := newClient(config)
	return config, live, err
}

// running returns a client of the management cluster, which must run. It returns nil if there is
// none at all.
func (c Config) running() (*rest.Config, client.Client, error) {
	if os.Geteuid() != 0 {
		return nil, nil, notRoot()
	}
	pid, err := c.owner()
	if err != nil {
		return nil, nil, err
	}
	if pid == 0 && c.kept() {
		return nil, nil, invalid("the management cluster does not run; start it with: foo start")
	}
	if pid == 0 {
		return nil, nil, nil
	}
	return c.management()
}

// ListClusters returns all clusters.
func ListClusters(ctx context.Context, config Config) (*clusterv1.ClusterList, error) {
	list := &clusterv1.ClusterList{}
	_, live, err := config.running()
	if err != nil || live == nil {
		return list, err
	}
	return list, live.List(ctx, list)
}

// DeleteCluster deletes a cluster and returns once it is gone.
func DeleteCluster(ctx context.Context, config Config, out io.Writer) error {
	management, _, err := config.find(ctx)
	if err != nil {
		return err
	}
	live, err := newClient(management)
	if err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	observed, err := observeManagement(watching, management, config.Namespace)
	if err != nil {
		return err
	}
	say := newPrinter(out)
	defer say.end()
	go say.repeatWaiting(watching)
	cluster := &clusterv1.Cluster{}
	cluster.Namespace, cluster.Name = config.Namespace, config.ClusterName
	if err := client.IgnoreNotFound(live.Delete(ctx, cluster)); err != nil {
		return err
	}
	for {
		all, err := readObjects(ctx, observed, client.ObjectKeyFromObject(cluster))
		if err != nil {
			return err
		}
		if all.cluster.Name == "" {
			say.done("cluster " + config.ClusterName + " is deleted")
			return nil
		}
		say.waitingFor(fmt.Sprintf("%d machines of cluster %s to be deleted", len(all.machines.Items), config.ClusterName))
		select {
		case <-observed.Changes:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// find returns the management cluster and the cluster that the configuration names, or an
// InvalidError if there is none.
func (c Config) find(ctx context.Context) (*rest.Config, *clusterv1.Cluster, error) {
	management, live, err := c.running()
	if err != nil {
		return nil, nil, err
	}
	var clusters clusterv1.ClusterList
	if live != nil {
		if err := live.List(ctx, &clusters); err != nil {
			return nil, nil, err
		}
	}
	var names []string
	for index := range clusters.Items {
		cluster := &clusters.Items[index]
		if cluster.Name == c.ClusterName && cluster.Namespace == c.Namespace {
			return management, cluster, nil
		}
		names = append(names, cluster.Namespace+"/"+cluster.Name)
	}
	if len(names) == 0 {
		return nil, nil, invalid("cluster %q does not exist; create it with: foo create cluster %s", c.ClusterName, c.ClusterName)
	}
	slices.Sort(names)
	return nil, nil, invalid("cluster %q does not exist in namespace %q; there are %s", c.ClusterName, c.Namespace, strings.Join(names, ", "))
}

// Remove ends the programs of a state folder if they run, and deletes everything that they and the
// cloud have created, and the folder.
func Remove(ctx context.Context, config Config) error {
	if os.Geteuid() != 0 {
		return notRoot()
	}
	pid, err := config.owner()
	if err != nil {
		return err
	}
	if pid != 0 {
		if err := Stop(ctx, config); err != nil {
			return err
		}
		// Without --keep, the programs have deleted everything themselves.
		if _, err := os.Stat(config.StateDir); errors.Is(err, os.ErrNotExist) {
			return nil
		}
	}
	return Delete(ctx, config)
}

// Detach runs a quickstart with these arguments in the background, and returns once its cluster is
// available.
func Detach(ctx context.Context, config Config, arguments []string, out io.Writer) error {
	if err := config.Validate(); err != nil {
		return err
	}
	if err := config.CheckHost(ctx); err != nil {
		return err
	}
	if pid, err := config.owner(); err != nil || pid != 0 {
		return cmp.Or(err, invalid("--state-dir %s: another quickstart is running on it, process %d", config.StateDir, pid))
	}
	if err := checkState(config); err != nil {
		return err
	}
	return startInBackground(ctx, config, arguments, out)
}
