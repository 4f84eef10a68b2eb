// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"time"

	"sigs.k8s.io/yaml"
)

const (
	// clientCertificate is where the kubelet stores the certificate that TLS bootstrap gives it.
	clientCertificate = "/var/lib/kubelet/pki/kubelet-client-current.pem"
	// bootstrapPoll is the pause between two requests to the API server.
	bootstrapPoll = 200 * time.Millisecond
)

// TLSBootstrap observes how the kubelet of a joining machine gets its first client certificate.
//
// On a control plane machine, the kubelet asks the API server that it has itself just started. Its
// request waits for that server to listen, so it arrives before the server knows any bootstrap token
// and is refused. The kubelet then waits 4 s before it asks again, although the server is ready much
// sooner.
type TLSBootstrap struct {
	kubeconfig, certificate string
}

// NewTLSBootstrap returns the TLS bootstrap of this machine's kubelet.
func NewTLSBootstrap() TLSBootstrap {
	return TLSBootstrap{kubeconfig: BootstrapKubeconfig, certificate: clientCertificate}
}

// Late waits for the API server that the kubelet gets its certificate from. It returns true if that
// server accepts the kubelet's token now, did not when the kubelet started, and has not given it a
// certificate: a restarted kubelet gets one immediately. It returns false if the server accepted the
// token from the start, if the kubelet has its certificate, and when ctx is done. End ctx with the
// bootstrap data: without kubeadm join, there is nothing to wait for.
func (b TLSBootstrap) Late(ctx context.Context) bool {
	var server *apiServer
	found := eventually(ctx, func() bool {
		var err error
		server, err = b.server() // fails if the file is not there yet, or half written
		return err == nil
	})
	if !found || server.accepts(ctx) {
		return false
	}
	eventually(ctx, func() bool { return exists(b.certificate) || server.accepts(ctx) })
	return ctx.Err() == nil && !exists(b.certificate)
}

// eventually calls check until it returns true, and reports whether it did before ctx was done.
func eventually(ctx context.Context, check func() bool) bool {
	ticker := time.NewTicker(bootstrapPoll)
	defer ticker.Stop()
	for !check() {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
	return true
}

// apiServer is the API server that a kubelet gets its certificate from, with the kubelet's token.
type apiServer struct {
	url, token string
	client     *http.Client
}

// server returns the API server of the bootstrap kubeconfig. kubeadm writes one cluster and one user.
func (b TLSBootstrap) server() (*apiServer, error) {
	content, err := os.ReadFile(b.kubeconfig)
	if err != nil {
		return nil, err
	}
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server      string `json:"server"`
				Authorities []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
		Users []struct {
			User struct {
				Token string `json:"token"`
			} `json:"user"`
		} `json:"users"`
	}
	if err := yaml.Unmarshal(content, &config); err != nil {
		return nil, fmt.Errorf("%s: %w", b.kubeconfig, err)
	}
	if len(config.Clusters) != 1 || len(config.Users) != 1 {
		return nil, fmt.Errorf("%s has %d clusters and %d users, but must have 1 of each", b.kubeconfig, len(config.Clusters), len(config.Users))
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(config.Clusters[0].Cluster.Authorities) {
		return nil, fmt.Errorf("%s has no certificate authority", b.kubeconfig)
	}
	return &apiServer{
		url: config.Clusters[0].Cluster.Server + "/version", token: config.Users[0].User.Token,
		client: &http.Client{Timeout: time.Second, Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
		}},
	}, nil
}

// accepts reports whether the API server accepts the token for what everybody with a token may read.
// A server that does is also able to authorize the kubelet's request.
func (s *apiServer) accepts(ctx context.Context) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, http.NoBody)
	if err != nil {
		return false
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	response, err := s.client.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}
