// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package preflight makes kubeadm accept machines with cgroup v1.
package preflight

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Arguments returns the arguments to run kubeadm with, in place of the given ones. kubeadm's
// SystemVerification check rejects cgroup v1 for kubelets from v1.35 on, which still run there if
// they are configured to, as they are here. So on a machine with cgroup v1, init and join only warn
// about what that check finds.
func Arguments(given []string) []string {
	if unifiedCgroups() || !checks(given) {
		return given
	}
	return append(slices.Clone(given), "--ignore-preflight-errors=SystemVerification")
}

func unifiedCgroups() bool {
	var fs unix.Statfs_t
	return unix.Statfs("/sys/fs/cgroup", &fs) == nil && fs.Type == unix.CGROUP2_SUPER_MAGIC
}

// everyCheck matches a configuration that ignores the errors of all checks. kubeadm does not allow
// ignoring single checks in addition.
var everyCheck = regexp.MustCompile(`(?im)^\s*ignorePreflightErrors:\s*(\[|-)\s*["']?all\b`)

// checks reports whether this call of kubeadm runs preflight checks and does not ignore all of
// them.
func checks(args []string) bool {
	if len(args) < 2 || (args[1] != "init" && args[1] != "join") || slices.Contains(args, "phase") {
		return false
	}
	for index, arg := range args {
		flag, value, found := strings.Cut(arg, "=")
		if !found && index+1 < len(args) {
			value = args[index+1]
		}
		switch flag {
		case "--ignore-preflight-errors":
			if strings.EqualFold(value, "all") {
				return false
			}
		case "--config":
			// kubeadm itself reports a file that cannot be read.
			if text, err := os.ReadFile(value); err == nil && everyCheck.Match(text) {
				return false
			}
		}
	}
	return true
}
