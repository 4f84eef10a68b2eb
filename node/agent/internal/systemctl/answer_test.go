// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package systemctl

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// unit records the calls that it receives.
type unit struct {
	calls    []string
	state    string
	disabled bool
}

func (u *unit) Start(context.Context)       { u.calls, u.state = append(u.calls, "start"), "active" }
func (u *unit) Stop()                       { u.calls, u.state = append(u.calls, "stop"), "inactive" }
func (u *unit) Enable()                     { u.disabled = false }
func (u *unit) Disable()                    { u.disabled = true }
func (u *unit) Enabled() bool               { return !u.disabled }
func (u *unit) Active() (string, time.Time) { return u.state, time.Time{} }

// known returns the units of an instance in the given state.
func known(state string) (units []Known, kubelet, containerd *unit) {
	kubelet, containerd = &unit{state: state}, &unit{state: state}
	return []Known{
		{Unit: containerd, Name: "containerd", Description: "containerd container runtime", LogPath: "/var/log/containerd.log"},
		{Unit: kubelet, Name: "kubelet", Description: "kubelet: The Kubernetes Node Agent", LogPath: "/var/log/kubelet.log"},
	}, kubelet, containerd
}

func TestAnswer(t *testing.T) {
	cases := []struct {
		args, state  string
		exit         int
		output, call string
		// runtime lists the expected calls to containerd.
		runtime string
	}{
		{args: "daemon-reload"},
		{args: "start kubelet", state: "inactive", call: "start"},
		{args: "restart kubelet.service", state: "active", call: "stop start"},
		{args: "reload-or-restart kubelet.service", state: "active", call: "stop start"},
		{args: "try-restart kubelet", state: "inactive"},
		{args: "stop kubelet", state: "active", call: "stop"},
		{args: "enable --now kubelet", state: "inactive", call: "start"},
		{args: "disable --now kubelet", state: "active", call: "stop"},
		{args: "is-active kubelet", state: "active", output: "active\n"},
		{args: "is-active kubelet", state: "activating", exit: 3, output: "activating\n"},
		{args: "is-active kubelet", state: "inactive", exit: 3, output: "inactive\n"},
		{args: "is-active --quiet kubelet", state: "inactive", exit: 3},
		{args: "is-active firewalld", exit: 4, output: "inactive\n"},
		{args: "is-active containerd", state: "active", output: "active\n"},
		{args: "is-active containerd", state: "inactive", exit: 3, output: "inactive\n"},
		{args: "is-enabled kubelet", output: "enabled\n"},
		{args: "is-enabled containerd", output: "enabled\n"},
		{args: "is-enabled docker", exit: 4, output: "not-found\n"},
		{args: "status kubelet", state: "active", output: "Loaded: loaded (enabled)"},
		{args: "status kubelet", state: "inactive", exit: 3, output: "Active: inactive"},
		{args: "status containerd", state: "active", output: "Logs: /var/log/containerd.log"},
		{args: "status firewalld", exit: 4, output: "manages the units containerd and kubelet only"},
		{args: "show kubelet", state: "active", output: "LoadState=loaded\nActiveState=active\nSubState=running\nUnitFileState=enabled\n"},
		{args: "show -p ActiveState --value containerd", state: "activating", output: "activating\n"},
		{args: "show --property=LoadState,SubState docker", output: "LoadState=not-found\nSubState=dead\n"},
		{args: "restart containerd", state: "active", runtime: "stop start"},
		{args: "stop containerd", state: "active", runtime: "stop"},
		{args: "restart containerd kubelet", state: "active", call: "stop start", runtime: "stop start"},
		{args: "start chronyd", exit: 5, output: "manages the units containerd and kubelet only"},
		{args: "enable chronyd", exit: 1, output: "manages the units containerd and kubelet only"},
		{args: "isolate rescue.target", exit: 1, output: "Unknown command verb isolate"},
		{args: "start", exit: 1, output: "Too few arguments"},
		{args: "restart kubelet chronyd", state: "active", exit: 5, output: "chronyd.service", call: "stop start"},
	}
	for _, c := range cases {
		t.Run(c.args+" "+c.state, func(t *testing.T) {
			units, kubelet, containerd := known(c.state)
			resp := answerer{units: units}.answer(context.Background(), Request{Args: strings.Fields(c.args)})
			if resp.Exit != c.exit {
				t.Errorf("exit code is %d, want %d", resp.Exit, c.exit)
			}
			if output := resp.Stdout + resp.Stderr; !strings.Contains(output, c.output) || (c.output == "") != (output == "") {
				t.Errorf("output is %q, want %q", output, c.output)
			}
			if calls := strings.Join(kubelet.calls, " "); calls != c.call {
				t.Errorf("kubelet was asked to %q, want %q", calls, c.call)
			}
			if calls := strings.Join(containerd.calls, " "); calls != c.runtime {
				t.Errorf("containerd was asked to %q, want %q", calls, c.runtime)
			}
		})
	}
}

func TestMainAsksTheServer(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	units, _, _ := known("active")
	server, err := Listen(socket, units, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go server.Serve(ctx)
	var stdout, stderr bytes.Buffer
	if exit := Main(socket, []string{"is-active", "kubelet"}, &stdout, &stderr); exit != 0 || stdout.String() != "active\n" {
		t.Errorf("exit %d, %q, %q", exit, stdout.String(), stderr.String())
	}
	if exit := Main(socket+"x", []string{"is-active", "kubelet"}, &stdout, &stderr); exit != 1 || stderr.Len() == 0 {
		t.Errorf("without a server: exit %d, %q", exit, stderr.String())
	}
}
