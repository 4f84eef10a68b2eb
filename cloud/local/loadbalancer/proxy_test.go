// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// soon is how long a health check and its consequences may take on a busy machine.
const soon = time.Minute

// failing is a listener without a connection to accept.
type failing struct{ net.Listener }

func (failing) Accept() (net.Conn, error) { return nil, unix.EMFILE }

// Clients can keep a load balancer at its limit of open files, and the log is a file of the host.
func TestFailuresToAcceptDoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, lines := NewWithT(t), atomic.Int32{}
		klog.SetLogger(funcr.New(func(string, string) { lines.Add(1) }, funcr.Options{}))
		defer klog.ClearLogger()
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		newProxy(nil).serve(ctx, failing{})
		g.Expect(lines.Load()).To(BeNumerically("~", loggedDrops+60, 2), "one a minute")
	})
}

// backendServer acts as an API server as seen by the load balancer: HTTPS, with a readiness that
// can change.
type backendServer struct {
	cloud.Backend
	ready atomic.Bool
	// hung makes health checks hang.
	hung atomic.Bool
	web  *httptest.Server
}

type setup struct {
	*GomegaWithT
	t       *testing.T
	ctx     context.Context
	port    int32
	pool    *pool
	proxy   *proxy
	address string
	servers int
}

func newSetup(t *testing.T) *setup {
	t.Helper()
	s := &setup{GomegaWithT: NewWithT(t), t: t}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	s.ctx = ctx
	// Every backend has the same port, on its own loopback address. Programs that take any port get none
	// below 32768.
	s.port = 26443
	s.pool = newPool(s.port)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	s.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = listener.Close() })
	s.address = listener.Addr().String()
	s.proxy = newProxy(s.pool)
	go s.proxy.serve(ctx, listener)
	return s
}

// reserve returns a backend that does not listen yet.
func (s *setup) reserve() *backendServer {
	s.servers++
	return &backendServer{Backend: cloud.Backend{
		InstanceID: fmt.Sprintf("i%d", s.servers), Address: fmt.Sprintf("127.0.91.%d", s.servers+1),
	}}
}

func (s *setup) listen(b *backendServer) {
	s.t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(b.Address, strconv.Itoa(int(s.port))))
	s.Expect(err).NotTo(HaveOccurred())
	b.web = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" && !b.ready.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		if r.URL.Path == "/hang" || (r.URL.Path == "/readyz" && b.hung.Load()) {
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, b.InstanceID)
	}))
	s.Expect(b.web.Listener.Close()).To(Succeed())
	b.web.Listener = listener
	b.web.StartTLS()
	s.t.Cleanup(b.web.Close)
	s.t.Cleanup(b.web.CloseClientConnections)
}

func (s *setup) ready() *backendServer {
	b := s.reserve()
	b.ready.Store(true)
	s.listen(b)
	return b
}

func (s *setup) set(servers ...*backendServer) {
	var list []cloud.Backend
	for _, b := range servers {
		list = append(list, b.Backend)
	}
	s.pool.set(s.ctx, list)
}

// ask sends a request through the load balancer on a new connection, and returns which backend
// answered.
func (s *setup) ask() (string, error) { return s.askFrom("127.0.0.1") }

// dialer returns a dialer for a client with the address.
func dialer(client string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(client)}}
}

// askFrom asks as the client with the address.
func (s *setup) askFrom(client string) (string, error) {
	transport := &http.Transport{
		DialContext: dialer(client).DialContext, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true,
	}
	response, err := (&http.Client{Transport: transport, Timeout: soon}).Get("https://" + s.address + "/")
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

func (s *setup) health(b *backendServer) func() health {
	return func() health {
		s.pool.mu.Lock()
		defer s.pool.mu.Unlock()
		for _, known := range s.pool.backends {
			if known.InstanceID == b.InstanceID {
				return known.health
			}
		}
		return down
	}
}

func TestConnectionIsHeldUntilThereIsABackend(t *testing.T) {
	s := newSetup(t)
	b := s.reserve()
	b.ready.Store(true)
	answer := make(chan string, 1)
	go func() {
		text, err := s.ask()
		answer <- fmt.Sprint(text, err)
	}()
	s.Consistently(answer, "300ms").ShouldNot(Receive(), "with no backend at all it is held")
	s.set(b)
	s.Consistently(answer, "300ms").ShouldNot(Receive(), "with a backend that refuses it is held")
	s.listen(b)
	s.Eventually(answer, soon).Should(Receive(Equal(b.InstanceID+"<nil>")), "it is forwarded once the backend is up")
}

// A load balancer accepts connections from the instances of all tenants.
func TestAClientDoesNotKeepOutOthers(t *testing.T) {
	s := newSetup(t)
	const greedy, other = "127.0.0.2", "127.0.0.3"
	ended := make(chan error, maxHeldEach+1)
	for range maxHeldEach + 1 {
		conn, err := dialer(greedy).DialContext(s.ctx, "tcp", s.address)
		s.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() { _ = conn.Close() })
		go func() {
			_, err := conn.Read(make([]byte, 1))
			ended <- err
		}()
	}
	s.Eventually(ended, soon).Should(Receive(MatchError(io.EOF)), "one too many is closed")
	answer := make(chan string, 1)
	go func() {
		text, err := s.askFrom(other)
		answer <- fmt.Sprint(text, err)
	}()
	s.Consistently(answer, "300ms").ShouldNot(Receive(), "another client is held")
	b := s.ready()
	s.set(b)
	s.Eventually(answer, soon).Should(Receive(Equal(b.InstanceID + "<nil>")))
	s.Expect(ended).To(BeEmpty(), "only one was too many")

	for s.proxy.open.Enter(netip.MustParseAddr(greedy)) {
		continue
	}
	_, err := s.askFrom(greedy)
	s.Expect(err).To(HaveOccurred(), "it has all the connections that one client may have")
	s.Expect(s.askFrom(other)).To(Equal(b.InstanceID))
}

