// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package durable writes files that a power failure does not damage.
package durable

import (
	"errors"
	"os"
)

// WriteFile writes a file that, once it exists, has all of its content, also after a power failure. An
// earlier file of that name stays as it was until then.
func WriteFile(path string, content []byte, mode os.FileMode) error {
	partial := path + ".new"
	file, err := os.OpenFile(partial, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(partial, path)
}
