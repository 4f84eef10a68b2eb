// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
	"github.com/capfoo/cluster-api-provider-foo/internal/quickstart"
)

func TestClustersAreShown(t *testing.T) {
	list := &clusterv1.ClusterList{Items: []clusterv1.Cluster{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo", CreationTimestamp: metav1.Now()},
		Spec:       clusterv1.ClusterSpec{ControlPlaneEndpoint: clusterv1.APIEndpoint{Host: "10.77.0.3", Port: 6443}},
		Status: clusterv1.ClusterStatus{
			Phase: "Provisioned", Conditions: []metav1.Condition{{Type: clusterv1.ClusterAvailableCondition, Status: metav1.ConditionTrue}},
			ControlPlane: &clusterv1.ClusterControlPlaneStatus{
				ReadyReplicas: ptr.To[int32](1), DesiredReplicas: ptr.To[int32](3), Versions: []clusterv1.StatusVersion{{Version: "v1.36.3"}},
			},
		},
	}}}
	for format, want := range map[string]string{
		"": `demo +v1\.36\.3 +1/3 +0/0 +Provisioned +true`, "wide": `default +10\.77\.0\.3:6443 +foo-demo`,
		"name": `^demo\n$`, "yaml": `kind: ClusterList`, "json": `"kind": "ClusterList"`,
	} {
		t.Run(format, func(t *testing.T) {
			g := NewWithT(t)
			printer, err := printerFor(format)
			g.Expect(err).NotTo(HaveOccurred())
			var out writes
			g.Expect(printer.PrintObj(list, &out)).To(Succeed())
			g.Expect(out).To(HaveExactElements(MatchRegexp(want)), "a list is written in one call")
		})
	}
	_, err := printerFor("xml")
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("wide, json, yaml or name")))
}

// writes remembers what each call has written.
type writes []string

func (w *writes) Write(content []byte) (int, error) {
	*w = append(*w, string(content))
	return len(content), nil
}

func TestCompletion(t *testing.T) {
	for arguments, want := range map[string]string{
		"get clusters --output": "wide\njson\nyaml\nname\n", "get": "clusters\t", "delete cluster": ":4\n",
	} {
		t.Run(arguments, func(t *testing.T) {
			g := NewWithT(t)
			var out bytes.Buffer
			command := newCommand()
			command.SetOut(&out)
			command.SetErr(io.Discard)
			command.SetArgs(append([]string{"__complete"}, append(strings.Fields(arguments), "")...))
			g.Expect(command.ExecuteContext(t.Context())).To(Succeed())
			g.Expect(out.String()).To(ContainSubstring(want))
		})
	}
}

func TestWrongUsage(t *testing.T) {
	for arguments, want := range map[string]string{
		"creat cluster":           `unknown command "creat", did you mean create?; see: foo --help`,
		"create cluster":          "see: foo create cluster --help",
		"create custer demo":      `unknown command "custer", did you mean cluster?; see: foo create --help`,
		"delete cluster a b":      "wrong number of arguments, want: foo delete cluster NAME [flags]; see: foo delete cluster --help",
		"get clusters --nonsense": "unknown flag: --nonsense; see: foo get clusters --help",
		"get clusters -o xml":     "must be wide, json, yaml or name",
		"quickstart up":           `unknown command "up"; see: foo quickstart --help`,
		"quickstart delte":        `unknown command "delte", did you mean delete?; see: foo quickstart --help`,
	} {
		t.Run(arguments, func(t *testing.T) {
			g := NewWithT(t)
			command := newCommand()
			command.SetArgs(strings.Fields(arguments))
			err := command.ExecuteContext(t.Context())
			g.Expect(err).To(And(Satisfy(cli.IsUsage), MatchError(ContainSubstring(want))))
		})
	}
}

