// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"k8s.io/client-go/rest"

	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
	"github.com/capfoo/cluster-api-provider-foo/internal/quickstart/progress"
	"github.com/capfoo/cluster-api-provider-foo/internal/supervisor"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

func validConfig(stateDir string) Config {
	return Config{
		KubernetesVersion: "v1.36.3", ClusterName: "demo", Namespace: "default",
		ControlPlaneMachineCount: 1, WorkerMachineCount: 3,
		StateDir: stateDir, BinDir: "/opt/foo", Bridge: "foo0", Network: "10.77.0.0/16", Timeout: time.Minute,
	}
}

func TestValidate(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"version without v":              {func(c *Config) { c.KubernetesVersion = "1.36.3" }, "--kubernetes-version"},
		"version without patch":          {func(c *Config) { c.KubernetesVersion = "v1.36" }, "--kubernetes-version"},
		"no version":                     {func(c *Config) { c.KubernetesVersion = "" }, "--kubernetes-version"},
		"no control plane":               {func(c *Config) { c.ControlPlaneMachineCount = 0 }, "odd number"},
		"even control plane":             {func(c *Config) { c.ControlPlaneMachineCount = 2 }, "odd number"},
		"negative workers":               {func(c *Config) { c.WorkerMachineCount = -1 }, "0 or more"},
		"name of the management cluster": {func(c *Config) { c.ClusterName = "management" }, "choose another one"},
		"Pods and no cluster":            {func(c *Config) { c.Management, c.ManagementOnly = true, true }, "--management-only"},
		"Pods and another endpoint":      {func(c *Config) { c.Management, c.CloudListen = true, "https://127.0.0.1:1" }, "--cloud-listen"},
		"cluster name that ends with -":  {func(c *Config) { c.ClusterName = "demo-" }, "beginning and ending with a letter or digit"},
		"namespace that begins with -":   {func(c *Config) { c.Namespace = "-team" }, "beginning and ending with a letter or digit"},
		"cluster name with capitals":     {func(c *Config) { c.ClusterName = "Demo" }, "cluster name"},
		"namespace with a dot":           {func(c *Config) { c.Namespace = "a.b" }, "--namespace"},
		"relative state folder":          {func(c *Config) { c.StateDir = "state" }, "--state-dir"},
		"root as state folder":           {func(c *Config) { c.StateDir = "/." }, "--state-dir"},
		"state folder with a space":      {func(c *Config) { c.StateDir = "/var/lib/my foo" }, "letters, digits and the characters"},
		"long state folder":              {func(c *Config) { c.StateDir = "/" + string(bytes.Repeat([]byte("a"), 100)) }, "too long"},
		"bridge name with a slash":       {func(c *Config) { c.Bridge = "a/b" }, "--bridge"},
		"long bridge name":               {func(c *Config) { c.Bridge = "abcdefghijklmnop" }, "--bridge"},
		"network with host bits":         {func(c *Config) { c.Network = "10.77.0.1/16" }, "--network"},
		"network of another family":      {func(c *Config) { c.Network = "fd00::/16" }, "--network"},
		"public network":                 {func(c *Config) { c.Network = "8.8.0.0/16" }, "private"},
		"network too small":              {func(c *Config) { c.Network = "10.77.0.0/28" }, "prefix length"},
		"user namespaces":                {func(c *Config) { c.UserNamespaces = "yes" }, "--user-namespaces"},
		"cloud without TLS":              {func(c *Config) { c.CloudListen = "http://127.0.0.1:80" }, "--cloud-listen"},
		"no timeout":                     {func(c *Config) { c.Timeout = 0 }, "--timeout"},
		"port out of range":              {func(c *Config) { c.ManagementPort = 70000 }, "--management-port"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			config := validConfig("/var/lib/foo")
			test.change(&config)
			err := config.Validate()
			g.Expect(IsInvalid(err)).To(BeTrue())
			g.Expect(err).To(MatchError(ContainSubstring(test.want)))
		})
	}
	for _, name := range []string{"123", "1e3", "0x10", "true", "null", "on", "off", "yes", "no", "y", "n"} {
		t.Run("cluster name "+name, func(t *testing.T) {
			g := NewWithT(t)
			config := validConfig("/var/lib/foo")
			config.ClusterName = name
			g.Expect(config.Validate()).To(And(Satisfy(IsInvalid), MatchError(ContainSubstring("neither a number nor a word such as yes, true or null"))))
		})
	}
	t.Run("a valid configuration", func(t *testing.T) {
		NewWithT(t).Expect(validConfig("/var/lib/foo").Validate()).To(Succeed())
	})
	t.Run("all problems at once", func(t *testing.T) {
		var invalid *InvalidError
		g := NewWithT(t)
		g.Expect(errors.As(Config{}.Validate(), &invalid)).To(BeTrue())
		g.Expect(len(invalid.Problems)).To(BeNumerically(">", 5))
	})
}

