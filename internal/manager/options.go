// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"slices"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/component-base/featuregate"
	logsv1 "k8s.io/component-base/logs/api/v1"
	"sigs.k8s.io/cluster-api/controllers/crdmigrator"
	capiflags "sigs.k8s.io/cluster-api/util/flags"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// Provider is a role of the manager.
type Provider string

const (
	// ControlPlane runs the controller of FooControlPlane.
	ControlPlane Provider = "control-plane"
	// Infrastructure runs the controllers of FooCluster, FooMachine and FooMachinePool.
	Infrastructure Provider = "infrastructure"
	// RuntimeExtension answers the hooks of Cluster API's runtime, and carries out what they
	// request.
	RuntimeExtension Provider = "runtime-extension"
)

// Providers lists the roles that a manager can have.
var Providers = []Provider{ControlPlane, Infrastructure, RuntimeExtension}

// defaultProviders lists the roles that run by default. The runtime extension needs its own
// manager: it has other permissions, and Cluster API stops working on a cluster while the cluster's
// extension does not answer.
var defaultProviders = []Provider{ControlPlane, Infrastructure}

// The kinds that have a controller, and so their own number of workers.
const (
	FooControlPlane    = "FooControlPlane"
	FooCluster         = "FooCluster"
	FooMachine         = "FooMachine"
	FooMachineTemplate = "FooMachineTemplate"
	FooMachinePool     = "FooMachinePool"
	// HookJob is a job that a runtime hook requested.
	HookJob = "HookJob"
)

// reconciled lists the kinds that have a controller, by role.
var reconciled = map[Provider][]string{
	ControlPlane:     {FooControlPlane},
	Infrastructure:   {FooCluster, FooMachine, FooMachineTemplate, FooMachinePool},
	RuntimeExtension: {HookJob},
}

// Options holds the flags of the manager.
type Options struct {
	// Namespace is the namespace to watch; all namespaces if empty.
	Namespace string
	// WatchFilter is the value that the label cluster.x-k8s.io/watch-filter must have; all objects
	// are watched if empty.
	WatchFilter string
	// Cloud is the kind of the cloud.
	Cloud infrav1.CloudKind
	// CloudNamespace is the namespace of a cloud of the kind Kubernetes.
	CloudNamespace string
	// CloudEndpoint is unix:///path or https://host:port of the Foo cloud. The infrastructure role
	// needs it, and the runtime extension needs it for what it asks the cloud.
	CloudEndpoint string
	// CloudTokenFile is the file with the bearer token of the tenant.
	CloudTokenFile string
	// CloudCAFile is the file with the certificate authorities, in PEM format, that sign the
	// cloud's certificate.
	CloudCAFile string
	// ClusterCacheConcurrency is how many workload clusters are connected to simultaneously.
	ClusterCacheConcurrency int
	// ClusterCacheQPS and ClusterCacheBurst limit the requests to each workload cluster, per second.
	ClusterCacheQPS   float32
	ClusterCacheBurst int
	// EtcdCallTimeout bounds each round of requests to one etcd member.
	EtcdCallTimeout time.Duration
	// RemoteConditionsGracePeriod is how long conditions keep showing the last known state of a
	// workload cluster.
	RemoteConditionsGracePeriod time.Duration
	// Webhook describes the server of the webhooks that convert and admit Foo's kinds, or of the
	// runtime extension. If its port is zero, there are no webhooks. ClientCAName names the
	// authorities that sign the certificates of those who may call the runtime extension; anybody
	// may if it is empty.
	Webhook webhook.Options
	// SnapshotImage is the image of the Job with which the runtime extension takes etcd snapshots.
	// If it is empty, no snapshots can be taken.
	SnapshotImage string
	// Gates holds the feature gates that --feature-gates sets.
	Gates featuregate.MutableFeatureGate

	// base holds what flags set of controller-runtime's own options.
	base ctrl.Options
	// kubeAPIQPS and kubeAPIBurst limit the requests to the management cluster, per second.
	kubeAPIQPS   float32
	kubeAPIBurst int
	// serving holds the options for diagnostics and TLS.
	serving             capiflags.ManagerOptions
	contentionProfiling bool
	logs                *logsv1.LoggingConfiguration
	showVersion         bool
	// providers lists the roles to run.
	providers []string
	// concurrency is how many objects of a kind are reconciled simultaneously, unless ofKind has
	// another number for the kind.
	concurrency int
	ofKind      map[string]*int
	skipPhases  []string
	// flags is where the options come from.
	flags *pflag.FlagSet
}

// NewOptions returns options with the log configuration's defaults; AddFlags sets the others. Except
// in tests, the gates are Cluster API's own, which its libraries read.
func NewOptions(gates featuregate.MutableFeatureGate) *Options {
	logs := logsv1.NewLoggingConfiguration()
	logs.Verbosity = defaultVerbosity
	return &Options{logs: logs, Gates: gates, ofKind: map[string]*int{}}
}

// Runs reports whether the manager has the role.
func (o *Options) Runs(provider Provider) bool { return slices.Contains(o.providers, string(provider)) }

// Concurrency returns how many objects of a kind are reconciled simultaneously.
func (o *Options) Concurrency(kind string) int {
	if number := o.ofKind[kind]; number != nil && *number > 0 {
		return *number
	}
	return o.concurrency
}

// SkipCRDMigrationPhases returns the phases of the storage migration to skip.
func (o *Options) SkipCRDMigrationPhases() []crdmigrator.Phase {
	phases := make([]crdmigrator.Phase, 0, len(o.skipPhases))
	for _, name := range o.skipPhases {
		phases = append(phases, crdmigrator.Phase(name))
	}
	return phases
}