// Every command that fails says in one line what is wrong and what to do. These fail before they
// start anything.
func TestErrorsSayWhatToDo(t *testing.T) {
	empty, kept, pods := t.TempDir(), t.TempDir(), t.TempDir()
	g := NewWithT(t)
	for folder, settings := range map[string]string{kept: "{}", pods: `{"management": true}`} {
		g.Expect(os.WriteFile(filepath.Join(folder, "quickstart.json"), []byte(settings), 0o600)).To(Succeed())
		g.Expect(os.Mkdir(filepath.Join(folder, "cloud"), 0o700)).To(Succeed())
	}
	broken := filepath.Join(t.TempDir(), "config")
	g.Expect(os.WriteFile(broken, []byte("]["), 0o600)).To(Succeed())
	for _, test := range []struct {
		arguments string
		code      int
		want      string
	}{
		{"create cluster demo --worker-count=1", cli.ExitInvalid, "unknown flag: --worker-count; see: foo create cluster --help"},
		{"create cluster Demo", cli.ExitInvalid, `"Demo": must be at most 40 lower-case letters`},
		{"create cluster demo --kubernetes-version=v1.2.3", cli.ExitInvalid, "--kubernetes-version v1.2.3"},
		{"delete cluster demo", cli.ExitInvalid, `cluster "demo" does not exist; create it with: foo create cluster demo`},
		{"delete cluster \x1b[31m", cli.ExitInvalid, `cluster "\x1b[31m" does not exist: must be at most 40 lower-case letters`},
		{"delete cluster demo --namespace=team", cli.ExitInvalid, `create it with: foo create cluster demo --namespace=team --state-dir=` + empty},
		{"delete cluster demo --keep-management", cli.ExitInvalid, `create it with: foo create cluster demo --state-dir=` + empty},
		{"kubeconfig demo --print", cli.ExitInvalid, `cluster "demo" does not exist; create it with: foo create cluster demo`},
		{"quickstart delete", cli.ExitInvalid, "there is nothing to delete in " + empty},
		{"get clusters --state-dir=" + kept, cli.ExitInvalid, "the management cluster is not running; start it with: foo start"},
		{"get clusters --state-dir=" + pods, cli.ExitInvalid, "start it with: foo quickstart --resume --keep --detach --state-dir=" + pods},
		{"kubeconfig demo --state-dir=" + kept, cli.ExitInvalid, "the management cluster is not running; start it with: foo start"},
		{"create cluster demo --state-dir=here", cli.ExitInvalid, `--state-dir "here": must be the absolute path of a folder`},
		{"delete cluster demo --state-dir=", cli.ExitInvalid, `--state-dir "": must be the absolute path of a folder`},
		{"kubeconfig demo --state-dir=here", cli.ExitInvalid, `--state-dir "here": must be the absolute path of a folder`},
		{"get clusters --state-dir=", cli.ExitInvalid, `--state-dir "": must be the absolute path of a folder`},
		{"stop --state-dir=", cli.ExitInvalid, `--state-dir "": must be the absolute path of a folder`},
		{"quickstart delete --state-dir=", cli.ExitInvalid, `--state-dir "": must be the absolute path of a folder`},
		{"delete clutser demo", cli.ExitInvalid, "did you mean cluster?"},
		{"create cluster demo --kubeconfig=" + broken, cli.ExitInvalid, "correct it, or name another with --kubeconfig"},
		{"create cluster demo --kubeconfig=" + kept + "/management.kubeconfig", cli.ExitInvalid, "foo's own file " + kept},
		{"kubeconfig demo --kubeconfig=" + empty + "/demo.kubeconfig", cli.ExitInvalid, "foo's own file " + empty},
		{"create cluster demo --control-plane-machine-count=2", cli.ExitInvalid, "--control-plane-machine-count 2: must be an odd number"},
		{"create cluster demo --flavor=slow", cli.ExitInvalid, `--flavor "slow": must be fast or default`},
		{"create cluster demo --worker-machine-count=many", cli.ExitInvalid, "see: foo create cluster --help"},
		{"quickstart --management --management-only", cli.ExitInvalid, "--management: cannot be combined with --management-only"},
		{"stop now", cli.ExitInvalid, "wrong number of arguments, want: foo stop [flags]; see: foo stop --help"},
		{"kubeconfig", cli.ExitInvalid, "wrong number of arguments, want: foo kubeconfig NAME [flags]"},
	} {
		t.Run(test.arguments, func(t *testing.T) {
			g := NewWithT(t)
			arguments := strings.Fields(test.arguments)
			if !strings.Contains(test.arguments, "--state-dir") && !strings.Contains(test.want, "did you mean") {
				arguments = append(arguments, "--state-dir="+empty)
			}
			var said bytes.Buffer
			root := newCommand()
			root.SetErr(&said)
			root.SetArgs(arguments)
			code := report(root, root.ExecuteContext(t.Context()))
			g.Expect(code).To(Equal(test.code), said.String())
			want := ContainSubstring(test.want)
			if os.Geteuid() != 0 {
				want = Or(want, ContainSubstring("not root: instances need namespaces, bridges and mounts; run it with sudo"))
			}
			g.Expect(said.String()).To(And(HavePrefix("foo: "), want, MatchRegexp(`^[^\n]+\n$`)))
		})
	}
}