// storeImages makes an operating system that has the container images of these Kubernetes versions.
func storeImages(t *testing.T, config Config, versions string) {
	t.Helper()
	g, file := NewWithT(t), filepath.Join(config.systemDir(), contract.StoreVersions)
	g.Expect(os.MkdirAll(filepath.Dir(file), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(file, []byte(versions), 0o600)).To(Succeed())
}

func TestUnknownVersionNamesThoseBuilt(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	config.BinDir = t.TempDir()
	for _, version := range []string{"v1.9.11", "v1.36.3", "v1.35.4", "not-a-version", "v1.34.0"} {
		dir := filepath.Join(config.BinDir, "kubernetes", version)
		g.Expect(os.MkdirAll(dir, 0o700)).To(Succeed())
		if version != "v1.34.0" { // a folder without a binary is a failed build
			g.Expect(os.WriteFile(filepath.Join(dir, "kubernetes"), nil, 0o700)).To(Succeed())
		}
	}
	g.Expect(config.builtVersions()).To(BeEmpty(), "there is no operating system")
	g.Expect(os.MkdirAll(filepath.Join(config.systemDir(), contract.StoreDir), 0o700)).To(Succeed())
	g.Expect(config.builtVersions()).To(Equal([]string{"v1.9.11", "v1.35.4", "v1.36.3"}), "an earlier release listed no versions")
	storeImages(t, config, "v1.36.3 v1.9.11 v1.34.0 v1.35.4")
	g.Expect(config.builtVersions()).To(Equal([]string{"v1.9.11", "v1.35.4", "v1.36.3"}))
	var wrong problems
	// An earlier release has left it. The operating system of this one does not have its container images.
	g.Expect(os.MkdirAll(filepath.Join(config.BinDir, "kubernetes", "v1.30.0"), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(config.BinDir, "kubernetes", "v1.30.0", "kubernetes"), nil, 0o700)).To(Succeed())
	config.KubernetesVersion, config.Management = "v1.30.0", true
	config.checkPrograms(&wrong)
	g.Expect(wrong).To(ContainElement(And(
		ContainSubstring("built: v1.9.11, v1.35.4, v1.36.3"), ContainSubstring("make node KUBERNETES_VERSION=v1.30.0"))))
	g.Expect(wrong).To(ContainElements(config.program("foonode")+" is missing; build it with: make quickstart",
		"--management: "+config.program("management/cluster-api")+" is missing; build it with: make management"))

	// Whoever installed a release has no Makefile.
	g.Expect(os.WriteFile(config.program("VERSION"), []byte("v0.1.0\n"), 0o600)).To(Succeed())
	wrong = nil
	config.checkPrograms(&wrong)
	g.Expect(wrong).To(ContainElements(
		"--kubernetes-version v1.30.0: this release of Foo has only v1.9.11, v1.35.4, v1.36.3; choose that, or install a release with it",
		config.program("foonode")+" is missing; install Foo again",
		"--management: "+config.program("management/cluster-api")+" is missing; install Foo again"))
	g.Expect(wrong).NotTo(ContainElement(ContainSubstring("make")))
}

func TestProviders(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*Config)
		want    []string
		manager string
	}{
		"by default":                {func(*Config) {}, []string{"core", "kubeadm-bootstrap", "manager"}, "manager"},
		"with KubeadmControlPlanes": {func(c *Config) { c.KubeadmControlPlane = true }, []string{"core", "kubeadm-bootstrap", "kubeadm-control-plane", "manager"}, "manager"},
		"with a manager each":       {func(c *Config) { c.ManagerPerProvider = true }, []string{"core", "kubeadm-bootstrap", "control-plane", "infrastructure"}, "infrastructure"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			config := validConfig("/var/lib/foo")
			test.change(&config)
			var names []string
			for _, provider := range config.providers() {
				names = append(names, provider.Name)
				talks := slices.Contains(provider.Args, "--cloud-endpoint="+config.cloudEndpoint())
				g.Expect(talks).To(Equal(provider.Name == test.manager), "only the infrastructure provider talks to the cloud: %s", provider.Name)
			}
			g.Expect(names).To(Equal(test.want))
			g.Expect(config.cloudManager()).To(Equal(test.manager))
		})
	}
}

