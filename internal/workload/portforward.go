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

package workload

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg/proxy"
)

// forwarder connects to ports of static pods.
type forwarder func(ctx context.Context, pod string, port int) (net.Conn, error)

// portForward connects by way of the API server, so nothing else has to be reachable.
func portForward(config *rest.Config) forwarder {
	return func(ctx context.Context, pod string, port int) (net.Conn, error) {
		dialer, err := proxy.NewDialer(proxy.Proxy{
			Kind: "pods", Namespace: metav1.NamespaceSystem, KubeConfig: rest.CopyConfig(config), Port: port,
		})
		if err != nil {
			return nil, fmt.Errorf("preparing the port-forward to pod %s: %w", pod, err)
		}
		connection, err := dialer.DialContextWithAddr(ctx, pod)
		if err != nil {
			return nil, fmt.Errorf("port-forward to pod %s: %w", pod, err)
		}
		return connection, nil
	}
}

// secure does the TLS handshake on a connection, which it closes if that fails. The context bounds the handshake only: the
// dialer of the port-forward leaves its deadline on the connection, where it would end a stream seconds later.
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

// verifiedTLS accepts servers whose certificate the authority has signed for one of the names, or for any if there are
// none. The names that TLS itself verifies would have to be those that are sent to the server.
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
