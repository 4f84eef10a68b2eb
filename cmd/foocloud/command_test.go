// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
)

// said is what a command has said.
type said struct {
	code        int
	out, errOut string
}

// newCloud serves a few objects, and returns what runs commands.
func newCloud(t *testing.T) (run func(arguments ...string) said, called func() []string) {
	t.Helper()
	g := NewWithT(t)
	tag := func(cluster string) cloud.Tags { return cloud.Tags{"cluster.x-k8s.io/cluster": cluster, "team": "red"} }
	created := time.Now().Add(-time.Hour)
	var calls []string
	answers := func(value any) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { answer(w, value) }
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+api.PathInstances, answers(api.Instances{Items: []cloud.Instance{
		{ID: "i1", Name: "default.demo-a", State: cloud.InstanceRunning, Zone: "zone-a", Type: "small", Tags: tag("default/demo"), CreatedAt: created},
		{ID: "i2", Name: "default.demo-b", State: cloud.InstanceStopped, Zone: "zone-b", Type: "small", Tags: tag("default/demo"), CreatedAt: created, Message: "stopped\nby a user"},
		{ID: "i3", Name: "default.other", State: cloud.InstanceRunning, Zone: "zone-a", Pool: "default.p", Tags: tag("default/other"), CreatedAt: created},
	}}))
	mux.Handle("GET "+api.PathPools, answers(api.Pools{Items: []cloud.Pool{}}))
	mux.Handle("GET "+api.PathLoadBalancers, answers(api.LoadBalancers{Items: []cloud.LoadBalancer{
		{LoadBalancerSpec: cloud.LoadBalancerSpec{Name: "default.demo", Port: 6443, Selector: cloud.Tags{"a": "b"}}, Address: "10.77.0.9", Backends: []cloud.Backend{{InstanceID: "i1", Address: "10.77.0.3"}}},
	}}))
	mux.HandleFunc("GET "+api.PathInstances+"/i1"+api.SuffixLog, func(w http.ResponseWriter, r *http.Request) {
		_, err := w.Write([]byte("started\n"))
		g.Expect(errors.Join(err, http.NewResponseController(w).Flush())).To(Succeed())
		<-r.Context().Done()
	})
	mux.HandleFunc("GET "+api.PathInstances+"/i2"+api.SuffixLog, func(w http.ResponseWriter, _ *http.Request) {
		_, err := w.Write([]byte("started\n"))
		g.Expect(err).NotTo(HaveOccurred())
	})
	notFound := func(kind string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", api.JSON)
			w.WriteHeader(http.StatusNotFound)
			g.Expect(json.NewEncoder(w).Encode(api.Error{Reason: cloud.ReasonNotFound, Kind: kind, Name: "nope"})).To(Succeed())
		}
	}
	mux.Handle("DELETE "+api.PathFaults+"/nope", notFound("fault rule"))
	mux.Handle("DELETE "+api.PathContainerImages, notFound("image"))
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		calls = append(calls, r.Method+" "+r.URL.Path)
		w.WriteHeader(http.StatusAccepted)
	})
	serve(t, mux)
	return runCommand, func() []string { return calls }
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", api.JSON)
	_ = json.NewEncoder(w).Encode(value)
}

// serve makes commands use a cloud.
func serve(t *testing.T, handler http.Handler) {
	t.Helper()
	g := NewWithT(t)
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	folder := t.TempDir()
	t.Setenv(endpointEnv, server.URL)
	t.Setenv(fileEnv, filepath.Join(folder, "token"))
	t.Setenv(caFileEnv, filepath.Join(folder, "ca.crt"))
	g.Expect(os.WriteFile(filepath.Join(folder, "token"), []byte("secret"), 0o600)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(folder, "ca.crt"), certificateOf(server), 0o600)).To(Succeed())
}

func runCommand(arguments ...string) said {
	var out, errOut bytes.Buffer
	command := newCommand()
	command.SetArgs(arguments)
	command.SetIn(strings.NewReader("y\n"))
	command.SetOut(&out)
	command.SetErr(&errOut)
	code := report(command, command.ExecuteContext(context.Background()))
	return said{code: code, out: out.String(), errOut: errOut.String()}
}

