// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command foonode is the first process of an instance, and also its systemctl.
//
// Usage:
//
//	foonode init      run an instance; only as its first process
//	foonode pod       turn the container of a privileged Pod into an instance, and run it
//	foonode started   fail unless the instance's bootstrap data has succeeded
//	foonode hold      hold connections until the backend of a load balancer listens
//	foonode check     report what instances need that this machine lacks; leaves nothing behind
//	foonode version   print the version
//	systemctl ...     (a link to this program) ask the first process to manage a unit
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/boot"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/check"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/hold"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/pod"
	"github.com/capfoo/cluster-api-provider-foo/node/agent/internal/systemctl"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

// version is the version of this program. The linker sets it.
var version = "unknown"

const usage = "usage: foonode init | foonode pod | foonode started | foonode hold | foonode check | foonode version; or call it as systemctl"

func main() {
	os.Exit(run(os.Args))
}

func run(args []string) int {
	if filepath.Base(args[0]) == "systemctl" {
		return systemctl.Main(systemctl.Socket, args[1:], os.Stdout, os.Stderr)
	}
	if len(args) != 2 {
		fmt.Fprintln(os.Stderr, usage)
		return 2
	}
	switch args[1] {
	case "init":
		return initialize()
	case "pod":
		return reported(pod.Fail(pod.Enter()))
	case "started":
		return reported(pod.Started(contract.ReportDir))
	case "hold":
		return reported(hold.Serve(os.Getenv(contract.PortVariable), filepath.Join(contract.IdentityDir, contract.IdentityBackend)))
	case "check":
		return reported(check.Machine())
	case "version":
		fmt.Println("foonode", version)
		return 0
	}
	fmt.Fprintln(os.Stderr, usage)
	return 2
}

// reported prints an error, and returns the exit code.
func reported(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, "foonode:", err)
		return 1
	}
	return 0
}

func initialize() int {
	if os.Getpid() != 1 {
		fmt.Fprintln(os.Stderr, "foonode init runs an instance and must be its first process (PID 1)")
		return 2
	}
	return reported(boot.Run(boot.Console()))
}
