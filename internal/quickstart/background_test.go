// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/capfoo/cluster-api-provider-foo/internal/management"
)

// stays is the argument of a program in the background that does not end by itself.
const stays = "stays"

// The program that is started in the background is this one, which does not run its tests again then.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "--background") {
		terminated := make(chan os.Signal, 1)
		signal.Notify(terminated, unix.SIGTERM)
		resume(terminated)
		fmt.Println("FAILED: it took too long")
		if slices.Contains(os.Args, stays) {
			<-terminated
		}
		os.Exit(1)
	}
	// Commands under test send this signal to their own process. It may arrive after a test has ended.
	signal.Notify(make(chan os.Signal, 1), unix.SIGTERM)
	os.Exit(m.Run())
}

// resume uses a kept state folder, as a management cluster does that is up, and ends this program when it is told to.
func resume(terminated <-chan os.Signal) {
	var config Config
	for _, argument := range os.Args {
		if dir, ok := strings.CutPrefix(argument, "--state-dir="); ok {
			config.StateDir = filepath.Clean(dir)
		}
	}
	if !config.kept() {
		return
	}
	lock, err := claim(config.StateDir)
	if err == nil {
		err = errors.Join(writePID(lock), os.WriteFile(config.environmentFile(), nil, 0o600))
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	<-terminated
	os.Exit(0)
}

// keep makes a state folder as a quick start leaves it that is kept.
func keep(g Gomega, config Config) {
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	state.close()
	g.Expect(os.Mkdir(config.cloudDir(), 0o700)).To(Succeed())
}

// built returns a configuration whose programs exist. Its cloud finds nothing wrong with the machine.
func built(t *testing.T) Config {
	t.Helper()
	config := validConfig(filepath.Join(t.TempDir(), "state"))
	config.BinDir, config.Bridge = t.TempDir(), "foo-unit-test"
	files := []string{config.kubernetes("kubernetes"), config.program("foonode"), config.program("foocloud"), config.program("tools/clusterctl")}
	for _, provider := range config.providers() {
		files = append(files, provider.Program, provider.Components)
	}
	g := NewWithT(t)
	for _, file := range files {
		g.Expect(os.MkdirAll(filepath.Dir(file), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(file, []byte("#!/bin/sh\n"), 0o700)).To(Succeed())
	}
	storeImages(t, config, config.KubernetesVersion)
	return config
}

func TestOwnerOfAStateFolder(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(filepath.Join(t.TempDir(), "state"))
	g.Expect(config.owner()).To(BeZero(), "there is no folder")
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(config.owner()).To(Equal(os.Getpid()))
	state.close()
	g.Expect(config.owner()).To(BeZero(), "the lock ends with its process")
	g.Expect(config.stopOwner(t.Context())).To(Succeed())
}

func TestStopDeletesNoClusters(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can stop a management cluster")
	}
	g := NewWithT(t)
	config := validConfig(filepath.Join(t.TempDir(), "state"))
	g.Expect(Stop(t.Context(), config, io.Discard)).To(Succeed(), "nothing runs")
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	defer state.close()
	g.Expect(Stop(t.Context(), config, io.Discard)).To(And(Satisfy(IsInvalid), MatchError(ContainSubstring("run: foo quickstart delete --state-dir="+config.StateDir))))
}

// A machine that shuts down ends what is up in the background with a signal.
func TestWhatIsUpInTheBackgroundIsKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can stop a management cluster")
	}
	g := NewWithT(t)
	config := validConfig(filepath.Join(t.TempDir(), "state"))
	config.Background = true
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Mkdir(config.cloudDir(), 0o700)).To(Succeed())
	running, end := signal.NotifyContext(t.Context(), unix.SIGTERM)
	defer end()
	var out bytes.Buffer
	say := newPrinter(&out)
	ended := make(chan error, 1)
	go func() {
		err := state.stay(running, say)
		ended <- errors.Join(err, state.leave(t.Context(), say, succeeded))
		state.close()
	}()
	g.Expect(config.waitUp(t.Context(), nil, func() {})).To(Succeed())
	g.Expect(Stop(t.Context(), config, io.Discard)).To(Succeed(), "nothing is lost")
	g.Eventually(ended, time.Minute).Should(Receive(Not(HaveOccurred())))
	g.Expect(config.kept()).To(BeTrue())
	g.Expect(out.String()).To(ContainSubstring("Continue with: foo start --state-dir=" + config.StateDir))

	config.Resume = true
	g.Expect(checkState(config)).To(Succeed())
}

