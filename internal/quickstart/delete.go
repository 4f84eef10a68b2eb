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

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// DeleteCluster deletes a cluster and returns once it is gone. If the removal of the management cluster,
// with all its clusters, was interrupted, it continues that.
func DeleteCluster(ctx context.Context, config Config, out io.Writer) error {
	if err := config.usable(); err != nil {
		return err
	}
	var management *rest.Config
	continued := false
	// The management cluster is not starting or stopping then.
	err := config.exclusively(ctx, out, func() (err error) {
		if !config.KeepManagement {
			continued, err = config.continueRemoval(ctx, out)
		}
		if !continued && err == nil {
			management, err = config.findOrDeleteRest(ctx)
		}
		return err
	})
	if err == nil && !continued {
		say := newPrinter(out)
		defer say.end()
		err = config.deleteCluster(ctx, management, say)
		if errors.Is(err, errStopped) {
			err = config.deletedByOthers(ctx, say)
		}
	}
	return orContinue(ctx, err, config.DeleteCommand())
}

// findOrDeleteRest does what find does, and deletes what there is of a cluster without its Cluster. If there
// was something, it returns no error.
func (c Config) findOrDeleteRest(ctx context.Context) (*rest.Config, error) {
	management, _, err := c.find(ctx)
	if !IsMissing(err) || management == nil || !c.validName() {
		return management, err
	}
	live, errLive := newClient(management)
	if errLive != nil {
		return nil, errLive
	}
	if found, errRest := c.deleteRest(ctx, live); found || errRest != nil {
		return management, errRest
	}
	return management, err
}

// deleteCluster does what DeleteCluster does. Its error is errStopped if the management cluster stops.
func (c Config) deleteCluster(ctx context.Context, management *rest.Config, say *printer) error {
	live, err := newClient(management)
	if err != nil {
		return err
	}
	watching, stop := c.whileRunning(ctx)
	defer stop()
	observed, err := observeManagement(watching, management, c.Namespace)
	if err != nil {
		return err
	}
	go say.repeatWaiting(watching)
	uid, err := c.beginDeletion(watching, live)
	if err != nil {
		return unanswered(err)
	}
	for {
		all, err := readObjects(watching, observed, c.key())
		if err != nil {
			return err
		}
		// Another command may create a cluster of the same name at once.
		if all.cluster.Name == "" || all.cluster.UID != uid {
			if err := c.clearAway(watching, live, say.out); err != nil {
				return err
			}
			say.done("cluster " + c.ClusterName + " is deleted")
			return nil
		}
		say.waitingFor(fmt.Sprintf("%d machines of cluster %s to be deleted", len(all.machines.Items), c.ClusterName))
		select {
		case <-observed.Changes:
		case <-watching.Done():
			return context.Cause(watching)
		}
	}
}

// beginDeletion deletes the Cluster, and returns its UID.
func (c Config) beginDeletion(ctx context.Context, live client.Client) (types.UID, error) {
	cluster := &clusterv1.Cluster{}
	err := live.Get(ctx, c.key(), cluster)
	if err == nil {
		err = live.Delete(ctx, cluster)
	}
	return cluster.UID, client.IgnoreNotFound(err)
}

// clearAway removes what is left of a cluster after its Cluster, unless there is a new one.
func (c Config) clearAway(ctx context.Context, live client.Client, out io.Writer) error {
	err := c.exclusively(ctx, out, func() error {
		if live.Get(ctx, c.key(), &clusterv1.Cluster{}) == nil {
			return nil
		}
		_, _ = c.deleteRest(ctx, live) // another command may already remove the management cluster
		return os.RemoveAll(c.workloadKubeconfig())
	})
	if errors.Is(err, context.Cause(ctx)) { // the management cluster has stopped, or the user does not want to wait
		return nil
	}
	return err
}

// deleteRest deletes the objects of a cluster without its Cluster, and reports whether there were any. A
// creation that failed or was interrupted has made only some, and what does not belong to the Cluster stays.
func (c Config) deleteRest(ctx context.Context, live client.Client) (found bool, err error) {
	objects, err := renderTemplate(ctx, c)
	if err != nil {
		return false, err
	}
	for index := range objects {
		err := live.Delete(ctx, &objects[index])
		if client.IgnoreNotFound(err) != nil {
			return found, fmt.Errorf("delete %s %s: %w", objects[index].GetKind(), objects[index].GetName(), err)
		}
		found = found || err == nil
	}
	return found, nil
}

// errStopped means that the management cluster stopped while a command used it.
var errStopped = errors.New("the management cluster was stopped")

// errDeleted means that a cluster was deleted while a command waited for it.
var errDeleted = errors.New("another command has deleted the cluster")

// deletedByOthers returns nil if other commands have removed the management cluster, which has no
// clusters then.
func (c Config) deletedByOthers(ctx context.Context, say *printer) error {
	say.waitingFor("")
	err := c.lost(ctx, say.out)
	if errors.Is(err, errDeleted) {
		say.done("cluster " + c.ClusterName + " is deleted")
		return nil
	}
	return err
}

// lost returns the error of a command whose management cluster another command has stopped, or removed
// with its clusters.
func (c Config) lost(ctx context.Context, out io.Writer) error {
	return c.exclusively(ctx, out, func() error {
		removed, err := c.removed()
		if err == nil && removed {
			return errDeleted
		}
		return cmp.Or(err, fmt.Errorf("%w; start it with: %s", errStopped, c.startCommand()))
	})
}