func TestListsCanBeFilteredAndFormatted(t *testing.T) {
	g := NewWithT(t)
	run, _ := newCloud(t)
	names := func(arguments ...string) []string {
		got := run(append(arguments, "-o", "name")...)
		g.Expect(got.code).To(BeZero(), got.errOut)
		return strings.Fields(got.out)
	}
	g.Expect(names("instances")).To(HaveLen(3))
	g.Expect(names("instance", "list", "--cluster=demo")).To(Equal([]string{"default.demo-a", "default.demo-b"}))
	g.Expect(names("instances", "--cluster=default/demo", "--state=running")).To(Equal([]string{"default.demo-a"}))
	g.Expect(names("instances", "--zone=zone-b")).To(Equal([]string{"default.demo-b"}))
	g.Expect(names("instances", "--pool=p")).To(Equal([]string{"default.other"}))
	g.Expect(names("instances", "--tag=team=red", "--tag=team=blue")).To(BeEmpty())

	table := run("instances").out
	g.Expect(table).To(MatchRegexp(`(?m)^ID +NAME +STATE .*MESSAGE *$`))
	g.Expect(table).To(And(ContainSubstring("stopped by a user"), Not(ContainSubstring("TYPE"))))
	g.Expect(run("instances", "-o", "wide").out).To(And(ContainSubstring("TYPE"), ContainSubstring("default/demo")))
	var listed []cloud.Instance
	g.Expect(json.Unmarshal([]byte(run("instances", "-o", "json").out), &listed)).To(Succeed())
	g.Expect(listed).To(HaveLen(3))
	g.Expect(yaml.Unmarshal([]byte(run("instances", "-o", "yaml", "--state=Stopped").out), &listed)).To(Succeed())
	g.Expect(listed).To(HaveLen(1))
	g.Expect(run("pools")).To(Equal(said{errOut: "No pools found.\n"}))
	g.Expect(run("pools", "-o", "json").out).To(Equal("[]\n"))
}

func TestDescribe(t *testing.T) {
	g := NewWithT(t)
	run, _ := newCloud(t)
	g.Expect(run("instance", "describe", "demo-a").out).To(And(
		MatchRegexp(`(?m)^Name: +default\.demo-a$`), MatchRegexp(`(?m)^Load balancers: +default\.demo$`), MatchRegexp(`(?m)^ +team=red$`)))
	g.Expect(run("load-balancer", "describe", "demo").out).To(ContainSubstring("i1  10.77.0.3  default.demo-a"))
	g.Expect(run("instance", "describe", "i1", "-o", "yaml").out).To(HavePrefix("bootstrap:"))
}

func TestActionsResolveNames(t *testing.T) {
	g := NewWithT(t)
	run, called := newCloud(t)
	g.Expect(run("instance", "stop", "demo-a", "i3")).To(Equal(said{
		out: "instance default.demo-a (i1): stop requested\ninstance default.other (i3): stop requested\n"}))
	g.Expect(run("instance", "delete", "demo-b").code).To(BeZero())
	g.Expect(run("load-balancer", "delete", "demo").code).To(BeZero())
	g.Expect(called()).To(Equal([]string{
		"POST /v1/instances/i1/power/stop", "POST /v1/instances/i3/power/stop", "DELETE /v1/instances/i2", "DELETE /v1/load-balancers/default.demo"}))
	before := called()
	for part, whole := range map[string]string{"instance delete oth": "default.other (i3)", "load-balancer delete de": "default.demo"} {
		got := run(strings.Fields(part)...)
		g.Expect(got.code).To(Equal(exitUsage))
		g.Expect(got.errOut).To(HaveSuffix(" matches only " + whole + "; give its whole name or ID to delete it\n"))
		g.Expect(called()).To(Equal(before))
	}
	for wrong, code := range map[string]int{"nothing": exitNotFound, "demo": exitUsage} {
		got := run("instance", "stop", "demo-a", wrong)
		g.Expect(got.code).To(Equal(code))
		g.Expect(got.out).To(BeEmpty())
		g.Expect(called()).To(Equal(before), "nothing is done unless all names fit")
	}
}