func TestTheCheckIsToldTheCloudsFolder(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	config.BinDir = t.TempDir()
	g.Expect(os.WriteFile(config.program("foocloud"), []byte("#!/bin/sh\necho \"$*\"\nexit 1\n"), 0o700)).To(Succeed())
	var wrong problems
	config.checkRoot(t.Context(), &wrong)
	g.Expect(wrong).To(ConsistOf(HavePrefix("check --state-dir "+config.cloudDir()+" ")), "a cloud that exists may have its network")
}

func TestInterruptedCheckCleansUp(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	config.BinDir = t.TempDir()
	begun, cleaned := filepath.Join(config.StateDir, "begun"), filepath.Join(config.StateDir, "cleaned")
	script := "#!/bin/sh\ntrap 'touch " + cleaned + "; exit 1' TERM\ntouch " + begun + "\nwhile :; do sleep 0.1; done\n"
	g.Expect(os.WriteFile(config.program("foocloud"), []byte(script), 0o700)).To(Succeed())
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	checked := make(chan problems)
	go func() {
		var wrong problems
		config.checkRoot(ctx, &wrong)
		checked <- wrong
	}()
	g.Eventually(begun, time.Minute).Should(BeAnExistingFile(), "the check is a process of its own")
	interrupt()
	g.Eventually(checked, time.Minute).Should(Receive(Not(BeEmpty())), "it ends as soon as it has cleaned up")
	g.Expect(cleaned).To(BeAnExistingFile(), "the check was asked to end, not killed")
}

func TestPortTaken(t *testing.T) {
	g := NewWithT(t)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = listener.Close() }()
	config := validConfig(t.TempDir())
	config.ManagementPort = listener.Addr().(*net.TCPAddr).Port
	var wrong problems
	config.checkPort(t.Context(), &wrong)
	g.Expect(wrong).To(ContainElement(ContainSubstring("is taken")))
}

