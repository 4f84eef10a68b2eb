// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/internal/quickstart/progress"
	"github.com/capfoo/cluster-api-provider-foo/internal/supervisor"
	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

const fieldOwner = client.FieldOwner("foo-quickstart")

// Run runs the whole quickstart. It returns nil when the user ends it by ending ctx or, with Exit,
// once the cluster is available. An InvalidError means that nothing was started.
func Run(ctx context.Context, config Config, out io.Writer) error {
	if err := config.check(ctx); err != nil {
		return err
	}
	config.Keep = config.Keep || config.Background && config.Resume // see stay
	state, err := openState(config)
	if err != nil {
		return err
	}
	defer state.close()

	say := newPrinter(out)
	talking, hush := context.WithCancel(ctx)
	go say.repeatWaiting(talking)
	sup := supervisor.New(supervisor.Options{LogDir: config.logDir(), PIDDir: config.pidDir(), ReadyTimeout: config.Timeout, Notify: say.process})

	// Whatever the caller prints starts on an empty line.
	defer say.end()
	defer hush()
	runErr := work(ctx, state, sup, say)
	end := succeeded
	if runErr != nil && ctx.Err() == nil {
		end = failed
		runErr = explain(config, runErr, say, "the logs are in "+config.logDir())
	}
	say.waitingFor("the programs to stop")
	ending, cancel := config.cleaningUp(ctx)
	defer cancel()
	stopPrograms(ending, sup, say)
	return config.ended(ending, runErr, state.leave(ending, say, end), say)
}

// check checks the configuration, the state folder and the machine, and leaves nothing behind. The state
// folder comes before the machine, which has what an earlier run made.
func (c Config) check(ctx context.Context) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if os.Geteuid() != 0 { // others cannot read the state folder, and checks of the machine need root
		return notRoot()
	}
	if pid, err := c.owner(); err != nil || pid != 0 {
		return cmp.Or(err, inUse(c.StateDir, pid))
	}
	if err := checkState(c); err != nil {
		return err
	}
	var wrong problems
	c.checkPrograms(&wrong)
	c.checkRoot(ctx, &wrong)
	c.checkPort(ctx, &wrong)
	if ctx.Err() != nil { // what a check says that was interrupted is no problem of the machine
		return context.Cause(ctx)
	}
	return wrong.err()
}

// work is everything between the checks and the teardown.
func work(ctx context.Context, state *state, sup *supervisor.Supervisor, say *printer) error {
	config := state.config
	starting, cancel := context.WithTimeoutCause(ctx, config.Timeout, fmt.Errorf("not all programs are up after %s", config.Timeout))
	defer cancel()
	cluster, err := startPrograms(starting, config, sup, say)
	if err != nil {
		return err
	}
	if !config.ManagementOnly {
		if err := workload(ctx, config, cluster.Config(), say); err != nil {
			return err
		}
	}
	return state.stay(ctx, say)
}

// stay tells other commands that everything is up, and returns when ctx ends. What is up in the background
// is kept, because a machine that shuts down sends the same signal as a user: foo quickstart delete deletes it.
func (s *state) stay(ctx context.Context, say *printer) error {
	config := s.config
	config.Keep = config.Keep || config.Background
	if err := writeSettings(config); err != nil {
		return err
	}
	if err := writeEnvironment(config); err != nil {
		return err
	}
	s.config = config
	if config.Exit {
		return nil
	}
	say.waitingFor("")
	say.note("Up. Logs are in %s.%s", config.logDir(), config.howItEnds())
	<-ctx.Done()
	return nil
}

// howItEnds tells the user how to end the quickstart and what that does.
func (c Config) howItEnds() string {
	switch {
	case c.Background:
		return ""
	case c.Keep:
		return " Ctrl-C stops it and keeps the cluster's instances and " + c.StateDir + "."
	default:
		return " Ctrl-C or a reboot of this host deletes everything."
	}
}

