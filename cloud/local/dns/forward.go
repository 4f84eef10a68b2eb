// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package dns

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/miekg/dns"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/connlimit"
)

const (
	resolvConf = "/etc/resolv.conf"
	// maxResolvers is how many resolvers of the file are used, as in the C library.
	maxResolvers = 3
	// maxQuestions is how many questions may be forwarded to the host's resolvers at the same time, and
	// maxQuestionsEach how many of them one instance may have.
	maxQuestions     = 256
	maxQuestionsEach = 64

	// patience is how long all resolvers together may take. If none of them answers, briefPatience
	// applies for briefFor, or until one answers.
	patience      = 2 * time.Second
	briefPatience = 200 * time.Millisecond
	briefFor      = 10 * time.Second
)

// forwarder forwards questions to the host's resolvers.
type forwarder struct {
	path string
	own  netip.Addr
	port int
	// asked counts the questions that are being forwarded, in total and per instance.
	asked *connlimit.Counter

	mu        sync.Mutex
	read      os.FileInfo
	resolvers []string
	// heard is when a resolver last answered. silent is when all resolvers were last found silent.
	heard, silent time.Time
}

func newForwarder(path string, own netip.Addr) *forwarder {
	return &forwarder{path: cmp.Or(path, resolvConf), own: own, port: Port, asked: connlimit.NewCounter(maxQuestions, maxQuestionsEach)}
}

// ask returns the reply of the first resolver that has an answer. If none replies, the name does
// not exist.
func (f *forwarder) ask(network string, source netip.Addr, query *dns.Msg) *dns.Msg {
	if !f.asked.Enter(source) {
		return new(dns.Msg).SetRcode(query, dns.RcodeServerFailure)
	}
	defer f.asked.Leave(source)
	reply := new(dns.Msg).SetRcode(query, dns.RcodeNameError)
	reply.RecursionAvailable = true
	resolvers, limit := f.now()
	began := time.Now()
	answered := len(resolvers) == 0
	for i, resolver := range resolvers {
		share := (limit - time.Since(began)) / time.Duration(len(resolvers)-i)
		said, err := exchange(network, resolver, query, share)
		if err != nil {
			continue
		}
		answered = true
		f.note(func() { f.heard = time.Now() })
		reply = said
		if said.Rcode != dns.RcodeServerFailure && said.Rcode != dns.RcodeRefused {
			break
		}
	}
	if !answered {
		f.note(func() {
			// A resolver that answered other questions meanwhile is alive. It just did not answer
			// this one.
			if f.heard.Before(began) {
				f.silent = time.Now()
			}
		})
	}
	return reply
}

func exchange(network, resolver string, query *dns.Msg, limit time.Duration) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	asked := query.Copy()
	asked.Id = dns.Id()
	said, _, err := (&dns.Client{Net: network, Timeout: limit}).ExchangeContext(ctx, asked, resolver)
	return said, err
}

func (f *forwarder) note(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// now returns the host's current resolvers, without this server, and how long they may take.
func (f *forwarder) now() ([]string, time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	limit := patience
	if f.silent.After(f.heard) && time.Since(f.silent) < briefFor {
		limit = briefPatience
	}
	info, err := os.Stat(f.path)
	if err != nil {
		f.read = nil
		return nil, limit
	}
	if f.read != nil && os.SameFile(info, f.read) && info.ModTime().Equal(f.read.ModTime()) && info.Size() == f.read.Size() {
		return f.resolvers, limit
	}
	f.read, f.resolvers = info, f.listed()
	return f.resolvers, limit
}

// listed returns the resolvers in the file, without this server.
func (f *forwarder) listed() []string {
	config, err := dns.ClientConfigFromFile(f.path)
	if err != nil {
		return nil
	}
	var resolvers []string
	for _, server := range config.Servers {
		address, err := netip.ParseAddr(server)
		if err == nil && address.Unmap() != f.own && len(resolvers) < maxResolvers {
			resolvers = append(resolvers, net.JoinHostPort(address.String(), strconv.Itoa(f.port)))
		}
	}
	return resolvers
}
