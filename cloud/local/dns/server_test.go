// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// Each question comes from an address of 127.0.0.0/8, which stands in for the cloud's network.
const (
	one     = "127.0.1.1"
	two     = "127.0.1.2"
	foreign = "127.0.1.9"
	unknown = "127.0.1.77"
)

// soon is how long something quick may take on a busy machine.
const soon = time.Minute

func addr(text string) netip.Addr { return netip.MustParseAddr(text) }

func table() (*Table, error) {
	return NewTable([]Record{
		{Tenant: "a", Name: "one", Address: addr(one), Instance: true},
		{Tenant: "a", Name: "Two.example", Address: addr(two), Instance: true},
		{Tenant: "a", Name: "two.other", Address: addr("127.0.1.3"), Instance: true},
		{Tenant: "a", Name: "one.example", Address: addr("127.0.1.4"), Instance: true},
		{Tenant: "a", Name: "ns.balancer", Address: addr("127.0.1.8")},
		{Tenant: "b", Name: "one", Address: addr(foreign), Instance: true},
		{Tenant: "b", Name: "secret", Address: addr(foreign), Instance: true},
	}), nil
}

// resolver starts a name server of the host. Its handler decides whether and how to answer.
func resolver(t *testing.T, address string, handler dns.HandlerFunc) int {
	t.Helper()
	g := NewWithT(t)
	packets, err := net.ListenPacket("udp", address)
	g.Expect(err).NotTo(HaveOccurred())
	server := &dns.Server{PacketConn: packets, Handler: handler}
	var ended sync.WaitGroup
	ended.Go(func() { _ = server.ActivateAndServe() })
	t.Cleanup(ended.Wait)
	t.Cleanup(func() { _ = packets.Close() })
	return packets.LocalAddr().(*net.UDPAddr).Port
}

func answers(address string) dns.HandlerFunc {
	return func(w dns.ResponseWriter, query *dns.Msg) {
		reply := new(dns.Msg).SetReply(query)
		header := dns.RR_Header{Name: query.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET}
		reply.Answer = append(reply.Answer, &dns.A{Hdr: header, A: net.ParseIP(address)})
		_ = w.WriteMsg(reply)
	}
}

func says(code int) dns.HandlerFunc {
	return func(w dns.ResponseWriter, query *dns.Msg) { _ = w.WriteMsg(new(dns.Msg).SetRcode(query, code)) }
}

func silent(dns.ResponseWriter, *dns.Msg) {}

// start starts a server on a host with these resolvers, all on one port.
func start(t *testing.T, port int, resolvers ...string) *Server {
	t.Helper()
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "resolv.conf")
	g.Expect(os.WriteFile(path, []byte("nameserver "+strings.Join(resolvers, "\nnameserver ")+"\n"), 0o600)).To(Succeed())
	s, err := Listen(t.Context(), Options{
		Address: netip.MustParseAddrPort("127.0.0.1:0"), Network: netip.MustParsePrefix("127.0.0.0/16"), Table: table, ResolvConf: path,
	})
	g.Expect(err).NotTo(HaveOccurred())
	s.forward.port = port
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		g.Expect(<-ended).To(Succeed())
	})
	return s
}

// ask sends a question from the source address and returns the code and the data of the answer.
func (s *Server) ask(g *WithT, network, source, name string, kind uint16) string {
	client := &dns.Client{Net: network, Timeout: soon, Dialer: &net.Dialer{LocalAddr: &net.UDPAddr{IP: net.ParseIP(source)}}}
	if network == "tcp" {
		client.Dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(source)}
	}
	reply, _, err := client.Exchange(new(dns.Msg).SetQuestion(dns.Fqdn(name), kind), s.packets.LocalAddr().String())
	g.Expect(err).NotTo(HaveOccurred())
	text := dns.RcodeToString[reply.Rcode]
	for _, record := range reply.Answer {
		text += " " + dns.Field(record, 1)
	}
	return text
}

