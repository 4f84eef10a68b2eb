// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/node/contract"
	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

// Config holds the user's choices. A state folder keeps the fields that have a name in JSON. Any release may
// resume it, so the names stay.
type Config struct {
	// KubernetesVersion of the management cluster and of the workload cluster, for example "v1.36.3".
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// ClusterName of the workload cluster: a DNS label of at most 40 characters.
	ClusterName string `json:"clusterName"`
	// Namespace of the workload cluster's objects in the management cluster.
	Namespace string `json:"namespace"`
	// Flavor of the workload cluster: default, or fast if empty. Both have the same objects, which a deletion
	// relies on.
	Flavor string `json:"-"`
	// ControlPlaneMachineCount is odd, so that etcd has a majority.
	ControlPlaneMachineCount int `json:"controlPlaneMachineCount,omitempty"`
	// WorkerMachineCount may be zero.
	WorkerMachineCount int `json:"workerMachineCount,omitempty"`
	// StateDir holds all files. It is created at the start, and removed at the end unless Keep is
	// set.
	StateDir string `json:"-"`
	// BinDir holds the programs that the Makefile builds.
	BinDir string `json:"-"`
	// Bridge is the name of the interface through which the machine reaches instances. No existing
	// interface may have it.
	Bridge string `json:"bridge"`
	// Network of the cloud's instances in CIDR notation, IPv4. It must not overlap any address or
	// route of the machine.
	Network string `json:"network"`
	// CloudConfig is the path of the cloud's configuration file, with zones, instance types and
	// tenants; the cloud's defaults if empty. It must have the tenant "default".
	CloudConfig string `json:"cloudConfig,omitempty"`
	// ManagementPort is the port of the management API server on 127.0.0.1; any free one if zero.
	ManagementPort int `json:"-"`
	// Timeout for each of the two parts: all programs up, and the workload cluster available.
	Timeout time.Duration `json:"-"`
	// Keep retains the state folder and the cloud's instances when the quickstart ends.
	Keep bool `json:"keep,omitempty"`
	// Resume continues from a kept state folder.
	Resume bool `json:"-"`
	// Exit ends the quickstart once the cluster is available, instead of staying up.
	Exit bool `json:"-"`
	// ManagementOnly creates no workload cluster.
	ManagementOnly bool `json:"managementOnly,omitempty"`
	// Management makes the cluster a management cluster: clusterctl installs all providers in it,
	// and their managers are Pods.
	Management bool `json:"management,omitempty"`
	// KubeadmControlPlane also runs Cluster API's own control plane provider, for clusters with a
	// KubeadmControlPlane.
	KubeadmControlPlane bool `json:"kubeadmControlPlane,omitempty"`
	// ManagerPerProvider runs Foo's control plane provider and infrastructure provider in separate
	// managers, with the permissions that a release gives them, instead of one manager for both.
	ManagerPerProvider bool `json:"managerPerProvider,omitempty"`
	// Extension also runs and registers Foo's runtime extension.
	Extension bool `json:"extension,omitempty"`
	// ExtensionSettings are the settings of its ExtensionConfig; docs/runtime-extension.md lists
	// all.
	ExtensionSettings map[string]string `json:"extensionSettings,omitempty"`
	// CloudListen is an additional address of the cloud, https://address:port; none if empty.
	CloudListen string `json:"cloudListen,omitempty"`
	// Background means that no user watches the output; it is in a file.
	Background bool `json:"-"`
	// Given reports whether the user has given a flag; nil if there are no flags.
	Given func(flag string) bool `json:"-"`
	// Kubeconfig is the user's kubeconfig, if the user has named one.
	Kubeconfig string `json:"-"`
	// KeepManagement keeps a management cluster without clusters.
	KeepManagement bool `json:"-"`
	// UserNamespaces says whether instances get user namespaces: off, auto or on; off if empty.
	UserNamespaces string `json:"userNamespaces,omitempty"`
}

// podsPort is the port at which Pods reach the cloud.
const podsPort = 7443

// maxSocketPath is the maximum length of a unix socket's path.
const maxSocketPath = 107

// statePath allows no characters that shells would interpret in env, a file of the state folder, or in
// the commands that users are told.
var statePath = regexp.MustCompile(`^[a-zA-Z0-9/._+-]+$`)

