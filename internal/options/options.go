// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"slices"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/component-base/featuregate"
	logsv1 "k8s.io/component-base/logs/api/v1"
	"sigs.k8s.io/cluster-api/controllers/crdmigrator"
	capiflags "sigs.k8s.io/cluster-api/util/flags"
)

// Provider is a role of the manager.
type Provider string

const (
	// ControlPlane runs the controller of FooControlPlane.
	ControlPlane Provider = "control-plane"
	// Infrastructure runs the controllers of FooCluster, FooMachine and FooMachinePool.
	Infrastructure Provider = "infrastructure"
	// RuntimeExtension answers the hooks of Cluster API's runtime, and does what they ask for.
	RuntimeExtension Provider = "runtime-extension"
)

// Providers are the roles that this manager has.
var Providers = []Provider{ControlPlane, Infrastructure, RuntimeExtension}

// defaultProviders are what a manager runs that is not told. The runtime extension is for a manager of its own: it has other
// rights, and Cluster API stops what it does for a cluster while its extension does not answer.
var defaultProviders = []Provider{ControlPlane, Infrastructure}

// The kinds that have a controller, and so a number of workers of their own.
const (
	FooControlPlane    = "FooControlPlane"
	FooCluster         = "FooCluster"
	FooMachine         = "FooMachine"
	FooMachineTemplate = "FooMachineTemplate"
	FooMachinePool     = "FooMachinePool"
	// HookJob is what a hook of the runtime asked for; a ConfigMap.
	HookJob = "HookJob"
)

// reconciled are the kinds that have a controller, by role.
var reconciled = map[Provider][]string{
	ControlPlane:     {FooControlPlane},
	Infrastructure:   {FooCluster, FooMachine, FooMachineTemplate, FooMachinePool},
	RuntimeExtension: {HookJob},
}

// Options are the flags of the manager.
type Options struct {
	// Providers are the roles to run; control plane and infrastructure by default.
	Providers []string
	// Namespace to watch; all with none.
	Namespace string
	// WatchFilter is the value that the label cluster.x-k8s.io/watch-filter must have; with none all objects are watched.
	WatchFilter string
	// CloudEndpoint is unix:///path or https://host:port of the Foo cloud. The infrastructure role needs it, and
	// the runtime extension for what it asks the cloud.
	CloudEndpoint string
	// CloudTokenFile holds the bearer token of the tenant.
	CloudTokenFile string
	// CloudCAFile holds the certificate authorities, in PEM form, that sign the cloud's certificate.
	CloudCAFile string
	// SyncPeriod is how often every object is reconciled though nothing changed.
	SyncPeriod time.Duration
	// ClusterCacheConcurrency is how many workload clusters are connected to at once.
	ClusterCacheConcurrency int
	// KubeAPIQPS and KubeAPIBurst limit the requests to the management cluster, per second.
	KubeAPIQPS   float32
	KubeAPIBurst int
	// ClusterCacheQPS and ClusterCacheBurst limit the requests to each workload cluster, per second.
	ClusterCacheQPS   float32
	ClusterCacheBurst int
	// EtcdCallTimeout bounds all that is asked of one etcd member at once.
	EtcdCallTimeout time.Duration
	// RemoteConditionsGracePeriod is how long conditions keep showing what was last known of a workload cluster.
	RemoteConditionsGracePeriod time.Duration
	// WebhookPort is the port of the webhooks that convert and admit Foo's kinds; with zero there are none.
	WebhookPort int
	// WebhookCertDir holds the certificate and the key of the webhooks, in files of these names.
	WebhookCertDir, WebhookCertName, WebhookKeyName string
	// ClientCAName is the name of a file beside the webhooks' certificate, with the authorities that sign the certificates of
	// who may call the runtime extension. With none, anybody may.
	ClientCAName string
	// SnapshotRoom is how many bytes the runtime extension's temporary files of etcd snapshots may have together; 9Gi by default.
	SnapshotRoom resource.QuantityValue
	// HealthAddress serves /healthz and /readyz.
	HealthAddress string
	// ProfilerAddress serves pprof without authentication; nothing does if it is empty.
	ProfilerAddress string
	// ContentionProfiling makes the profiler see where goroutines block.
	ContentionProfiling bool
	// LeaderElect makes sure that only one manager is active.
	LeaderElect bool
	// LeaderElectName and LeaderElectNamespace are where the Lease of the leader election is. The namespace is by default
	// that of the manager's Pod.
	LeaderElectName, LeaderElectNamespace string
	// LeaseDuration, RenewDeadline and RetryPeriod are the times of the leader election.
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration
	// Manager are the options for diagnostics and TLS.
	Manager capiflags.ManagerOptions
	// Logs are the options for format and level.
	Logs *logsv1.LoggingConfiguration
	// Gates are the feature gates that --feature-gates sets.
	Gates featuregate.MutableFeatureGate

	// concurrency is how many objects of a kind are reconciled at once, unless ofKind has another number for the kind.
	concurrency int
	ofKind      map[string]*int
	skipPhases  []string
	// flags are where the options come from.
	flags *pflag.FlagSet
}

// New returns options with the log configuration's defaults; AddFlags sets the others. The gates are those of Cluster API,
// which its libraries read, but for tests.
func New(gates featuregate.MutableFeatureGate) *Options {
	logs := logsv1.NewLoggingConfiguration()
	logs.Verbosity = defaultVerbosity
	return &Options{Logs: logs, Gates: gates, ofKind: map[string]*int{}}
}

// Runs reports whether the manager has the role.
func (o *Options) Runs(provider Provider) bool { return slices.Contains(o.Providers, string(provider)) }

// Concurrency returns how many objects of a kind are reconciled at once.
func (o *Options) Concurrency(kind string) int {
	if number := o.ofKind[kind]; number != nil && *number > 0 {
		return *number
	}
	return o.concurrency
}

// SkipCRDMigrationPhases returns the phases of the storage migration that are left out.
func (o *Options) SkipCRDMigrationPhases() []crdmigrator.Phase {
	phases := make([]crdmigrator.Phase, 0, len(o.skipPhases))
	for _, name := range o.skipPhases {
		phases = append(phases, crdmigrator.Phase(name))
	}
	return phases
}
