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
			_, _ = fmt.Fprintln(out, "The management cluster and the cloud stay: the cloud still has instances, perhaps of clusters that were moved.")
			return nil
		}
		if err := config.remove(ctx); err != nil {
			return err
		}
		removed = true
		return nil
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
