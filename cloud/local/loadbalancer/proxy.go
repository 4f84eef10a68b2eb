// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package loadbalancer

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/klog/v2"
)

const (
	// holdTime is how long a connection waits for a backend.
	holdTime = 60 * time.Second
	// maxHeld is how many connections may wait at the same time.
	maxHeld = 4096
	// dialTimeout is how long to try one backend.
	dialTimeout = time.Second
	// redialDelay is the pause after all candidates have refused a connection.
	redialDelay = 50 * time.Millisecond
	// loggedDrops is how many dropped connections are logged in any case, and loggedInterval the time
	// between two that are logged after that.
	loggedDrops    = 10
	loggedInterval = time.Minute
)

var errTooManyHeld = errors.New("too many connections wait for a backend")

// proxy forwards connections to a pool.
type proxy struct {
	pool *pool
	held atomic.Int64
	// dropped limits how often a dropped connection is logged. Any client can cause that, and the log
	// is a file of the host.
	dropped rate.Sometimes
}

func newProxy(p *pool) *proxy {
	return &proxy{pool: p, dropped: rate.Sometimes{First: loggedDrops, Interval: loggedInterval}}
}

// serve accepts connections until the listener is closed.
func (p *proxy) serve(ctx context.Context, listener net.Listener) {
	for {
		client, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Most likely there are too many open files. Wait for connections to end and free some.
			klog.Background().Error(err, "Accepting a connection failed")
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
	b, server, err := p.connect(ctx)
	if err != nil {
		p.dropped.Do(func() {
			klog.Background().Info("Connection dropped", "client", client.RemoteAddr().String(), "reason", err.Error())
		})
		return
	}
	defer p.pool.detach(b, server)
	defer func() { _ = server.Close() }()
	join(client, server)
}

// connect holds a connection until a backend takes it.
func (p *proxy) connect(ctx context.Context) (*backend, net.Conn, error) {
	if p.held.Add(1) > maxHeld {
		p.held.Add(-1)
		return nil, nil, errTooManyHeld
	}
	defer p.held.Add(-1)
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