func TestReadyBackendsTakeTurns(t *testing.T) {
	s := newSetup(t)
	one, two, unready := s.ready(), s.ready(), s.ready()
	unready.ready.Store(false)
	s.set(one, two, unready)
	s.Eventually(s.health(one), soon).Should(Equal(ready), "its health is checked")
	s.Eventually(s.health(two), soon).Should(Equal(ready), "its health is checked")
	s.Eventually(func(g Gomega) {
		counts := map[string]int{}
		for range 10 {
			who, err := s.ask()
			g.Expect(err).NotTo(HaveOccurred())
			counts[who]++
		}
		g.Expect(counts).To(Equal(map[string]int{one.InstanceID: 5, two.InstanceID: 5}))
	}, soon).Should(Succeed(), "one that was slow to answer a check is out of use for a moment")
}

func TestAcceptingBackendServesWhenNoneIsReady(t *testing.T) {
	s := newSetup(t)
	b := s.reserve()
	s.listen(b)
	s.set(b)
	s.Expect(s.ask()).To(Equal(b.InstanceID))
	s.Expect(s.health(b)()).To(Equal(accepting))
}

// hang sends a request through the load balancer that is never answered. The returned channel
// receives the error that ends the connection.
func (s *setup) hang() <-chan error {
	conn, err := tls.Dial("tcp", s.address, &tls.Config{InsecureSkipVerify: true})
	s.Expect(err).NotTo(HaveOccurred())
	s.t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, "GET /hang HTTP/1.1\r\nHost: x\r\n\r\n")
	s.Expect(err).NotTo(HaveOccurred())
	ended := make(chan error, 1)
	go func() {
		_, err := bufio.NewReader(conn).ReadByte()
		ended <- err
	}()
	return ended
}

func TestConnectionsLeaveABackendThatIsNotReady(t *testing.T) {
	s := newSetup(t)
	one := s.ready()
	s.set(one)
	s.Eventually(s.health(one), soon).Should(Equal(ready), "its health is checked")
	ended := s.hang()
	one.ready.Store(false)
	s.Eventually(s.health(one), soon).Should(Equal(accepting), "its health is checked")
	s.Consistently(ended, "200ms").ShouldNot(Receive(), "there is nowhere else to go")
	two := s.ready()
	s.set(one, two)
	s.Eventually(ended, soon).Should(Receive(HaveOccurred()), "the client is to go to the other")
	s.Expect(s.ask()).To(Equal(two.InstanceID))
}

func TestConnectionsOfARemovedBackendEndAtOnce(t *testing.T) {
	s := newSetup(t)
	one, two := s.ready(), s.ready()
	s.set(one)
	s.Eventually(s.health(one), soon).Should(Equal(ready), "its health is checked")
	ended := s.hang()
	s.set(two)
	s.Eventually(ended, soon).Should(Receive(HaveOccurred()), "its instance is gone")
	s.Expect(s.ask()).To(Equal(two.InstanceID))
}