// workload creates the workload cluster and reports on it.
func workload(ctx context.Context, config Config, management *rest.Config, say *printer) error {
	if config.Management && config.initialized() {
		// It may manage itself by now, and must not be created again.
		say.note("Management cluster %s already exists and is left as it is.", config.ClusterName)
		_, _ = io.WriteString(say.out, "\n"+managementSteps(config)) // it goes on even if nobody reads this
		return nil
	}
	var origin origin
	var reached []progress.Reached
	// If one fails, the other ends too.
	group, groupCtx := errgroup.WithContext(ctx)
	if config.Management {
		group.Go(func() error { return loadImages(groupCtx, config) })
	}
	group.Go(func() (err error) {
		origin, reached, err = createWorkload(groupCtx, config, management, say)
		return err
	})
	err := group.Wait()
	if !config.Exit && origin.mayFail(err) {
		say.note("Cluster %s is not available: %s", config.ClusterName, indent(err.Error()))
		return nil
	}
	if err != nil {
		return err
	}
	shown := report{config: config}
	if origin == created {
		shown.reached = reached
	}
	if config.Management {
		if err := initialize(ctx, config, say); err != nil {
			return err
		}
	}
	say.end()
	return shown.write(ctx, say.out)
}

// createWorkload creates the workload cluster, or finds it, and returns once it is available, with
// the milestones that it has reached since.
func createWorkload(ctx context.Context, config Config, management *rest.Config, say *printer) (origin, []progress.Reached, error) {
	watching, stopWatching := context.WithCancel(ctx)
	defer stopWatching()
	follower, err := newFollower(watching, config, management, say)
	if err != nil {
		return found, nil, err
	}
	origin, err := applyTemplate(ctx, config, follower.live, say)
	if err != nil {
		return origin, nil, err
	}
	err = follower.follow(watching)
	return origin, follower.tracker.Reached(), err
}

func newClient(management *rest.Config) (client.Client, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	return client.New(management, client.Options{Scheme: scheme})
}

// applyTemplate creates the objects of the cluster. A cluster from an earlier run is left as it is.
func applyTemplate(ctx context.Context, config Config, live client.Client, say *printer) (origin, error) {
	existing := &clusterv1.Cluster{}
	err := live.Get(ctx, config.key(), existing)
	if err == nil {
		say.note("Cluster %s already exists and is left as it is.", config.ClusterName)
		return found, nil
	}
	if client.IgnoreNotFound(err) != nil {
		return found, err
	}
	objects, err := renderTemplate(ctx, config)
	if err != nil {
		return found, err
	}
	if err := createObjects(ctx, config, live, objects, say); err != nil {
		return found, err
	}
	return created, nil
}

// createObjects creates the objects of a cluster, and their namespace.
func createObjects(ctx context.Context, config Config, live client.Client, objects []unstructured.Unstructured, say *printer) error {
	if err := ensureNamespace(ctx, config, live); err != nil {
		return err
	}
	say.note("Creating cluster %s: Kubernetes %s, %d control plane and %d worker machines. The time restarts at zero.",
		config.ClusterName, config.KubernetesVersion, config.ControlPlaneMachineCount, config.WorkerMachineCount)
	for index := range objects {
		if err := apply(ctx, live, &objects[index]); err != nil {
			return err
		}
	}
	return nil
}

// defaultFlavor is what the user calls the flavor that clusterctl takes without --flavor.
const defaultFlavor = "default"

// renderTemplate renders the flavor as `clusterctl generate cluster` does. The flavor fast suits a
// quickstart: the user is waiting, and nobody relies on the cluster's data. Further variables of the
// template come from the environment.
func renderTemplate(ctx context.Context, config Config) ([]unstructured.Unstructured, error) {
	flavor := flavors.Fast
	if config.Flavor == defaultFlavor {
		flavor = flavors.Default
	}
	content, err := flavors.Get(flavor)
	if err != nil {
		return nil, err
	}
	variables := map[string]string{}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		variables[name] = value
	}
	maps.Copy(variables, map[string]string{
		"NAMESPACE": config.Namespace, "CLUSTER_NAME": config.ClusterName, "KUBERNETES_VERSION": config.KubernetesVersion,
		"CONTROL_PLANE_MACHINE_COUNT": strconv.Itoa(config.ControlPlaneMachineCount), "WORKER_MACHINE_COUNT": strconv.Itoa(config.WorkerMachineCount),
	})
	objects, err := flavors.Template{Content: content}.Render(ctx, config.Namespace, variables)
	if err != nil {
		return nil, fmt.Errorf("render cluster template: %w", err)
	}
	return objects, nil
}

