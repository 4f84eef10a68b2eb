// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/connlimit"
)

const (
	// holdTime is how long a connection waits for a backend.
	holdTime = 60 * time.Second
	// maxOpen is how many connections may be open at the same time, and maxOpenEach how many of one
	// client. Everything on the host, such as managers and kubectl, is one client, and a busy node has
	// hundreds of connections. A connection to a backend takes one of about 28,000 ephemeral ports.
	maxOpen     = 16384
	maxOpenEach = 2048
	// maxHeld is how many of them may wait for a backend at the same time, and maxHeldEach how many of
	// one client. A connection whose client has given up counts until holdTime is over, so maxHeldEach
	// lets a client try 17 times a second.
	maxHeld     = 4096
	maxHeldEach = 1024
	// dialTimeout is how long to try one backend.
	dialTimeout = time.Second
	// redialDelay is the pause after all candidates have refused a connection.
	redialDelay = 50 * time.Millisecond
	// loggedDrops is how many dropped connections are logged in any case, and how many that could not be
	// accepted, and loggedInterval the time between two that are logged after that.
	loggedDrops    = 10
	loggedInterval = time.Minute
)

var (
	errTooManyOpen = errors.New("too many connections are open")
	errTooManyHeld = errors.New("too many connections wait for a backend")
)

// proxy forwards connections to a pool.
type proxy struct {
	pool       *pool
	open, held *connlimit.Counter
	// dropped limits how often a dropped connection is logged. Any client can cause that, and the log
	// is a file of the host.
	dropped rate.Sometimes
}

func newProxy(p *pool) *proxy {
	return &proxy{
		pool: p, open: connlimit.NewCounter(maxOpen, maxOpenEach), held: connlimit.NewCounter(maxHeld, maxHeldEach),
		dropped: rate.Sometimes{First: loggedDrops, Interval: loggedInterval},
	}
}

// serve accepts connections until the listener is closed.
func (p *proxy) serve(ctx context.Context, listener net.Listener) {
	failed := rate.Sometimes{First: loggedDrops, Interval: loggedInterval}
	for {
		client, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Most likely there are too many open files. Wait for connections to end and free some.
			failed.Do(func() { klog.Background().Error(err, "Accepting a connection failed") })
			if await(ctx, nil, redialDelay) != nil {
				return
			}
			continue
		}
		go p.forward(ctx, client)
	}
}

func (p *proxy) forward(ctx context.Context, client net.Conn) {
	defer func() { _ = client.Close() }()
	address := connlimit.Client(client)
	if !p.open.Enter(address) {
		p.drop(client, errTooManyOpen)
		return
	}
	defer p.open.Leave(address)
	b, server, err := p.connect(ctx, address)
	if err != nil {
		p.drop(client, err)
		return
	}
	defer p.pool.detach(b, server)
	defer func() { _ = server.Close() }()
	join(client, server)
}

func (p *proxy) drop(client net.Conn, reason error) {
	p.dropped.Do(func() {
		klog.Background().Info("Connection dropped", "client", client.RemoteAddr().String(), "reason", reason.Error())
	})
}

// connect holds a connection of a client until a backend takes it.
func (p *proxy) connect(ctx context.Context, client netip.Addr) (*backend, net.Conn, error) {
	if !p.held.Enter(client) {
		return nil, nil, errTooManyHeld
	}
	defer p.held.Leave(client)
	ctx, cancel := context.WithTimeout(ctx, holdTime)
	defer cancel()
	for {
		list, changed := p.pool.next()
		for _, b := range list {
			if server, ok := p.dial(ctx, b); ok {
				return b, server, nil
			}
		}
		again := holdTime
		if len(list) > 0 {
			again = redialDelay
		}
		if err := await(ctx, changed, again); err != nil {
			return nil, nil, err
		}
	}
}

func (p *proxy) dial(ctx context.Context, b *backend) (net.Conn, bool) {
	// Stop dialing if the backend is removed: a deleted instance's address does not even refuse.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(b.ctx, cancel)()
	dialer := &net.Dialer{Timeout: dialTimeout}
	server, err := dialer.DialContext(ctx, "tcp", b.target)
	if err != nil {
		return nil, false
	}
	if !p.pool.attach(b, server) {
		_ = server.Close()
		return nil, false
	}
	return server, true
}

// await waits until a backend may take the connection, because something changed or because it is
// time to retry the backends that refused it.
func await(ctx context.Context, changed <-chan struct{}, again time.Duration) error {
	timer := time.NewTimer(again)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
	case <-timer.C:
	}
	return nil
}

// join copies in both directions until both ends have finished sending, or one of them fails.
func join(client, server net.Conn) {
	var both sync.WaitGroup
	both.Add(2)
	go func() {
		defer both.Done()
		pipe(server, client)
	}()
	go func() {
		defer both.Done()
		pipe(client, server)
	}()
	both.Wait()
}

// pipe copies in one direction. It passes on the end of the source's stream. If the connection
// breaks, it closes both ends.
func pipe(to, from net.Conn) {
	_, err := io.Copy(to, from)
	half, ok := to.(interface{ CloseWrite() error })
	if err == nil && ok && half.CloseWrite() == nil {
		return
	}
	_ = to.Close()
	_ = from.Close()
}