// Whoever interrupts a log learns that it is not complete, unless it has no end. That the cloud ends
// it properly, as it does for i2, proves nothing: it may see the interruption first.
func TestInterruptedLogs(t *testing.T) {
	for arguments, code := range map[string]int{"logs i1": exitInterrupted, "logs i2": exitInterrupted, "logs -f i1": 0, "logs -f i2": 0} {
		t.Run(arguments, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			newCloud(t)
			command := newCommand()
			command.SetArgs(strings.Fields(arguments))
			command.SetOut(interrupting(interrupt))
			NewWithT(t).Expect(report(command, command.ExecuteContext(ctx))).To(Equal(code))
		})
	}
}

// A log ends with its instance. If it ends before, more of it may follow.
func TestEndOfAFollowedLog(t *testing.T) {
	for name, test := range map[string]struct {
		left []cloud.Instance
		want said
	}{
		"deleted":  {nil, said{}},
		"deleting": {[]cloud.Instance{{ID: "i1", Name: "a", State: cloud.InstanceDeleting}}, said{}},
		"running": {[]cloud.Instance{{ID: "i1", Name: "a", State: cloud.InstanceRunning}},
			said{code: exitFailed, errOut: "foocloud: the cloud ended the log of instance a (i1), which still exists: run this again to continue\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			left := []cloud.Instance{{ID: "i1", Name: "a"}}
			mux := http.NewServeMux()
			mux.HandleFunc("GET "+api.PathInstances, func(w http.ResponseWriter, _ *http.Request) { answer(w, api.Instances{Items: left}) })
			mux.HandleFunc("GET "+api.PathInstances+"/i1"+api.SuffixLog, func(http.ResponseWriter, *http.Request) { left = test.left })
			serve(t, mux)
			NewWithT(t).Expect(runCommand("logs", "-f", "a")).To(Equal(test.want))
		})
	}
}

// A watch outlives a restart of the cloud, but not a cloud that never was there.
func TestWatchOutlivesTheCloud(t *testing.T) {
	g := NewWithT(t)
	var watches int
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+api.PathInstances, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, api.Instances{Items: []cloud.Instance{{ID: "i1", Name: "a"}}})
	})
	mux.HandleFunc("GET "+api.PathWatch, func(w http.ResponseWriter, _ *http.Request) {
		if watches++; watches == 2 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		answer(w, cloud.Event{Kind: cloud.EventSynced})
	})
	serve(t, mux)
	ctx, interrupt := context.WithCancel(t.Context())
	command := newCommand()
	command.SetArgs([]string{"instances", "--watch", "-o", "name"})
	var listed int
	command.SetOut(writerFunc(func(text []byte) (int, error) {
		if listed++; listed == 2 {
			interrupt()
		}
		return len(text), nil
	}))
	g.Expect(command.ExecuteContext(ctx)).To(Succeed())
	g.Expect(watches).To(Equal(3))

	g.Expect(runCommand("instances", "--watch", "--endpoint=unix:///nowhere").code).To(Equal(exitUnavailable))
}

// An instance that is not selected any more is shown once more, and is gone only if it was deleted.
func TestWatchOfSelectedInstances(t *testing.T) {
	g := NewWithT(t)
	instance := cloud.Instance{ID: "i1", Name: "a", State: cloud.InstanceRunning}
	items := []cloud.Instance{instance}
	steps, listed := make(chan func()), make(chan bool)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+api.PathInstances, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, api.Instances{Items: items})
		listed <- true
	})
	mux.HandleFunc("GET "+api.PathWatch, func(w http.ResponseWriter, r *http.Request) {
		answer(w, cloud.Event{Kind: cloud.EventSynced})
		for {
			g.Expect(http.NewResponseController(w).Flush()).To(Succeed())
			select {
			case step := <-steps:
				step()
				answer(w, cloud.Event{Kind: cloud.EventInstance, ID: "i1"})
			case <-r.Context().Done():
				return
			}
		}
	})
	serve(t, mux)
	ctx, interrupt := context.WithCancel(t.Context())
	said := make(chan string, 1)
	says := writerFunc(func(text []byte) (int, error) {
		said <- string(text)
		return len(text), nil
	})
	command := newCommand()
	command.SetArgs([]string{"instances", "--watch", "--state=running", "-o", "yaml"})
	command.SetOut(says)
	command.SetErr(says)
	ended := make(chan error)
	go func() { ended <- command.ExecuteContext(ctx) }()

	next := func() (text string) {
		g.Eventually(said).Should(Receive(&text))
		return text
	}
	<-listed
	g.Expect(next()).To(HavePrefix("- bootstrap:"))
	become := func(left ...cloud.Instance) {
		steps <- func() { items = left }
		<-listed
	}
	stopped := instance
	stopped.State = cloud.InstanceStopped
	become(stopped)
	g.Expect(next()).To(And(HavePrefix("---\nbootstrap:"), ContainSubstring("\nstate: Stopped\n")))
	become(stopped) // not selected
	become(instance)
	g.Expect(next()).To(ContainSubstring("\nstate: Running\n"))
	become()
	g.Expect(next()).To(Equal("instance a (i1) is gone.\n"))
	interrupt()
	g.Eventually(ended).Should(Receive(Succeed()))
}