func TestConnectionsLeaveABackendThatDrains(t *testing.T) {
	s := newSetup(t)
	one, two := s.ready(), s.ready()
	s.set(one)
	s.Eventually(s.health(one), soon).Should(Equal(ready), "its health is checked")
	ended := s.hang()
	one.Draining = true
	s.set(one)
	s.Consistently(ended, "200ms").ShouldNot(Receive(), "there is nowhere else to go")
	s.Expect(s.ask()).To(Equal(one.InstanceID), "the last one stays in use")
	s.set(one, two)
	s.Eventually(ended, soon).Should(Receive(HaveOccurred()), "the client is to go to the other")
	for range 4 {
		s.Expect(s.ask()).To(Equal(two.InstanceID))
	}
	two.Draining = true
	s.set(one, two)
	answers := map[string]bool{}
	s.Eventually(func() map[string]bool {
		who, err := s.ask()
		s.Expect(err).NotTo(HaveOccurred())
		answers[who] = true
		return answers
	}, soon).Should(HaveLen(2), "where all are to go, all stay in use")
}

func TestConnectionsLeaveABackendThatHangs(t *testing.T) {
	s := newSetup(t)
	one, two := s.ready(), s.ready()
	s.set(one)
	s.Eventually(s.health(one), soon).Should(Equal(ready), "its health is checked")
	ended := s.hang()
	s.set(one, two)
	s.Eventually(s.health(two), soon).Should(Equal(ready), "its health is checked")
	one.hung.Store(true)
	s.Eventually(ended, soon).Should(Receive(HaveOccurred()), "the client is to go to the other")
	s.Eventually(s.health(one), soon).Should(Equal(accepting), "the other one answers meanwhile, so this one is suspected")
	s.Expect(s.ask()).To(Equal(two.InstanceID))
	one.hung.Store(false)
	s.Eventually(s.health(one), soon).Should(Equal(ready), "its answer brings it back")
}

func TestSlownessOfAllIsNoReasonToLeave(t *testing.T) {
	stays := func() bool {
		s := newSetup(t)
		one, two := s.ready(), s.ready()
		s.set(one)
		s.Eventually(s.health(one), soon).Should(Equal(ready), "its health is checked")
		ended := s.hang()
		s.set(one, two)
		s.Eventually(s.health(two), soon).Should(Equal(ready), "its health is checked")
		two.hung.Store(true)
		one.hung.Store(true)
		select {
		case <-ended:
			return false
		case <-time.After(3 * time.Second):
			return true
		}
	}
	// The other backend's last answer may happen to arrive after the first check that hangs, which
	// is a valid reason to suspect this one. So retry.
	stayed := false
	for try := 0; try < 10 && !stayed; try++ {
		stayed = stays()
	}
	NewWithT(t).Expect(stayed).To(BeTrue(), "the other does not answer either")
}

func TestNextBackendIsTriedWhenOneRefuses(t *testing.T) {
	s := newSetup(t)
	one, two := s.ready(), s.ready()
	s.set(one, two)
	s.Eventually(s.health(one), soon).Should(Equal(ready), "its health is checked")
	s.Eventually(s.health(two), soon).Should(Equal(ready), "its health is checked")
	one.web.CloseClientConnections()
	one.web.Close()
	for range 4 {
		s.Expect(s.ask()).To(Equal(two.InstanceID), "whatever the health check knows so far")
	}
}

func TestRunEndsWithoutTheDaemon(t *testing.T) {
	g := NewWithT(t)
	read, write := io.Pipe()
	g.Expect(write.Close()).To(Succeed())
	g.Expect(awaitGoAhead(read)).NotTo(Succeed(), "a process that is not stored must not go on")
}

// Any instance can open connections, and the log lies on the host's disk.
func TestDroppedConnectionsDoNotFillTheLog(t *testing.T) {
	g := NewWithT(t)
	lines := 0
	klog.SetLogger(funcr.New(func(string, string) { lines++ }, funcr.Options{}))
	t.Cleanup(klog.ClearLogger)
	p := newProxy(newPool(1))
	for p.held.Enter(netip.Addr{}) {
		continue
	}
	for range 1000 {
		client, other := net.Pipe()
		p.forward(t.Context(), client)
		g.Expect(other.Close()).To(Succeed())
	}
	g.Expect(lines).To(And(BeNumerically(">", 0), BeNumerically("<=", loggedDrops+1)))
}

func TestABackendThatChangesOftenDoesNotFillTheLog(t *testing.T) {
	g := NewWithT(t)
	lines := 0
	klog.SetLogger(funcr.New(func(string, string) { lines++ }, funcr.Options{}))
	t.Cleanup(klog.ClearLogger)
	p := newPool(1)
	ended, end := context.WithCancel(t.Context())
	end() // nobody else checks it
	p.set(ended, []cloud.Backend{{InstanceID: "i1", Address: "127.0.0.1"}})
	for range 1000 {
		p.report(p.backends[0], ready)
		p.report(p.backends[0], down)
	}
	g.Expect(lines).To(And(BeNumerically(">", 0), BeNumerically("<=", 101)))
}
