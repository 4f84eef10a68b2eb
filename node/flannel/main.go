// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command flanneld is flannel with only two backends: host-gw, which routes packets from node to
// node, and vxlan, which tunnels them where nodes are not on one network. It accepts the flags in flannel's own manifest, so that the flannel project's image can
// replace it.
//
// Limits: subnets are the nodes' podCIDRs, and packet rules are nftables rules. Flannel's own
// program also contains backends for clouds, whose libraries would make up most of it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flannel-io/flannel/pkg/backend"
	_ "github.com/flannel-io/flannel/pkg/backend/hostgw"
	_ "github.com/flannel-io/flannel/pkg/backend/vxlan"
	"github.com/flannel-io/flannel/pkg/ip"
	"github.com/flannel-io/flannel/pkg/ipmatch"
	"github.com/flannel-io/flannel/pkg/subnet"
	"github.com/flannel-io/flannel/pkg/subnet/kube"
	"github.com/flannel-io/flannel/pkg/trafficmngr/nftables"
	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"
)

const (
	// resync is the number of seconds between two checks of the packet rules.
	resync = 5
	// patience is how long the API server may take to accept a connection, and lookAgain is the
	// time between two attempts.
	patience  = 500 * time.Millisecond
	lookAgain = 250 * time.Millisecond
)

type options struct {
	masquerade, kubernetes           bool
	healthPort                       int
	configuration, subnetFile, iface string
}

func main() {
	var o options
	flags := flag.NewFlagSet("flanneld", flag.ExitOnError)
	flags.BoolVar(&o.masquerade, "ip-masq", false, "give packets of pods to the outside the address of their node")
	flags.BoolVar(&o.kubernetes, "kube-subnet-mgr", false, "take subnets from the Nodes of Kubernetes; required")
	flags.IntVar(&o.healthPort, "healthz-port", 0, "port of /healthz and /readyz; 0 is none")
	flags.StringVar(&o.configuration, "net-config-path", "/etc/kube-flannel/net-conf.json", "file with the configuration of the network")
	flags.StringVar(&o.subnetFile, "subnet-file", "/run/flannel/subnet.env", "file to write the node's subnet to")
	flags.StringVar(&o.iface, "iface", "", "network interface or address by which nodes reach each other; by default the one of the default route")
	klog.InitFlags(flags)
	_ = flags.Parse(os.Args[1:])
	if err := o.run(); err != nil {
		klog.ErrorS(err, "Flannel ends")
		os.Exit(1)
	}
}

func (o options) run() error {
	if !o.kubernetes {
		return errors.New("--kube-subnet-mgr is missing: subnets come from Kubernetes alone")
	}
	ctx, cancel := signal.NotifyContext(context.Background(), unix.SIGTERM, unix.SIGINT)
	defer cancel()
	var ready atomic.Bool
	failed := o.serveHealth(&ready)
	if err := waitForAPI(ctx); err != nil {
		return err
	}
	subnets, err := kube.NewSubnetManager(ctx, "", "", "flannel.alpha.coreos.com", o.configuration, true)
	if err != nil {
		return fmt.Errorf("connect to Kubernetes: %w", err)
	}
	config, err := subnets.GetNetworkConfig(ctx)
	if err != nil {
		return fmt.Errorf("read the configuration of the network: %w", err)
	}
	var group sync.WaitGroup
	defer group.Wait()
	network, err := o.register(ctx, &group, subnets, config)
	if err != nil {
		return err
	}
	if err := o.setRules(ctx, config, network); err != nil {
		return err
	}
	lease := network.Lease()
	if err := subnets.HandleSubnetFile(o.subnetFile, config, o.masquerade, lease.Subnet, lease.IPv6Subnet, network.MTU()); err != nil {
		return fmt.Errorf("write the node's subnet: %w", err)
	}
	group.Go(func() { network.Run(ctx) })
	if err := subnets.CompleteLease(ctx, lease, &group); err != nil {
		return fmt.Errorf("tell Kubernetes that the node has a network: %w", err)
	}
	ready.Store(true)
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		cancel()
		return err
	}
}

// waitForAPI returns once the API server's Service answers. On a new node, kube-proxy starts at the
// same time as this program. A connection attempt that begins before kube-proxy is ready would time
// out only after half a minute.
func waitForAPI(ctx context.Context) error {
	address := net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT"))
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	dialer := net.Dialer{Timeout: patience}
	for {
		connection, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return connection.Close()
		}
		klog.InfoS("Waiting for the API server", "address", address, "problem", err)
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the API server: %w", err)
		case <-ticker.C:
		}
	}
}

// register registers the node's subnet, and how other nodes reach it.
func (o options) register(ctx context.Context, group *sync.WaitGroup, subnets subnet.Manager, config *subnet.Config) (backend.Network, error) {
	stack, err := ipmatch.GetIPFamily(config.EnableIPv4, config.EnableIPv6)
	if err != nil {
		return nil, fmt.Errorf("configuration of the network: %w", err)
	}
	card, err := ipmatch.LookupExtIface(o.iface, "", "", stack, ipmatch.PublicIPOpts{})
	if err != nil {
		return nil, fmt.Errorf("find the network interface by which nodes reach each other: %w", err)
	}
	kind, err := backend.NewManager(ctx, subnets, card).GetBackend(config.BackendType)
	if err != nil {
		return nil, fmt.Errorf("backend %s must be host-gw or vxlan: %w", config.BackendType, err)
	}
	network, err := kind.RegisterNetwork(ctx, group, config)
	if err != nil {
		return nil, fmt.Errorf("register the node's subnet: %w", err)
	}
	return network, nil
}

// setRules makes the kernel forward packets of pods, and masquerade packets to the outside so that
// replies find their way back.
func (o options) setRules(ctx context.Context, config *subnet.Config, network backend.Network) error {
	if !config.EnableNFTables {
		return errors.New("configuration of the network: EnableNFTables is not true: there are no rules of iptables")
	}
	rules := &nftables.NFTablesManager{}
	if err := rules.Init(ctx); err != nil {
		return fmt.Errorf("packet rules: %w", err)
	}
	if o.masquerade {
		err := rules.SetupAndEnsureMasqRules(ctx, config.Network, ip.IP4Net{}, ip.IP4Net{}, config.IPv6Network, ip.IP6Net{}, ip.IP6Net{},
			network.Lease(), resync, false)
		if err != nil {
			return fmt.Errorf("packet rules: %w", err)
		}
	}
	rules.SetupAndEnsureForwardRules(ctx, config.Network, config.IPv6Network, resync)
	return nil
}

// serveHealth reports whether the program runs and whether the node has its network. The returned
// channel receives the error if it stops serving.
func (o options) serveHealth(ready *atomic.Bool) <-chan error {
	failed := make(chan error, 1)
	if o.healthPort == 0 {
		return failed
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/readyz", func(answer http.ResponseWriter, _ *http.Request) {
		if !ready.Load() {
			http.Error(answer, "the node has no network yet", http.StatusServiceUnavailable)
		}
	})
	server := &http.Server{Addr: ":" + strconv.Itoa(o.healthPort), Handler: mux, ReadHeaderTimeout: time.Second}
	go func() { failed <- fmt.Errorf("answer probes: %w", server.ListenAndServe()) }()
	return failed
}