func TestStateFolder(t *testing.T) {
	invalid := func(text string) types.GomegaMatcher {
		return And(Satisfy(IsInvalid), MatchError(ContainSubstring(text)))
	}
	t.Run("a new one is locked", func(t *testing.T) {
		g := NewWithT(t)
		config := validConfig(filepath.Join(t.TempDir(), "new"))
		state, err := openState(config)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = openState(config)
		g.Expect(err).To(invalid("another quickstart is running on it; choose another folder, or delete everything in that one with: foo quickstart delete --state-dir=" + config.StateDir))
		kept := config
		kept.Keep = true
		g.Expect(writeSettings(kept)).To(Succeed())
		_, err = openState(config)
		g.Expect(err).To(invalid("or stop that one with: foo stop --state-dir=" + config.StateDir))
		if os.Geteuid() == 0 {
			g.Expect(config.check(t.Context())).To(invalid("another quickstart is running on it, process "), "the machine is not to blame")
		}
		state.close()
		state, err = openState(config)
		g.Expect(err).NotTo(HaveOccurred(), "a folder with only logs counts as empty")
		state.close()
	})
	t.Run("a kept one must match", func(t *testing.T) {
		g := NewWithT(t)
		config := validConfig(t.TempDir())
		keep(g, config)
		config.Resume, config.Keep = true, true
		state, err := openState(config)
		g.Expect(err).NotTo(HaveOccurred(), "whether it is kept may change")
		state.close()
		config.Network = "10.78.0.0/16"
		_, err = openState(config)
		g.Expect(err).To(invalid("--network=10.77.0.0/16"))
	})
	t.Run("a resumed run is as before", func(t *testing.T) {
		g := NewWithT(t)
		before := validConfig(t.TempDir())
		before.ClusterName, before.Management, before.CloudConfig = "hub", true, "/etc/foo/cloud.yaml"
		before.CloudListen, before.UserNamespaces, before.Extension = "https://127.0.0.1:7443", "on", true
		before.ExtensionSettings = map[string]string{"addons": "Enabled"}
		before.KubeadmControlPlane, before.ManagerPerProvider, before.ManagementOnly = true, true, true
		keep(g, before)

		resumed := validConfig(before.StateDir)
		resumed.Resume, resumed.Network, resumed.CloudConfig = true, "10.78.0.0/16", "other.yaml"
		g.Expect(resumed.Complete(func(flag string) bool { return flag == "network" || flag == "cloud-config" })).To(Succeed())
		g.Expect(filepath.IsAbs(resumed.CloudConfig)).To(BeTrue())
		_, err := openState(resumed)
		g.Expect(err).To(invalid("--network=10.77.0.0/16 --bridge=foo0 --cluster-name=hub --namespace=default --management"))

		g.Expect(resumed.Complete(func(string) bool { return false })).To(Succeed())
		before.Resume = true
		g.Expect(resumed).To(Equal(before))
		state, err := openState(resumed)
		g.Expect(err).NotTo(HaveOccurred())
		state.close()
		g.Expect(before.start(t.Context(), io.Discard)).To(invalid("foo quickstart --resume --keep --detach --state-dir=" + before.StateDir))
	})
	t.Run("one that cannot be resumed is kept", func(t *testing.T) {
		g := NewWithT(t)
		config := validConfig(t.TempDir())
		g.Expect(os.Mkdir(config.cloudDir(), 0o700)).To(Succeed())
		g.Expect(writeSettings(config)).To(Succeed())
		config.Resume = true
		state, err := openState(config)
		g.Expect(err).NotTo(HaveOccurred())
		defer state.close()
		var out bytes.Buffer
		g.Expect(state.leave(t.Context(), newPrinter(&out), failed)).To(Succeed())
		g.Expect(out.String()).To(ContainSubstring("quickstart --resume --keep --state-dir " + config.StateDir))
		g.Expect(config.cloudDir()).To(BeADirectory())
	})
	t.Run("one that is in use does not count as new", func(t *testing.T) {
		g := NewWithT(t)
		config := validConfig(t.TempDir())
		keep(g, config)
		_, err := openState(config)
		g.Expect(err).To(invalid("--resume"))
		if os.Geteuid() == 0 {
			g.Expect(config.check(t.Context())).To(invalid("continue it with --resume"), "the machine is not to blame")
		}
	})
	t.Run("an unrelated folder is left alone", func(t *testing.T) {
		g := NewWithT(t)
		config := validConfig(t.TempDir())
		logs := config.logDir()
		g.Expect(os.Mkdir(logs, 0o700)).To(Succeed())
		_, err := openState(config)
		g.Expect(err).To(invalid("not a state folder"))
		g.Expect(Delete(t.Context(), config)).To(invalid("not a state folder"))
		g.Expect(logs).To(BeADirectory())
	})
	t.Run("one whose quickstart was killed at once", func(t *testing.T) {
		g := NewWithT(t)
		config := validConfig(filepath.Join(t.TempDir(), "state"))
		config.BinDir = t.TempDir()
		g.Expect(os.WriteFile(config.program("foocloud"), []byte("#!/bin/sh\n"), 0o700)).To(Succeed())
		lock, err := claim(config.StateDir)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(lock.Close()).To(Succeed())
		g.Expect(checkState(config)).To(Succeed())
		incomplete := config
		incomplete.BinDir = t.TempDir()
		g.Expect(Delete(t.Context(), incomplete)).To(MatchError(os.ErrNotExist))
		g.Expect(checkState(config)).To(Succeed(), "a removal that failed changes nothing")
		g.Expect(Delete(t.Context(), config)).To(Succeed())
		g.Expect(config.StateDir).NotTo(BeADirectory())
	})
	t.Run("nothing to delete", func(t *testing.T) {
		g := NewWithT(t)
		config := validConfig(t.TempDir())
		g.Expect(Delete(t.Context(), config)).To(invalid("there is nothing to delete in " + config.StateDir))
		g.Expect(os.Remove(config.StateDir)).To(Succeed())
		g.Expect(Delete(t.Context(), config)).To(invalid("there is nothing to delete in " + config.StateDir))
	})
	t.Run("nothing to resume", func(t *testing.T) {
		config := validConfig(t.TempDir())
		config.Resume = true
		_, err := openState(config)
		NewWithT(t).Expect(err).To(invalid("no kept state"))
	})
}