func ensureNamespace(ctx context.Context, config Config, live client.Client) error {
	namespace := &unstructured.Unstructured{}
	namespace.SetAPIVersion("v1")
	namespace.SetKind("Namespace")
	namespace.SetName(config.Namespace)
	return apply(ctx, live, namespace)
}

func apply(ctx context.Context, live client.Client, object *unstructured.Unstructured) error {
	if err := live.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), fieldOwner); err != nil {
		return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// ReportedError is an error that has already been shown to the user with its details.
type ReportedError struct {
	// Err is the cause.
	Err error
	// Advice says how to go on.
	Advice string
}

func (e *ReportedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ReportedError) Unwrap() error { return e.Err }

// How many lines of a log are searched, and shown, after a failure.
const (
	logSearched = 200
	logLines    = 12
	logWidth    = 300
)

// explain shows the reason for a failure, with the end of the most informative log. If the disk is full, the
// advice begins with that.
func explain(config Config, err error, say *printer, advice string) *ReportedError {
	say.note("FAILED: %s", indent(err.Error()))
	log, ok := supervisor.LogOf(err)
	var failed *FailedError
	if errors.As(err, &failed) {
		log, ok = config.logFor(failed), true
	}
	said := []string{err.Error()}
	if ok {
		said = append(said, showEnd(log, say)...)
	}
	if config.diskIsFull(said...) {
		advice = whenFull + "; " + advice
	}
	return &ReportedError{Err: err, Advice: advice}
}

// whenFull says what to do about a full disk.
const whenFull = "the disk is full: free some space"

// With little space, a disk is full: programs may have deleted something since, or just become slow. With some
// space, it is if they say so. With more, what they say is old, or about something else, such as inotify watches.
const (
	littleSpace = 1 << 20
	someSpace   = 1 << 30
)

// diskIsFull reports whether the disk is full, given what programs have said.
func (c Config) diskIsFull(texts ...string) bool {
	var disk unix.Statfs_t
	if unix.Statfs(c.StateDir, &disk) != nil {
		return false
	}
	space := disk.Bfree * uint64(disk.Bsize)
	return space < littleSpace || space < someSpace && slices.ContainsFunc(texts, func(text string) bool {
		return strings.Contains(text, unix.ENOSPC.Error())
	})
}

func (c Config) logFor(failed *FailedError) string {
	if failed.Instance != "" {
		return filepath.Join(c.cloudDir(), instanceFolder, failed.Instance, consoleFile)
	}
	return filepath.Join(c.logDir(), c.cloudManager()+".log")
}

// showEnd shows the end of a log, and returns its lines.
func showEnd(log string, say *printer) []string {
	lines, err := supervisor.LastLines(log, logSearched)
	if err != nil {
		return nil // the failure has been shown; the log is only a help
	}
	lines = telling(lines)
	say.note("The end of %s:", log)
	for _, line := range lines {
		if len(line) > logWidth {
			line = line[:logWidth] + "..."
		}
		say.note("  %s", printers.EscapeTerminal(line)) // an instance writes its log itself
	}
	return lines
}

// klogProblem matches the start of a line that a Kubernetes program logs as an error or a warning.
var klogProblem = regexp.MustCompile(`^[EFW][0-9]{4} `)

// telling returns the most informative lines about a failure: the last errors and warnings, or the
// last lines if there are none.
func telling(lines []string) []string {
	var found []string
	for _, line := range lines {
		if klogProblem.MatchString(line) {
			found = append(found, line)
		}
	}
	if len(found) == 0 {
		found = lines
	}
	return found[max(0, len(found)-logLines):]
}

// indent aligns further lines with the first.
func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n            ") }
