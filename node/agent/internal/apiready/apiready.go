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

// Package apiready waits for an API server to become ready.
//
// A controller manager or scheduler that starts before its API server fails to take its lease, and tries again only 2 to 4 s later; in
// the meantime no node gets an address range and no certificate of a joining node is signed. Started right after, it succeeds at once,
// and the API server has the CPU for itself until then.
//
// Limits: readiness can not be watched, so the API server is asked in short intervals.
package apiready

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"sigs.k8s.io/yaml"
)

const (
	interval       = 50 * time.Millisecond
	requestTimeout = 2 * time.Second
)

// Wait returns when the API server that a kubeconfig file names is ready, or does not say whether it is. The error is that of ctx, or
// says why the file can not be used.
func Wait(ctx context.Context, kubeconfig string) error {
	data, err := os.ReadFile(kubeconfig)
	if err != nil {
		return fmt.Errorf("wait for API server: %w", err)
	}
	server, authority, err := serverOf(data)
	if err != nil {
		return fmt.Errorf("wait for API server of %s: %w", kubeconfig, err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: requestTimeout}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for !ready(ctx, client, server+"/readyz") {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for API server %s: %w", server, ctx.Err())
		case <-ticker.C:
		}
	}
	return nil
}

func ready(ctx context.Context, client *http.Client, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, resp.Body) // so that the connection is used again
	// One that lets nobody ask without credentials is up at least.
	return resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusUnauthorized
}

// serverOf returns the API server's URL of a kubeconfig, and who signs its certificate.
func serverOf(data []byte) (string, *x509.CertPool, error) {
	var config struct {
		CurrentContext string `json:"current-context"`
		Contexts       []struct {
			Name    string `json:"name"`
			Context struct {
				Cluster string `json:"cluster"`
			} `json:"context"`
		} `json:"contexts"`
		Clusters []struct {
			Name    string `json:"name"`
			Cluster struct {
				Server    string `json:"server"`
				Authority []byte `json:"certificate-authority-data"`
			} `json:"cluster"`
		} `json:"clusters"`
	}
	if yaml.Unmarshal(data, &config) != nil {
		return "", nil, errors.New("it is not valid YAML") // the cause might quote a key
	}
	name := ""
	for _, context := range config.Contexts {
		if context.Name == config.CurrentContext {
			name = context.Context.Cluster
		}
	}
	for _, cluster := range config.Clusters {
		if cluster.Name == name && cluster.Cluster.Server != "" {
			authority := x509.NewCertPool()
			if !authority.AppendCertsFromPEM(cluster.Cluster.Authority) {
				return "", nil, errors.New("its current context has no certificate authority data")
			}
			return cluster.Cluster.Server, authority, nil
		}
	}
	return "", nil, errors.New("its current context has no server")
}
