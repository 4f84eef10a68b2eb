//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package console_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine/fake"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/server"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

// hostileLog is what an instance would write to attack whoever reads its log.
const hostileLog = "\x1b[31mbooting\x1b[0m\n<img src=x onerror=\"document.title='attacked'\"><script>document.title='attacked'</script>\n"

// withLogs is a cloud whose instances have a hostile log. The kubelet's log exists once the bootstrap has
// begun.
type withLogs struct {
	server.Backend
	daemon *daemon
}

// Log implements server.Backend.
func (l withLogs) Log(ctx context.Context, id string, log engine.Log) (io.ReadCloser, error) {
	instance, err := l.GetInstance(ctx, id)
	if err != nil {
		return nil, err
	}
	if log.Source == engine.LogKubelet && instance.Bootstrap.State == cloud.BootstrapPending {
		return nil, &cloud.NotFoundError{Kind: "kubelet log of instance", Name: id}
	}
	ended := l.daemon.logsEnd()
	reader, writer := io.Pipe()
	go func() {
		_, _ = io.WriteString(writer, "the "+string(log.Source)+"\n"+hostileLog)
		if log.Follow {
			select {
			case <-ctx.Done():
			case <-ended:
			}
		}
		_ = writer.Close()
	}()
	return reader, nil
}

// daemon is a local cloud with fake machines, whose server can be restarted.
type daemon struct {
	*GomegaWithT
	engine   *engine.Engine
	machines *fake.Machines

	mu      sync.Mutex
	address string
	web     *httptest.Server
	// endStreams ends the streams of the server.
	endStreams context.CancelFunc
	// ended is closed when the logs that are followed end.
	ended chan struct{}
}

func newDaemon(t *testing.T) *daemon {
	t.Helper()
	d := &daemon{GomegaWithT: NewWithT(t), machines: fake.NewMachines(), address: "127.0.0.1:0", ended: make(chan struct{})}
	state, err := store.Open(filepath.Join(t.TempDir(), "state.db"))
	d.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = state.Close() })
	d.engine = engine.New(engine.Options{
		Store: state, Machines: d.machines, Balancers: fake.NewBalancers(), Network: netip.MustParsePrefix("10.91.0.0/24"),
		Zones:         []cloud.Zone{{Name: "zone-a", ControlPlane: true}, {Name: "zone-b"}},
		InstanceTypes: []cloud.InstanceType{{Name: "small", CPUs: 2, MemoryBytes: 2 << 30}},
		Images:        func() ([]cloud.Image, error) { return []cloud.Image{{KubernetesVersion: "v1.36.3"}}, nil },
		Limits:        map[string]cloud.Resources{"red": {Instances: 20, CPUs: 64}, "empty": {}, "slow": {}},
	})
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(d.engine.Wait)
	t.Cleanup(cancel)
	d.Expect(d.engine.Start(ctx)).To(Succeed())
	d.start("token-of-red")
	t.Cleanup(d.stop)
	return d
}

// start serves at the same address as before, with a token for the tenant red.
func (d *daemon) start(token string) {
	handler, err := server.New([]server.Tenant{
		{Name: "red", Token: token, ViewerToken: "viewer-" + token, Backend: withLogs{d.engine.Tenant("red"), d}},
		{Name: "slow", Token: "token-of-slow", RequestsPerSecond: 3, Backend: d.engine.Tenant("slow")},
		{Name: "empty", Token: "token-of-empty", Backend: d.engine.Tenant("empty")},
	})
	d.Expect(err).NotTo(HaveOccurred())
	listener, err := net.Listen("tcp", d.address)
	d.Expect(err).NotTo(HaveOccurred())
	d.mu.Lock()
	defer d.mu.Unlock()
	d.address = listener.Addr().String()
	d.web = httptest.NewUnstartedServer(handler)
	_ = d.web.Listener.Close()
	// A browser tries each certificate once before it ignores that it does not know it.
	d.web.Config.ErrorLog = log.New(io.Discard, "", 0)
	d.web.Listener = listener
	ctx, cancel := context.WithCancel(context.Background())
	d.web.Config.BaseContext = func(net.Listener) context.Context { return ctx }
	d.endStreams = cancel
	d.web.StartTLS()
}

// server returns the server of the last start, and what ends its streams.
func (d *daemon) server() (*httptest.Server, context.CancelFunc) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.web, d.endStreams
}

// stop ends the server as the daemon does, with a proper end of all streams.
func (d *daemon) stop() {
	web, endStreams := d.server()
	endStreams()
	web.Close()
}

// kill cuts all connections, as when the daemon is killed.
func (d *daemon) kill() {
	web, _ := d.server()
	web.CloseClientConnections()
	d.stop()
}

// logsEnd returns a channel that is closed when the logs that are followed end.
func (d *daemon) logsEnd() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.ended
}

// endLogs ends the logs that are followed, as when the disk of an instance is unmounted.
func (d *daemon) endLogs() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.ended)
	d.ended = make(chan struct{})
}

// control lets the tests in the browser do what no user can.
func (d *daemon) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /stop", func(http.ResponseWriter, *http.Request) { d.stop() })
	mux.HandleFunc("POST /kill", func(http.ResponseWriter, *http.Request) { d.kill() })
	mux.HandleFunc("POST /end-logs", func(http.ResponseWriter, *http.Request) { d.endLogs() })
	mux.HandleFunc("POST /start/{token}", func(_ http.ResponseWriter, r *http.Request) { d.start(r.PathValue("token")) })
	mux.HandleFunc("POST /boot/{id}", func(_ http.ResponseWriter, r *http.Request) {
		d.machines.Report(r.PathValue("id"), cloud.Bootstrap{State: cloud.BootstrapSucceeded})
	})
	return mux
}

// The page in a real browser, in front of a cloud with fake machines. `make test-integration`
// installs the browser and what drives it.
func TestConsoleInABrowser(t *testing.T) {
	g := NewWithT(t)
	if os.Getenv(alone) == "" {
		runAlone(t)
		return
	}
	loopback, err := netlink.LinkByName("lo")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(netlink.LinkSetUp(loopback)).To(Succeed())

	d := newDaemon(t)
	control := httptest.NewServer(d.control())
	t.Cleanup(control.Close)
	command := exec.CommandContext(t.Context(), "node", "--test", "--test-reporter=spec", "browser/console.test.js")
	command.Env = append(os.Environ(), "CONSOLE=https://"+d.address, "CONTROL="+control.URL)
	output, err := command.CombinedOutput()
	t.Logf("%s", output)
	g.Expect(err).NotTo(HaveOccurred())
}

// alone is set in the process that has a network of its own.
const alone = "FOO_CONSOLE_TEST_ALONE"

// runAlone runs the test in a network of its own. When an address of the host comes or goes, as it
// does while clusters start beside the test, Chromium ends every request that is under way.
func runAlone(t *testing.T) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), alone+"=yes")
	command.SysProcAttr = &unix.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   unix.SIGKILL,
	}
	output, err := command.CombinedOutput()
	t.Logf("%s", output)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}
