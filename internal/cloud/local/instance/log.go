/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package instance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/engine"
)

// kubeletLog is where the node agent writes the kubelet's log, below /var/log.
const kubeletLog = "kubelet.log"

// Log opens a log of an instance; see engine.Machines.
func (d *Driver) Log(ctx context.Context, id string, log engine.Log) (io.ReadCloser, error) {
	folder, name := d.folder(id), consoleFile
	if log.Source == engine.LogKubelet {
		folder, name = filepath.Join(folder, privateFolder, "log"), kubeletLog
	}
	file, err := openUntrusted(folder, name)
	if err != nil {
		return nil, missing(err, log.Source, id)
	}
	if !log.Follow {
		return file, nil
	}
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		err = watcher.Add(filepath.Join(folder, name))
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("follow the log: %w", err)
	}
	return &follower{ctx: ctx, file: file, watcher: watcher}, nil
}

func missing(err error, source engine.LogSource, id string) error {
	if errors.Is(err, os.ErrNotExist) {
		return &cloud.NotFoundError{Kind: string(source) + " log of instance", Name: id}
	}
	return fmt.Errorf("open the %s log: %w", source, err)
}

// follower reads a file and, at its end, waits for more until the context ends or the file is removed.
type follower struct {
	ctx     context.Context
	file    *os.File
	watcher *fsnotify.Watcher
}

func (f *follower) Read(buffer []byte) (int, error) {
	for {
		count, err := f.file.Read(buffer)
		if count > 0 || !errors.Is(err, io.EOF) {
			return count, err
		}
		select {
		case <-f.ctx.Done():
			return 0, io.EOF
		case _, ok := <-f.watcher.Events:
			if !ok || f.removed() {
				return 0, io.EOF
			}
		case err := <-f.watcher.Errors:
			return 0, err
		}
	}
}

// removed reports whether nobody will write to the file any more. There is no event for that while it is open.
func (f *follower) removed() bool {
	var stat unix.Stat_t
	return unix.Fstat(int(f.file.Fd()), &stat) != nil || stat.Nlink == 0
}

func (f *follower) Close() error { return errors.Join(f.watcher.Close(), f.file.Close()) }