// A quick start that was killed before it created its cluster creates the same one.
func TestResumedRunRemembersItsCluster(t *testing.T) {
	g := NewWithT(t)
	before := built(t)
	before.KubernetesVersion, before.ControlPlaneMachineCount, before.WorkerMachineCount = "v1.35.4", 3, 0
	g.Expect(os.MkdirAll(filepath.Dir(before.kubernetes("kubernetes")), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(before.kubernetes("kubernetes"), nil, 0o700)).To(Succeed())
	storeImages(t, before, "v1.35.4 v1.36.3")
	state, err := openState(before)
	g.Expect(err).NotTo(HaveOccurred())
	state.close()
	resume := func(given ...string) Config {
		resumed := validConfig(before.StateDir)
		resumed.BinDir, resumed.Resume = before.BinDir, true
		g.Expect(resumed.Complete(func(flag string) bool { return slices.Contains(given, flag) })).To(Succeed())
		return resumed
	}
	before.Resume = true
	g.Expect(resume()).To(Equal(before))
	all := resume("kubernetes-version", "control-plane-machine-count", "worker-machine-count")
	g.Expect(all).To(And(HaveField("KubernetesVersion", "v1.36.3"), HaveField("ControlPlaneMachineCount", 1), HaveField("WorkerMachineCount", 3)))

	storeImages(t, before, "v1.36.3")
	g.Expect(resume().KubernetesVersion).To(Equal("v1.36.3"), "the release lacks it after an upgrade")
	g.Expect(os.WriteFile(filepath.Join(before.StateDir, marker), []byte(`{"bridge": "foo0"}`), 0o600)).To(Succeed())
	g.Expect(resume().ControlPlaneMachineCount).To(Equal(1), "an older version did not note it")
}

// Later releases continue with the folders of earlier ones, and the other way round.
func TestSettingsOnDisk(t *testing.T) {
	g := NewWithT(t)
	all := `{
  "network": "10.78.0.0/16", "bridge": "foo1", "clusterName": "hub", "namespace": "team", "management": true,
  "cloudConfig": "/etc/foo/cloud.yaml", "cloudListen": "https://127.0.0.1:7443", "userNamespaces": "on",
  "extension": true, "extensionSettings": {"addons": "Enabled"},
  "kubeadmControlPlane": true, "managerPerProvider": true, "managementOnly": true, "keep": true,
  "kubernetesVersion": "v1.35.4", "controlPlaneMachineCount": 3, "workerMachineCount": 2
}`
	config := Config{
		StateDir: t.TempDir(), Network: "10.78.0.0/16", Bridge: "foo1", ClusterName: "hub", Namespace: "team", Management: true,
		CloudConfig: "/etc/foo/cloud.yaml", CloudListen: "https://127.0.0.1:7443", UserNamespaces: "on",
		Extension: true, ExtensionSettings: map[string]string{"addons": "Enabled"},
		KubeadmControlPlane: true, ManagerPerProvider: true, ManagementOnly: true, Keep: true,
		KubernetesVersion: "v1.35.4", ControlPlaneMachineCount: 3, WorkerMachineCount: 2,
	}
	file, elsewhere := filepath.Join(config.StateDir, marker), config
	elsewhere.BinDir, elsewhere.ManagementPort, elsewhere.Timeout, elsewhere.Kubeconfig = "/opt/foo", 6443, time.Minute, "/root/.kube/config"
	elsewhere.Resume, elsewhere.Exit, elsewhere.Background, elsewhere.KeepManagement = true, true, true, true
	elsewhere.Given = func(string) bool { return true }
	g.Expect(writeSettings(elsewhere)).To(Succeed())
	g.Expect(os.ReadFile(file)).To(MatchJSON(all), "and nothing else")

	g.Expect(os.WriteFile(file, []byte(all), 0o600)).To(Succeed())
	kept, err := readSettings(config.StateDir)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(kept).To(And(HaveField("Keep", true), HaveField("KubernetesVersion", config.KubernetesVersion)))
	resumed := Config{StateDir: config.StateDir, KubernetesVersion: "v1.36.3", Resume: true}
	g.Expect(resumed.Complete(func(string) bool { return false })).To(Succeed())
	config.Resume, config.Keep, config.KubernetesVersion = true, false, "v1.36.3" // none is built
	g.Expect(resumed).To(Equal(config))

	g.Expect(writeSettings(Config{StateDir: config.StateDir})).To(Succeed())
	g.Expect(os.ReadFile(file)).To(MatchJSON(`{"network": "", "bridge": "", "clusterName": "", "namespace": ""}`))
}

// What could not be deleted is not said to be deleted.
func TestFailedTeardown(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	config.BinDir = t.TempDir()
	g.Expect(os.WriteFile(config.program("foocloud"), []byte("#!/bin/sh\necho broken\nexit 1\n"), 0o700)).To(Succeed())
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	defer state.close()
	for _, outcome := range []outcome{failed, succeeded} {
		var out bytes.Buffer
		g.Expect(state.leave(t.Context(), newPrinter(&out), outcome)).To(MatchError(And(
			ContainSubstring("broken"), ContainSubstring("retry with: "+config.program("foo")+" quickstart delete --state-dir "+config.StateDir))))
		g.Expect(out.String()).To(BeEmpty())
	}
}

// The exit code of a quick start that was up when it was ended says whether everything could be deleted.
func TestExitCodeOfAFailedTeardown(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		runErr, left error
		again        bool
		code         int
		said         string
	}{
		"everything is deleted":                   {nil, nil, false, 0, ""},
		"something is left":                       {nil, broken, false, cli.ExitFailed, "broken"},
		"the clean-up was interrupted":            {nil, broken, true, cli.ExitInterrupted, "interrupted; to delete what is left, run: foo quickstart delete --state-dir=/state"},
		"something is left before it was up":      {context.Canceled, broken, false, cli.ExitInterrupted, "context canceled\nbroken"},
		"interrupted before it was up":            {context.Canceled, nil, false, cli.ExitInterrupted, "context canceled"},
		"interrupted before it was up, and again": {context.Canceled, broken, true, cli.ExitInterrupted, "interrupted; to delete what is left, run: foo quickstart delete --state-dir=/state"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			cleaning, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			if test.again {
				interrupt()
			}
			err := cli.Execute(cli.Root(&cobra.Command{Use: "quickstart", RunE: func(command *cobra.Command, _ []string) error {
				g.Expect(unix.Kill(os.Getpid(), unix.SIGTERM)).To(Succeed())
				<-command.Context().Done()
				return validConfig("/state").ended(cleaning, test.runErr, test.left, newPrinter(io.Discard))
			}}))
			g.Expect(cli.ExitCode(err, IsInvalid)).To(Equal(test.code))
			if test.said != "" {
				g.Expect(err).To(MatchError(test.said))
			}
		})
	}
}

