// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package systemctl

import "strings"

// call is a parsed request.
type call struct {
	verb       string
	units      []string
	properties []string // --property
	now        bool     // --now
	quiet      bool     // --quiet
	value      bool     // --value
}

func parse(args []string) call {
	var c call
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case isProperty(arg) && len(args) > 0:
			c.addProperties(args[0])
			args = args[1:]
		case strings.HasPrefix(arg, "-"):
			c.option(arg)
		case c.verb == "":
			c.verb = arg
		default:
			c.units = append(c.units, fullName(arg))
		}
	}
	return c
}

// isProperty reports whether the argument takes the next one as its value.
func isProperty(arg string) bool { return arg == "-p" || arg == "--property" }

// option applies a single-argument option. Unknown options have no effect.
func (c *call) option(arg string) {
	switch {
	case arg == "--now":
		c.now = true
	case arg == "--quiet" || arg == "-q":
		c.quiet = true
	case arg == "--value":
		c.value = true
	case arg == "--version":
		c.verb = arg
	case strings.HasPrefix(arg, "--property="):
		c.addProperties(strings.TrimPrefix(arg, "--property="))
	case strings.HasPrefix(arg, "-p"):
		c.addProperties(strings.TrimPrefix(arg, "-p"))
	}
}

func (c *call) addProperties(names string) {
	c.properties = append(c.properties, strings.Split(names, ",")...)
}

func fullName(unit string) string {
	if strings.Contains(unit, ".") {
		return unit
	}
	return unit + ".service"
}
