// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"
	logsv1 "k8s.io/component-base/logs/api/v1"
	"sigs.k8s.io/cluster-api/controllers/crdmigrator"
	"sigs.k8s.io/cluster-api/feature"
)

// parse parses with its own feature gates.
func parse(args ...string) (*Options, error) {
	return ParseOptions(args, feature.MutableGates.DeepCopy())
}

var cloud = []string{"--cloud-endpoint=unix:///run/foo.sock", "--cloud-token-file=/run/token"}

func withCloud(args ...string) []string { return append(args, cloud...) }

func TestValidate(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		{name: "both roles with a cloud", args: cloud},
		{name: "control plane alone needs no cloud", args: []string{"--providers=control-plane"}},
		{name: "infrastructure needs a cloud", args: nil, want: `--cloud-endpoint is ""`},
		{name: "plain http is refused", args: []string{"--cloud-endpoint=http://host", "--cloud-token-file=t"}, want: "must be unix:///path or https://host:port"},
		{name: "a cloud needs a token", args: cloud[:1], want: "--cloud-token-file is unset"},
		{name: "an unused cloud", args: withCloud("--providers=control-plane"), want: "--cloud-endpoint is set, but --providers has no infrastructure or runtime-extension"},
		{name: "authorities that sign nothing", args: withCloud("--cloud-ca-file=/ca"), want: `--cloud-ca-file is set, but --cloud-endpoint is "unix:///run/foo.sock"`},
		{name: "a cloud of another kind", args: withCloud("--cloud=Moon"), want: `--cloud is "Moon", but must be Local or Kubernetes`},
		{name: "a namespace of the local cloud", args: withCloud("--cloud-namespace=a"), want: `--cloud-namespace is "a", but --cloud is Local`},
		{name: "a Kubernetes cluster without a namespace", args: withCloud("--cloud=Kubernetes"), want: `--cloud-namespace is "", but must be the name of a namespace for --cloud=Kubernetes`},
		{name: "a socket of a Kubernetes cluster", args: withCloud("--cloud=Kubernetes", "--cloud-namespace=a"), want: "must be https://host:port of an API server for --cloud=Kubernetes"},
		{name: "a Kubernetes cluster", args: []string{"--cloud=Kubernetes", "--cloud-namespace=a", "--cloud-endpoint=https://outer:6443", "--cloud-token-file=t"}},
		{name: "an unused kind of cloud", args: []string{"--providers=control-plane", "--cloud=Kubernetes"}, want: "--cloud is set, but --providers has no infrastructure or runtime-extension"},
		{name: "unknown role", args: withCloud("--providers=control-plane,storage"), want: `--providers has "storage", but may only have control-plane, infrastructure, runtime-extension`},
		{name: "the runtime extension alone needs no cloud", args: []string{"--providers=runtime-extension"}},
		{name: "the runtime extension with a cloud", args: withCloud("--providers=runtime-extension", "--runtime-extension-client-ca-name=ca.crt")},
		{name: "a cloud of the runtime extension without a token", args: []string{"--providers=runtime-extension", cloud[0]}, want: "the runtime-extension role needs a token"},
		{name: "a runtime extension that cannot be called", args: []string{"--providers=runtime-extension", "--webhook-port=0"}, want: "--webhook-port is 0, but must be the port on which the runtime-extension role is called"},
		{name: "certificates of an API server without one", args: withCloud("--providers=infrastructure,runtime-extension", "--runtime-extension-client-ca-name=ca.crt"), want: "only where runtime-extension is the only role"},
		{name: "callers without a role to call", args: withCloud("--runtime-extension-client-ca-name=ca.crt"), want: "--runtime-extension-client-ca-name is set, but --providers has no runtime-extension"},
		{name: "an image for snapshots without the role that takes them", args: withCloud("--etcd-snapshot-image=i"), want: "--etcd-snapshot-image is set, but --providers has no runtime-extension"},
		{name: "no role", args: withCloud("--providers="), want: "--providers is empty"},
		{name: "no workers", args: withCloud("--concurrency=0"), want: "--concurrency is 0, but must be at least 1"},
		{name: "a negative number of workers of a kind", args: withCloud("--foomachine-concurrency=-1"), want: "--foomachine-concurrency is -1, but must be at least 1, or 0"},
		{name: "workers of a kind of another role", args: withCloud("--providers=infrastructure", "--foocontrolplane-concurrency=2"), want: "--foocontrolplane-concurrency is set, but --providers has no control-plane"},
		{name: "workload clusters without a control plane", args: withCloud("--providers=infrastructure", "--clustercache-concurrency=2"), want: "--clustercache-concurrency is set, but --providers has no control-plane"},
		{name: "no requests", args: withCloud("--kube-api-qps=0"), want: "--kube-api-qps is 0, but must be more than 0"},
		{name: "no burst", args: withCloud("--kube-api-burst=-1"), want: "--kube-api-burst is -1, but must be at least 1"},
		{name: "no period", args: withCloud("--sync-period=0"), want: "--sync-period is 0s, but must be more than 0s"},
		{name: "no time for etcd", args: withCloud("--etcd-call-timeout-duration=0s"), want: "--etcd-call-timeout-duration is 0s, but must be more than 0s"},
		{name: "no grace", args: withCloud("--remote-conditions-grace-period=-1s"), want: "--remote-conditions-grace-period is -1s, but must be more than 0s"},
		{name: "a time for etcd without a control plane", args: withCloud("--providers=infrastructure", "--etcd-call-timeout-duration=9s"), want: "--etcd-call-timeout-duration is set, but --providers has no control-plane"},
		{name: "no webhooks", args: withCloud("--webhook-port=0")},
		{name: "no port", args: withCloud("--webhook-port=65536"), want: "--webhook-port is 65536, but must be 0 to 65535"},
		{name: "one port for two", args: withCloud("--health-addr=:9443"), want: "--webhook-port and --health-addr both have port 9443"},
		{name: "one port for two others", args: withCloud("--profiler-address=localhost:8443"), want: "--diagnostics-address and --profiler-address both have port 8443"},
		{name: "any free port", args: withCloud("--health-addr=127.0.0.1:0", "--diagnostics-address=127.0.0.1:0", "--webhook-port=0")},
		{name: "nothing served", args: withCloud("--health-addr=0", "--diagnostics-address=0")},
		{name: "an address without a port", args: withCloud("--health-addr=localhost"), want: `--health-addr is "localhost", but must be host:port or :port`},
		{name: "profiles that nobody can read", args: withCloud("--contention-profiling", "--insecure-diagnostics"), want: "--contention-profiling is set, but nothing serves profiles"},
		{name: "unknown TLS version", args: withCloud("--tls-min-version=VersionTLS9"), want: `unknown tls version "VersionTLS9"`},
		{name: "unknown cipher suite", args: withCloud("--tls-cipher-suites=ROT13"), want: "Cipher suite ROT13 not supported"},
		{name: "two namespaces", args: withCloud("--namespace=a,b"), want: `--namespace is "a,b", but must be the name of one namespace`},
		{name: "a filter that is not a label value", args: withCloud("--watch-filter=a b"), want: `--watch-filter is "a b", but must be the value of a label`},
		{name: "unknown phase", args: withCloud("--skip-crd-migration-phases=All"), want: `--skip-crd-migration-phases has "All", but may only have StorageVersionMigration, CleanupManagedFields`},
		{name: "a gate without the other one", args: withCloud("--feature-gates=PriorityQueue=false"), want: "--feature-gates has ReconcilerRateLimiting without PriorityQueue"},
		{name: "neither gate", args: withCloud("--feature-gates=PriorityQueue=false,ReconcilerRateLimiting=false")},
		{name: "impossible leader election", args: withCloud("--leader-elect", "--leader-elect-lease-duration=5s"), want: "lease duration > renew deadline"},
		{name: "no Lease", args: withCloud("--leader-elect", "--leader-elect-resource-name=A_b"), want: `--leader-elect-resource-name is "A_b"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := NewWithT(t)
			o, err := parse(tt.args...)
			g.Expect(err).NotTo(HaveOccurred())
			if tt.want == "" {
				g.Expect(o.Validate()).To(Succeed())
				return
			}
			g.Expect(o.Validate()).To(MatchError(ContainSubstring(tt.want)))
		})
	}
}

func TestParse(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"unknown flag":       {[]string{"--no-such-flag"}, "unknown flag: --no-such-flag"},
		"no number":          {[]string{"--concurrency=many"}, `invalid argument "many" for "--concurrency" flag`},
		"no duration":        {[]string{"--sync-period=10"}, `invalid argument "10" for "--sync-period" flag: time: missing unit in duration "10"`},
		"unknown gate":       {[]string{"--feature-gates=Flying=true"}, "unrecognized feature gate: Flying"},
		"a gate that is set": {[]string{"--feature-gates=MachinePool=perhaps"}, `invalid argument "MachinePool=perhaps" for "--feature-gates" flag`},
		"a word":             {[]string{"start"}, `unknown argument "start"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parse(test.args...)
			g := NewWithT(t)
			g.Expect(err).To(HaveOccurred())
			g.Expect(err.Error()).To(ContainSubstring(test.want))
		})
	}
	options, err := parse("--help")
	g := NewWithT(t)
	g.Expect(err).To(MatchError(pflag.ErrHelp))
	g.Expect(options.Usage()).To(ContainSubstring("--skip-crd-migration-phases"))
}

