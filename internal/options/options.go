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

package options

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	logsv1 "k8s.io/component-base/logs/api/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/feature"
	capiflags "sigs.k8s.io/cluster-api/util/flags"
)

// Provider is a role of the manager.
type Provider string

const (
	// ControlPlane runs the controller of FooControlPlane.
	ControlPlane Provider = "control-plane"
	// Infrastructure runs the controllers of FooCluster, FooMachine and FooMachinePool.
	Infrastructure Provider = "infrastructure"
)

// Providers are the roles that this manager has.
var Providers = []Provider{ControlPlane, Infrastructure}

// Options are the flags of the manager.
type Options struct {
	// Providers are the roles to run; both by default.
	Providers []string
	// Namespace to watch; all with none.
	Namespace string
	// WatchFilter is the value that the label cluster.x-k8s.io/watch-filter must have; with none all objects are watched.
	WatchFilter string
	// CloudEndpoint is unix:///path or https://host:port of the Foo cloud. The infrastructure role needs it.
	CloudEndpoint string
	// CloudTokenFile holds the bearer token of the tenant.
	CloudTokenFile string
	// CloudCAFile holds the certificate authorities, in PEM form, that sign the cloud's certificate.
	CloudCAFile string
	// SyncPeriod is how often every object is reconciled though nothing changed.
	SyncPeriod time.Duration
	// Concurrency is how many objects of a kind are reconciled at once.
	Concurrency int
	// ClusterCacheConcurrency is how many workload clusters are connected to at once.
	ClusterCacheConcurrency int
	// KubeAPIQPS and KubeAPIBurst limit the requests to the management cluster, per second.
	KubeAPIQPS   float32
	KubeAPIBurst int
	// ClusterCacheQPS and ClusterCacheBurst limit the requests to each workload cluster, per second.
	ClusterCacheQPS   float32
	ClusterCacheBurst int
	// WebhookPort is the port of the webhooks that convert and admit Foo's kinds; with zero there are none.
	WebhookPort int
	// WebhookCertDir holds tls.crt and tls.key of the webhooks.
	WebhookCertDir string
	// HealthAddress serves /healthz and /readyz.
	HealthAddress string
	// LeaderElect makes sure that only one manager is active.
	LeaderElect bool
	// LeaseDuration, RenewDeadline and RetryPeriod are the times of the leader election.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// Manager are the options for diagnostics and TLS.
	Manager capiflags.ManagerOptions
	// Logs are the options for format and level.
	Logs *logsv1.LoggingConfiguration
}

// New returns options with the log configuration's defaults; AddFlags sets the others.
func New() *Options {
	return &Options{Logs: logsv1.NewLoggingConfiguration()}
}

// AddFlags adds a flag for each option.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.Providers, "providers", providerNames(),
		"Roles of this manager, comma-separated. Possible values are "+strings.Join(providerNames(), ", ")+".")
	fs.StringVar(&o.Namespace, "namespace", "", "Namespace that the controllers watch; all namespaces if unset.")
	fs.StringVar(&o.WatchFilter, "watch-filter", "",
		fmt.Sprintf("Label value that the controllers watch. The label key is always %s; all objects if unset.", clusterv1.WatchLabel))
	fs.StringVar(&o.CloudEndpoint, "cloud-endpoint", "", "Endpoint of the Foo cloud: unix:///path or https://host:port.")
	fs.StringVar(&o.CloudTokenFile, "cloud-token-file", "", "File that holds the bearer token for the Foo cloud.")
	fs.StringVar(&o.CloudCAFile, "cloud-ca-file", "", "File with the certificate authorities of an https endpoint of the Foo cloud.")
	fs.DurationVar(&o.SyncPeriod, "sync-period", 10*time.Minute, "The minimum interval at which watched objects are reconciled.")
	fs.IntVar(&o.Concurrency, "concurrency", 10, "Number of objects of each kind to process simultaneously.")
	fs.IntVar(&o.ClusterCacheConcurrency, "clustercache-concurrency", 100, "Number of workload clusters to connect to simultaneously.")
	fs.Float32Var(&o.KubeAPIQPS, "kube-api-qps", 100, "Maximum requests per second to the management cluster.")
	fs.IntVar(&o.KubeAPIBurst, "kube-api-burst", 200, "Maximum requests in one burst to the management cluster.")
	fs.Float32Var(&o.ClusterCacheQPS, "clustercache-client-qps", 20, "Maximum requests per second to each workload cluster.")
	fs.IntVar(&o.ClusterCacheBurst, "clustercache-client-burst", 30, "Maximum requests in one burst to each workload cluster.")
	fs.IntVar(&o.WebhookPort, "webhook-port", 9443, "Port of the webhooks; 0 runs none, which fits an API server that is told of none.")
	fs.StringVar(&o.WebhookCertDir, "webhook-cert-dir", "/tmp/k8s-webhook-server/serving-certs/", "Folder with tls.crt and tls.key of the webhooks.")
	fs.StringVar(&o.HealthAddress, "health-addr", ":9440", "The address the health endpoint binds to.")
	fs.BoolVar(&o.LeaderElect, "leader-elect", false, "Make sure that only one manager is active.")
	fs.DurationVar(&o.LeaseDuration, "leader-elect-lease-duration", 15*time.Second, "How long a candidate waits before it takes over leadership.")
	fs.DurationVar(&o.RenewDeadline, "leader-elect-renew-deadline", 10*time.Second, "How long the leader tries to renew before it gives up.")
	fs.DurationVar(&o.RetryPeriod, "leader-elect-retry-period", 2*time.Second, "How long to wait between tries of the leader election.")
	capiflags.AddManagerOptions(fs, &o.Manager)
	logsv1.AddFlags(o.Logs, fs)
	feature.MutableGates.AddFlag(fs)
}

