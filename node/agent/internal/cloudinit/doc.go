// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cloudinit runs bootstrap data in cloud-init's #cloud-config format.
//
// It does what Cluster API's bootstrap providers rely on, in cloud-init's order: bootcmd, write_files (those with defer last),
// runcmd. The data may be gzipped, and is a jinja template where its first line says "## template: jinja"; the template sees
// ds.meta_data and v1, as cloud-init's do.
//
// As in cloud-init, a failing command does not keep later ones from running; the first failure is reported at once and is
// final. Unlike there, each runcmd entry runs in a shell of its own, so a variable that one sets is not seen by the next.
//
// Limits: modules that change users, disks, packages or time are skipped, and the log names each that was present. Other
// formats (Ignition, shell scripts, MIME archives, include files) are refused.
package cloudinit
