// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/internal/management"
)

// DefaultStateDir is the state folder of clusters that stay.
const DefaultStateDir = "/var/lib/foo"

// Up starts the management cluster, the cloud and the providers in the background, unless they run
// already, and returns once they are up. A kept state keeps its network, and the cloud's configuration
// unless there is another. It returns an InvalidError if the user wants what the management cluster
// does not have.
func Up(ctx context.Context, config Config, out io.Writer) error {
	if err := config.validate(); err != nil {
		return err
	}
	err := config.exclusively(ctx, out, func() error { return config.start(ctx, out) })
	if !config.kept() { // an interrupted first start leaves nothing
		return err
	}
	return orContinue(ctx, err, config.startCommand())
}

// abandon removes what a first start has left. It is called after ctx has ended.
func (c Config) abandon(ctx context.Context) error {
	ctx, cancel := c.cleaningUp(ctx)
	defer cancel()
	if _, err := readSettings(c.StateDir); err != nil { // it was interrupted before it had a state
		return os.RemoveAll(filepath.Join(c.StateDir, backgroundLog))
	}
	err := Delete(ctx, c)
	if err != nil && interruptedAgain(ctx) {
		return c.leftBehind()
	}
	return err
}

// start does what Up does.
func (c Config) start(ctx context.Context, out io.Writer) error {
	config := c
	pid, err := config.owner()
	if err != nil {
		return err
	}
	if pid != 0 {
		return config.waitForOther(ctx)
	}
	if built := config.builtVersions(); len(built) > 0 {
		config.KubernetesVersion = built[len(built)-1]
	}
	// It belongs to no single cluster.
	config.ClusterName, config.Namespace = "demo", metav1.NamespaceDefault
	if config.Resume = config.kept(); config.Resume {
		if err := config.refuseOther("network", "bridge"); err != nil {
			return err
		}
	}
	given := func(flag string) bool {
		return flag == "kubernetes-version" || flag == "cloud-config" && c.CloudConfig != ""
	}
	if err := config.Complete(given); err != nil {
		return err
	}
	if config.Management {
		return invalid("%s has a management cluster with Pods; start it with: %s", c.StateDir, c.startCommand())
	}
	return Detach(ctx, config, config.managementArguments(), out)
}

// waitForOther waits until the management cluster is up that another process starts or has started.
func (c Config) waitForOther(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, &ReportedError{
		Err: fmt.Errorf("the management cluster is not up after %s", c.Timeout), Advice: "the logs are in " + c.logDir(),
	})
	defer cancel()
	if err := c.waitUp(ctx, nil, func() {}); err != nil {
		return err
	}
	return c.refuseOther("network", "bridge", "cloud-config")
}

// validate checks what all commands that create something need.
func (c Config) validate() error {
	if os.Geteuid() != 0 {
		return notRoot()
	}
	return c.Validate()
}

// kept reports whether the state folder has the state of an earlier run.
func (c Config) kept() bool {
	entries, err := c.content()
	if err != nil || free(entries) {
		return false
	}
	_, err = readSettings(c.StateDir)
	return err == nil
}

// managementArguments are the arguments of a quickstart that only runs the management cluster.
func (c Config) managementArguments() []string {
	arguments := []string{
		"quickstart", "--management-only", "--keep", "--state-dir=" + c.StateDir, "--bridge=" + c.Bridge, "--network=" + c.Network,
		"--cluster-name=" + c.ClusterName, "--namespace=" + c.Namespace, "--kubernetes-version=" + c.KubernetesVersion, "--timeout=" + c.Timeout.String(), "--cloud-config=" + c.CloudConfig,
	}
	if c.Resume {
		arguments = append(arguments, "--resume")
	}
	return arguments
}

// Stop ends the programs in the background. The clusters keep running, and Up continues with them. It
// refuses to end a quickstart that would delete its clusters.
func Stop(ctx context.Context, config Config, out io.Writer) error {
	if err := config.usable(); err != nil {
		return err
	}
	if none, err := config.removed(); none || err != nil {
		return err
	}
	err := config.exclusively(ctx, out, func() error { return config.stop(ctx) })
	return orContinue(ctx, err, config.here("foo stop"))
}

func (c Config) stop(ctx context.Context) error {
	pid, err := c.owner()
	if err != nil || pid == 0 {
		return err
	}
	kept, err := readSettings(c.StateDir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errStarting
	case err != nil:
		return err
	case !kept.Keep:
		return invalid("the quick start in %s deletes its clusters when it ends; if you want that, run: %s", c.StateDir, c.removeCommand())
	}
	return c.stopOwner(ctx)
}

// DeleteCommand is the command that deletes the cluster.
func (c Config) DeleteCommand() string { return c.Command("delete cluster") }

// KubectlCommand is the beginning of a command of kubectl for the cluster.
func (c Config) KubectlCommand() string {
	return c.Kubectl() + c.kubeconfigFlag() + " --context " + c.Context()
}

// kubeconfigFlag is the flag with which foo and kubectl find the user's kubeconfig; empty if they do so anyway.
func (c Config) kubeconfigFlag() string {
	switch {
	case c.Kubeconfig == "":
		return ""
	case statePath.MatchString(c.Kubeconfig):
		return " --kubeconfig=" + c.Kubeconfig
	default:
		return " --kubeconfig='" + strings.ReplaceAll(c.Kubeconfig, "'", `'\''`) + "'"
	}
}

// Command is a command about the cluster, for example "kubeconfig".
func (c Config) Command(words string) string {
	command := "foo " + words + " " + c.ClusterName
	if c.Namespace != metav1.NamespaceDefault {
		command += " --namespace=" + c.Namespace
	}
	if c.KeepManagement && words == "delete cluster" {
		command += " --keep-management"
	}
	return c.here(command + c.kubeconfigFlag())
}