// A terminal that is closed hangs up on the process group of the command, whose clean-up goes on.
func TestClosedTerminalSparesTheCleanUp(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	config.BinDir = t.TempDir()
	group := filepath.Join(config.BinDir, "group")
	g.Expect(os.WriteFile(config.program("foocloud"), []byte("#!/bin/sh\ncut -d ' ' -f 5 /proc/$$/stat > "+group+"\n"), 0o700)).To(Succeed())
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	defer state.close()
	g.Expect(state.destroyCloud(t.Context())).To(Succeed())
	g.Expect(os.ReadFile(group)).NotTo(BeEquivalentTo(fmt.Sprintln(unix.Getpgrp())))
}

// A program whose output is closed goes on. The test runs itself, since it would end otherwise.
func TestPrinterWithAClosedOutput(t *testing.T) {
	const variable = "FOO_TEST_PROOF"
	g := NewWithT(t)
	if proof := os.Getenv(variable); proof != "" {
		say := newPrinter(os.Stdout)
		say.done("one")
		say.done("two")
		g.Expect(os.WriteFile(proof, nil, 0o600)).To(Succeed())
		os.Exit(0)
	}
	reader, writer, err := os.Pipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(reader.Close()).To(Succeed())
	defer func() { _ = writer.Close() }()
	proof := filepath.Join(t.TempDir(), "proof")
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	command.Env, command.Stdout = append(os.Environ(), variable+"="+proof), writer
	g.Expect(command.Run()).To(Succeed())
	g.Expect(proof).To(BeAnExistingFile())
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, unix.EPIPE }

