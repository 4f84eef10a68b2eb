// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cloudevents turns cloud events into reconcile requests, so that controllers need not
// poll.
//
// One Events holds one watch of the cloud and serves all controllers of a manager. Each controller
// adds a Source, which defines what an event means to it. When the watch starts, and whenever it
// restarts after it was lost, the Synced event makes every Source enqueue all its objects that
// belong to that cloud, because events may have been missed in between.
//
// Limits: it knows neither the kinds of a provider nor what to do about an event. A mapping runs in
// the goroutine of the watch, so it must be quick and must not call the cloud.
package cloudevents
