// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg/proxy"
)

// forwarder connects to ports of static Pods.
type forwarder func(ctx context.Context, pod string, port int) (net.Conn, error)

// portForward connects through the API server, so nothing else has to be reachable.
func portForward(config *rest.Config) forwarder {
	return func(ctx context.Context, pod string, port int) (net.Conn, error) {
		within := rest.CopyConfig(config)
		within.Wrap(func(inner http.RoundTripper) http.RoundTripper { return contextTransport{inner, ctx} })
		dialer, err := proxy.NewDialer(proxy.Proxy{
			Kind: "pods", Namespace: metav1.NamespaceSystem, KubeConfig: within, Port: port,
		})
		if err != nil {
			return nil, fmt.Errorf("preparing the port-forward to pod %s: %w", pod, err)
		}
		connection, err := inTime(ctx, func() (net.Conn, error) { return dialer.DialContextWithAddr(ctx, pod) })
		if err != nil {
			return nil, fmt.Errorf("port-forward to pod %s: %w", pod, err)
		}
		return connection, nil
	}
}

// contextTransport adds a context to requests, because the dialer of the port-forward does not.
// Otherwise a request to a Pod on a machine that is gone would last until the API server gives up,
// 30 seconds later.
type contextTransport struct {
	http.RoundTripper

	ctx context.Context
}

// RoundTrip implements http.RoundTripper.
func (t contextTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	return t.RoundTripper.RoundTrip(request.WithContext(t.ctx))
}

// inTime returns when the context ends, even if dial has not. A connection that arrives later is
// closed.
func inTime(ctx context.Context, dial func() (net.Conn, error)) (net.Conn, error) {
	type outcome struct {
		connection net.Conn
		err        error
	}
	dialed := make(chan outcome, 1)
	go func() {
		connection, err := dial()
		dialed <- outcome{connection, err}
	}()
	select {
	case made := <-dialed:
		return made.connection, made.err
	case <-ctx.Done():
		go func() {
			if made := <-dialed; made.err == nil {
				_ = made.connection.Close() // nothing was ever sent on it
			}
		}()
		return nil, ctx.Err()
	}
}

// secure performs the TLS handshake on a connection, and closes the connection if that fails. The
// context bounds only the handshake: the dialer of the port-forward leaves its deadline on the
// connection, where it would end a stream seconds later.
func secure(ctx context.Context, raw net.Conn, config *tls.Config) (*tls.Conn, error) {
	secured := tls.Client(raw, config)
	err := secured.HandshakeContext(ctx)
	if err == nil {
		err = raw.SetDeadline(time.Time{})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("TLS handshake: %w", err), raw.Close())
	}
	return secured, nil
}

// verifiedTLS accepts servers with a certificate that the authority has signed for one of the
// names, or for any name if none are given. TLS itself could verify only the name that is sent to
// the server.
func verifiedTLS(authority *x509.CertPool, names ...string) *tls.Config {
	verify := func(state tls.ConnectionState) error {
		leaf, intermediates := state.PeerCertificates[0], x509.NewCertPool()
		for _, certificate := range state.PeerCertificates[1:] {
			intermediates.AddCert(certificate)
		}
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: authority, Intermediates: intermediates}); err != nil {
			return err
		}
		if len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return leaf.VerifyHostname(name) == nil }) {
			return fmt.Errorf("the certificate is valid for %q, not for any of %q", leaf.DNSNames, names)
		}
		return nil
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, VerifyConnection: verify}
}