// A deletion that was interrupted after the cluster was gone continues when it is repeated.
func TestRepeatedDeletion(t *testing.T) {
	g := NewWithT(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can delete clusters")
	}
	file := filepath.Join(t.TempDir(), "config")
	config := clientcmdapi.NewConfig()
	for _, name := range []string{"foo-demo", "foo-other"} {
		config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	}
	g.Expect(clientcmd.WriteToFile(*config, file)).To(Succeed())
	state := filepath.Join(t.TempDir(), "state")
	remove := func() (string, error) {
		var said bytes.Buffer
		root := newCommand()
		root.SetOut(&said)
		root.SetArgs([]string{"delete", "cluster", "demo", "--kubeconfig=" + file, "--state-dir=" + state})
		err := root.ExecuteContext(t.Context())
		return said.String(), err
	}
	said, err := remove()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(said).To(HavePrefix("Cluster demo was already deleted.\n"))
	left, err := clientcmd.LoadFromFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left.Contexts).To(And(HaveLen(1), HaveKey("foo-other")))
	g.Expect(state).NotTo(BeADirectory())
	g.Expect(said).NotTo(ContainSubstring("management cluster"), "there was none")
	_, err = remove()
	g.Expect(err).To(MatchError(ContainSubstring("does not exist")))
}

// A user may be in a directory such as LDAP, which getent asks. The user's kubectl would not read root's file.
func TestKubeconfigOfAUserInADirectory(t *testing.T) {
	g := NewWithT(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can have been called with sudo")
	}
	const uid = "424242"
	programs, home := t.TempDir(), t.TempDir()
	for name, value := range map[string]string{"PATH": programs, "KUBECONFIG": "", "SUDO_UID": uid, "SUDO_GID": uid} {
		t.Setenv(name, value)
	}
	state := filepath.Join(t.TempDir(), "state")
	call := func(arguments ...string) (int, string) {
		var said bytes.Buffer
		root := newCommand()
		root.SetOut(&said)
		root.SetErr(&said)
		root.SetArgs(append(arguments, "demo", "--state-dir="+state))
		code := report(root, root.ExecuteContext(t.Context()))
		return code, said.String()
	}
	getent := func(script string) {
		g.Expect(os.WriteFile(filepath.Join(programs, "getent"), []byte("#!/bin/sh\n"+script+"\n"), 0o700)).To(Succeed())
	}
	for _, script := range []string{"exit 2", "echo alice:x:" + uid + ":" + uid + ":::/bin/sh", "echo", ""} {
		getent(script)
		for _, command := range []string{"create cluster", "kubeconfig", "delete cluster"} {
			code, said := call(strings.Fields(command)...)
			g.Expect(code).To(Equal(cli.ExitInvalid), command)
			g.Expect(said).To(Equal("foo: the home folder of user "+uid+", who ran sudo, is unknown; name your kubeconfig with --kubeconfig\n"), command)
		}
		g.Expect(state).NotTo(BeADirectory())
	}

	getent(`test "$*" = "passwd ` + uid + `" && echo "alice:*:` + uid + ":" + uid + ":Alice:" + home + `:/bin/bash"`)
	file := filepath.Join(home, ".kube", "config")
	config := clientcmdapi.NewConfig()
	config.Contexts["foo-demo"] = &clientcmdapi.Context{Cluster: "foo-demo", AuthInfo: "foo-demo"}
	g.Expect(clientcmd.WriteToFile(*config, file)).To(Succeed())
	code, said := call("delete", "cluster")
	g.Expect(code).To(BeZero(), said)
	g.Expect(clientcmd.LoadFromFile(file)).To(HaveField("Contexts", BeEmpty()))
}

