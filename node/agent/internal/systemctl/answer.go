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

package systemctl

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Exit codes of systemctl.
const (
	exitOK          = 0
	exitFailure     = 1
	exitNotActive   = 3
	exitNotFound    = 4
	exitNoSuchUnit  = 5
	exitUnsupported = 1
)

// Names of the units that there are.
const (
	kubeletUnit = "kubelet.service"
	runtimeUnit = "containerd.service"
)

// Unit is the managed unit.
type Unit interface {
	// Start starts the unit and returns when it has started or is known not to for now.
	Start(ctx context.Context)
	// Stop stops the unit and returns when it has ended.
	Stop()
	// Enable marks the unit to be started at boot.
	Enable()
	// Disable takes that mark away.
	Disable()
	// Enabled tells whether the mark is there.
	Enabled() bool
	// Active returns inactive, activating or active, and since when it has been so.
	Active() (state string, since time.Time)
}

// Request is one call of systemctl.
type Request struct {
	// Args are the arguments after the program's name.
	Args []string `json:"args"`
}

// Response is what systemctl prints and returns.
type Response struct {
	// Stdout to print.
	Stdout string `json:"stdout,omitempty"`
	// Stderr to print.
	Stderr string `json:"stderr,omitempty"`
	// Exit code to return.
	Exit int `json:"exit"`
}

func (r *Response) printf(format string, args ...any) {
	r.Stdout += fmt.Sprintf(format+"\n", args...)
}

func (r *Response) complain(exit int, format string, args ...any) {
	r.Stderr += fmt.Sprintf(format+"\n", args...)
	r.Exit = exit
}

// answerer answers calls for the units of an instance.
type answerer struct {
	kubelet Unit
}

// verbs maps each verb that takes units onto its answer for one unit.
var verbs = map[string]func(a answerer, ctx context.Context, unit string, call call) Response{
	"start":             answerer.change,
	"stop":              answerer.change,
	"restart":           answerer.change,
	"try-restart":       answerer.change,
	"reload-or-restart": answerer.change,
	"reload":            answerer.change,
	"enable":            answerer.enable,
	"disable":           answerer.enable,
	"mask":              answerer.enable,
	"unmask":            answerer.enable,
	"is-active":         answerer.isActive,
	"is-failed":         answerer.isFailed,
	"is-enabled":        answerer.isEnabled,
	"status":            answerer.status,
	"reset-failed":      answerer.nothing,
}

// global are verbs that need no unit and have nothing to do here.
var global = map[string]string{
	"daemon-reload":     "",
	"daemon-reexec":     "",
	"reset-failed":      "",
	"is-system-running": "running",
	"--version":         "systemd 0 (served by Foo's node agent)",
}

// call is a parsed request.
type call struct {
	verb  string
	units []string
	now   bool // --now
	quiet bool // --quiet
}

func parse(args []string) call {
	var c call
	for _, arg := range args {
		switch {
		case arg == "--now":
			c.now = true
		case arg == "--quiet" || arg == "-q":
			c.quiet = true
		case arg == "--version":
			c.verb = arg
		case strings.HasPrefix(arg, "-"): // no other option changes what is done here
		case c.verb == "":
			c.verb = arg
		default:
			c.units = append(c.units, fullName(arg))
		}
	}
	return c
}

func fullName(unit string) string {
	if strings.Contains(unit, ".") {
		return unit
	}
	return unit + ".service"
}

func (a answerer) answer(ctx context.Context, req Request) Response {
	c := parse(req.Args)
	text, isGlobal := global[c.verb]
	answer, isVerb := verbs[c.verb]
	switch {
	case isGlobal && len(c.units) == 0:
		resp := Response{}
		if text != "" {
			resp.printf("%s", text)
		}
		return resp
	case !isVerb:
		resp := Response{}
		resp.complain(exitUnsupported, "Unknown command verb %s: Foo's node agent manages the unit kubelet only.", c.verb)
		return resp
	case len(c.units) == 0:
		resp := Response{}
		resp.complain(exitFailure, "Too few arguments.")
		return resp
	}
	var all Response
	for _, unit := range c.units {
		one := answer(a, ctx, unit, c)
		all.Stdout += one.Stdout
		all.Stderr += one.Stderr
		if one.Exit != exitOK {
			all.Exit = one.Exit
		}
	}
	if c.quiet {
		all.Stdout = ""
	}
	return all
}

