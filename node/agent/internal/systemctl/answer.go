// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package systemctl

import (
	"context"
	"fmt"
	"slices"
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

// Unit is a unit that systemctl manages.
type Unit interface {
	// Start starts the unit. It returns when the unit has started, or when it is clear that it will
	// not start for now.
	Start(ctx context.Context)
	// Stop stops the unit and returns when it has ended.
	Stop()
	// Enable marks the unit to be started at boot.
	Enable()
	// Disable removes the mark that Enable sets.
	Disable()
	// Enabled reports whether the unit is marked to be started at boot.
	Enabled() bool
	// Active returns the state (inactive, activating or active), and since when the unit is in it.
	Active() (state string, since time.Time)
}

// Known is an existing unit.
type Known struct {
	Unit
	// Name is the name of the unit, without its type suffix.
	Name string
	// Description describes the unit for people.
	Description string
	// LogPath is the file that holds the output of the unit's program.
	LogPath string
}

// Request is one call of systemctl.
type Request struct {
	// Args are the arguments after the program's name.
	Args []string `json:"args"`
}

// Response is what systemctl prints and the code it exits with.
type Response struct {
	// Stdout is printed to standard output.
	Stdout string `json:"stdout,omitempty"`
	// Stderr is printed to standard error.
	Stderr string `json:"stderr,omitempty"`
	// Exit is the exit code.
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
	units []Known
}

// verbs maps each verb that takes units to the function that answers it for one unit.
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
	"show":              answerer.show,
	"reset-failed":      answerer.nothing,
}

// global maps verbs that need no unit and do nothing here to their output.
var global = map[string]string{
	"daemon-reload":     "",
	"daemon-reexec":     "",
	"reset-failed":      "",
	"is-system-running": "running",
	"--version":         "systemd 0 (served by Foo's node agent)",
}

func (a answerer) answer(ctx context.Context, req Request) Response {
	c := parse(req.Args)
	text, isGlobal := global[c.verb]
	answer, isVerb := verbs[c.verb]
	resp := Response{}
	switch {
	case isGlobal && len(c.units) == 0:
		if text != "" {
			resp.printf("%s", text)
		}
		return resp
	case !isVerb:
		resp.complain(exitUnsupported, "Unknown command verb %s: Foo's node agent manages %s only.", c.verb, a.names())
		return resp
	case len(c.units) == 0:
		resp.complain(exitFailure, "Too few arguments.")
		return resp
	}
	for _, unit := range c.units {
		one := answer(a, ctx, unit, c)
		resp.Stdout += one.Stdout
		resp.Stderr += one.Stderr
		if one.Exit != exitOK {
			resp.Exit = one.Exit
		}
	}
	if c.quiet {
		resp.Stdout = ""
	}
	return resp
}

// names lists the names of the units for people.
func (a answerer) names() string {
	names := make([]string, 0, len(a.units))
	for _, unit := range a.units {
		names = append(names, unit.Name)
	}
	return "the units " + strings.Join(names, " and ")
}

// find returns the unit with the given full name, and false if there is none.
func (a answerer) find(name string) (Known, bool) {
	i := slices.IndexFunc(a.units, func(unit Known) bool { return fullName(unit.Name) == name })
	if i < 0 {
		return Known{}, false
	}
	return a.units[i], true
}

func (a answerer) change(ctx context.Context, name string, c call) Response {
	resp := Response{}
	unit, ok := a.find(name)
	if !ok {
		resp.complain(exitNoSuchUnit, "Failed to %s %s: Unit %s not found: Foo's node agent manages %s only.", c.verb, name, name, a.names())
		return resp
	}
	switch c.verb {
	case "start":
		unit.Start(ctx)
	case "stop":
		unit.Stop()
	case "try-restart":
		if state, _ := unit.Active(); state != "inactive" {
			unit.Stop()
			unit.Start(ctx)
		}
	default:
		unit.Stop()
		unit.Start(ctx)
	}
	return resp
}

func (a answerer) enable(ctx context.Context, name string, c call) Response {
	resp := Response{}
	unit, ok := a.find(name)
	if !ok {
		resp.complain(exitFailure, "Failed to %s unit: Unit %s does not exist: Foo's node agent manages %s only.", c.verb, name, a.names())
		return resp
	}
	if c.verb == "enable" || c.verb == "unmask" {
		unit.Enable()
		if c.now {
			unit.Start(ctx)
		}
		return resp
	}
	unit.Disable()
	if c.now {
		unit.Stop()
	}
	return resp
}

func (a answerer) isActive(_ context.Context, name string, _ call) Response {
	resp := Response{Exit: exitNotFound}
	state := "inactive"
	if unit, ok := a.find(name); ok {
		state, _ = unit.Active()
		resp.Exit = exitNotActive
		if state == "active" {
			resp.Exit = exitOK
		}
	}
	resp.printf("%s", state)
	return resp
}

func (a answerer) isFailed(ctx context.Context, name string, c call) Response {
	resp := a.isActive(ctx, name, c)
	resp.Exit = exitFailure // no unit is ever in the failed state
	return resp
}

func (a answerer) isEnabled(_ context.Context, name string, _ call) Response {
	resp := Response{}
	unit, ok := a.find(name)
	switch {
	case !ok:
		resp.printf("not-found")
		resp.Exit = exitNotFound
	case unit.Enabled():
		resp.printf("enabled")
	default:
		resp.printf("disabled")
		resp.Exit = exitFailure
	}
	return resp
}

func (k Known) fileState() string {
	if k.Enabled() {
		return "enabled"
	}
	return "disabled"
}

func (a answerer) status(_ context.Context, name string, _ call) Response {
	resp := Response{}
	unit, ok := a.find(name)
	if !ok {
		resp.complain(exitNotFound, "Unit %s could not be found: Foo's node agent manages %s only.", name, a.names())
		return resp
	}
	state, since := unit.Active()
	resp.printf("* %s - %s", name, unit.Description)
	resp.printf("     Loaded: loaded (%s)", unit.fileState())
	resp.printf("     Active: %s since %s", state, since.UTC().Format(time.RFC3339))
	resp.printf("       Logs: %s", unit.LogPath)
	if state != "active" {
		resp.Exit = exitNotActive
	}
	return resp
}

// property is a property of a unit, as show prints it.
type property struct{ name, value string }

// show prints properties of a unit. An unknown unit has some as well and is not an error.
func (a answerer) show(_ context.Context, name string, c call) Response {
	properties := []property{{"Id", name}, {"LoadState", "not-found"}, {"ActiveState", "inactive"}, {"SubState", "dead"}}
	if unit, ok := a.find(name); ok {
		state, _ := unit.Active()
		sub := map[string]string{"inactive": "dead", "activating": "start", "active": "running"}[state]
		properties = []property{
			{"Id", name}, {"Description", unit.Description}, {"LoadState", "loaded"}, {"ActiveState", state}, {"SubState", sub},
			{"UnitFileState", unit.fileState()},
		}
	}
	resp := Response{}
	for _, p := range properties {
		switch {
		case len(c.properties) > 0 && !slices.Contains(c.properties, p.name):
		case c.value:
			resp.printf("%s", p.value)
		default:
			resp.printf("%s=%s", p.name, p.value)
		}
	}
	return resp
}

func (a answerer) nothing(context.Context, string, call) Response { return Response{} }
