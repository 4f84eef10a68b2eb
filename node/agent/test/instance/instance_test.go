//go:build integration

/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package instance

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netns"
)

// initLimit bounds a kubeadm init: about 7 s on two free cores, far more on busy ones.
const initLimit = 2 * time.Minute

func testdata(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), "VERSION", version)
}

func TestControlPlaneOfUnmodifiedKubeadm(t *testing.T) {
	m := onHost(t).boot(t, testdata(t, "kubeadm-init.yaml"))
	m.controlPlane(t)
}

// controlPlane looks at all that an instance does from its bootstrap data to its end.
func (m *machine) controlPlane(t *testing.T) {
	t.Helper()
	if s := m.bootstrapped(initLimit); s.Bootstrap.State != "Succeeded" || len(s.Warnings) > 0 {
		t.Fatalf("report is %+v", s)
	}
	m.expect("success", 0, "cat", "/run/cluster-api/bootstrap-success.complete")
	m.expect("", 0, "kubectl", "wait", "--for=condition=Ready", "node/"+hostname, "--timeout=60s")
	m.expect("foo-process://0.1.0 foo:///a/i1 2", 0, "kubectl", "get", "node", hostname, "-o",
		"jsonpath={.status.nodeInfo.containerRuntimeVersion} {.spec.providerID} {.status.capacity.cpu}")
	if log := m.read("/var/log/kube-audit/audit.log"); !strings.Contains(log, "audit.k8s.io/v1") {
		t.Error("the API server wrote no audit log through its mount")
	}
	if strings.Contains(m.read("/var/log/cloud-init-output.log"), "module ntp is skipped") == false {
		t.Error("the log does not name the skipped module")
	}
	t.Run("simulated pods", m.simulatedPods)
	t.Run("process pods", m.processPods)
	t.Run("port-forward", m.portForward)
	t.Run("systemctl", m.systemctl)
	t.Run("end", m.end)
}

// expect runs a command in the instance and looks at its output and exit code.
func (m *machine) expect(output string, exit int, args ...string) {
	m.t.Helper()
	got, code := m.run(args...)
	if code != exit || !strings.Contains(got, output) {
		m.t.Errorf("%s: exit code %d, output %q; want %d, %q", strings.Join(args, " "), code, got, exit, output)
	}
}

func (m *machine) simulatedPods(t *testing.T) {
	// The default service account comes a moment after the node is ready.
	m.eventually(30*time.Second, "the pods to be made", func() error {
		apply := m.in("kubectl", "apply", "-f", "-")
		apply.Stdin = strings.NewReader(testdata(t, "pods.yaml"))
		if out, err := apply.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		return nil
	})
	m.expect("", 0, "kubectl", "wait", "--for=condition=Ready", "pod/probed", "pod/initialized", "pod/host", "--timeout=60s")
	m.expect("simulated by Foo: nothing runs in this container", 0, "kubectl", "logs", "probed", "-c", "http")
	m.expect("this container is simulated by Foo", 1, "kubectl", "exec", "probed", "-c", "http", "--", "ls")
	m.expect("foo-process://simulated/example/any", 0, "kubectl", "get", "pod", "probed", "-o", "jsonpath={.status.containerStatuses[0].imageID}")
	m.expect("10.244.0.", 0, "kubectl", "get", "pod", "probed", "-o", "jsonpath={.status.podIP}")
	m.expect("Completed true Completed", 0, "kubectl", "get", "pod", "initialized", "-o",
		"jsonpath={.status.initContainerStatuses[0].state.terminated.reason} {.status.initContainerStatuses[1].started} {.status.initContainerStatuses[2].state.terminated.reason}")
}

func (m *machine) processPods(*testing.T) {
	pod := "etcd-" + hostname
	m.expect("ready to serve client requests", 0, "kubectl", "logs", "-n", "kube-system", pod)
	m.expect("hello", 3, "kubectl", "exec", "-n", "kube-system", pod, "--", "sh", "-c", "echo hello; exit 3")
	m.expect("foo-process://process/", 0, "kubectl", "get", "pod", "-n", "kube-system", pod, "-o", "jsonpath={.status.containerStatuses[0].imageID}")
}

// portForward reaches etcd as Cluster API's control plane providers do.
func (m *machine) portForward(t *testing.T) {
	forward := m.in("kubectl", "port-forward", "-n", "kube-system", "pod/etcd-"+hostname, "12379:2379")
	if err := forward.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = forward.Process.Kill()
		_ = forward.Wait()
	}()
	m.eventually(30*time.Second, "etcd to show its certificate", func() error {
		conn, err := m.dial("127.0.0.1:12379")
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		client := tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
		if err := client.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
			return err
		}
		if err := client.Handshake(); err != nil {
			return err
		}
		if name := client.ConnectionState().PeerCertificates[0].Subject.CommonName; name != hostname {
			return fmt.Errorf("the certificate is of %q", name)
		}
		return nil
	})
}