// A cluster in another state folder is not taken for one that has been deleted.
func TestDeletionInTheWrongFolder(t *testing.T) {
	g := NewWithT(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can delete clusters")
	}
	file := filepath.Join(t.TempDir(), "config")
	config := clientcmdapi.NewConfig()
	config.Contexts["foo-demo"] = &clientcmdapi.Context{Cluster: "foo-demo", AuthInfo: "foo-demo", Extensions: map[string]runtime.Object{
		"foo": &runtime.Unknown{Raw: []byte(`{"stateDir": "/srv/foo"}`), ContentType: runtime.ContentTypeJSON},
	}}
	g.Expect(clientcmd.WriteToFile(*config, file)).To(Succeed())
	before, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	var said bytes.Buffer
	root := newCommand()
	root.SetOut(&said)
	root.SetErr(&said)
	root.SetArgs([]string{"delete", "cluster", "demo", "--kubeconfig=" + file, "--state-dir=" + filepath.Join(t.TempDir(), "state")})
	g.Expect(report(root, root.ExecuteContext(t.Context()))).To(Equal(cli.ExitInvalid))
	g.Expect(said.String()).To(HaveSuffix("; delete it with: foo delete cluster demo --kubeconfig=" + file + " --state-dir=/srv/foo\n"))
	g.Expect(os.ReadFile(file)).To(Equal(before))
}

// Once something has been done, the exit code does not say that nothing was.
func TestFailuresAfterSomethingWasDone(t *testing.T) {
	g := NewWithT(t)
	config := newConfig()
	failed := notAdded(t.Context(), config, &quickstart.InvalidError{Problems: []string{"the management cluster is not running"}})
	g.Expect(failed).To(MatchError("cluster demo is ready, but not in your kubeconfig: the management cluster is not running; solve that, and run: foo kubeconfig demo"))
	g.Expect(cli.ExitCode(failed, quickstart.IsInvalid)).To(Equal(cli.ExitFailed))
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	g.Expect(notAdded(interrupted, config, errors.New("interrupted; continue with: foo kubeconfig demo"))).To(MatchError(
		"cluster demo is ready, but not in your kubeconfig: interrupted; continue with: foo kubeconfig demo"))

	if os.Geteuid() != 0 {
		t.Skip("only root can delete clusters")
	}
	config.StateDir = t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(config.StateDir, "quickstart.json"), []byte("{}"), 0o600)).To(Succeed())
	g.Expect(os.Mkdir(filepath.Join(config.StateDir, "cloud"), 0o700)).To(Succeed())
	failed = removeUnused(t.Context(), config, io.Discard)
	g.Expect(failed).To(MatchError("cluster demo is deleted, but the management cluster is not: the management cluster is not running; start it with: foo start --state-dir=" + config.StateDir))
	g.Expect(cli.ExitCode(failed, quickstart.IsInvalid)).To(Equal(cli.ExitFailed))
}

// Scripts can read a list without clusters.
func TestNoClusters(t *testing.T) {
	g := NewWithT(t)
	if os.Geteuid() != 0 {
		t.Skip("only root can list clusters")
	}
	var said, hint bytes.Buffer
	state := filepath.Join(t.TempDir(), "state")
	root := newCommand()
	root.SetOut(&said)
	root.SetErr(&hint)
	root.SetArgs([]string{"get", "clusters", "--state-dir=" + state})
	g.Expect(root.ExecuteContext(t.Context())).To(Succeed())
	g.Expect(hint.String()).To(Equal("No clusters found; create one with: foo create cluster demo --state-dir=" + state + "\n"))
	g.Expect(said.String()).To(BeEmpty())
	root.SetArgs([]string{"get", "clusters", "--output=json", "--state-dir=" + state})
	g.Expect(root.ExecuteContext(t.Context())).To(Succeed())
	var list struct{ Items *[]any }
	g.Expect(json.Unmarshal(said.Bytes(), &list)).To(Succeed())
	g.Expect(list.Items).To(HaveValue(BeEmpty()))
}

func TestExitCodes(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		err  error
		code int
		said string
	}{
		{nil, 0, ""},
		{broken, cli.ExitFailed, "foo: broken\n"},
		{&cli.Error{Err: context.Canceled, Code: cli.ExitInterrupted}, cli.ExitInterrupted, "foo: interrupted\n"},
		{&quickstart.ReportedError{Err: errors.Join(broken, broken), Advice: "look there"}, cli.ExitFailed, "foo: broken; look there\n"},
		{&quickstart.InvalidError{Problems: []string{"no memory", "no disk"}}, cli.ExitInvalid, "foo: no memory\nfoo: no disk\n"},
	} {
		g := NewWithT(t)
		var said bytes.Buffer
		root := newCommand()
		root.SetErr(&said)
		g.Expect(report(root, test.err)).To(Equal(test.code))
		g.Expect(said.String()).To(Equal(test.said))
	}
}
