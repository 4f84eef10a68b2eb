// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// RemoveUnused removes the management cluster, as Remove does, if it has no clusters and its cloud no
// instances. It reports whether it did, or whether another command did meanwhile.
func RemoveUnused(ctx context.Context, config Config, out io.Writer) (removed bool, err error) {
	if err := config.usable(); err != nil {
		return false, err
	}
	if none, err := config.removed(); none || err != nil {
		return false, err
	}
	err = config.exclusively(ctx, out, func() error {
		if removed, err = config.removed(); removed || err != nil {
			return err
		}
		left, err := ListClusters(ctx, config)
		if err != nil || len(left.Items) > 0 {
			return err
		}
		used, err := config.hasInstances()
		if err != nil {
			return err
		}
		if used {
			_, _ = fmt.Fprintln(out, "The management cluster and the cloud stay: the cloud still has instances, perhaps of clusters that were moved; delete everything with:", config.removeCommand())
			return nil
		}
		// It may end before anything is destroyed, but nobody needs the programs that stop first.
		if err = config.beginRemoval(); err == nil {
			err = config.remove(ctx)
		}
		removed = err == nil
		return err
	})
	return removed, orContinue(ctx, err, config.DeleteCommand())
}

// hasInstances reports whether the cloud has instances of any tenant. Clusters that clusterctl has moved
// to another management cluster, perhaps into one of them, still have theirs here. The folder of an
// instance exists until the instance is deleted, also while the cloud does not answer.
func (c Config) hasInstances() (bool, error) {
	entries, err := os.ReadDir(filepath.Join(c.cloudDir(), instanceFolder))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, fmt.Errorf("the management cluster stays, because the cloud's instances cannot be listed: %w", err)
	}
	return len(entries) > 0, nil
}

// beginRemoval notes that the removal of the state folder has begun. A full disk does not prevent that. A
// folder without a kept state needs no note: nobody can continue with it.
func (c Config) beginRemoval() error {
	if !c.kept() {
		return nil
	}
	err := os.WriteFile(filepath.Join(c.StateDir, removal), nil, 0o600)
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return nil
	}
	return err
}

// removing reports whether the removal of the state folder has begun.
func (c Config) removing() bool {
	_, err := os.Lstat(filepath.Join(c.StateDir, removal))
	return err == nil
}

// removeCommand is what deletes everything in the state folder.
func (c Config) removeCommand() string { return "foo quickstart delete --state-dir=" + c.StateDir }

// halfRemoved says what to do about a removal that was interrupted.
func (c Config) halfRemoved() string {
	return fmt.Sprintf("the removal of %s was interrupted; continue it with: %s", c.StateDir, c.removeCommand())
}

// continueRemoval continues the removal of a management cluster that was interrupted, and reports whether
// there was one.
func (c Config) continueRemoval(ctx context.Context, out io.Writer) (bool, error) {
	if pid, err := c.owner(); err != nil || pid != 0 || !c.removing() {
		return false, err
	}
	_, _ = fmt.Fprintln(out, "Continuing to delete the management cluster and the cloud.")
	return true, c.remove(ctx)
}

// removed reports whether another command has removed what was in the state folder.
func (c Config) removed() (bool, error) {
	entries, err := c.content()
	if errors.Is(err, os.ErrNotExist) {
		return true, nil
	}
	return len(entries) == 0, err
}

// Remove ends the programs of a state folder if they run, and deletes everything that they and the
// cloud have created, and the folder.
func Remove(ctx context.Context, config Config, out io.Writer) error {
	if err := config.usable(); err != nil {
		return err
	}
	err := config.exclusively(ctx, out, func() error { return config.remove(ctx) })
	if err != nil && ctx.Err() != nil {
		return config.leftBehind()
	}
	return err
}

// remove does what Remove does.
func (c Config) remove(ctx context.Context) error {
	err := c.stopAndDelete(ctx)
	if err != nil && ctx.Err() != nil {
		return c.leftBehind()
	}
	return err
}

func (c Config) stopAndDelete(ctx context.Context) error {
	pid, err := c.owner()
	if err != nil {
		return err
	}
	if pid != 0 {
		if err := c.stopOwner(ctx); err != nil {
			return err
		}
		// Without --keep, the programs have deleted everything themselves, the folder last.
		if none, err := c.removed(); none || err != nil {
			return err
		}
	}
	err = Delete(ctx, c)
	if none, _ := c.removed(); none && pid != 0 {
		return nil
	}
	return err
}