func TestInterruptedCommandsSayWhatToDo(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{context.Canceled, "foocloud: interrupted\n"},
		{interrupted(fmt.Errorf("stop a: %w", context.Canceled), "repeat it"), "foocloud: interrupted; repeat it\n"},
	} {
		var errOut bytes.Buffer
		command := newCommand()
		command.SetErr(&errOut)
		g := NewWithT(t)
		g.Expect(report(command, test.err)).To(Equal(exitInterrupted))
		g.Expect(errOut.String()).To(Equal(test.want))
	}
	failed := errors.New("failed")
	NewWithT(t).Expect(interrupted(failed, "repeat it")).To(Equal(failed))
}

// interrupting interrupts a command when it says something.
type interrupting context.CancelFunc

func (i interrupting) Write(text []byte) (int, error) {
	i()
	return len(text), nil
}

// writerFunc is called with what a command says.
type writerFunc func([]byte) (int, error)

func (w writerFunc) Write(text []byte) (int, error) { return w(text) }

// The programs of a release and of a build are in one folder, wherever that is. The help does not say where.
func TestPartsBesideTheProgram(t *testing.T) {
	g := NewWithT(t)
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	for flag, part := range map[string]string{"system-dir": "system", "agent": "foonode", "images-dir": "kubernetes"} {
		found := newServeCommand().Flags().Lookup(flag)
		g.Expect(found.Value.String()).To(Equal(filepath.Join(filepath.Dir(self), part)))
		g.Expect(found.Usage).To(HaveSuffix("(default: " + part + ", beside foocloud)"))
	}
	g.Expect(newServeCommand().UsageString()).NotTo(ContainSubstring(filepath.Dir(self)))
}

func TestAdviceAboutTokens(t *testing.T) {
	g := NewWithT(t)
	if os.Geteuid() != 0 {
		t.Skip("others get the advice to be root")
	}
	t.Setenv(stateEnv, "")
	code, advice := classify(&cloud.UnauthorizedError{Message: "it is another tenant's"})
	g.Expect(code).To(Equal(exitUnauthorized))
	g.Expect(advice).To(Equal("name a tenant's token with --token-file or FOO_CLOUD_TOKEN_FILE"), "the cloud runs")
	_, advice = classify(&cloud.UnauthorizedError{Err: fs.ErrNotExist})
	g.Expect(advice).To(HavePrefix("start the cloud with: systemctl start foocloud; start foo's with: foo start, "))
}