var interfaceName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,14}$`)

// InvalidError reports what is wrong with the configuration or with the machine. Nothing was
// started.
type InvalidError struct {
	// Problems lists each problem with what was found and what is allowed.
	Problems []string
	// missing means that a cluster does not exist.
	missing bool
	// moved means that clusterctl may have moved the missing cluster.
	moved bool
}

func (e *InvalidError) Error() string { return strings.Join(e.Problems, "\n") }

// IsInvalid reports whether err is, or wraps, an InvalidError.
func IsInvalid(err error) bool {
	var invalid *InvalidError
	return errors.As(err, &invalid)
}

// problems collects problems.
type problems []string

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return &InvalidError{Problems: p}
}

// Validate checks the values alone, without the machine. It returns an InvalidError.
func (c Config) Validate() error {
	var wrong problems
	c.validateCluster(&wrong)
	c.validateNetwork(&wrong)
	c.validateStateDir(&wrong)
	c.validateProviders(&wrong)
	c.validatePods(&wrong)
	if c.Timeout <= 0 {
		wrong.add("--timeout %s: must be more than zero, for example 5m", c.Timeout)
	}
	if c.ManagementPort < 0 || c.ManagementPort > 65535 {
		wrong.add("--management-port %d: must be 1 to 65535, or 0 for any free port", c.ManagementPort)
	}
	return wrong.err()
}

// usable checks what all commands need.
func (c Config) usable() error {
	if os.Geteuid() != 0 {
		return notRoot()
	}
	var wrong problems
	c.validateStateDir(&wrong)
	return wrong.err()
}

func (c Config) validateStateDir(wrong *problems) {
	if !filepath.IsAbs(c.StateDir) || filepath.Clean(c.StateDir) == "/" {
		wrong.add("--state-dir %q: must be the absolute path of a folder that only this quickstart uses", c.StateDir)
	} else if !statePath.MatchString(c.StateDir) {
		wrong.add("--state-dir %q: must have only letters, digits and the characters / . _ + -, so that shells can read the files in it", c.StateDir)
	}
	if length := len(c.cloudSocket()); length > maxSocketPath {
		wrong.add("--state-dir %q is too long: the path of the socket in it would have %d bytes, at most %d are allowed", c.StateDir, length, maxSocketPath)
	}
}

func (c Config) validateProviders(wrong *problems) {
	if len(c.ExtensionSettings) > 0 && !c.Extension {
		wrong.add("--extension-settings: requires --extension, because nothing else reads them")
	}
	if c.CloudListen != "" && !strings.HasPrefix(c.CloudListen, "https://") {
		wrong.add("--cloud-listen %q: must be https://address:port", c.CloudListen)
	}
	if !slices.Contains([]string{"", "off", "auto", "on"}, c.UserNamespaces) {
		wrong.add("--user-namespaces %q: must be off, auto or on", c.UserNamespaces)
	}
}

func (c Config) validatePods(wrong *problems) {
	if c.Management && c.ManagementOnly {
		wrong.add("--management: cannot be combined with --management-only, which creates no cluster")
	}
	if c.Management && c.CloudListen != "" {
		wrong.add("--management: cannot be combined with --cloud-listen, because Pods reach the cloud only at the first address of --network")
	}
}

func (c Config) validateCluster(wrong *problems) {
	if version, err := semver.Parse(strings.TrimPrefix(c.KubernetesVersion, "v")); err != nil || "v"+version.String() != c.KubernetesVersion {
		wrong.add("--kubernetes-version %q: must be a full version, for example v1.36.3", c.KubernetesVersion)
	}
	if c.ControlPlaneMachineCount < 1 || c.ControlPlaneMachineCount%2 == 0 {
		wrong.add("--control-plane-machine-count %d: must be an odd number, 1 or more, so that etcd has a majority", c.ControlPlaneMachineCount)
	}
	if !slices.Contains([]string{"", flavors.Fast, defaultFlavor}, c.Flavor) {
		wrong.add("--flavor %q: must be %s or %s", c.Flavor, flavors.Fast, defaultFlavor)
	}
	if c.WorkerMachineCount < 0 {
		wrong.add("--worker-machine-count %d: must be 0 or more", c.WorkerMachineCount)
	}
	if !c.validName() {
		wrong.add("cluster name %q: must be %s", c.ClusterName, allowedNames)
	}
	if c.workloadKubeconfig() == c.managementKubeconfig() {
		wrong.add("cluster name %q: the management cluster has this name; choose another one", c.ClusterName)
	}
	if found := validation.IsDNS1123Label(c.Namespace); len(found) > 0 {
		wrong.add("--namespace %q: must be at most 63 lower-case letters, digits and '-', beginning and ending with a letter or digit", c.Namespace)
	}
}

// allowedNames describes the names that a new cluster may have.
const allowedNames = "at most 40 lower-case letters, digits and '-', beginning and ending with a letter or digit, " +
	"and neither a number nor a word such as yes, true or null, which have a meaning in YAML"

// validName reports whether a new cluster may have the name, which templates do not quote.
func (c Config) validName() bool {
	var read any
	return len(validation.IsDNS1123Label(c.ClusterName)) == 0 && len(c.ClusterName) <= 40 &&
		yaml.Unmarshal([]byte(c.ClusterName), &read) == nil && read == c.ClusterName
}

func (c Config) validateNetwork(wrong *problems) {
	if !interfaceName.MatchString(c.Bridge) {
		wrong.add("--bridge %q: must be at most 15 letters, digits, '.', '_' and '-'", c.Bridge)
	}
	prefix, err := netip.ParsePrefix(c.Network)
	switch {
	case err != nil || !prefix.Addr().Is4() || prefix.Masked() != prefix:
		wrong.add("--network %q: must be an IPv4 network, for example 10.77.0.0/16", c.Network)
	case !prefix.Addr().IsPrivate():
		wrong.add("--network %s: must be a private network, in 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16", c.Network)
	case prefix.Bits() < 8 || prefix.Bits() > 24:
		wrong.add("--network %s: must have a prefix length from 8 to 24", c.Network)
	}
}

// Paths inside the state folder.

func (c Config) logDir() string     { return filepath.Join(c.StateDir, logFolder) }
func (c Config) pidDir() string     { return filepath.Join(c.StateDir, pidFolder) }
func (c Config) cloudDir() string   { return filepath.Join(c.StateDir, "cloud") }
func (c Config) cloudToken() string { return filepath.Join(c.cloudDir(), "token") }

// cloudCA is the file that verifies the cloud's certificate, if the cloud listens on https.
func (c Config) cloudCA() string { return filepath.Join(c.cloudDir(), "tls.crt") }

// httpsEndpoint is the cloud's https endpoint; empty if it has none.
func (c Config) httpsEndpoint() string {
	network, err := netip.ParsePrefix(c.Network)
	if err != nil || !c.Management {
		return c.CloudListen
	}
	// Instances find everything that the cloud offers them at the first address.
	return "https://" + netip.AddrPortFrom(network.Addr().Next(), podsPort).String()
}

func (c Config) cloudSocket() string   { return filepath.Join(c.cloudDir(), "foocloud.sock") }
func (c Config) cloudEndpoint() string { return "unix://" + c.cloudSocket() }

func (c Config) managementKubeconfig() string {
	return filepath.Join(c.StateDir, "management.kubeconfig")
}
func (c Config) workloadKubeconfig() string {
	return filepath.Join(c.StateDir, c.ClusterName+".kubeconfig")
}

func (c Config) environmentFile() string { return filepath.Join(c.StateDir, "env") }

// Paths of programs.

func (c Config) systemDir() string { return filepath.Join(c.BinDir, "system") }
func (c Config) imagesDir() string { return filepath.Join(c.BinDir, "kubernetes") }
func (c Config) kubernetes(name string) string {
	return filepath.Join(c.imagesDir(), c.KubernetesVersion, name)
}
func (c Config) program(name string) string  { return filepath.Join(c.BinDir, name) }
func (c Config) manifest(path string) string { return filepath.Join(c.BinDir, "manifests", path) }

// builtVersions returns the Kubernetes versions that instances can have, oldest first: those with node
// binaries, and with container images in the operating system. An upgrade leaves the binaries of versions
// that the new release lacks.
func (c Config) builtVersions() []string {
	entries, unreadable := os.ReadDir(c.imagesDir())
	stored, err := contract.StoredVersions(c.systemDir())
	if errors.Join(unreadable, err) != nil {
		return nil // nothing has been built
	}
	var versions []semver.Version
	for _, entry := range entries {
		version, err := semver.Parse(strings.TrimPrefix(entry.Name(), "v"))
		if err != nil || !stored(entry.Name()) {
			continue
		}
		if info, err := os.Stat(filepath.Join(c.imagesDir(), entry.Name(), "kubernetes")); err == nil && info.Mode().IsRegular() {
			versions = append(versions, version)
		}
	}
	slices.SortFunc(versions, semver.Version.Compare)
	names := make([]string, 0, len(versions))
	for _, version := range versions {
		names = append(names, "v"+version.String())
	}
	return names
}