// startCommand is the command that starts a management cluster that was stopped.
func (c Config) startCommand() string {
	if kept, err := readSettings(c.StateDir); err == nil && kept.Management {
		return c.resumeCommand()
	}
	return c.here("foo start")
}

// resumeCommand is the command that continues a quickstart, and creates its cluster if that is missing.
func (c Config) resumeCommand() string {
	return "foo quickstart --resume --keep --detach --state-dir=" + c.StateDir
}

// here adds the state folder to a command unless that is the default.
func (c Config) here(command string) string {
	if c.StateDir != DefaultStateDir {
		command += " --state-dir=" + c.StateDir
	}
	return command
}

func invalid(format string, args ...any) error {
	return &InvalidError{Problems: []string{fmt.Sprintf(format, args...)}}
}

// management returns how to reach the management cluster.
func (c Config) management() (*rest.Config, client.Client, error) {
	file := &clientcmd.ClientConfigLoadingRules{ExplicitPath: c.managementKubeconfig()}
	// A user may have made another context the current one.
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(file, &clientcmd.ConfigOverrides{CurrentContext: management.Context}).ClientConfig()
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, errStarting
	}
	if err != nil {
		return nil, nil, fmt.Errorf("management cluster: %w", err)
	}
	config.Proxy, config.QPS = noProxy, -1
	live, err := newClient(config)
	return config, live, err
}

// running returns a client of the management cluster, which must run. It returns nil if there is
// none at all.
func (c Config) running() (*rest.Config, client.Client, error) {
	if err := c.usable(); err != nil {
		return nil, nil, err
	}
	pid, err := c.owner()
	if err != nil {
		return nil, nil, err
	}
	if pid == 0 && c.removing() {
		return nil, nil, invalid("%s", c.halfRemoved())
	}
	if pid == 0 && c.kept() {
		return nil, nil, invalid("the management cluster is not running; start it with: %s", c.startCommand())
	}
	if pid == 0 {
		return nil, nil, nil
	}
	return c.management()
}

// ListClusters returns all clusters.
func ListClusters(ctx context.Context, config Config) (*clusterv1.ClusterList, error) {
	list := &clusterv1.ClusterList{Items: []clusterv1.Cluster{}} // JSON shows an empty list and not null
	_, live, err := config.running()
	if err != nil || live == nil {
		return list, err
	}
	return list, unanswered(live.List(ctx, list))
}

// errStarting means that the programs of the management cluster run, but it does not answer.
var errStarting = errors.New("the management cluster is starting or stopping; try again in a moment")

// unanswered explains why a management cluster whose programs run does not answer.
func unanswered(err error) error {
	if utilnet.IsConnectionRefused(err) || meta.IsNoMatchError(err) {
		return errStarting
	}
	return err
}

// find returns the management cluster and the cluster that the configuration names, or an
// InvalidError if there is no such cluster.
func (c Config) find(ctx context.Context) (*rest.Config, *clusterv1.Cluster, error) {
	management, live, err := c.running()
	if err != nil {
		return nil, nil, err
	}
	var clusters clusterv1.ClusterList
	if live != nil {
		if err := live.List(ctx, &clusters); err != nil {
			return nil, nil, unanswered(err)
		}
	}
	var names []string
	for index := range clusters.Items {
		cluster := &clusters.Items[index]
		if cluster.Name == c.ClusterName && cluster.Namespace == c.Namespace {
			return management, cluster, nil
		}
		names = append(names, cluster.Namespace+"/"+cluster.Name)
	}
	slices.Sort(names)
	return management, nil, c.absent(names, live != nil)
}

// absent returns the InvalidError for a cluster that is not among these. A management cluster may run without any.
func (c Config) absent(names []string, managed bool) error {
	problem := fmt.Sprintf("cluster %q does not exist", c.ClusterName)
	moved := false
	used, err := c.hasInstances()
	switch {
	case len(names) > 0:
		problem += fmt.Sprintf(" in namespace %q; there are %s", c.Namespace, strings.Join(names, ", "))
	case managed && (used || err != nil):
		moved = true
		problem += " here, and there are no others, but the cloud has instances; look for it where clusters were moved to, or delete everything with: " + c.removeCommand()
	case managed:
		problem += ", and there are no other clusters; delete the management cluster with: " + c.removeCommand()
	case c.validName():
		problem += "; create it with: " + c.Command("create cluster")
	default:
		problem += ": must be " + allowedNames
	}
	return &InvalidError{Problems: []string{problem}, missing: true, moved: moved}
}

// IsMissing reports whether err means that there is no such cluster.
func IsMissing(err error) bool {
	var invalid *InvalidError
	return errors.As(err, &invalid) && invalid.missing
}

// Detach runs a quickstart with these arguments in the background, and returns once its cluster is
// available. If the user interrupts the first start, it leaves nothing, unless Keep is set.
func Detach(ctx context.Context, config Config, arguments []string, out io.Writer) error {
	if err := config.check(ctx); err != nil {
		return err
	}
	fresh := !config.kept()
	err := startInBackground(ctx, config, arguments, out)
	if err == nil || ctx.Err() == nil || errors.Is(err, errLeft) {
		return err
	}
	if config.kept() && (!fresh || config.Keep) {
		return orContinue(ctx, err, config.resumeCommand())
	}
	left := config.abandon(ctx)
	if errors.Is(left, errLeft) {
		return left
	}
	if left != nil {
		_, _ = fmt.Fprintln(out, left)
	}
	return err
}
