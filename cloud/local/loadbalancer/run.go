// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/fsnotify/fsnotify"
	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// Subcommand is the hidden subcommand of foocloud that calls Run. Its argument is the load
// balancer's folder.
const Subcommand = "serve-load-balancer"

const (
	controlFD = 3
	statusFD  = 4
	goAhead   = "g"

	configFile   = "config.json"
	backendsFile = "backends.json"
	logFile      = "log"
)

// config is the configuration that a process reads once, at startup.
type config struct {
	Address string `json:"address"`
	Port    int32  `json:"port"`
	// TargetPort is the port of the backends.
	TargetPort int32 `json:"targetPort"`
}

// Run runs a load balancer. It waits until the daemon has stored the identity of this process, and
// returns an error if the daemon ends before that. Afterwards it runs until it gets SIGTERM, with
// or without the daemon.
func Run(folder string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	status := os.NewFile(statusFD, "status")
	if err := awaitGoAhead(os.NewFile(controlFD, "control")); err != nil {
		return err
	}
	// The program was started through /proc/self/exe, so give it a name that ps and top can show.
	if err := os.WriteFile("/proc/self/comm", []byte("foocloud-lb"), fileMode); err != nil {
		return tell(status, fmt.Errorf("name the process: %w", err))
	}
	var c config
	if err := readJSON(filepath.Join(folder, configFile), &c); err != nil {
		return tell(status, err)
	}
	p := newProxy(newPool(c.TargetPort))
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return tell(status, fmt.Errorf("watch the backends: %w", err))
	}
	defer func() { _ = watcher.Close() }()
	if err := watcher.Add(folder); err != nil {
		return tell(status, fmt.Errorf("watch the backends: %w", err))
	}
	if err := load(ctx, folder, p.pool); err != nil {
		return tell(status, err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(c.Address, strconv.Itoa(int(c.Port))))
	if err != nil {
		return tell(status, fmt.Errorf("listen: %w", err))
	}
	// Closing the status pipe without writing to it reports success.
	if err := status.Close(); err != nil {
		return fmt.Errorf("report to the daemon: %w", err)
	}
	go follow(ctx, watcher, folder, p.pool)
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	p.serve(ctx, listener)
	return nil
}

func awaitGoAhead(control io.Reader) error {
	text, err := io.ReadAll(control)
	if err != nil {
		return fmt.Errorf("wait for the daemon: %w", err)
	}
	if string(text) != goAhead {
		return errors.New("the daemon ended while the load balancer was being created")
	}
	return nil
}

func tell(status io.Writer, err error) error {
	_, writeErr := fmt.Fprintln(status, err)
	return errors.Join(err, writeErr)
}

// follow updates the backends whenever the daemon has rewritten them.
func follow(ctx context.Context, watcher *fsnotify.Watcher, folder string, p *pool) {
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-watcher.Events:
			if filepath.Base(event.Name) != backendsFile {
				continue
			}
		case err := <-watcher.Errors:
			klog.Background().Error(err, "Watching the backends failed, reading them")
		}
		if err := load(ctx, folder, p); err != nil {
			klog.Background().Error(err, "Reading the backends failed")
		}
	}
}

func load(ctx context.Context, folder string, p *pool) error {
	var list []cloud.Backend
	if err := readJSON(filepath.Join(folder, backendsFile), &list); err != nil {
		return err
	}
	p.set(ctx, list)
	return nil
}

func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}
