// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api/util/secret"
)

const (
	defaultAPIServerPort = 6443
	// expiryTimeout bounds the handshake with one API server.
	expiryTimeout = 5 * time.Second
	// servingName is the common name of the serving certificates that kubeadm issues for API
	// servers.
	servingName = "kube-apiserver"
)

// CertificateExpiry implements Access. It connects to the API server by port-forward through the
// cluster's endpoint, and reads the certificate from the handshake.
func (c *Connections) CertificateExpiry(ctx context.Context, endpoint APIServerEndpoint) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, expiryTimeout)
	defer cancel()
	expiry, err := c.certificateExpiry(ctx, endpoint)
	if err != nil {
		return time.Time{}, fmt.Errorf("reading the certificate of the API server on node %s: %w", endpoint.Node, err)
	}
	return expiry, nil
}

func (c *Connections) certificateExpiry(ctx context.Context, endpoint APIServerEndpoint) (time.Time, error) {
	connection, err := c.connect(ctx, endpoint.Cluster)
	if err != nil {
		return time.Time{}, err
	}
	authority, err := c.clusterAuthority(ctx, endpoint.Cluster)
	if err != nil {
		return time.Time{}, err
	}
	raw, err := portForward(connection.config)(ctx, staticPodName(APIServer, endpoint.Node), int(cmp.Or(endpoint.Port, defaultAPIServerPort)))
	if err != nil {
		return time.Time{}, err
	}
	return shownExpiry(ctx, raw, authority)
}

// shownExpiry returns when the certificate presented on a connection expires, and closes the
// connection.
func shownExpiry(ctx context.Context, raw net.Conn, authority *x509.CertPool) (time.Time, error) {
	secured, err := secure(ctx, raw, verifiedTLS(authority))
	var invalid x509.CertificateInvalidError
	if errors.As(err, &invalid) && invalid.Reason == x509.Expired {
		// An expired certificate is the one that most needs to be reported.
		return servingExpiry([]*x509.Certificate{invalid.Cert})
	}
	if err != nil {
		return time.Time{}, err
	}
	expiry, err := servingExpiry(secured.ConnectionState().PeerCertificates)
	return expiry, errors.Join(err, raw.Close())
}

func (c *Connections) clusterAuthority(ctx context.Context, cluster client.ObjectKey) (*x509.CertPool, error) {
	authority, err := c.secret(ctx, cluster, secret.ClusterCA)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority.Data[secret.TLSCrtDataName]) {
		return nil, fmt.Errorf("the Secret %s: data[%q] is not a PEM certificate", authority.Name, secret.TLSCrtDataName)
	}
	return roots, nil
}

func servingExpiry(certificates []*x509.Certificate) (time.Time, error) {
	for _, certificate := range certificates {
		if certificate.Subject.CommonName == servingName {
			return certificate.NotAfter, nil
		}
	}
	return time.Time{}, fmt.Errorf("it presents no certificate with common name %q", servingName)
}
