// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/featuregate"
	logsv1 "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register" // the log format json
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/crdmigrator"
	capiflags "sigs.k8s.io/cluster-api/util/flags"
	"sigs.k8s.io/controller-runtime/pkg/client/config"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

const (
	// defaultVerbosity is the default of Cluster API's managers.
	defaultVerbosity = 2
	// defaultLease is the default name of the Lease.
	defaultLease = "foo-manager-leader-election"
)

// phases lists the phases of the storage migration that can be skipped.
var phases = []string{string(crdmigrator.StorageVersionMigrationPhase), string(crdmigrator.CleanupManagedFieldsPhase)}

// ParseOptions returns the options given by the arguments of a command line. They may contradict
// each other: see Validate. The error is pflag.ErrHelp if help was requested; Usage returns it.
func ParseOptions(args []string, gates featuregate.MutableFeatureGate) (*Options, error) {
	options := NewOptions(gates)
	fs := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	fs.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	fs.Usage = func() {}
	options.AddFlags(fs)
	kubeconfig := flag.NewFlagSet("", flag.ContinueOnError)
	config.RegisterFlags(kubeconfig)
	fs.AddGoFlagSet(kubeconfig)
	if err := fs.Parse(args); err != nil {
		return options, err
	}
	if rest := fs.Args(); len(rest) > 0 {
		return options, fmt.Errorf("unknown argument %q: there are only flags, such as --namespace=default", rest[0])
	}
	return options, nil
}

// Usage returns a description of the flags.
func (o *Options) Usage() string { return "Flags of the manager:\n" + o.flags.FlagUsages() }

// Print logs all flags.
func (o *Options) Print() { cliflag.PrintFlags(o.flags) }

// AddFlags adds a flag for each option.
func (o *Options) AddFlags(fs *pflag.FlagSet) {
	o.flags = fs
	fs.StringSliceVar(&o.providers, "providers", names(defaultProviders),
		fmt.Sprintf("Roles of this manager, comma-separated: %s or both. The program %s has only the role of its own name.",
			strings.Join(names(defaultProviders), ", "), RuntimeExtension))
	fs.StringVar(&o.Namespace, "namespace", "", "Namespace that the controllers watch; all namespaces if unset.")
	fs.StringVar(&o.WatchFilter, "watch-filter", "",
		fmt.Sprintf("Label value that the controllers watch. The label key is always %s; all objects if unset.", clusterv1.WatchLabel))
	fs.StringVar((*string)(&o.Cloud), "cloud", string(infrav1.CloudLocal), fmt.Sprintf("Kind of cloud for clusters without an identity: %s for foocloud, %s for a namespace of a Kubernetes cluster.",
		infrav1.CloudLocal, infrav1.CloudKubernetes))
	fs.StringVar(&o.CloudNamespace, "cloud-namespace", "", fmt.Sprintf("Namespace that holds the machines, with --cloud=%s.", infrav1.CloudKubernetes))
	fs.StringVar(&o.CloudEndpoint, "cloud-endpoint", "", "Endpoint of the Foo cloud: unix:///path or https://host:port. For a Kubernetes cluster, the address of its API server.")
	fs.StringVar(&o.CloudTokenFile, "cloud-token-file", "", "File that holds the bearer token for the Foo cloud.")
	fs.StringVar(&o.CloudCAFile, "cloud-ca-file", "", "File with the certificate authorities of an https endpoint of the Foo cloud.")
	o.base.Cache.SyncPeriod = fs.Duration("sync-period", 10*time.Minute, "The minimum interval at which watched objects are reconciled.")
	fs.StringSliceVar(&o.skipPhases, "skip-crd-migration-phases", nil,
		"Phases of the storage version migration to skip, comma-separated. Possible values are "+strings.Join(phases, ", ")+".")
	fs.BoolVar(&o.showVersion, "version", false, "Print the version and exit.")
	o.addLimits(fs)
	o.addServers(fs)
	o.addLeaderElection(fs)
	capiflags.AddManagerOptions(fs, &o.serving)
	logsv1.AddFlags(o.logs, fs)
	o.Gates.AddFlag(fs)
}