func TestWhatAStartInTheBackgroundLeftIsNoState(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	g.Expect(os.WriteFile(filepath.Join(config.StateDir, backgroundLog), nil, 0o600)).To(Succeed())
	g.Expect(config.kept()).To(BeFalse())
	g.Expect(checkState(config)).To(Succeed())
	keep(g, config)
	g.Expect(config.kept()).To(BeTrue())
}

func TestWaitUp(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	var out bytes.Buffer
	show := func() { out.WriteString("shown") }
	ended := make(chan error, 1)
	ended <- errors.New("exit status 1")
	g.Expect(config.waitUp(t.Context(), ended, show)).To(MatchError(ContainSubstring("exit status 1")))
	g.Expect(out.String()).To(ContainSubstring("shown"), "what the process said last is shown")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g.Expect(config.waitUp(ctx, nil, show)).To(MatchError(context.Canceled))
	g.Expect(os.WriteFile(config.environmentFile(), nil, 0o600)).To(Succeed())
	g.Expect(config.waitUp(t.Context(), nil, show)).To(Succeed())
}

// What runs in the background has the same timeout, which ends later, and explains what took too long.
func TestStartThatTakesTooLong(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start a management cluster")
	}
	g := NewWithT(t)
	config := built(t)
	config.Timeout = time.Nanosecond
	var out bytes.Buffer
	var reported *ReportedError
	err := config.start(t.Context(), &out)
	g.Expect(errors.As(err, &reported)).To(BeTrue(), "%v", err)
	g.Expect(reported).To(MatchError("the process in the background ended: exit status 1"))
	g.Expect(reported.Advice).To(Equal("its output is in " + filepath.Join(config.StateDir, backgroundLog)))
	g.Expect(out.String()).To(Equal("FAILED: it took too long\n"))

	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	defer state.close()
	err = config.start(t.Context(), &out)
	g.Expect(errors.As(err, &reported)).To(BeTrue(), "%v", err)
	g.Expect(reported).To(MatchError("the management cluster is not up after 1ns"))
	g.Expect(reported.Advice).To(Equal("the logs are in " + config.logDir()))
}

// A command that looks for the owner at the same moment must not keep a start from locking.
func TestLookingForTheOwnerDoesNotDisturbAStart(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	looking, stop := context.WithCancel(t.Context())
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		for looking.Err() == nil {
			_, _ = config.owner()
		}
	}()
	for range 200 {
		state, err := openState(config)
		if err != nil {
			stop()
		}
		g.Expect(err).NotTo(HaveOccurred())
		state.close()
	}
	stop()
	<-looked
}

// cancelling cancels a context when something is written.
type cancelling context.CancelFunc

func (c cancelling) Write(text []byte) (int, error) {
	c()
	return len(text), nil
}

// The program in the background says something and ends, or is up in that moment.
func TestInterruptOfTheBackground(t *testing.T) {
	for name, test := range map[string]struct {
		arguments []string
		up        bool
		times     int
	}{
		"ends": {times: 10},
		"up":   {arguments: []string{stays}, up: true, times: 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for range test.times {
				config := validConfig(t.TempDir())
				ctx, cancel := context.WithCancel(t.Context())
				interrupt := cancelling(func() {
					if test.up {
						_ = os.WriteFile(config.environmentFile(), nil, 0o600) // the test shows nothing if it fails
					}
					cancel()
				})
				ended := make(chan error, 1)
				go func() { ended <- startInBackground(ctx, config, test.arguments, interrupt) }()
				g.Eventually(ended, time.Minute).Should(Receive(HaveOccurred()))
			}
		})
	}
}

// Whoever interrupts a quick start that is kept learns how to continue, also if it has no cluster yet.
func TestInterruptedQuickStartThatIsKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start a management cluster")
	}
	g := NewWithT(t)
	config := built(t)
	config.Keep = true
	for _, config.Resume = range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		begun := cancelling(func() {
			g.Expect(os.MkdirAll(config.cloudDir(), 0o700)).To(Succeed())
			g.Expect(writeSettings(config)).To(Succeed())
			cancel()
		})
		g.Expect(Detach(ctx, config, []string{stays}, begun)).To(MatchError(
			"interrupted; continue with: foo quickstart --resume --keep --detach --state-dir=" + config.StateDir))
	}
}