func TestNames(t *testing.T) {
	port := resolver(t, "127.0.2.1:0", answers("192.0.2.1"))
	s := start(t, port, "127.0.2.1")
	for _, test := range []struct {
		source, name string
		kind         uint16
		want         string
	}{
		{one, "one", dns.TypeA, "NOERROR " + one},
		{two, "ONE", dns.TypeA, "NOERROR " + one},
		{foreign, "one", dns.TypeA, "NOERROR " + foreign},
		{one, "two.example", dns.TypeA, "NOERROR " + two},
		{one, "two", dns.TypeA, "NOERROR " + two + " 127.0.1.3"},
		{one, "one", dns.TypeAAAA, "NOERROR"},
		{one, "ns.balancer", dns.TypeA, "NOERROR 127.0.1.8"},
		{one, "balancer", dns.TypeA, "NOERROR 192.0.2.1"},
		{foreign, "ns.balancer", dns.TypeA, "NOERROR 192.0.2.1"},
		{one, "secret", dns.TypeA, "NOERROR 192.0.2.1"},
		{unknown, "one", dns.TypeA, "NOERROR 192.0.2.1"},
		{one, "2.1.0.127.in-addr.arpa", dns.TypePTR, "NOERROR two.example."},
		{one, "8.1.0.127.in-addr.arpa", dns.TypePTR, "NOERROR ns.balancer."},
		{foreign, "2.1.0.127.in-addr.arpa", dns.TypePTR, "NXDOMAIN"},
		{one, "1.2.0.192.in-addr.arpa", dns.TypePTR, "NOERROR 192.0.2.1"},
		{one, "registry.example", dns.TypeA, "NOERROR 192.0.2.1"},
		{one, "example", dns.TypeAXFR, "REFUSED"},
		{"127.9.0.1", "one", dns.TypeA, "REFUSED"},
	} {
		t.Run(fmt.Sprintf("%s asks for %s %s", test.source, dns.TypeToString[test.kind], test.name), func(t *testing.T) {
			g := NewWithT(t)
			for _, network := range []string{"udp", "tcp"} {
				answer := func() string { return s.ask(g, network, test.source, test.name, test.kind) }
				switch forwarded := strings.Contains(test.want, "192.0.2.1"); {
				case !forwarded:
					g.Expect(answer()).To(Equal(test.want), network)
				case network == "udp":
					g.Eventually(answer, soon).Should(Equal(test.want), "a resolver may be slow on a busy machine")
				}
			}
		})
	}
}

func TestResolversOfTheHost(t *testing.T) {
	const name = "registry.example"
	for _, test := range []struct {
		name      string
		resolvers map[string]dns.HandlerFunc
		want      string
		within    time.Duration
	}{
		{"none", nil, "NXDOMAIN", time.Second},
		{"only this server itself", map[string]dns.HandlerFunc{"127.0.0.1": nil}, "NXDOMAIN", time.Second},
		{"one that is not there", map[string]dns.HandlerFunc{"127.0.2.1": nil}, "NXDOMAIN", time.Second},
		{"one that does not know the name", map[string]dns.HandlerFunc{"127.0.2.1": says(dns.RcodeNameError)}, "NXDOMAIN", time.Second},
		{"one that fails", map[string]dns.HandlerFunc{"127.0.2.1": says(dns.RcodeServerFailure)}, "SERVFAIL", time.Second},
		{
			"the second", map[string]dns.HandlerFunc{"127.0.2.1": says(dns.RcodeRefused), "127.0.2.2": answers("192.0.2.1")},
			"NOERROR 192.0.2.1", time.Second,
		},
		{
			"the second, the first is silent", map[string]dns.HandlerFunc{"127.0.2.1": silent, "127.0.2.2": answers("192.0.2.1")},
			"NOERROR 192.0.2.1", patience,
		},
		{"all silent", map[string]dns.HandlerFunc{"127.0.2.1": silent, "127.0.2.2": silent}, "NXDOMAIN", patience + time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			g := NewWithT(t)
			port := 0
			var listed []string
			for _, address := range slices.Sorted(maps.Keys(test.resolvers)) {
				listed = append(listed, address)
				if handler := test.resolvers[address]; handler != nil {
					port = resolver(t, fmt.Sprintf("%s:%d", address, port), handler)
				}
			}
			s := start(t, cmp.Or(port, 1), listed...)
			g.Eventually(func(each Gomega) {
				began := time.Now()
				each.Expect(s.ask(g, "udp", one, name, dns.TypeA)).To(Equal(test.want))
				each.Expect(time.Since(began)).To(BeNumerically("<", test.within))
			}, soon).Should(Succeed(), "once the machine has time for it")
		})
	}
}

