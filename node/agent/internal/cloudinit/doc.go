// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package cloudinit runs bootstrap data in cloud-init's #cloud-config format.
//
// It does what Cluster API's bootstrap providers rely on, in cloud-init's order: bootcmd,
// write_files (those with defer last), runcmd. The data may be gzipped. It is a jinja template if
// its first line is "## template: jinja"; like cloud-init's templates, it can use ds.meta_data and
// v1.
//
// As in cloud-init, a failing command does not keep later ones from running. The first failure is
// reported immediately and is final. Unlike in cloud-init, each runcmd entry runs in its own shell,
// so the next entry does not see a variable that one sets.
//
// Limits: modules that change users, disks, packages or time are skipped, and the log names each
// skipped module. Other formats (Ignition, shell scripts, MIME archives, include files) are
// rejected.
package cloudinit