func TestOneCommandAtATime(t *testing.T) {
	g := NewWithT(t)
	parent := t.TempDir()
	config := validConfig(filepath.Join(parent, "state"))
	var running atomic.Int32
	var all errgroup.Group
	for range 20 {
		all.Go(func() error {
			return config.exclusively(t.Context(), io.Discard, func() error {
				if others := running.Add(1) - 1; others > 0 {
					return fmt.Errorf("%d others run", others)
				}
				err := os.WriteFile(config.environmentFile(), nil, 0o600)
				running.Add(-1)
				// Others wait for a folder that is removed.
				return errors.Join(err, os.RemoveAll(config.StateDir))
			})
		})
	}
	g.Expect(all.Wait()).To(Succeed())
	g.Expect(os.ReadDir(parent)).To(BeEmpty(), "what stayed empty is removed")

	var out bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	g.Expect(config.exclusively(t.Context(), io.Discard, func() error {
		cancel()
		return config.exclusively(ctx, &out, func() error { return errors.New("not reached") })
	})).To(MatchError(context.Canceled))
	g.Expect(out.String()).To(Equal("Waiting for another command that uses " + config.StateDir + "\n"))
}

// Whoever waits for a folder that is not there would wait forever.
func TestStateFolderOnADiskThatIsNotMounted(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(filepath.Join(t.TempDir(), "state"))
	g.Expect(os.Symlink("/nowhere/foo", config.StateDir)).To(Succeed())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	g.Expect(config.exclusively(ctx, io.Discard, func() error { return nil })).To(And(Satisfy(IsInvalid),
		MatchError("--state-dir "+config.StateDir+": mkdir "+config.StateDir+": file exists; create the folder, or mount its disk")))
}

// An interrupted first start leaves nothing; a later start keeps what there was.
func TestInterruptedStart(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(filepath.Join(t.TempDir(), "state"))
	config.BinDir = t.TempDir()
	g.Expect(os.WriteFile(config.program("foocloud"), []byte("#!/bin/sh\nrm -rf "+config.cloudDir()+"\n"), 0o700)).To(Succeed())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begin := func() {
		keep(g, config)
	}
	begin()
	g.Expect(config.abandon(ctx)).To(Succeed())
	g.Expect(config.StateDir).NotTo(BeADirectory())

	g.Expect(os.Mkdir(config.StateDir, 0o700)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(config.StateDir, backgroundLog), nil, 0o600)).To(Succeed())
	g.Expect(config.abandon(ctx)).To(Succeed())
	g.Expect(os.ReadDir(config.StateDir)).To(BeEmpty())

	begin()
	g.Expect(config.start(ctx, io.Discard)).NotTo(Succeed())
	g.Expect(config.kept()).To(BeTrue())
}

// A clean-up that the user interrupts too ends at once, and says how to delete what is left.
func TestInterruptedCleanUp(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(filepath.Join(t.TempDir(), "state"))
	config.BinDir = t.TempDir()
	begun := filepath.Join(config.BinDir, "begun")
	// The program that sleeps has the output of the one that is killed.
	g.Expect(os.WriteFile(config.program("foocloud"), []byte("#!/bin/sh\necho > "+begun+"\nsleep 60\n"), 0o700)).To(Succeed())
	keep(g, config)
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	abandoned := make(chan error, 1)
	go func() { abandoned <- config.abandon(interrupted) }()
	g.Eventually(begun, time.Minute).Should(BeAnExistingFile())
	g.Expect(unix.Kill(os.Getpid(), unix.SIGINT)).To(Succeed())
	g.Eventually(abandoned, 30*time.Second).Should(Receive(MatchError("interrupted; to delete what is left, run: foo quickstart delete --state-dir=" + config.StateDir)))
	g.Expect(config.kept()).To(BeTrue())

	// Other commands end what runs in the background, which must not leave its work to nobody.
	config.Background = true
	cleaning, end := config.cleaningUp(interrupted)
	defer end()
	received := make(chan os.Signal, 1)
	signal.Notify(received, unix.SIGTERM)
	defer signal.Stop(received)
	g.Expect(unix.Kill(os.Getpid(), unix.SIGTERM)).To(Succeed())
	g.Eventually(received).Should(Receive())
	g.Expect(cleaning.Err()).NotTo(HaveOccurred())
}