// dial connects in the instance's network namespace.
func (m *machine) dial(target string) (net.Conn, error) {
	type result struct {
		conn net.Conn
		err  error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread is in another namespace and ends with the goroutine
		space, err := netns.GetFromPid(m.command.Process.Pid)
		if err == nil {
			err = netns.Set(space)
			_ = space.Close()
		}
		if err != nil {
			done <- result{err: err}
			return
		}
		conn, err := net.DialTimeout("tcp", target, 5*time.Second)
		done <- result{conn: conn, err: err}
	}()
	r := <-done
	return r.conn, r.err
}

func (m *machine) systemctl(*testing.T) {
	m.expect("active", 0, "systemctl", "is-active", "kubelet")
	m.expect("enabled", 0, "systemctl", "is-enabled", "kubelet")
	m.expect("", 0, "systemctl", "stop", "kubelet")
	m.expect("inactive", 3, "systemctl", "is-active", "kubelet")
	m.expect("", 0, "systemctl", "start", "kubelet")
	m.expect("active", 0, "systemctl", "is-active", "kubelet")
	m.expect("not managed here", 5, "systemctl", "restart", "chronyd")
}

// end stops the instance: etcd had time to close, and the end was clean.
func (m *machine) end(t *testing.T) {
	logs := m.state + "/log/pods"
	if err := m.stop(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	pods, err := os.ReadDir(logs)
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods {
		if !strings.HasPrefix(pod.Name(), "kube-system_etcd-") {
			continue
		}
		log, err := os.ReadFile(logs + "/" + pod.Name() + "/etcd/0.log")
		if err != nil || !strings.Contains(string(log), "closed etcd server") {
			t.Errorf("etcd was not closed: %v", err)
		}
		return
	}
	t.Error("there is no log of etcd")
}

func TestBootstrapDataThatFails(t *testing.T) {
	cases := map[string]struct{ data, want string }{
		"a command":     {"#cloud-config\nruncmd:\n- 'echo \"error: no luck\"; exit 4'\n", `runcmd[0] "echo \"error: no luck\"; exit 4" ended with exit code 4: error: no luck`},
		"kubeadm":       {"#cloud-config\nruncmd:\n- kubeadm join --config /nowhere\n", "exit code 1"},
		"broken YAML":   {"#cloud-config\nruncmd: [\n", "not valid YAML"},
		"other formats": {`{"ignition": {"version": "3.4.0"}}`, "Ignition"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := onHost(t).boot(t, c.data)
			s := m.bootstrapped(30 * time.Second)
			if s.Bootstrap.State != "Failed" || !strings.Contains(s.Bootstrap.Message, c.want) {
				t.Errorf("report is %+v, want %q", s, c.want)
			}
			if err := m.stop(20 * time.Second); err != nil {
				t.Errorf("the instance did not end well: %s", err)
			}
		})
	}
}

// TestHostIsSafe lets bootstrap data write and delete where that would hurt the machine.
func TestOutputOfCommandsIsBounded(t *testing.T) {
	m := onHost(t).boot(t, "#cloud-config\nruncmd:\n- yes 'a line of a command that says much' | head -c 52428800\n- exit 4\n")
	if s := m.bootstrapped(time.Minute); s.Bootstrap.State != "Failed" {
		t.Errorf("report is %+v", s)
	}
	console := m.size("console.log")
	if console < 1<<20 || console > 5<<20 {
		t.Errorf("the console has %d bytes, want the first 4 MiB of output and little else", console)
	}
	if kept := m.size("log/cloud-init-output.log") + m.size("log/cloud-init-output.log.1"); kept > 20<<20 {
		t.Errorf("%d bytes of output are kept, want at most 20 MiB", kept)
	}
	data, err := os.ReadFile(m.state + "/console.log")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"more output of commands is only in /var/log/cloud-init-output.log", "ended with exit code 4"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the console lacks %q", want)
		}
	}
}

// size is that of a file of the instance's folder on the host.
func (m *machine) size(name string) int64 {
	m.t.Helper()
	info, err := os.Stat(m.state + "/" + name)
	if err != nil {
		m.t.Fatal(err)
	}
	return info.Size()
}

func TestHostIsSafe(t *testing.T) {
	m := onHost(t).boot(t, "#cloud-config\nruncmd:\n- echo changed > /etc/foo-test-was-here\n- rm /usr/bin/env /etc/passwd\n- [sh, -c, 'test ! -e /etc/passwd']\n")
	if s := m.bootstrapped(30 * time.Second); s.Bootstrap.State != "Succeeded" {
		t.Errorf("report is %+v", s)
	}
	if _, err := os.Stat("/etc/foo-test-was-here"); err == nil {
		t.Error("a file of the instance is on the host")
	}
	for _, name := range []string{"/usr/bin/env", "/etc/passwd"} {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("the instance deleted a file of the host: %s", err)
		}
	}
}
