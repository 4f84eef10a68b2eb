// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/miekg/dns"
	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/connlimit"
)

const (
	// Port is the standard port of name servers.
	Port = 53
	// maxConnections is the maximum number of concurrent TCP connections, and maxConnectionsEach how
	// many of them one instance may have.
	maxConnections     = 256
	maxConnectionsEach = 16
	// lifetime is the TTL of an answer in seconds. It is short, since instances come and go and
	// asking again is cheap.
	lifetime = 5
)

// Options configures a server.
type Options struct {
	// Address to listen on.
	Address netip.AddrPort
	// Network of the clients that may ask.
	Network netip.Prefix
	// Table returns the current names of the cloud.
	Table func() (*Table, error)
	// ResolvConf is the file that names the host's resolvers; /etc/resolv.conf if empty.
	ResolvConf string
}

// Server answers DNS questions.
type Server struct {
	options  Options
	packets  net.PacketConn
	listener net.Listener
	forward  *forwarder
}

// Listen opens the address. The error is EADDRINUSE if another program uses it.
func Listen(ctx context.Context, options Options) (*Server, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", options.Address.String())
	if err != nil {
		return nil, fmt.Errorf("listen for DNS queries: %w", err)
	}
	packets, err := (&net.ListenConfig{}).ListenPacket(ctx, "udp", listener.Addr().String())
	if err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("listen for DNS queries: %w", err)
	}
	s := &Server{options: options, packets: packets, listener: connlimit.New(listener, maxConnections, maxConnectionsEach)}
	s.forward = newForwarder(options.ResolvConf, options.Address.Addr())
	return s, nil
}

// Close stops listening.
func (s *Server) Close() error { return errors.Join(s.packets.Close(), s.listener.Close()) }

// Serve answers until ctx ends, then stops listening.
func (s *Server) Serve(ctx context.Context) error {
	servers := []*dns.Server{{PacketConn: s.packets, Handler: s}, {Listener: s.listener, Handler: s}}
	ended := make(chan error, len(servers))
	for _, server := range servers {
		go func() { ended <- server.ActivateAndServe() }()
	}
	var err error
	left := len(servers)
	select {
	case err = <-ended:
		left--
	case <-ctx.Done():
	}
	over, cancel := context.WithCancel(ctx)
	cancel()
	for _, server := range servers {
		// This does not wait. A server that has not started yet ends because its socket is closed.
		_ = server.ShutdownContext(over)
	}
	_ = s.Close()
	for range left {
		<-ended
	}
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("answer DNS queries: %w", err)
	}
	return nil
}

// ServeDNS answers one question.
func (s *Server) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	reply := s.reply(w.RemoteAddr(), query)
	reply.Id = query.Id
	if w.RemoteAddr().Network() == "udp" {
		size := dns.MinMsgSize
		if options := query.IsEdns0(); options != nil {
			size = max(size, int(options.UDPSize()))
		}
		reply.Truncate(size)
	}
	if err := w.WriteMsg(reply); err != nil {
		klog.Background().V(1).Info("Answer for a name was not sent", "reason", err.Error())
	}
}

func (s *Server) reply(from net.Addr, query *dns.Msg) *dns.Msg {
	// The library passes on a message that ends before its question.
	if len(query.Question) != 1 {
		return new(dns.Msg).SetRcode(query, dns.RcodeFormatError)
	}
	source, err := netip.ParseAddrPort(from.String())
	address := source.Addr().Unmap()
	question := query.Question[0]
	transfer := question.Qtype == dns.TypeAXFR || question.Qtype == dns.TypeIXFR
	if err != nil || !s.options.Network.Contains(address) || query.Opcode != dns.OpcodeQuery || transfer {
		return new(dns.Msg).SetRcode(query, dns.RcodeRefused)
	}
	table, err := s.options.Table()
	if err != nil {
		klog.Background().Error(err, "The names of the cloud cannot be read")
		return new(dns.Msg).SetRcode(query, dns.RcodeServerFailure)
	}
	if reply := s.own(table, address, query); reply != nil {
		return reply
	}
	return s.forward.ask(from.Network(), address, query)
}

// own answers questions for names of the cloud. It returns nil for all other names.
func (s *Server) own(table *Table, source netip.Addr, query *dns.Msg) *dns.Msg {
	question := query.Question[0]
	addresses, names := table.find(source, question.Name)
	reply := new(dns.Msg).SetReply(query)
	reply.Authoritative, reply.RecursionAvailable = true, true
	header := dns.RR_Header{Name: question.Name, Rrtype: question.Qtype, Class: dns.ClassINET, Ttl: lifetime}
	if len(addresses)+len(names) == 0 {
		if inner, ok := reversed(question.Name); ok && s.options.Network.Contains(inner) {
			return reply.SetRcode(query, dns.RcodeNameError)
		}
		return nil
	}
	// A name that exists but has no data of the requested type gets an empty answer.
	for _, address := range addresses {
		if question.Qtype == dns.TypeA {
			reply.Answer = append(reply.Answer, &dns.A{Hdr: header, A: address.AsSlice()})
		}
	}
	for _, name := range names {
		if question.Qtype == dns.TypePTR {
			reply.Answer = append(reply.Answer, &dns.PTR{Hdr: header, Ptr: name})
		}
	}
	return reply
}