// Questions must not wait two seconds over and over for unreachable resolvers, and must reach
// resolvers that answer again.
func TestPatienceWithSilentResolvers(t *testing.T) {
	g := NewWithT(t)
	answer := make(chan bool, 1)
	answer <- false
	port := resolver(t, "127.0.2.1:0", func(w dns.ResponseWriter, query *dns.Msg) {
		now := <-answer
		answer <- now
		if now {
			answers("192.0.2.1")(w, query)
		}
	})
	s := start(t, port, "127.0.2.1")
	took := func() time.Duration {
		began := time.Now()
		g.Expect(s.ask(g, "udp", one, "slow.example", dns.TypeA)).To(Equal("NXDOMAIN"))
		return time.Since(began)
	}
	g.Expect(took()).To(BeNumerically(">=", patience))
	g.Eventually(took, soon).Should(BeNumerically("<", patience))
	<-answer
	answer <- true
	g.Eventually(func() string { return s.ask(g, "udp", one, "registry.example", dns.TypeA) }, soon).Should(Equal("NOERROR 192.0.2.1"))
	_, limit := s.forward.now()
	g.Expect(limit).To(Equal(patience))
}

func TestResolversChange(t *testing.T) {
	g := NewWithT(t)
	port := resolver(t, "127.0.2.1:0", answers("192.0.2.1"))
	s := start(t, port, "127.0.2.9")
	g.Expect(s.ask(g, "udp", one, "registry.example", dns.TypeA)).To(Equal("NXDOMAIN"))
	g.Expect(os.WriteFile(s.forward.path, []byte("options edns0\nnameserver 127.0.2.1\n"), 0o600)).To(Succeed())
	g.Eventually(func() string { return s.ask(g, "udp", one, "registry.example", dns.TypeA) }, soon).Should(Equal("NOERROR 192.0.2.1"))
	g.Expect(os.Remove(s.forward.path)).To(Succeed())
	g.Expect(s.ask(g, "udp", one, "registry.example", dns.TypeA)).To(Equal("NXDOMAIN"))
}

func TestQuestionsAreLimited(t *testing.T) {
	g := NewWithT(t)
	s := start(t, 1, "127.0.2.1")
	const name = "registry.example"
	for range maxQuestionsEach {
		g.Expect(s.forward.asked.Enter(addr(one))).To(BeTrue())
	}
	g.Expect(s.ask(g, "udp", one, name, dns.TypeA)).To(Equal("SERVFAIL"))
	g.Expect(s.ask(g, "udp", one, "two", dns.TypeA)).To(HavePrefix("NOERROR"), "names of the cloud do not count")
	g.Expect(s.ask(g, "udp", two, name, dns.TypeA)).To(Equal("NXDOMAIN"), "one instance does not keep out others")
	s.forward.asked.Leave(addr(one))
	g.Expect(s.ask(g, "udp", one, name, dns.TypeA)).To(Equal("NXDOMAIN"))

	for i := range maxQuestions - maxQuestionsEach + 1 {
		g.Expect(s.forward.asked.Enter(netip.AddrFrom4([4]byte{127, 0, 3, byte(i)}))).To(BeTrue())
	}
	g.Expect(s.ask(g, "udp", two, name, dns.TypeA)).To(Equal("SERVFAIL"), "all together are limited too")
}

// Any instance can send such a message, and a crash would stop the cloud of all tenants.
func TestAMessageWithoutAQuestionDoesNoHarm(t *testing.T) {
	g := NewWithT(t)
	s := start(t, 1)
	conn, err := net.DialUDP("udp", &net.UDPAddr{IP: net.ParseIP(one)}, s.packets.LocalAddr().(*net.UDPAddr))
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = conn.Close() }()
	// The header announces a question, but the message ends before it.
	_, err = conn.Write([]byte{0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	g.Expect(err).NotTo(HaveOccurred())
	reply, err := (&dns.Conn{Conn: conn}).ReadMsg()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(reply.Id).To(BeEquivalentTo(7))
	g.Expect(reply.Rcode).To(Equal(dns.RcodeFormatError))
	g.Expect(s.ask(g, "udp", one, "two", dns.TypeA)).To(HavePrefix("NOERROR"))
}

func TestPortTaken(t *testing.T) {
	g := NewWithT(t)
	s := start(t, 1)
	_, err := Listen(t.Context(), Options{Address: netip.MustParseAddrPort(s.packets.LocalAddr().String())})
	g.Expect(errors.Is(err, unix.EADDRINUSE)).To(BeTrue(), "%v", err)
}
