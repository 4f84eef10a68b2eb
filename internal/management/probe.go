// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package management

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"
)

// probe returns a function that returns nil when url answers 200. It trusts the cluster's own
// authority, and presents a client certificate if there is one.
func (c *Cluster) probe(url string, client keyFiles) (func(context.Context) error, error) {
	roots := x509.NewCertPool()
	roots.AddCert(c.authority.cert)
	config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if client.cert != "" {
		pair, err := tls.LoadX509KeyPair(client.cert, client.key)
		if err != nil {
			return nil, err
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return get(&http.Client{Timeout: time.Second, Transport: &http.Transport{TLSClientConfig: config}}, url), nil
}

// adminProbe probes the API server as the administrator.
func (c *Cluster) adminProbe(path string) (func(context.Context) error, error) {
	client, err := rest.HTTPClientFor(c.admin)
	if err != nil {
		return nil, err
	}
	return get(client, c.url+path), nil
}

// plainProbe probes a health endpoint without TLS.
func plainProbe(url string) func(context.Context) error {
	return get(&http.Client{Timeout: time.Second, Transport: &http.Transport{}}, url)
}

func get(client *http.Client, url string) func(context.Context) error {
	return func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", url, response.Status)
		}
		return nil
	}
}