func (a answerer) change(ctx context.Context, unit string, c call) Response {
	switch unit {
	case kubeletUnit:
		a.changeKubelet(ctx, c.verb)
		return Response{}
	case runtimeUnit:
		resp := Response{}
		resp.printf("%s is served by Foo's node agent and always runs; %s does nothing.", unit, c.verb)
		return resp
	}
	resp := Response{}
	resp.complain(exitNoSuchUnit, "Failed to %s %s: Unit %s not found: it is not managed here.", c.verb, unit, unit)
	return resp
}

func (a answerer) changeKubelet(ctx context.Context, verb string) {
	switch verb {
	case "start":
		a.kubelet.Start(ctx)
	case "stop":
		a.kubelet.Stop()
	case "try-restart":
		if state, _ := a.kubelet.Active(); state != "inactive" {
			a.kubelet.Stop()
			a.kubelet.Start(ctx)
		}
	default:
		a.kubelet.Stop()
		a.kubelet.Start(ctx)
	}
}

func (a answerer) enable(ctx context.Context, unit string, c call) Response {
	switch unit {
	case kubeletUnit:
		a.enableKubelet(ctx, c)
		return Response{}
	case runtimeUnit:
		return Response{}
	}
	resp := Response{}
	resp.complain(exitFailure, "Failed to %s unit: Unit %s does not exist: it is not managed here.", c.verb, unit)
	return resp
}

func (a answerer) enableKubelet(ctx context.Context, c call) {
	if c.verb == "enable" || c.verb == "unmask" {
		a.kubelet.Enable()
		if c.now {
			a.kubelet.Start(ctx)
		}
		return
	}
	a.kubelet.Disable()
	if c.now {
		a.kubelet.Stop()
	}
}

func (a answerer) isActive(_ context.Context, unit string, _ call) Response {
	state, exit := "inactive", exitNotFound
	switch unit {
	case runtimeUnit:
		state, exit = "active", exitOK
	case kubeletUnit:
		state, _ = a.kubelet.Active()
		exit = exitNotActive
		if state == "active" {
			exit = exitOK
		}
	}
	resp := Response{Exit: exit}
	resp.printf("%s", state)
	return resp
}

func (a answerer) isFailed(ctx context.Context, unit string, c call) Response {
	resp := a.isActive(ctx, unit, c)
	resp.Exit = exitFailure // neither unit ever is in the state failed
	return resp
}

func (a answerer) isEnabled(_ context.Context, unit string, _ call) Response {
	resp := Response{}
	switch {
	case unit == runtimeUnit || unit == kubeletUnit && a.kubelet.Enabled():
		resp.printf("enabled")
	case unit == kubeletUnit:
		resp.printf("disabled")
		resp.Exit = exitFailure
	default:
		resp.printf("not-found")
		resp.Exit = exitNotFound
	}
	return resp
}

func (a answerer) status(_ context.Context, unit string, _ call) Response {
	resp := Response{}
	switch unit {
	case runtimeUnit:
		resp.printf("* %s - container runtime, served by Foo's node agent", unit)
		resp.printf("     Loaded: loaded (enabled)")
		resp.printf("     Active: active (running)")
	case kubeletUnit:
		state, since := a.kubelet.Active()
		enabled := "disabled"
		if a.kubelet.Enabled() {
			enabled = "enabled"
		}
		resp.printf("* %s - kubelet: The Kubernetes Node Agent", unit)
		resp.printf("     Loaded: loaded (%s)", enabled)
		resp.printf("     Active: %s since %s", state, since.UTC().Format(time.RFC3339))
		resp.printf("       Logs: /var/log/kubelet.log")
		if state != "active" {
			resp.Exit = exitNotActive
		}
	default:
		resp.complain(exitNotFound, "Unit %s could not be found: it is not managed here.", unit)
	}
	return resp
}

func (a answerer) nothing(context.Context, string, call) Response { return Response{} }
