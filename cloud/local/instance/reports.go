// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"golang.org/x/sys/unix"
	"golang.org/x/time/rate"
	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

// maxReport is how many bytes of a report are read. What an instance writes is not trusted.
const maxReport = 64 << 10

// maxMessage is the maximum length in bytes of a report's message; the rest is cut off.
const maxMessage = 4 << 10

// An instance may send a burst of reportsAtOnce reports, and then one per reportInterval. Each
// report is written to disk and sent to all watchers.
const (
	reportsAtOnce  = 10
	reportInterval = time.Second
)

// reports watches the report folders of all instances with a single watcher, because the kernel
// allows few.
type reports struct {
	watcher *fsnotify.Watcher

	mu      sync.Mutex
	folders map[string]*reported
}

type reported struct {
	id     string
	folder string

	// reading is held from reading the file until its content is passed on, so that an older report
	// never replaces a newer one.
	reading sync.Mutex
	latest  chan cloud.Bootstrap
	limit   *rate.Limiter
	// later is true while a delayed read is scheduled; guarded by reports.mu.
	later bool
}

func newReports() (*reports, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch the instances' reports: %w", err)
	}
	r := &reports{watcher: watcher, folders: map[string]*reported{}}
	go r.run()
	return r, nil
}

func (r *reports) close() error { return r.watcher.Close() }

// watch returns a channel that holds the newest report of an instance, including one that already
// exists.
func (r *reports) watch(id, folder string) (<-chan cloud.Bootstrap, error) {
	entry := &reported{id: id, folder: filepath.Join(folder, reportFolder), latest: make(chan cloud.Bootstrap, 1), limit: rate.NewLimiter(rate.Every(reportInterval), reportsAtOnce)}
	r.mu.Lock()
	r.folders[entry.folder] = entry
	r.mu.Unlock()
	if err := r.watcher.Add(entry.folder); err != nil {
		return nil, fmt.Errorf("watch the instance's report: %w", err)
	}
	r.read(entry)
	return entry.latest, nil
}

func (r *reports) forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for folder, entry := range r.folders {
		if entry.id != id {
			continue
		}
		delete(r.folders, folder)
		// The folder, and with it the watch, may no longer exist.
		_ = r.watcher.Remove(folder)
	}
}

func (r *reports) run() {
	for {
		select {
		case event, ok := <-r.watcher.Events:
			if !ok {
				return
			}
			if filepath.Base(event.Name) == contract.ReportFile && event.Has(fsnotify.Create|fsnotify.Write) {
				r.changed(filepath.Dir(event.Name))
			}
		case err, ok := <-r.watcher.Errors:
			if !ok {
				return
			}
			klog.Background().Error(err, "Watching reports failed, reading all")
			r.readAll()
		}
	}
}

func (r *reports) changed(folder string) {
	r.mu.Lock()
	entry := r.folders[folder]
	if entry == nil || entry.later {
		r.mu.Unlock()
		return
	}
	wait := entry.limit.Reserve().Delay()
	entry.later = wait > 0
	r.mu.Unlock()
	if wait == 0 {
		r.read(entry)
		return
	}
	time.AfterFunc(wait, func() {
		r.mu.Lock()
		entry.later = false
		forgotten := r.folders[folder] != entry
		r.mu.Unlock()
		if !forgotten {
			r.read(entry)
		}
	})
}

// readAll reads all reports after the kernel dropped events. An instance can cause that, so the same
// limit applies as for events.
func (r *reports) readAll() {
	r.mu.Lock()
	folders := slices.Collect(maps.Keys(r.folders))
	r.mu.Unlock()
	for _, folder := range folders {
		r.changed(folder)
	}
}

func (r *reports) read(entry *reported) {
	entry.reading.Lock()
	defer entry.reading.Unlock()
	text, err := readUntrusted(entry.folder)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	var status contract.Report
	if err == nil {
		err = json.Unmarshal(text, &status)
	}
	if err != nil {
		klog.Background().Error(err, "Reading a report failed", "id", entry.id)
		return
	}
	bootstrap, ok := sanitize(status.Bootstrap)
	if !ok {
		return
	}
	select {
	case <-entry.latest:
	default:
	}
	entry.latest <- bootstrap
}

// sanitize returns the part of a report that is passed on, and false if the report is invalid.
func sanitize(reported contract.Bootstrap) (cloud.Bootstrap, bool) {
	b := cloud.Bootstrap{State: cloud.BootstrapState(reported.State), Message: reported.Message}
	known := []cloud.BootstrapState{
		cloud.BootstrapPending, cloud.BootstrapRunning, cloud.BootstrapSucceeded, cloud.BootstrapFailed,
	}
	if !slices.Contains(known, b.State) {
		return cloud.Bootstrap{}, false
	}
	b.Message = strings.ToValidUTF8(b.Message[:min(len(b.Message), maxMessage)], "")
	return b, true
}

func readUntrusted(folder string) ([]byte, error) {
	file, err := openUntrusted(folder, contract.ReportFile)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, maxReport))
}

// openUntrusted opens a file in a folder that the instance can write to. The instance may have
// replaced the file. So openUntrusted follows no link, opens no device or pipe, and does not wait for
// a lease that the instance has on the file.
func openUntrusted(folder, name string) (*os.File, error) {
	// This finds the file without opening it.
	found, err := os.OpenFile(filepath.Join(folder, name), unix.O_PATH|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = found.Close() }()
	info, err := found.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s of the instance is no regular file but %s", name, info.Mode().Type())
	}
	return os.OpenFile(descriptorPath(int(found.Fd())), os.O_RDONLY|unix.O_NONBLOCK, 0)
}