func (o *Options) addLimits(fs *pflag.FlagSet) {
	fs.IntVar(&o.concurrency, "concurrency", 10, "Number of objects of each kind to process simultaneously.")
	for _, provider := range Providers {
		for _, kind := range reconciled[provider] {
			o.ofKind[kind] = fs.Int(concurrencyFlag(kind), 0, "Number of "+kind+"s to process simultaneously; 0 means the value of --concurrency.")
		}
	}
	fs.IntVar(&o.ClusterCacheConcurrency, "clustercache-concurrency", 100, "Number of workload clusters to connect to simultaneously.")
	fs.Float32Var(&o.kubeAPIQPS, "kube-api-qps", 100, "Maximum requests per second to the management cluster.")
	fs.IntVar(&o.kubeAPIBurst, "kube-api-burst", 200, "Maximum requests in one burst to the management cluster.")
	fs.Float32Var(&o.ClusterCacheQPS, "clustercache-client-qps", 20, "Maximum requests per second to each workload cluster.")
	fs.IntVar(&o.ClusterCacheBurst, "clustercache-client-burst", 30, "Maximum requests in one burst to each workload cluster.")
	fs.DurationVar(&o.RemoteConditionsGracePeriod, "remote-conditions-grace-period", 5*time.Minute,
		"How long conditions keep the last known state of a workload cluster that cannot be reached.")
	fs.DurationVar(&o.EtcdCallTimeout, "etcd-call-timeout-duration", 5*time.Second,
		"Maximum time for each round of requests to one etcd member, including the connection.")
}

func (o *Options) addServers(fs *pflag.FlagSet) {
	fs.IntVar(&o.Webhook.Port, "webhook-port", 9443, "Port of the webhooks; 0 disables them, for an API server without webhook configurations.")
	fs.StringVar(&o.Webhook.CertDir, "webhook-cert-dir", "/tmp/k8s-webhook-server/serving-certs/", "Folder with the certificate and the key of the webhooks.")
	fs.StringVar(&o.Webhook.CertName, "webhook-cert-name", "tls.crt", "File name of the webhooks' certificate.")
	fs.StringVar(&o.Webhook.KeyName, "webhook-key-name", "tls.key", "File name of the webhooks' key.")
	fs.StringVar(&o.Webhook.ClientCAName, "runtime-extension-client-ca-name", "",
		"File name, in the folder of the webhooks' certificate, of the certificate authorities for clients of the runtime extension; anyone may call it if unset.")
	fs.StringVar(&o.SnapshotImage, "etcd-snapshot-image", "",
		"Image of the Job with which the runtime extension takes an etcd snapshot in a workload cluster; without it, no snapshots can be taken.")
	fs.StringVar(&o.base.HealthProbeBindAddress, "health-addr", ":9440", "The address the health endpoint binds to; 0 disables it.")
	fs.StringVar(&o.base.PprofBindAddress, "profiler-address", "",
		"The address to serve pprof on without authentication, for example localhost:6060; the diagnostics endpoint serves it with authentication.")
	fs.BoolVar(&o.contentionProfiling, "contention-profiling", false, "Enable block profiling.")
}

func (o *Options) addLeaderElection(fs *pflag.FlagSet) {
	fs.BoolVar(&o.base.LeaderElection, "leader-elect", false, "Make sure that only one manager is active.")
	fs.StringVar(&o.base.LeaderElectionID, "leader-elect-resource-name", defaultLease,
		"Name of the Lease. Managers that share a namespace and must all be active, such as with different values of --watch-filter, each need their own.")
	fs.StringVar(&o.base.LeaderElectionNamespace, "leader-elect-resource-namespace", "", "Namespace of the Lease; the namespace of the manager's Pod if unset.")
	o.base.LeaseDuration = fs.Duration("leader-elect-lease-duration", time.Minute, "How long a candidate waits before it takes over leadership.")
	o.base.RenewDeadline = fs.Duration("leader-elect-renew-deadline", 40*time.Second, "How long the leader tries to renew before it gives up.")
	o.base.RetryPeriod = fs.Duration("leader-elect-retry-period", 5*time.Second, "How long to wait between attempts to become the leader.")
}

func concurrencyFlag(kind string) string { return strings.ToLower(kind) + "-concurrency" }

func names(providers []Provider) []string {
	names := make([]string, 0, len(providers))
	for _, provider := range providers {
		names = append(names, string(provider))
	}
	return names
}
