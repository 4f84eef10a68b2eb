// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
)

// kind is a kind of objects of the cloud, and what commands need to know of it.
type kind[T any] struct {
	// singular and plural name the kind in messages.
	singular, plural string
	// event is the kind of the events about its objects.
	event cloud.EventKind
	view  view[T]
	// list returns all objects.
	list func(context.Context, *client.Client) ([]T, error)
	// names returns what identifies an object. The first is what messages and calls use.
	names func(T) []string
	// about reports whether an event is about an object.
	about func(T, cloud.Event) bool
	// tags of an object.
	tags func(T) cloud.Tags
}

// ambiguousError means that a name fits several objects.
type ambiguousError struct {
	kind, name string
	candidates []string
}

// shownCandidates is how many candidates an error lists.
const shownCandidates = 10

func (e *ambiguousError) Error() string {
	shown, more := e.candidates, ""
	if len(shown) > shownCandidates {
		more = fmt.Sprintf(" and %d more", len(shown)-shownCandidates)
		shown = shown[:shownCandidates]
	}
	return fmt.Sprintf("%s %q: the name matches %s%s; give more of the name", e.kind, e.name, strings.Join(shown, ", "), more)
}

// pick returns the object that a user means: the one with this name or ID, or else the only one
// that has a name or ID that begins so.
func (r kind[T]) pick(items []T, wanted string) (T, error) {
	is := func(name string) bool { return name == wanted }
	begins := func(name string) bool { return wanted != "" && strings.HasPrefix(name, wanted) }
	for _, fits := range []func(string) bool{is, begins} {
		var found []T
		var candidates []string
		for _, item := range items {
			if names := r.names(item); slices.ContainsFunc(names, fits) {
				found = append(found, item)
				candidates = append(candidates, label(names))
			}
		}
		switch len(found) {
		case 0:
		case 1:
			return found[0], nil
		default:
			return found[0], &ambiguousError{kind: r.singular, name: wanted, candidates: candidates}
		}
	}
	var none T
	return none, &cloud.NotFoundError{Kind: r.singular, Name: wanted}
}

// partialError means that what is to be deleted was given by a part of its name only.
type partialError struct{ kind, part, whole string }

func (e *partialError) Error() string {
	return fmt.Sprintf("%s %q matches only %s; give its whole name or ID to delete it", e.kind, e.part, e.whole)
}

// pickWhole returns the object with exactly this name or ID. Whoever deletes an object gets no other one
// because of a typing error, or because the object that was meant is already gone.
func (r kind[T]) pickWhole(items []T, wanted string) (T, error) {
	item, err := r.pick(items, wanted)
	if err != nil {
		return item, err
	}
	if names := r.names(item); !slices.Contains(names, wanted) {
		return item, &partialError{kind: r.singular, part: wanted, whole: label(names)}
	}
	return item, nil
}

// pickAll returns the objects that a user means, or what is wrong with each name.
func pickAll[T any](pick func([]T, string) (T, error), items []T, wanted []string) ([]T, error) {
	picked := make([]T, len(wanted))
	errs := make([]error, len(wanted))
	for index, name := range wanted {
		picked[index], errs[index] = pick(items, name)
	}
	return picked, errors.Join(errs...)
}

// label shows an object's name, with its ID if it has one.
func label(names []string) string {
	if id, name := names[0], names[len(names)-1]; id != name && !strings.HasSuffix(id, "."+name) {
		return fmt.Sprintf("%s (%s)", names[1], id)
	}
	return names[0]
}

// find returns the object that a user means.
func (r kind[T]) find(ctx context.Context, c *client.Client, wanted string) (T, error) {
	items, err := r.list(ctx, c)
	if err != nil {
		var none T
		return none, err
	}
	return r.pick(items, wanted)
}

// complete completes the names of objects, of as many arguments as the command takes.
func (r kind[T]) complete(c *connection, most int) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, start string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const nothing = cobra.ShellCompDirectiveNoFileComp
		if most > 0 && len(args) >= most {
			return nil, nothing
		}
		items, err := listOf(command.Context(), c, r.list)
		if err != nil {
			cobra.CompDebugln(err.Error(), false)
			return nil, nothing
		}
		var names []cobra.Completion
		for _, item := range items {
			for _, name := range r.names(item) {
				if strings.HasPrefix(name, start) && !slices.Contains(args, name) {
					names = append(names, name)
				}
			}
		}
		return names, nothing
	}
}

func listOf[T any](ctx context.Context, c *connection, list func(context.Context, *client.Client) ([]T, error)) ([]T, error) {
	cloud, err := c.client()
	if err != nil {
		return nil, err
	}
	return list(ctx, cloud)
}

// withoutNamespace returns a name without the namespace that the provider puts in front, followed
// by a dot.
func withoutNamespace(name string) string {
	_, rest, found := strings.Cut(name, ".")
	if !found {
		return name
	}
	return rest
}

// newActionCommand returns a command that does something with each of the objects that its
// arguments name. The text says what was done.
func newActionCommand[T any](command *cobra.Command, r kind[T], do func(context.Context, *client.Client, T) error, text string) *cobra.Command {
	return newCommandFor(command, r, r.pick, do, text)
}

// newDeleteCommand returns a command that deletes the objects whose whole names are its arguments.
func newDeleteCommand[T any](command *cobra.Command, r kind[T], remove func(context.Context, *client.Client, T) error) *cobra.Command {
	return newCommandFor(command, r, r.pickWhole, remove, "deletion requested")
}

func newCommandFor[T any](
	command *cobra.Command, r kind[T], pick func([]T, string) (T, error), do func(context.Context, *client.Client, T) error, text string,
) *cobra.Command {
	c := &connection{}
	c.addFlags(command)
	c.addTenantFlag(command)
	command.Args = cobra.MinimumNArgs(1)
	command.ValidArgsFunction = r.complete(c, 0)
	command.RunE = func(command *cobra.Command, args []string) error {
		cloud, err := c.client()
		if err != nil {
			return err
		}
		items, err := r.list(command.Context(), cloud)
		if err != nil {
			return err
		}
		picked, err := pickAll(pick, items, args)
		if err != nil {
			return err
		}
		var failed []error
		for _, item := range picked {
			if err := do(command.Context(), cloud, item); err != nil {
				failed = append(failed, err)
				continue
			}
			if _, err := fmt.Fprintf(command.OutOrStdout(), "%s %s: %s\n", r.singular, label(r.names(item)), text); err != nil {
				return err
			}
		}
		return errors.Join(failed...)
	}
	return command
}

// newRemoveCommand returns a command that removes the objects with exactly the names in its
// arguments. The text says what was done.
func newRemoveCommand[T any](command *cobra.Command, r kind[T], remove func(context.Context, *client.Client, string) error, text string) *cobra.Command {
	c := &connection{}
	c.addFlags(command)
	command.Args = cobra.MinimumNArgs(1)
	command.ValidArgsFunction = r.complete(c, 0)
	command.RunE = func(command *cobra.Command, args []string) error {
		cloud, err := c.client()
		if err != nil {
			return err
		}
		for _, name := range args {
			if err := remove(command.Context(), cloud, name); err != nil {
				return err
			}
			if _, err := fmt.Fprintln(command.OutOrStdout(), text, name); err != nil {
				return err
			}
		}
		return nil
	}
	return command
}