// Whoever uses foo's cloud must not start another one in its network.
func TestAdviceAboutFoosCloud(t *testing.T) {
	g := NewWithT(t)
	for folder, want := range map[string]string{"/var/lib/foo": "foo start", "/srv/foo": "foo start --state-dir=/srv/foo"} {
		t.Setenv(stateEnv, folder)
		_, advice := classify(&cloud.UnavailableError{})
		g.Expect(advice).To(Equal("start foo's cloud with: " + want + ", or name another with --endpoint or FOO_CLOUD_ENDPOINT"))
		if os.Geteuid() == 0 {
			_, advice = classify(&cloud.UnauthorizedError{Err: fs.ErrNotExist})
			g.Expect(advice).To(Equal("start foo's cloud with: " + want + ", or name a tenant's token with --token-file or FOO_CLOUD_TOKEN_FILE"))
		}
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	g := NewWithT(t)
	run, called := newCloud(t)
	t.Setenv(stateEnv, "")
	other := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(other, "file"), nil, 0o600)).To(Succeed())
	for _, test := range []struct {
		arguments string
		code      int
		want      string
	}{
		{"instances --nonsense", exitUsage, "unknown flag: --nonsense; see: foocloud instances --help"},
		{"instance nonsense", exitUsage, `unknown command "nonsense"; see: foocloud instance --help`},
		{"instnces", exitUsage, "did you mean instance, instances?"},
		{"instance describe", exitUsage, "see: foocloud instance describe --help"},
		{"instances -o xml", exitUsage, "must be table, wide, json, yaml, name"},
		{"instances --state=tired", exitUsage, "Pending, Running, Stopped, Deleting, Failed"},
		{"instance stop demo", exitUsage, "the name matches default.demo-a (i1), default.demo-b (i2)"},
		{"instance describe nothing", exitNotFound, `instance "nothing" not found; list what exists`},
		{"instances --token-file=/nowhere", exitUnauthorized, "no such file or directory; start the cloud with: systemctl start foocloud"},
		{"instances --endpoint=unix:///nowhere", exitUnavailable, "systemctl start foocloud"},
		{"destroy --state-dir=/nowhere", exitUsage, "add --yes"},
		{"instance stop", exitUsage, "wrong number of arguments, want: foocloud instance stop NAME... [flags]; see: foocloud instance stop --help"},
		{"instances --endpoint=http://nowhere", exitUsage, "must be unix:///path or https://host:port; see: foocloud instances --help"},
		{"instances --ca-file=/nowhere", exitUsage, "open /nowhere: no such file or directory; see: foocloud instances --help"},
		{"instances --endpoint=https://nowhere.invalid:1", exitUnavailable, "systemctl start foocloud"},
		{"image load /nowhere.tar", exitUsage, "open /nowhere.tar: no such file or directory; see: foocloud image load --help"},
		{"image load " + other, exitUsage, other + " is a folder, but must be a tar file; for a folder: tar c -C " + other + " . | foocloud image load -; see: foocloud image load --help"},
		{"image delete nope", exitNotFound, "image list"},
		{"faults remove nope", exitNotFound, "faults list"},
		{"serve --network=wide", exitUsage, `--network "wide": must be an IPv4 network`},
		{"destroy --yes --state-dir=" + other, exitUsage, other + " is not a state folder of foocloud"},
		{"instance logs --tail=-2 demo-a", exitUsage, "--tail"},
		{"instance drain other", exitFailed, "no instance of the control plane of cluster default/other runs"},
	} {
		t.Run(test.arguments, func(t *testing.T) {
			got := run(strings.Fields(test.arguments)...)
			NewWithT(t).Expect(got.code).To(Equal(test.code), got.errOut)
			want := ContainSubstring(test.want)
			if os.Geteuid() != 0 {
				want = Or(want, ContainSubstring("not root: instances need namespaces, bridges and mounts; run it with sudo"))
			}
			NewWithT(t).Expect(got.errOut).To(And(HavePrefix("foocloud: "), want, MatchRegexp(`^[^\n]+\n$`)))
		})
	}
	g.Expect(called()).To(BeEmpty())
}

func TestNamesAreCompleted(t *testing.T) {
	g := NewWithT(t)
	run, _ := newCloud(t)
	g.Expect(run("__complete", "instance", "shell", "demo").out).To(And(HavePrefix("demo-a\ndemo-b\n"), ContainSubstring(":4")))
	g.Expect(run("__complete", "instance", "stop", "i1", "i").out).To(HavePrefix("i2\ni3\n"))
	g.Expect(run("__complete", "instances", "--cluster", "").out).To(HavePrefix("default/demo\ndefault/other\n"))
	g.Expect(run("__complete", "instances", "--state", "").out).To(ContainSubstring("Running\n"))
}
