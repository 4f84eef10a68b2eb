// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package settings reads the settings of an ExtensionConfig. Cluster API passes them as text to
// each call of a hook.
//
// Each setting is a Key with its default, its allowed values and its meaning, so that the
// documentation and the messages match the code. Everything that does work is off until a setting
// turns it on.
//
// Limits: a Key describes the values of one setting. Code that reads several settings must check
// their dependencies itself.
package settings

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Doc describes a setting for users.
type Doc struct {
	// Name of the setting.
	Name string
	// Default applies if the setting is missing. It is empty if there is no default.
	Default string
	// Allowed describes the allowed values.
	Allowed string
	// Meaning describes what the setting does.
	Meaning string
}

// Key is a setting of type T.
type Key[T any] struct {
	doc    Doc
	absent T
	parse  func(string) (T, error)
}

// Doc returns the description of the setting.
func (k Key[T]) Doc() Doc { return k.doc }

// Get returns the setting's value, or its default if it is missing. The error for an invalid value
// contains the given value and what is allowed.
func (k Key[T]) Get(settings map[string]string) (T, error) {
	given, ok := settings[k.doc.Name]
	if !ok {
		return k.absent, nil
	}
	value, err := k.parse(given)
	if err != nil {
		return k.absent, &Error{Setting: k.doc.Name, Given: given, Allowed: k.doc.Allowed}
	}
	return value, nil
}

// Error reports that a setting has a value that is not allowed.
type Error struct {
	// Setting is the setting's name, Given its value, and Allowed describes the allowed values.
	Setting, Given, Allowed string
}

// Error implements error.
func (e *Error) Error() string {
	return fmt.Sprintf("setting %s of the ExtensionConfig is %q, want %s", e.Setting, e.Given, e.Allowed)
}

// errRefused is the error for everything that a parser refuses. The message of an Error describes
// the allowed values.
var errRefused = errors.New("refused")

const (
	enabled  = "Enabled"
	disabled = "Disabled"
)

// Switch is a setting that turns something on. It is off if missing.
func Switch(name, meaning string) Key[bool] {
	return Key[bool]{
		doc: Doc{Name: name, Default: disabled, Allowed: enabled + " or " + disabled, Meaning: meaning},
		parse: func(given string) (bool, error) {
			if given != enabled && given != disabled {
				return false, errRefused
			}
			return given == enabled, nil
		},
	}
}

// Choice is a setting with a few values, the first of which is the default.
func Choice[T ~string](name, meaning string, allowed ...T) Key[T] {
	names := make([]string, 0, len(allowed))
	for _, value := range allowed {
		names = append(names, string(value))
	}
	return Key[T]{
		doc:    Doc{Name: name, Default: names[0], Allowed: strings.Join(names, " or "), Meaning: meaning},
		absent: allowed[0],
		parse: func(given string) (T, error) {
			if !slices.Contains(allowed, T(given)) {
				return "", errRefused
			}
			return T(given), nil
		},
	}
}

// Duration is a setting such as 90s or 10m, greater than zero and at most the limit.
func Duration(name, meaning string, absent, limit time.Duration) Key[time.Duration] {
	return Key[time.Duration]{
		doc: Doc{
			Name: name, Default: absent.String(), Meaning: meaning,
			Allowed: fmt.Sprintf("a duration such as 90s or 10m, more than 0 and at most %s", limit),
		},
		absent: absent,
		parse: func(given string) (time.Duration, error) {
			value, err := time.ParseDuration(given)
			if err != nil || value <= 0 || value > limit {
				return 0, errRefused
			}
			return value, nil
		},
	}
}

// Number is a setting that is a whole number from 1 to the limit.
func Number(name, meaning string, absent, limit int) Key[int] {
	return Key[int]{
		doc: Doc{
			Name: name, Default: strconv.Itoa(absent), Meaning: meaning,
			Allowed: fmt.Sprintf("a whole number from 1 to %d", limit),
		},
		absent: absent,
		parse: func(given string) (int, error) {
			value, err := strconv.Atoi(given)
			if err != nil || value < 1 || value > limit {
				return 0, errRefused
			}
			return value, nil
		},
	}
}

// Text is a setting without a default that the check must accept. Allowed describes what the check
// accepts.
func Text(name, meaning, allowed string, check func(string) error) Key[string] {
	return Key[string]{
		doc: Doc{Name: name, Allowed: allowed, Meaning: meaning},
		parse: func(given string) (string, error) {
			return given, check(given)
		},
	}
}

// List is a setting without a default that holds comma-separated values. The check must accept each
// of them.
func List(name, meaning, allowed string, check func(string) error) Key[[]string] {
	return Key[[]string]{
		doc: Doc{Name: name, Allowed: "a comma-separated list of " + allowed, Meaning: meaning},
		parse: func(given string) ([]string, error) {
			var values []string
			for value := range strings.SplitSeq(given, ",") {
				value = strings.TrimSpace(value)
				if err := check(value); err != nil {
					return nil, err
				}
				values = append(values, value)
			}
			return values, nil
		},
	}
}

// CheckNames returns an error that names all unknown settings. A misspelled setting would otherwise
// leave off what it should turn on, and nobody would notice until too late.
func CheckNames(settings map[string]string, known []Doc) error {
	names := make([]string, 0, len(known))
	for _, doc := range known {
		names = append(names, doc.Name)
	}
	slices.Sort(names)
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !slices.Contains(names, name) {
			unknown = append(unknown, strconv.Quote(name))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return fmt.Errorf("the ExtensionConfig has unknown settings: %s; want only %s", strings.Join(unknown, ", "), strings.Join(names, ", "))
}
