// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"
	"errors"
	"io"
	"os"
)

// RemoveUnused removes the management cluster, as Remove does, if it has no clusters. It reports
// whether it did, or whether there was none.
func RemoveUnused(ctx context.Context, config Config, out io.Writer) (removed bool, err error) {
	if os.Geteuid() != 0 {
		return false, notRoot()
	}
	if _, err := os.Stat(config.StateDir); errors.Is(err, os.ErrNotExist) {
		return true, nil
	}
	err = config.exclusively(ctx, out, func() error {
		left, err := ListClusters(ctx, config)
		if err != nil || len(left.Items) > 0 {
			return err
		}
		if err := Remove(ctx, config); err != nil {
			return err
		}
		removed = true
		return nil
	})
	return removed, err
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
