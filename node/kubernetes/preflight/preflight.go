// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package preflight has kubeadm accept machines with cgroup v1.
package preflight

import (
	"os"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Arguments returns with which arguments kubeadm is called instead of those that were given. Its check of the system refuses cgroup v1 for
// kubelets from v1.35 on, which still run there when they are told to, as nodes here are; so on such a machine init and join only warn of
// what that check finds.
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

// everyCheck is how a configuration says that errors of all checks are ignored; kubeadm refuses to be told of single ones beside that.
var everyCheck = regexp.MustCompile(`(?im)^\s*ignorePreflightErrors:\s*(\[|-)\s*["']?all\b`)

// checks reports whether kubeadm is called to make checks of which it was not told to ignore all.
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
			// kubeadm itself says what is wrong with a file that cannot be read.
			if text, err := os.ReadFile(value); err == nil && everyCheck.Match(text) {
				return false
			}
		}
	}
	return true
}
