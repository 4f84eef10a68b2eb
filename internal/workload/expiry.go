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
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg/proxy"
	"sigs.k8s.io/cluster-api/util/secret"
)

const (
	defaultAPIServerPort = 6443
	// expiryTimeout bounds the handshake with one API server.
	expiryTimeout = 5 * time.Second
	// servingName is the common name of the serving certificates that kubeadm makes for API servers.
	servingName = "kube-apiserver"
)

// CertificateExpiry implements Access. The API server is reached by port-forward through the cluster's endpoint, and shows
// its certificate in the handshake.
func (c *Connections) CertificateExpiry(ctx context.Context, endpoint APIServerEndpoint) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, expiryTimeout)
	defer cancel()
	var expiry time.Time
	err := c.lanes.run(endpoint.Cluster, func() (err error) {
		expiry, err = c.handshake(ctx, endpoint)
		return err
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the certificate of the API server on node %s: %w", endpoint.Node, err)
	}
	return expiry, nil
}

func (c *Connections) handshake(ctx context.Context, endpoint APIServerEndpoint) (time.Time, error) {
	connection, err := c.direct.connect(ctx, endpoint.Cluster)
	if err != nil {
		return time.Time{}, err
	}
	tlsConfig, err := c.servingTLS(ctx, endpoint.Cluster)
	if err != nil {
		return time.Time{}, err
	}
	port := endpoint.Port
	if port == 0 {
		port = defaultAPIServerPort
	}
	dialer, err := proxy.NewDialer(proxy.Proxy{
		Kind:       "pods",
		Namespace:  metav1.NamespaceSystem,
		KubeConfig: rest.CopyConfig(connection.config),
		Port:       int(port),
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("preparing the port-forward: %w", err)
	}
	raw, err := dialer.DialContextWithAddr(ctx, staticPodName(APIServer, endpoint.Node))
	if err != nil {
		return time.Time{}, fmt.Errorf("dialing: %w", err)
	}
	return shownExpiry(ctx, raw, tlsConfig)
}

// shownExpiry reads the expiry of the certificate that is shown on a connection, which it closes.
func shownExpiry(ctx context.Context, raw net.Conn, tlsConfig *tls.Config) (time.Time, error) {
	secured := tls.Client(raw, tlsConfig)
	err := secured.HandshakeContext(ctx)
	var refused *tls.CertificateVerificationError
	var invalid x509.CertificateInvalidError
	if errors.As(err, &refused) && errors.As(err, &invalid) && invalid.Reason == x509.Expired {
		// One that has expired is the one that most needs to be told of.
		expiry, err := servingExpiry(refused.UnverifiedCertificates)
		return expiry, errors.Join(err, raw.Close())
	}
	if err != nil {
		return time.Time{}, errors.Join(fmt.Errorf("handshake: %w", err), raw.Close())
	}
	expiry, err := servingExpiry(secured.ConnectionState().PeerCertificates)
	// What follows the handshake is of no interest, nor is whether the other side takes leave.
	return expiry, errors.Join(err, raw.Close())
}

// servingTLS trusts the cluster's own authority, and asks for the name that every API server's certificate has.
func (c *Connections) servingTLS(ctx context.Context, cluster client.ObjectKey) (*tls.Config, error) {
	authority, err := c.direct.secrets.get(ctx, cluster, secret.ClusterCA)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority.Data[secret.TLSCrtDataName]) {
		return nil, fmt.Errorf("secret %s: data[%q] is not a PEM certificate", authority.Name, secret.TLSCrtDataName)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: "kubernetes.default.svc"}, nil
}

func servingExpiry(certificates []*x509.Certificate) (time.Time, error) {
	for _, certificate := range certificates {
		if certificate.Subject.CommonName == servingName {
			return certificate.NotAfter, nil
		}
	}
	return time.Time{}, fmt.Errorf("it shows no certificate of common name %q", servingName)
}
