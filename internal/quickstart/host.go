/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package quickstart

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// checkGrace is how long a check may take to end when the user has had enough of it.
const checkGrace = 10 * time.Second

// CheckHost looks whether this machine can run the quickstart as configured. It changes nothing that outlives the
// call, and returns an InvalidError with all that is wrong.
func (c Config) CheckHost(ctx context.Context) error {
	var wrong problems
	if os.Geteuid() != 0 {
		wrong.add("not root: instances are made of namespaces, bridges and mounts; run it with sudo")
		return wrong.err() // the other checks need root themselves
	}
	c.checkPrograms(&wrong)
	c.checkRoot(ctx, &wrong)
	c.checkNetwork(&wrong)
	c.checkPort(ctx, &wrong)
	return wrong.err()
}

func (c Config) checkPrograms(wrong *problems) {
	if _, err := os.Stat(c.kubernetes("kubernetes")); err != nil {
		built := strings.Join(c.builtVersions(), ", ")
		if built == "" {
			built = "none"
		}
		wrong.add("--kubernetes-version %s: there is no node binary for it (built: %s); build it with: make node KUBERNETES_VERSION=%s",
			c.KubernetesVersion, built, c.KubernetesVersion)
	}
	for _, name := range []string{"foonode", "foocloud", "tools/clusterctl"} {
		checkBuilt(c.program(name), wrong)
	}
	for _, provider := range c.providers() {
		checkBuilt(provider.Program, wrong)
		checkBuilt(provider.Components, wrong)
	}
}

func checkBuilt(path string, wrong *problems) {
	if _, err := os.Stat(path); err != nil {
		wrong.add("%s is missing; build it with: make quickstart", path)
	}
}

// checkRoot lets the cloud say whether instances can have their copy-on-write root where the state folder is to lie, and the
// node agent whether it can do all it has to.
func (c Config) checkRoot(ctx context.Context, wrong *problems) {
	parent := c.StateDir
	for {
		if _, err := os.Stat(parent); err == nil {
			break
		}
		parent = filepath.Dir(parent)
	}
	check := exec.CommandContext(ctx, c.program("foocloud"), "check", "--state-dir", parent, "--agent", c.program("foonode"))
	// It removes what it has made for the check, if it is not killed.
	check.Cancel, check.WaitDelay = func() error { return check.Process.Signal(unix.SIGTERM) }, checkGrace
	output, err := check.CombinedOutput()
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		wrong.add("%s", strings.TrimPrefix(strings.TrimSpace(string(output)), "foocloud: "))
	}
}

func (c Config) checkNetwork(wrong *problems) {
	network, err := netip.ParsePrefix(c.Network)
	if err != nil {
		return // Validate has said so
	}
	bridge := c.checkBridge(wrong)
	uses, err := networksInUse(bridge)
	if err != nil {
		wrong.add("--network %s: %v", c.Network, err)
	}
	for _, use := range uses {
		if use.prefix.Bits() > 0 && use.prefix.Overlaps(network) {
			wrong.add("--network %s is in use: the machine has %s %s; choose another one, for example --network 10.78.0.0/16", c.Network, use.what, use.prefix)
		}
	}
}

// checkBridge returns the index of the bridge that a kept state may still have; zero if there is none.
func (c Config) checkBridge(wrong *problems) int {
	bridge, err := netlink.LinkByName(c.Bridge)
	var notFound netlink.LinkNotFoundError
	switch {
	case errors.As(err, &notFound):
		return 0
	case err != nil:
		wrong.add("--bridge %s: %v", c.Bridge, err)
		return 0
	case !c.Resume:
		wrong.add("--bridge %s: there is a network interface of this name; choose another one, or delete what an earlier run has left", c.Bridge)
	}
	return bridge.Attrs().Index
}

// networkUse is a network that the machine uses already, and what for.
type networkUse struct {
	what   string
	prefix netip.Prefix
}

// networksInUse returns the networks of routes and addresses on all network interfaces but one.
func networksInUse(except int) ([]networkUse, error) {
	routes, err := netlink.RouteList(nil, netlink.FAMILY_V4)
	if err != nil {
		return nil, fmt.Errorf("read routes: %w", err)
	}
	addresses, err := netlink.AddrList(nil, netlink.FAMILY_V4)
	if err != nil {
		return nil, fmt.Errorf("read addresses: %w", err)
	}
	var uses []networkUse
	for _, route := range routes {
		if prefix, ok := prefixOf(route.Dst); ok && route.LinkIndex != except {
			uses = append(uses, networkUse{"a route to", prefix})
		}
	}
	for _, address := range addresses {
		if prefix, ok := prefixOf(address.IPNet); ok && address.LinkIndex != except {
			uses = append(uses, networkUse{"the address", prefix})
		}
	}
	return uses, nil
}

func prefixOf(network *net.IPNet) (netip.Prefix, bool) {
	if network == nil {
		return netip.Prefix{}, false
	}
	address, ok := netip.AddrFromSlice(network.IP)
	bits, _ := network.Mask.Size()
	return netip.PrefixFrom(address.Unmap(), bits), ok
}

func (c Config) checkPort(ctx context.Context, wrong *problems) {
	if c.ManagementPort == 0 {
		return
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(c.ManagementPort)))
	if err != nil {
		wrong.add("--management-port %d is taken: %v; choose another one, or 0 for any free port", c.ManagementPort, err)
		return
	}
	_ = listener.Close()
}