// Whoever interrupts a command learns how to continue.
func TestInterruptedCommands(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can use a management cluster")
	}
	g := NewWithT(t)
	config := built(t)
	config.Keep = true
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	defer state.close()
	g.Expect(os.Mkdir(config.cloudDir(), 0o700)).To(Succeed())
	other, _, err := config.lockFolder()
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = other.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	files := kubeconfigFiles(filepath.Join(t.TempDir(), "config"), "")
	for command, run := range map[string]func() error{
		"start":               func() error { return Up(ctx, config, io.Discard) },
		"stop":                func() error { return Stop(ctx, config, io.Discard) },
		"kubeconfig demo":     func() error { return AddKubeconfig(ctx, config, files, io.Discard) },
		"delete cluster demo": func() error { return RemoveKubeconfig(ctx, config, files, io.Discard) },
	} {
		g.Expect(run()).To(MatchError("interrupted; continue with: foo " + command + " --state-dir=" + config.StateDir))
	}
	_, err = RemoveUnused(ctx, config, io.Discard)
	g.Expect(err).To(MatchError("interrupted; continue with: foo delete cluster demo --state-dir=" + config.StateDir))
	g.Expect(RemoveUnused(ctx, validConfig(filepath.Join(t.TempDir(), "state")), io.Discard)).To(BeFalse(), "nothing was left to do")

	flags := config
	flags.Kubeconfig, flags.KeepManagement = "/home/me/my files/config", true
	g.Expect(RemoveKubeconfig(ctx, flags, files, io.Discard)).To(MatchError(
		"interrupted; continue with: foo delete cluster demo --keep-management --kubeconfig='/home/me/my files/config' --state-dir=" + config.StateDir))
	g.Expect(flags.KubectlCommand()).To(HaveSuffix("kubectl --kubeconfig='/home/me/my files/config' --context foo-demo"))

	g.Expect(built(t).check(ctx)).To(MatchError(context.Canceled), "the machine is not to blame")
}

// A command that waited while another one removed the management cluster has nothing left to do.
func TestRemovedByAnotherCommand(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can remove a management cluster")
	}
	g := NewWithT(t)
	config := validConfig(filepath.Join(t.TempDir(), "state"))
	g.Expect(RemoveUnused(t.Context(), config, io.Discard)).To(BeFalse(), "there was none")
	g.Expect(os.MkdirAll(config.cloudDir(), 0o700)).To(Succeed())
	removing, waiting := make(chan bool), make(chan error, 1)
	var removed bool
	go func() {
		<-removing
		var err error
		removed, err = RemoveUnused(t.Context(), config, writing(removing))
		waiting <- err
	}()
	g.Expect(config.exclusively(t.Context(), io.Discard, func() error {
		removing <- true
		<-removing // it says that it waits
		return os.RemoveAll(config.StateDir)
	})).To(Succeed())
	g.Eventually(waiting, time.Minute).Should(Receive(Not(HaveOccurred())))
	g.Expect(removed).To(BeTrue())
	g.Expect(config.StateDir).NotTo(BeADirectory())
}

// writing sends a value when something is written.
type writing chan bool

func (w writing) Write(text []byte) (int, error) {
	w <- true
	return len(text), nil
}

// A deletion does not wait forever for a management cluster that was stopped.
func TestDeletionEndsWithTheManagementCluster(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(filepath.Join(t.TempDir(), "state"))
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	running, stop := config.whileRunning(t.Context())
	defer stop()
	g.Consistently(running.Done(), 100*time.Millisecond).ShouldNot(BeClosed())
	state.close()
	g.Eventually(running.Done(), time.Minute).Should(BeClosed())
	g.Expect(context.Cause(running)).To(MatchError(errStopped))

	var out bytes.Buffer
	in := " --state-dir=" + config.StateDir
	g.Expect(config.followed(t.Context(), errStopped, newPrinter(&out))).To(MatchError("the management cluster was stopped; start it with: foo start" + in +
		", and once `foo get clusters` shows that the cluster is available: foo kubeconfig demo" + in))
	g.Expect(config.deletedByOthers(t.Context(), newPrinter(&out))).To(MatchError("the management cluster was stopped; start it with: foo start --state-dir=" + config.StateDir))
	g.Expect(os.RemoveAll(config.StateDir)).To(Succeed())
	g.Expect(config.lost(t.Context(), &out)).To(MatchError(errDeleted))
	g.Expect(config.deletedByOthers(t.Context(), newPrinter(&out))).To(Succeed())
	g.Expect(out.String()).To(ContainSubstring("cluster demo is deleted\n"))
}

