// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/network"
)

// minAddressBits is the number of address bits of the smallest useful network.
const minAddressBits = 4

// DefaultConcurrentBoots returns how many instances may boot at the same time if the user gives no
// number: two for each CPU, as an instance that boots does not always need one, and at least four.
func DefaultConcurrentBoots() int { return max(4, 2*runtime.NumCPU()) }

// DefaultRuntime is the OCI runtime that creates the containers of instances if the user names no
// other.
const DefaultRuntime = "runc"

// Values of Options.UserNamespaces: new instances get user namespaces never, if the host supports
// them, or always.
const (
	UserNamespacesOff  = "off"
	UserNamespacesAuto = "auto"
	UserNamespacesOn   = "on"
)

// Options are the flags of `foocloud serve`.
type Options struct {
	// StateDir holds all state. It is created if missing.
	StateDir string
	// Listen holds any number of unix:///path and https://address:port endpoints; by default a
	// socket in the state folder. Instances reach the one at the first address of Network.
	Listen []string
	// Bridge is the name of the host's network interface to the cloud, whose bridge is in a
	// namespace of its own.
	Bridge string
	// Network of the instances and load balancers, in CIDR form.
	Network string
	// SystemDir holds the operating system of instances.
	SystemDir string
	// ImagesDir holds one folder of node binaries per image; see instance.ImageFolder.
	ImagesDir string
	// Runtime is the OCI runtime, a path or the name of a program; DefaultRuntime if empty.
	Runtime string
	// Agent is the node agent binary.
	Agent string
	// Config is the configuration file; the defaults apply if empty.
	Config string
	// UserNamespaces is one of UserNamespacesOff, UserNamespacesAuto and UserNamespacesOn; off if
	// empty.
	UserNamespaces string
	// Restart tells CheckHost that the cloud exists and starts again: it needs no room for another cluster.
	Restart bool
	// ConcurrentBoots is how many instances may boot at the same time; 0 if any number may.
	ConcurrentBoots int
	// TLSCert and TLSKey are for https; generated in the state folder if empty.
	TLSCert, TLSKey string
	// DNS enables name resolution for instances.
	DNS bool
	// RegistryPort is the port that instances pull images from, on the first address of the
	// network; 0 for no registry.
	RegistryPort uint16
}

// RefusedError means that the daemon cannot do what it should with these options, as this user or on
// this machine. Nothing was changed.
type RefusedError struct {
	// Err says what is wrong, and what to do.
	Err error
}

func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *RefusedError) Unwrap() error { return e.Err }

func refuse(err error) error {
	if err == nil {
		return nil
	}
	return &RefusedError{Err: err}
}

// checked are validated options.
type checked struct {
	Options
	network netip.Prefix
	// userNamespaces applies to new instances.
	userNamespaces bool
}

// check returns the options with all paths absolute, or an error that names the wrong option and
// valid values. It creates the state folder last, so that invalid options leave nothing behind.
func (o Options) check() (*checked, error) {
	c := &checked{Options: o}
	var err error
	if c.network, err = parseNetwork(o.Network); err != nil {
		return nil, err
	}
	if o.Bridge == "" || len(o.Bridge) > network.MaxName || strings.ContainsAny(o.Bridge, "/ :") {
		return nil, fmt.Errorf("--bridge %q: must be a name of 1 to %d characters without spaces, slashes and colons", o.Bridge, network.MaxName)
	}
	if !slices.Contains([]string{"", UserNamespacesOff, UserNamespacesAuto, UserNamespacesOn}, o.UserNamespaces) {
		return nil, fmt.Errorf("--user-namespaces %q: must be off, auto or on", o.UserNamespaces)
	}
	if o.ConcurrentBoots < 0 {
		return nil, fmt.Errorf("--concurrent-boots %d: must be a positive number, or 0 for any number of instances", o.ConcurrentBoots)
	}
	if err := c.checkNode(); err != nil {
		return nil, err
	}
	if (o.TLSCert == "") != (o.TLSKey == "") {
		return nil, fmt.Errorf("give both --tls-cert and --tls-key, or neither")
	}
	if c.StateDir, err = stateDir(o.StateDir); err != nil {
		return nil, err
	}
	if len(c.Listen) == 0 {
		c.Listen = []string{DefaultEndpoint(c.StateDir)}
	}
	return c, nil
}

// checkNode checks the files that instances are made of.
func (c *checked) checkNode() error {
	for _, part := range []struct {
		path  *string
		check func(string) (string, error)
	}{
		{&c.Runtime, runtimeProgram},
		{&c.SystemDir, systemDir},
		{&c.ImagesDir, func(path string) (string, error) { return existing("--images-dir", path) }},
		{&c.Agent, func(path string) (string, error) { return existing("--agent", path) }},
	} {
		path, err := part.check(*part.path)
		if err != nil {
			return err
		}
		*part.path = path
	}
	return c.requireImages()
}

// DefaultEndpoint returns where the daemon of a state folder listens by default.
func DefaultEndpoint(stateDir string) string {
	return "unix://" + filepath.Join(stateDir, "foocloud.sock")
}

func runtimeProgram(name string) (string, error) {
	name = cmp.Or(name, DefaultRuntime)
	path, err := exec.LookPath(name)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", fmt.Errorf("--runtime %s: %w; install the package runc, or name another OCI runtime", name, err)
	}
	return path, nil
}

// systemDir returns the operating system's folder with symlinks resolved.
func systemDir(path string) (string, error) {
	folder, err := existing("--system-dir", path)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(filepath.Join(folder, "etc")); err != nil || !info.IsDir() {
		return "", fmt.Errorf("--system-dir %s holds no operating system: it has no folder etc; name the folder system of a release, or what `make node` builds", folder)
	}
	return folder, mountable("--system-dir", folder)
}

// mountable refuses paths that cannot appear in the kernel's mount options for an overlay: the
// kernel uses these characters as separators and supports no quoting.
func mountable(flag, path string) error {
	if strings.ContainsAny(path, ",:\\") {
		return fmt.Errorf("%s %q: the path must not hold commas, colons or backslashes", flag, path)
	}
	return nil
}

func requireRoot() error {
	if os.Geteuid() != 0 {
		return refuse(errors.New("not root: instances need namespaces, bridges and mounts; run it with sudo"))
	}
	return nil
}

// stateDir creates the folder and returns its path with symlinks resolved.
func stateDir(path string) (string, error) {
	absolute, err := statePath(path)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(absolute, 0o700); err != nil {
		return "", fmt.Errorf("--state-dir: %w", err)
	}
	resolved, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return "", fmt.Errorf("--state-dir: %w", err)
	}
	return resolved, nil
}

// statePath returns the absolute path of the state folder.
func statePath(path string) (string, error) {
	if path == "" {
		return "", fmt.Errorf("--state-dir must be given")
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("--state-dir %q: %w", path, err)
	}
	return absolute, mountable("--state-dir", absolute)
}

func parseNetwork(text string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil || !prefix.Addr().Is4() || prefix.Addr().BitLen()-prefix.Bits() < minAddressBits {
		return netip.Prefix{}, fmt.Errorf("--network %q: must be an IPv4 network of at least 16 addresses, for example 10.77.0.0/16", text)
	}
	return prefix.Masked(), nil
}

func existing(flag, path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w; name a part of a release, or what `make node` builds", flag, err)
	}
	return absolute, nil
}