// A cluster is not deleted because head has read enough.
func TestReportThatNobodyReads(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	config.BinDir = t.TempDir()
	for _, program := range []string{config.program("tools/clusterctl"), config.kubernetes("kubectl")} {
		g.Expect(os.MkdirAll(filepath.Dir(program), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700)).To(Succeed())
	}
	g.Expect(report{config: config}.write(t.Context(), closed{})).To(Succeed())
}

// A broken cluster can be repaired only while everything runs.
func TestAResumedRunGoesOnWithABrokenCluster(t *testing.T) {
	g := NewWithT(t)
	failed := fmt.Errorf("follow: %w", &FailedError{Reason: "an instance is stopped"})
	g.Expect(found.mayFail(failed)).To(BeTrue())
	g.Expect(created.mayFail(failed)).To(BeFalse(), "nothing of it is lost")
	g.Expect(found.mayFail(errors.New("the API server does not answer"))).To(BeFalse())
	g.Expect(found.mayFail(nil)).To(BeFalse())
}

func TestProxiesOfTheCloud(t *testing.T) {
	environment := []string{"HTTPS_PROXY=http://a:1", "no_proxy=b", "KUBECONFIG=c", "ALL_PROXY=d", "HTTP_PROXY=e"}
	NewWithT(t).Expect(proxies(environment)).To(Equal([]string{"HTTPS_PROXY=http://a:1", "no_proxy=b", "HTTP_PROXY=e"}))
}

// Images that are still being loaded do not hold up the report of a failure.
func TestFailureEndsTheLoadingOfImages(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	config.BinDir, config.Management = t.TempDir(), true
	g.Expect(os.MkdirAll(filepath.Join(config.repositoryDir(), "images"), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(config.repositoryDir(), "images", "one.tar"), nil, 0o600)).To(Succeed())
	g.Expect(os.WriteFile(config.program("foocloud"), []byte("#!/bin/sh\nexec sleep 1000\n"), 0o700)).To(Succeed())
	ended := make(chan error, 1)
	go func() {
		broken := &rest.Config{Host: "https://127.0.0.1:1", TLSClientConfig: rest.TLSClientConfig{CAFile: "/nowhere"}}
		ended <- workload(t.Context(), config, broken, newPrinter(io.Discard))
	}()
	g.Eventually(ended, time.Minute).Should(Receive(MatchError(ContainSubstring("/nowhere"))))
}

func TestPrinterRepeatsWhatItWaitsFor(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	say := newPrinter(&out)
	say.waitingFor("the moon")
	_, due := say.due()
	g.Expect(due).To(BeFalse())
	say.last = time.Now().Add(-maxSilence)
	text, due := say.due()
	g.Expect(due).To(BeTrue())
	g.Expect(text).To(Equal("the moon"))
	say.waitingFor("")
	_, due = say.due()
	g.Expect(due).To(BeFalse(), "nothing is pending once everything is up")
	say.process(supervisor.Event{Name: "manager", Err: errors.New("manager ended: signal: killed"), RestartIn: time.Second})
	g.Expect(out.String()).To(ContainSubstring("manager ended: signal: killed; restarting it in 1s"))
}

