// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

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
	say := newPrinter(out)
	talking, hush := context.WithCancel(ctx)
	defer hush()
	running := talking
	var coming *follower
	remedy := "" // ends the management cluster if this command has started it
	// Other commands do not stop or remove the management cluster meanwhile.
	err := config.exclusively(ctx, out, func() (err error) {
		fresh := !config.kept()
		pid, err := config.owner()
		if err != nil {
			return err
		}
		if err := config.start(ctx, out); err != nil {
			return err
		}
		if fresh { // start has checked the host
			remedy = "delete it with: " + config.removeCommand()
		} else {
			if pid == 0 {
				remedy = "stop it with: " + config.here("foo stop")
			}
			if err := config.checkRunning(ctx); err != nil {
				return err
			}
		}
		go say.repeatWaiting(talking)
		running, _ = config.whileRunning(talking) // it ends with talking
		coming, err = config.begin(running, say)
		return err
	})
	if err == nil {
		err = coming.follow(running)
	}
	hush()
	say.end()
	if coming == nil {
		return config.notBegun(ctx, err, remedy)
	}
	return config.followed(ctx, err, say)
}

// checkRunning returns an InvalidError if the management cluster that runs cannot get a new cluster: after an
// upgrade, its cloud still has the old operating system, without the images of new versions, and the host may
// lack memory or space by now.
func (c Config) checkRunning(ctx context.Context) error {
	pid, err := c.owner()
	if err != nil || pid == 0 {
		return err
	}
	own, err := os.Stat("/proc/self/exe")
	if err != nil {
		return err
	}
	// It is unknown while it starts, or if it has just ended.
	kept, unknown := readSettings(c.StateDir)
	program, err := os.Stat(fmt.Sprintf("/proc/%d/exe", pid)) // also if its file is deleted
	if err == nil && !os.SameFile(own, program) {
		if unknown == nil && !kept.Keep {
			return invalid("the quick start in %s runs an earlier version or another copy of Foo, and deletes its clusters when it ends; "+
				"name another folder with --state-dir, or end it with: %s", c.StateDir, c.removeCommand())
		}
		return invalid("the management cluster runs an earlier version or another copy of Foo; restart it, which does not interrupt the clusters: %s && %s",
			c.here("foo stop"), c.startCommand())
	}
	var wrong problems
	if unknown == nil {
		c.Network, c.Bridge, c.CloudConfig = kept.Network, kept.Bridge, "" // the cloud has read its configuration, which may be gone
		c.checkRoot(ctx, &wrong)
	}
	return wrong.err()
}

// followed explains why a cluster that has begun did not become available.
func (c Config) followed(ctx context.Context, err error, say *printer) error {
	switch {
	case err == nil || IsInvalid(err) || errors.Is(err, errDeleted):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted; to delete what was created, run: %s", c.DeleteCommand())
	case errors.Is(err, errStopped):
		err := c.lost(ctx, say.out)
		if errors.Is(err, errStopped) {
			err = fmt.Errorf("%w, and once `foo get clusters` shows that the cluster is available: %s", err, c.Command("kubeconfig"))
		}
		return err
	}
	return explain(c, err, say, "the logs are in "+c.logDir()+"; delete the cluster with: "+c.DeleteCommand())
}

// notBegun is the error for a cluster of which nothing has been created. With a remedy, which ends the
// management cluster that was started for it, it is no InvalidError.
func (c Config) notBegun(ctx context.Context, err error, remedy string) error {
	advice := ""
	switch {
	case err == nil || errors.Is(err, errLeft):
		return err
	case ctx.Err() != nil:
		err = fmt.Errorf("interrupted; cluster %s was not created", c.ClusterName)
	case !IsInvalid(err) && c.diskIsFull(err.Error()):
		advice = "; " + whenFull
	}
	if remedy != "" {
		advice += "; the management cluster runs: " + remedy
	}
	if advice == "" {
		return err
	}
	return errors.New(err.Error() + advice) // wrapped, it could be an InvalidError, or name the disk twice
}

// begin creates the objects of a new cluster, and returns what follows it until it is available. The
// follower is nil if nothing has been created.
func (c Config) begin(ctx context.Context, say *printer) (*follower, error) {
	management, live, err := c.management()
	if err != nil {
		return nil, err
	}
	if err := c.refuseExisting(ctx, live); err != nil {
		return nil, unanswered(err)
	}
	objects, err := renderTemplate(ctx, c)
	if err != nil {
		return nil, err
	}
	coming, err := newFollower(ctx, c, management, say)
	if err != nil {
		return nil, err
	}
	return coming, unanswered(createObjects(ctx, c, live, objects, say))
}

// refuseExisting returns an InvalidError if there is a cluster with the name already.
func (c Config) refuseExisting(ctx context.Context, live client.Client) error {
	existing := &clusterv1.Cluster{}
	err := live.Get(ctx, c.key(), existing)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	case !existing.DeletionTimestamp.IsZero():
		return invalid("cluster %q is being deleted; try again once `foo get clusters` does not list it any more", c.ClusterName)
	default:
		return invalid("cluster %q already exists; choose another name, use it with: %s, or delete it with: %s",
			c.ClusterName, c.Command("kubeconfig"), c.DeleteCommand())
	}
}
