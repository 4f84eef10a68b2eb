// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
)

// kubeletLog is where the node agent writes the kubelet's log, below /var/log.
const kubeletLog = "kubelet.log"

// Log opens a log of an instance; see engine.Machines.
func (d *Driver) Log(ctx context.Context, id string, log engine.Log) (io.ReadCloser, error) {
	folder, name := d.folder(id), consoleFile
	var end <-chan struct{}
	if log.Source == engine.LogKubelet {
		folder, name = filepath.Join(d.disk(id), privateFolder, "log"), kubeletLog
		end = d.unmounts.next(id)
	}
	content, err := openLog(ctx, end, folder, name, log)
	if err != nil {
		return nil, missing(err, log.Source, id)
	}
	return content, nil
}

// unmounts tells those who follow a log on an instance's disk that the disk is to be unmounted, which
// is not possible while the log is open.
type unmounts struct {
	mu     sync.Mutex
	coming map[string]chan struct{}
}

// next returns a channel that is closed when the instance's disk is next to be unmounted.
func (u *unmounts) next(id string) <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.coming == nil {
		u.coming = map[string]chan struct{}{}
	}
	if u.coming[id] == nil {
		u.coming[id] = make(chan struct{})
	}
	return u.coming[id]
}

func (u *unmounts) announce(id string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if coming := u.coming[id]; coming != nil {
		close(coming)
		delete(u.coming, id)
	}
}

// openLog opens a log where the reader wants to start. A reader who follows it stops at end.
func openLog(ctx context.Context, end <-chan struct{}, folder, name string, log engine.Log) (io.ReadCloser, error) {
	if log.Follow {
		f, err := follow(ctx, end, folder, name)
		if err != nil {
			return nil, err
		}
		if err := skip(f.file, log); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		return f, nil
	}
	file, err := openUntrusted(folder, name)
	if err != nil {
		return nil, err
	}
	if err := skip(file, log); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func missing(err error, source engine.LogSource, id string) error {
	if errors.Is(err, os.ErrNotExist) {
		return &cloud.NotFoundError{Kind: string(source) + " log of instance", Name: id}
	}
	return fmt.Errorf("open the %s log: %w", source, err)
}

// follower reads a file. At the end of the file, it waits for more until the context ends, end is closed
// or the file is removed. If the file is rotated, as the node agent does with a large log, it continues
// with the new file of the same name.
type follower struct {
	ctx          context.Context
	end          <-chan struct{}
	folder, name string
	file         *os.File
	// next is the file that has the name now, if that is another file. It is read after the current
	// one.
	next    *os.File
	watcher *fsnotify.Watcher
}

func follow(ctx context.Context, end <-chan struct{}, folder, name string) (*follower, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("follow: %w", err)
	}
	// Watch the folder, because a watch on the file would end with the file. Start the watch first,
	// so that no rotation is missed.
	if err := watcher.Add(folder); err != nil {
		return nil, errors.Join(fmt.Errorf("follow: %w", err), watcher.Close())
	}
	file, err := openUntrusted(folder, name)
	if err != nil {
		return nil, errors.Join(err, watcher.Close())
	}
	return &follower{ctx: ctx, end: end, folder: folder, name: name, file: file, watcher: watcher}, nil
}

func (f *follower) Read(buffer []byte) (int, error) {
	for {
		count, err := f.file.Read(buffer)
		if count > 0 || !errors.Is(err, io.EOF) {
			return count, err
		}
		if f.next != nil {
			_ = f.file.Close()
			f.file, f.next = f.next, nil
			continue
		}
		if err := f.wait(); err != nil {
			return 0, err
		}
	}
}

// wait returns when there may be more to read, or io.EOF if there will be no more.
func (f *follower) wait() error {
	select {
	case <-f.ctx.Done():
		return io.EOF
	case <-f.end:
		return io.EOF
	case event, ok := <-f.watcher.Events:
		if !ok {
			return io.EOF
		}
		if filepath.Base(event.Name) != f.name || !event.Has(fsnotify.Create|fsnotify.Rename|fsnotify.Remove) {
			return nil
		}
	case err := <-f.watcher.Errors:
		// Some events were lost, so look at the file.
		if !errors.Is(err, fsnotify.ErrEventOverflow) {
			return err
		}
	}
	return f.look()
}

// look finds out which file has the name now.
func (f *follower) look() error {
	now, err := openUntrusted(f.folder, f.name)
	if errors.Is(err, os.ErrNotExist) {
		if f.removed() {
			return io.EOF
		}
		return nil // it was rotated, and the next file is about to be created
	}
	if err != nil {
		return err
	}
	before, err := f.file.Stat()
	if err != nil {
		return errors.Join(err, now.Close())
	}
	after, err := now.Stat()
	if err != nil || os.SameFile(before, after) {
		return errors.Join(err, now.Close())
	}
	f.next = now
	return nil
}

// removed reports whether the file has been unlinked.
func (f *follower) removed() bool {
	var stat unix.Stat_t
	return unix.Fstat(int(f.file.Fd()), &stat) != nil || stat.Nlink == 0
}

func (f *follower) Close() error {
	err := errors.Join(f.watcher.Close(), f.file.Close())
	if f.next != nil {
		err = errors.Join(err, f.next.Close())
	}
	return err
}
