// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// clientAuthorities is the path of a file with the CAs that sign the certificates of callers.
type clientAuthorities string

// renew checks each new connection against the current content of the file. The webhook server
// reads it only once.
func (a clientAuthorities) renew(config *tls.Config) {
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		pool, err := a.read()
		if err != nil {
			return nil, err
		}
		renewed := config.Clone()
		renewed.ClientCAs = pool
		// A caller that resumes a session is not asked for a certificate again.
		renewed.SessionTicketsDisabled = true
		return renewed, nil
	}
}

func (a clientAuthorities) read() (*x509.CertPool, error) {
	content, err := os.ReadFile(string(a))
	if err != nil {
		return nil, fmt.Errorf("reading the CAs of callers: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("the CAs of callers: %s has no certificate in PEM format", string(a))
	}
	return pool, nil
}