// Validate says what is wrong with the options, or that options contradict each other.
func (o *Options) Validate() error {
	if len(o.Providers) == 0 {
		return fmt.Errorf("--providers is empty, want at least one of %s", strings.Join(providerNames(), ", "))
	}
	for _, provider := range o.Providers {
		if !slices.Contains(providerNames(), provider) {
			return fmt.Errorf("--providers has %q, want only %s", provider, strings.Join(providerNames(), ", "))
		}
	}
	if err := o.validateCloud(); err != nil {
		return err
	}
	if err := o.validateNumbers(); err != nil {
		return err
	}
	if o.LeaderElect && (o.LeaseDuration <= o.RenewDeadline || o.RenewDeadline <= o.RetryPeriod) {
		return fmt.Errorf("leader election needs lease duration > renew deadline > retry period, got %s, %s and %s",
			o.LeaseDuration, o.RenewDeadline, o.RetryPeriod)
	}
	return nil
}

func (o *Options) validateNumbers() error {
	for name, value := range map[string]int{
		"--concurrency":               o.Concurrency,
		"--clustercache-concurrency":  o.ClusterCacheConcurrency,
		"--kube-api-burst":            o.KubeAPIBurst,
		"--clustercache-client-burst": o.ClusterCacheBurst,
	} {
		if value < 1 {
			return fmt.Errorf("%s is %d, want at least 1", name, value)
		}
	}
	if o.WebhookPort < 0 || o.WebhookPort > 65535 {
		return fmt.Errorf("--webhook-port is %d, want 0 to 65535", o.WebhookPort)
	}
	return nil
}

// Runs reports whether the manager has the role.
func (o *Options) Runs(provider Provider) bool { return slices.Contains(o.Providers, string(provider)) }

func (o *Options) validateCloud() error {
	if !o.Runs(Infrastructure) {
		if o.CloudEndpoint != "" {
			return fmt.Errorf("--cloud-endpoint is set, but --providers has no %s", Infrastructure)
		}
		return nil
	}
	if !strings.HasPrefix(o.CloudEndpoint, "unix:///") && !strings.HasPrefix(o.CloudEndpoint, "https://") {
		return fmt.Errorf("--cloud-endpoint is %q, want unix:///path or https://host:port: the %s role needs a Foo cloud",
			o.CloudEndpoint, Infrastructure)
	}
	if o.CloudTokenFile == "" {
		return fmt.Errorf("--cloud-token-file is unset: the %s role needs a token for the Foo cloud", Infrastructure)
	}
	return nil
}

func providerNames() []string {
	names := make([]string, 0, len(Providers))
	for _, provider := range Providers {
		names = append(names, string(provider))
	}
	return names
}