// Commands that stop or remove the management cluster wait for one that uses it.
func TestStopAndRemovalWait(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can stop a management cluster")
	}
	for name, end := range map[string]func(context.Context, Config, io.Writer) error{"stop": Stop, "removal": Remove} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			config := validConfig(t.TempDir())
			g.Expect(os.WriteFile(config.environmentFile(), nil, 0o600)).To(Succeed())
			ctx, cancel := context.WithCancel(t.Context())
			g.Expect(config.exclusively(ctx, io.Discard, func() error { return end(ctx, config, cancelling(cancel)) })).To(MatchError(HavePrefix("interrupted; ")))
			g.Expect(config.environmentFile()).To(BeAnExistingFile())
		})
	}
}

// The programs run before the management cluster answers, and some while after.
func TestManagementClusterThatDoesNotAnswer(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can list clusters")
	}
	g := NewWithT(t)
	config := validConfig(filepath.Join(t.TempDir(), "state"))
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	defer state.close()
	_, err = ListClusters(t.Context(), config)
	g.Expect(err).To(MatchError(errStarting), "it has no kubeconfig yet")

	refusing := clientcmdapi.NewConfig()
	refusing.Clusters[management.Context] = &clientcmdapi.Cluster{Server: "http://127.0.0.1:1"}
	refusing.Contexts[management.Context] = &clientcmdapi.Context{Cluster: management.Context}
	g.Expect(clientcmd.WriteToFile(*refusing, config.managementKubeconfig())).To(Succeed())
	_, err = ListClusters(t.Context(), config)
	g.Expect(err).To(MatchError(errStarting))
	g.Expect(DeleteCluster(t.Context(), config, io.Discard)).To(MatchError(errStarting))
	_, err = config.begin(t.Context(), newPrinter(io.Discard))
	g.Expect(err).To(MatchError(errStarting))
}

// The flags of the cloud do not change a management cluster that there is.
func TestStartRefusesOtherFlags(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	config.CloudConfig = "/etc/foo/cloud.yaml"
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.Mkdir(config.cloudDir(), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(config.environmentFile(), nil, 0o600)).To(Succeed())
	given := map[string]bool{"network": true, "bridge": true, "cloud-config": true}
	config.Given = func(flag string) bool { return given[flag] }
	g.Expect(config.start(t.Context(), io.Discard)).To(Succeed(), "it has all of them")

	const says = "--network 10.78.0.0/16: the management cluster has 10.77.0.0/16; leave the flag out, or use another --state-dir\n" +
		"--bridge foo1: the management cluster has foo0; leave the flag out, or use another --state-dir"
	config.Network, config.Bridge, config.CloudConfig = "10.78.0.0/16", "foo1", "/etc/foo/other.yaml"
	g.Expect(config.start(t.Context(), io.Discard)).To(And(Satisfy(IsInvalid), MatchError(says+
		"\n--cloud-config /etc/foo/other.yaml: the management cluster has /etc/foo/cloud.yaml; leave the flag out, or use another --state-dir")))
	state.close()
	g.Expect(config.start(t.Context(), io.Discard)).To(And(Satisfy(IsInvalid), MatchError(says)), "the configuration may change while it does not run")
}

// Whoever starts the management cluster again need not repeat the cloud's configuration.
func TestStartRemembersTheCloudsConfiguration(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	config.CloudConfig = "/etc/foo/cloud.yaml"
	keep(g, config)

	// The check of the host gets what the cloud will get.
	config.BinDir = t.TempDir()
	calls := filepath.Join(config.BinDir, "calls")
	g.Expect(os.WriteFile(config.program("foocloud"), []byte("#!/bin/sh\necho \"$@\" >> "+calls+"\nexit 1\n"), 0o700)).To(Succeed())
	for _, test := range []struct{ given, want string }{{"", "/etc/foo/cloud.yaml"}, {"/etc/foo/other.yaml", "/etc/foo/other.yaml"}} {
		config.CloudConfig = test.given
		g.Expect(config.start(t.Context(), io.Discard)).NotTo(Succeed())
		called, err := os.ReadFile(calls)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(called)).To(HaveSuffix("--config " + test.want + " --restart\n"))
	}
	config.Resume = true
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred(), "the configuration may change")
	state.close()
}
