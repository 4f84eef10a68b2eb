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

package cri

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/apiready"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/crilog"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/mounts"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/process"
)

// drainTime is how long the rest of a process's output is waited for after its end.
const drainTime = time.Second

// stopOrder is the order in which programs are stopped when the instance ends. Each needs those after it to end well.
var stopOrder = [][]string{{"kube-scheduler", "kube-controller-manager"}, {"kube-apiserver"}, {"etcd"}}

// terminationMessagePathAnnotation is where the kubelet says at which path it reads a container's last words.
const terminationMessagePathAnnotation = "io.kubernetes.container.terminationMessagePath"

// apiWait is how long a program waits for its API server before it is started without.
const apiWait = 30 * time.Second

// apiClients are the programs that can do nothing before their API server is ready.
var apiClients = []string{"kube-controller-manager", "kube-scheduler"}

// awaitAPI lets a program that needs an API server wait for it, see package apiready. It must be called without the lock.
func (r *Runtime) awaitAPI(ctx context.Context, c *container) {
	if !slices.Contains(apiClients, c.program) {
		return
	}
	for _, arg := range c.args {
		path, found := strings.CutPrefix(arg, "--kubeconfig=")
		if !found {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, apiWait)
		defer cancel()
		if err := apiready.Wait(ctx, path); err != nil {
			r.config.Log.Warn("Program starts without its API server", "program", c.program, "error", err)
		}
		return
	}
}

// movedMounts are the mounts of a container that are not at the same path in the instance. The kubelet's own, of /etc/hosts and of
// the file for last words, are left out: the instance's hosts file holds the same, and the programs write no such words.
func movedMounts(config *runtimeapi.ContainerConfig) []mounts.Mount {
	ignored := []string{"/etc/hosts", config.GetAnnotations()[terminationMessagePathAnnotation]}
	var moved []mounts.Mount
	for _, mount := range config.GetMounts() {
		if mount.GetHostPath() == mount.GetContainerPath() || slices.Contains(ignored, mount.GetContainerPath()) {
			continue
		}
		moved = append(moved, mounts.Mount{Source: mount.GetHostPath(), Target: mount.GetContainerPath(), ReadOnly: mount.GetReadonly()})
	}
	return moved
}

// startProcess needs the lock.
func (r *Runtime) startProcess(c *container) error {
	stdout, err := newOutput()
	if err != nil {
		return err
	}
	stderr, err := newOutput()
	if err != nil {
		stdout.close()
		return err
	}
	spec, err := r.processSpec(c)
	if err != nil {
		stdout.close()
		stderr.close()
		return err
	}
	spec.Stdout, spec.Stderr = stdout.write, stderr.write
	proc, err := r.config.Starter.Start(spec)
	if err != nil {
		stdout.close()
		stderr.close()
		return err
	}
	c.process, c.output = proc, newBroadcast()
	go r.follow(c, stdout, stderr)
	return nil
}

func (r *Runtime) processSpec(c *container) (process.Spec, error) {
	spec := process.Spec{
		Path:       filepath.Join(r.config.Programs, c.program),
		Args:       slices.Concat([]string{c.program}, c.args),
		Env:        r.environment(c.config),
		Dir:        c.config.GetWorkingDir(),
		Credential: credential(c.config),
		KillGroup:  true,
	}
	moved := movedMounts(c.config)
	if len(moved) == 0 {
		return spec, nil
	}
	var err error
	spec.OwnMounts = true
	spec.Path, spec.Args, err = mounts.Program(moved, spec.Path, spec.Args)
	return spec, err
}

// follow copies a process's output and records its end.
func (r *Runtime) follow(c *container, stdout, stderr output) {
	var copies sync.WaitGroup
	copies.Go(func() { r.copyOutput(c, crilog.Stdout, stdout) })
	copies.Go(func() { r.copyOutput(c, crilog.Stderr, stderr) })
	_ = stdout.write.Close()
	_ = stderr.write.Close()
	<-c.process.Done()
	drained := make(chan struct{})
	go func() {
		copies.Wait()
		close(drained)
	}()
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-drained:
	case <-timer.C: // something outside the process's group still holds its output
		_ = stdout.read.Close()
		_ = stderr.read.Close()
	}
	c.output.close()
	exit := c.process.Exit()
	reason, message := reasonError, ""
	if exit.Code == 0 {
		reason = reasonCompleted
	}
	if exit.Signal != 0 {
		message = "ended by " + exit.String()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finish(c, exit.Code, reason, message)
}

func (r *Runtime) copyOutput(c *container, stream crilog.Stream, out output) {
	defer func() { _ = out.read.Close() }()
	onLoss := func(err error) {
		r.config.Log.Warn("Can not write container log, lines of it are lost", "path", c.logPath, "error", err)
	}
	if err := c.log.Copy(stream, c.output.tee(stream, out.read), onLoss); err != nil {
		r.config.Log.Warn("Can not read container output", "path", c.logPath, "error", err)
	}
}

// environment of a process: the container's, and what a shell of the instance would have.
func (r *Runtime) environment(config *runtimeapi.ContainerConfig) []string {
	env := make([]string, 0, 2+len(config.GetEnvs()))
	env = append(env, "PATH="+r.config.Path, "HOME=/root")
	for _, pair := range config.GetEnvs() {
		env = append(env, pair.GetKey()+"="+string(pair.GetValue()))
	}
	return env
}

// credential of a process; root where the container asks for no user.
func credential(config *runtimeapi.ContainerConfig) *syscall.Credential {
	security := config.GetLinux().GetSecurityContext()
	if security.GetRunAsUser() == nil {
		return nil
	}
	out := &syscall.Credential{Uid: uint32(security.GetRunAsUser().GetValue())}
	if group := security.GetRunAsGroup(); group != nil {
		out.Gid = uint32(group.GetValue())
	}
	for _, group := range security.GetSupplementalGroups() {
		out.Groups = append(out.Groups, uint32(group))
	}
	return out
}

// stopSignal of a container, SIGTERM where it names none.
func stopSignal(config *runtimeapi.ContainerConfig) syscall.Signal {
	name := config.GetStopSignal().String()
	if number := unix.SignalNum(strings.ReplaceAll(name, "PLUS", "+")); number != 0 {
		return number
	}
	return syscall.SIGTERM
}

// stopAll stops the processes of the programs and returns when all have ended.
func (r *Runtime) stopAll(ctx context.Context, names []string, grace time.Duration) {
	r.mu.Lock()
	var found []*container
	for _, c := range r.containers {
		if slices.Contains(names, c.program) {
			found = append(found, c)
		}
	}
	r.mu.Unlock()
	var stops sync.WaitGroup
	for _, c := range found {
		stops.Go(func() { r.stop(ctx, c, grace) })
	}
	stops.Wait()
}

// output is a pipe from a process.
type output struct{ read, write *os.File }

func newOutput() (output, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return output{}, fmt.Errorf("output of process: %w", err)
	}
	return output{read: read, write: write}, nil
}

func (o output) close() {
	_ = o.read.Close()
	_ = o.write.Close()
}