func TestLogFormats(t *testing.T) {
	for format, valid := range map[string]bool{"text": true, "json": true, "xml": false} {
		o, err := parse("--logging-format=" + format)
		g := NewWithT(t)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(o.logs.Verbosity).To(BeEquivalentTo(2))
		o.providers = []string{string(ControlPlane)}
		if valid {
			g.Expect(o.Validate()).To(Succeed())
			g.Expect(logsv1.Validate(o.logs, nil, nil)).To(BeEmpty(), format)
			continue
		}
		g.Expect(o.Validate()).To(MatchError(`--logging-format is "xml", but must be text or json`))
	}
}

func TestConcurrencyOfAKind(t *testing.T) {
	g := NewWithT(t)
	o, err := parse("--concurrency=4", "--foomachine-concurrency=50", "--skip-crd-migration-phases=CleanupManagedFields")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(o.Concurrency(FooMachine)).To(Equal(50))
	g.Expect(o.Concurrency(FooCluster)).To(Equal(4))
	g.Expect(o.SkipCRDMigrationPhases()).To(ConsistOf(crdmigrator.CleanupManagedFieldsPhase))
}

// Flags of KubeadmControlPlane's manager exist here, with the same defaults except for etcd's timeout.
func TestFlagsAreThoseOfKubeadmControlPlane(t *testing.T) {
	fs := pflag.NewFlagSet(t.Name(), pflag.ContinueOnError)
	NewOptions(feature.MutableGates.DeepCopy()).AddFlags(fs)
	for name, byDefault := range map[string]string{
		"namespace": "", "watch-filter": "", "sync-period": "10m0s", "kube-api-qps": "100", "kube-api-burst": "200",
		"clustercache-concurrency": "100", "clustercache-client-qps": "20", "clustercache-client-burst": "30",
		"remote-conditions-grace-period": "5m0s", "etcd-call-timeout-duration": "5s",
		"leader-elect": "false", "leader-elect-lease-duration": "1m0s", "leader-elect-renew-deadline": "40s", "leader-elect-retry-period": "5s",
		"profiler-address": "", "contention-profiling": "false", "skip-crd-migration-phases": "[]",
		"webhook-port": "9443", "webhook-cert-dir": "/tmp/k8s-webhook-server/serving-certs/", "webhook-cert-name": "tls.crt", "webhook-key-name": "tls.key",
		"health-addr": ":9440", "diagnostics-address": ":8443", "insecure-diagnostics": "false",
		"tls-min-version": "VersionTLS12", "tls-cipher-suites": "[]", "logging-format": "text", "v": "2", "vmodule": "",
	} {
		g := NewWithT(t)
		found := fs.Lookup(name)
		g.Expect(found).NotTo(BeNil(), name)
		g.Expect(found.DefValue).To(Equal(byDefault), name)
		g.Expect(strings.TrimSpace(found.Usage)).NotTo(BeEmpty(), name)
	}
	NewWithT(t).Expect(fs.Lookup("feature-gates")).NotTo(BeNil())
}