func TestTemplateRendersOffline(t *testing.T) {
	g := NewWithT(t)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("FOO_WORKER_INSTANCE_TYPE", "large")
	config := validConfig(t.TempDir())
	config.ControlPlaneMachineCount, config.Namespace = 3, "team"
	objects, err := renderTemplate(context.Background(), config)
	g.Expect(err).NotTo(HaveOccurred())
	kinds := map[string]map[string]any{}
	for _, object := range objects {
		g.Expect(object.GetNamespace()).To(Equal("team"))
		if object.GetKind() != "ConfigMap" {
			g.Expect(object.GetAPIVersion()).To(HaveSuffix("/v1beta2"))
		}
		kinds[object.GetKind()], _ = object.Object["spec"].(map[string]any)
	}
	g.Expect(kinds).To(HaveLen(9))
	g.Expect(kinds["FooControlPlane"]).To(And(HaveKeyWithValue("replicas", BeEquivalentTo(3)), HaveKeyWithValue("version", "v1.36.3")))
	g.Expect(kinds["FooControlPlane"]).To(HaveKeyWithValue("kubeadmConfigSpec",
		HaveKeyWithValue("initConfiguration", HaveKeyWithValue("skipPhases", ConsistOf("preflight")))), "it is the flavor fast")
	g.Expect(kinds["MachinePool"]).To(HaveKeyWithValue("replicas", BeEquivalentTo(3)))
	g.Expect(kinds["FooMachinePool"]).To(HaveKeyWithValue("template", HaveKeyWithValue("instanceType", "large")))

	config.Flavor = "default"
	safe, err := renderTemplate(context.Background(), config)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(safe).To(HaveLen(len(objects)))
	for index, object := range safe {
		g.Expect(object.GetName()).To(Equal(objects[index].GetName()), "a deletion finds the same objects")
		g.Expect(fmt.Sprint(object.Object)).NotTo(ContainSubstring("fsync"))
	}
	g.Expect(os.ReadDir(os.Getenv("HOME"))).To(BeEmpty(), "clusterctl must not leave files in the user's home")
}

func TestKubectl(t *testing.T) {
	g := NewWithT(t)
	config := built(t)
	t.Setenv("PATH", filepath.Dir(config.kubernetes("kubernetes")))
	g.Expect(config.Kubectl()).To(Equal(config.kubernetes("kubectl")))
	unbuilt := config
	unbuilt.KubernetesVersion = "v1.0.0"
	g.Expect(unbuilt.Kubectl()).To(Equal(config.kubernetes("kubectl")), "the one that there is")
	g.Expect(os.WriteFile(config.kubernetes("kubectl"), nil, 0o700)).To(Succeed())
	g.Expect(config.Kubectl()).To(Equal("kubectl"))
}

func TestPhases(t *testing.T) {
	g := NewWithT(t)
	g.Expect(phases(nil)).To(BeEmpty())
	table := phases([]progress.Reached{
		{Milestone: progress.Milestone{Text: "one"}, After: 1500 * time.Millisecond},
		{Milestone: progress.Milestone{Text: "two"}, After: 4 * time.Second},
	})
	g.Expect(table).To(Equal("AFTER   TOOK   PHASE\n1.5s    1.5s   one\n4.0s    2.5s   two\n\n"))
}

func TestTellingLines(t *testing.T) {
	g := NewWithT(t)
	g.Expect(telling([]string{"I1121 fine", "E1121 bad", "I1121 fine", "W1121 odd"})).To(Equal([]string{"E1121 bad", "W1121 odd"}))
	g.Expect(telling([]string{"[init] one", "error: two"})).To(Equal([]string{"[init] one", "error: two"}))
	g.Expect(telling(make([]string, 50))).To(HaveLen(logLines))
	g.Expect(telling(nil)).To(BeEmpty())
}
