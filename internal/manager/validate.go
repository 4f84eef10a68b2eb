// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	logsv1 "k8s.io/component-base/logs/api/v1"
	"sigs.k8s.io/cluster-api/feature"
	capiflags "sigs.k8s.io/cluster-api/util/flags"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// Validate returns an error if an option is invalid or if options contradict each other.
func (o *Options) Validate() error {
	for _, check := range []func() error{
		o.validateProviders, o.validateScope, o.validateCloud, o.validateNumbers, o.validatePhases, o.validateServers,
		o.validateLeaderElection, o.validateGates, o.validateLogs,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (o *Options) validateProviders() error {
	if len(o.providers) == 0 {
		return fmt.Errorf("--providers is empty, but must have at least one of %s", strings.Join(names(Providers), ", "))
	}
	for _, provider := range o.providers {
		if !slices.Contains(names(Providers), provider) {
			return fmt.Errorf("--providers has %q, but may only have %s", provider, strings.Join(names(Providers), ", "))
		}
	}
	of := map[Provider][]string{
		ControlPlane:     {"clustercache-concurrency", "clustercache-client-qps", "clustercache-client-burst", "etcd-call-timeout-duration", "remote-conditions-grace-period"},
		RuntimeExtension: {"runtime-extension-client-ca-name", "etcd-snapshot-image"},
	}
	for _, provider := range Providers {
		for _, kind := range reconciled[provider] {
			of[provider] = append(of[provider], concurrencyFlag(kind))
		}
		for _, name := range of[provider] {
			if o.flags.Changed(name) && !o.Runs(provider) {
				return fmt.Errorf("--%s is set, but --providers has no %s, which it requires", name, provider)
			}
		}
	}
	return nil
}

func (o *Options) validateScope() error {
	if problems := validation.IsDNS1123Label(o.Namespace); o.Namespace != "" && len(problems) > 0 {
		return fmt.Errorf("--namespace is %q, but must be the name of one namespace: %s", o.Namespace, strings.Join(problems, ", "))
	}
	if problems := validation.IsValidLabelValue(o.WatchFilter); len(problems) > 0 {
		return fmt.Errorf("--watch-filter is %q, but must be the value of a label: %s", o.WatchFilter, strings.Join(problems, ", "))
	}
	return nil
}

func (o *Options) validateCloud() error {
	if o.Runs(Infrastructure) {
		return o.validateCloudOf(Infrastructure)
	}
	if !o.Runs(RuntimeExtension) {
		for _, name := range []string{"cloud", "cloud-namespace", "cloud-endpoint", "cloud-token-file", "cloud-ca-file"} {
			if o.flags.Changed(name) {
				return fmt.Errorf("--%s is set, but --providers has no %s or %s, which it requires", name, Infrastructure, RuntimeExtension)
			}
		}
		return nil
	}
	// An installation of the runtime extension always names the files, but an endpoint only if
	// there is a cloud.
	if o.CloudEndpoint == "" {
		return nil
	}
	return o.validateCloudOf(RuntimeExtension)
}

// validateCloudOf returns an error if a setting of the cloud that a role needs is missing or
// invalid.
func (o *Options) validateCloudOf(role Provider) error {
	secure := strings.HasPrefix(o.CloudEndpoint, "https://")
	if err := o.validateKindOfCloud(); err != nil {
		return err
	}
	if !secure && !strings.HasPrefix(o.CloudEndpoint, "unix:///") {
		return fmt.Errorf("--cloud-endpoint is %q, but must be unix:///path or https://host:port: the %s role needs a Foo cloud",
			o.CloudEndpoint, role)
	}
	if o.CloudTokenFile == "" {
		return fmt.Errorf("--cloud-token-file is unset: the %s role needs a token for the Foo cloud", role)
	}
	if o.CloudCAFile != "" && !secure {
		return fmt.Errorf("--cloud-ca-file is set, but --cloud-endpoint is %q: only an https:// endpoint has certificates", o.CloudEndpoint)
	}
	return nil
}

// validateKindOfCloud returns an error if the settings do not fit the kind of the cloud.
func (o *Options) validateKindOfCloud() error {
	switch o.Cloud {
	case infrav1.CloudLocal:
		if o.CloudNamespace != "" {
			return fmt.Errorf("--cloud-namespace is %q, but --cloud is %s: only a cloud of the kind %s is in a namespace", o.CloudNamespace, o.Cloud, infrav1.CloudKubernetes)
		}
	case infrav1.CloudKubernetes:
		if problems := validation.IsDNS1123Label(o.CloudNamespace); len(problems) > 0 {
			return fmt.Errorf("--cloud-namespace is %q, but must be the name of a namespace for --cloud=%s: %s", o.CloudNamespace, o.Cloud, strings.Join(problems, ", "))
		}
		if !strings.HasPrefix(o.CloudEndpoint, "https://") {
			return fmt.Errorf("--cloud-endpoint is %q, but must be https://host:port of an API server for --cloud=%s", o.CloudEndpoint, o.Cloud)
		}
	default:
		return fmt.Errorf("--cloud is %q, but must be %s or %s", o.Cloud, infrav1.CloudLocal, infrav1.CloudKubernetes)
	}
	return nil
}

func (o *Options) validateNumbers() error {
	for _, name := range []string{"concurrency", "clustercache-concurrency", "kube-api-burst", "clustercache-client-burst"} {
		if value, err := o.flags.GetInt(name); err != nil || value < 1 {
			return fmt.Errorf("--%s is %d, but must be at least 1", name, value)
		}
	}
	for _, name := range []string{"kube-api-qps", "clustercache-client-qps"} {
		if value, err := o.flags.GetFloat32(name); err != nil || value <= 0 {
			return fmt.Errorf("--%s is %g, but must be more than 0", name, value)
		}
	}
	for _, name := range []string{"sync-period", "etcd-call-timeout-duration", "remote-conditions-grace-period"} {
		if value, err := o.flags.GetDuration(name); err != nil || value <= 0 {
			return fmt.Errorf("--%s is %s, but must be more than 0s", name, value)
		}
	}
	return o.validateConcurrency()
}

func (o *Options) validateConcurrency() error {
	for _, provider := range Providers {
		for _, kind := range reconciled[provider] {
			if *o.ofKind[kind] < 0 {
				return fmt.Errorf("--%s is %d, but must be at least 1, or 0 for the value of --concurrency", concurrencyFlag(kind), *o.ofKind[kind])
			}
		}
	}
	return nil
}

func (o *Options) validatePhases() error {
	for _, phase := range o.skipPhases {
		if !slices.Contains(phases, phase) {
			return fmt.Errorf("--skip-crd-migration-phases has %q, but may only have %s", phase, strings.Join(phases, ", "))
		}
	}
	return nil
}

func (o *Options) validateServers() error {
	if o.Webhook.Port < 0 || o.Webhook.Port > 65535 {
		return fmt.Errorf("--webhook-port is %d, but must be 0 to 65535", o.Webhook.Port)
	}
	if err := o.validateRuntimeExtension(); err != nil {
		return err
	}
	if o.contentionProfiling && o.base.PprofBindAddress == "" && o.serving.InsecureDiagnostics {
		return fmt.Errorf("--contention-profiling is set, but nothing serves profiles: set --profiler-address, or do not set --insecure-diagnostics")
	}
	if err := o.validateAddresses(); err != nil {
		return err
	}
	if _, _, err := capiflags.GetManagerOptions(o.serving); err != nil {
		return fmt.Errorf("one of --tls-min-version, --tls-cipher-suites and --tls-curve-preferences has an unknown value, --help lists all: %w", err)
	}
	return nil
}

// validateRuntimeExtension requires a server, which it shares with the webhooks. If callers need
// certificates, it requires a server of its own: the API server, which calls webhooks, has no
// certificate.
func (o *Options) validateRuntimeExtension() error {
	if !o.Runs(RuntimeExtension) {
		return nil
	}
	if o.Webhook.Port == 0 {
		return fmt.Errorf("--webhook-port is 0, but must be the port on which the %s role is called", RuntimeExtension)
	}
	if o.Webhook.ClientCAName != "" && len(o.providers) > 1 {
		return fmt.Errorf("--runtime-extension-client-ca-name is set, but --providers has %s: callers need a certificate only where %s is the only role",
			strings.Join(o.providers, ", "), RuntimeExtension)
	}
	return nil
}

// validateAddresses requires a different port for each server. Several may ask for any free port.
func (o *Options) validateAddresses() error {
	taken := map[string]string{strconv.Itoa(o.Webhook.Port): "--webhook-port"}
	for _, server := range []struct{ flag, address string }{
		{"--health-addr", o.base.HealthProbeBindAddress}, {"--diagnostics-address", o.serving.DiagnosticsAddress}, {"--profiler-address", o.base.PprofBindAddress},
	} {
		if server.address == "" || server.address == "0" {
			continue
		}
		_, port, err := net.SplitHostPort(server.address)
		if err != nil {
			return fmt.Errorf("%s is %q, but must be host:port or :port: %w", server.flag, server.address, err)
		}
		if other := taken[port]; other != "" && port != "0" {
			return fmt.Errorf("%s and %s both have port %s, but must have different ports", other, server.flag, port)
		}
		taken[port] = server.flag
	}
	return nil
}

func (o *Options) validateLeaderElection() error {
	if !o.base.LeaderElection {
		return nil
	}
	lease, renew, retry := *o.base.LeaseDuration, *o.base.RenewDeadline, *o.base.RetryPeriod
	if lease <= renew || renew <= retry || retry <= 0 {
		return fmt.Errorf("leader election needs lease duration > renew deadline > retry period > 0s, got %s, %s and %s", lease, renew, retry)
	}
	if problems := validation.IsDNS1123Subdomain(o.base.LeaderElectionID); len(problems) > 0 {
		return fmt.Errorf("--leader-elect-resource-name is %q, but must be the name of a Lease: %s", o.base.LeaderElectionID, strings.Join(problems, ", "))
	}
	return nil
}

// validateGates checks what the controllers of Cluster API's libraries check when they start.
func (o *Options) validateGates() error {
	if o.Gates.Enabled(feature.ReconcilerRateLimiting) && !o.Gates.Enabled(feature.PriorityQueue) {
		return fmt.Errorf("--feature-gates has %s without %s, which it needs: set both, or both to false", feature.ReconcilerRateLimiting, feature.PriorityQueue)
	}
	return nil
}

// validateLogs checks only the format. Applying the options checks the rest.
func (o *Options) validateLogs() error {
	if format := o.logs.Format; format != logsv1.DefaultLogFormat && format != logsv1.JSONLogFormat {
		return fmt.Errorf("--logging-format is %q, but must be %s or %s", format, logsv1.DefaultLogFormat, logsv1.JSONLogFormat)
	}
	return nil
}
