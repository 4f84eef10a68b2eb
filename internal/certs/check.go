// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"crypto"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"

	capicerts "sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

// check parses a certificate Secret according to its purpose, and returns an UnusableError if it
// cannot be used.
func check(certificate *secret.Certificate, now time.Time) (Authority, error) {
	if certificate.Purpose == secret.ServiceAccount {
		return Authority{}, checkServiceAccount(certificate)
	}
	bundle, err := cert.ParseCertsPEM(certificate.KeyPair.Cert)
	if err != nil {
		return Authority{}, invalid(certificate, secret.TLSCrtDataName, "is not a PEM certificate")
	}
	checked := Authority{Certificate: bundle[0], Bundle: bundle}
	if certificate.Purpose != secret.APIServerEtcdClient && !bundle[0].IsCA {
		return Authority{}, invalid(certificate, secret.TLSCrtDataName, "is not the certificate of a certificate authority")
	}
	if now.After(bundle[0].NotAfter) {
		return Authority{}, invalid(certificate, secret.TLSCrtDataName, "expired at "+bundle[0].NotAfter.UTC().Format(time.RFC3339))
	}
	if len(certificate.KeyPair.Key) == 0 {
		if certificate.Purpose == secret.APIServerEtcdClient {
			return Authority{}, invalid(certificate, secret.TLSKeyDataName, "is missing")
		}
		return checked, nil
	}
	checked.Key, err = checkKey(certificate, bundle[0].PublicKey)
	return checked, err
}

// checkKey returns the private key if it belongs to one of the public keys.
func checkKey(certificate *secret.Certificate, public ...any) (crypto.Signer, error) {
	// The parser's own error is left out, because it may quote what it could not parse.
	key, err := capicerts.DecodePrivateKeyPEM(certificate.KeyPair.Key)
	if err != nil || key == nil {
		return nil, invalid(certificate, secret.TLSKeyDataName, "is not a PEM private key")
	}
	if !slices.ContainsFunc(public, func(one any) bool { return samePublicKey(key.Public(), one) }) {
		return nil, invalid(certificate, secret.TLSKeyDataName, fmt.Sprintf("is not the key that belongs to data[%q]", secret.TLSCrtDataName))
	}
	return key, nil
}

// checkServiceAccount checks the key pair that signs the tokens of service accounts; its public
// half is not a certificate. It may hold other public keys too, in any order, for tokens that were
// signed before the key was rotated.
func checkServiceAccount(certificate *secret.Certificate) error {
	public, err := keyutil.ParsePublicKeysPEM(certificate.KeyPair.Cert)
	if err != nil || len(public) == 0 {
		return invalid(certificate, secret.TLSCrtDataName, "is not a PEM public key")
	}
	if len(certificate.KeyPair.Key) == 0 {
		return invalid(certificate, secret.TLSKeyDataName, "is missing")
	}
	_, err = checkKey(certificate, public...)
	return err
}

func samePublicKey(a, b crypto.PublicKey) bool {
	known, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && known.Equal(b)
}

// Trusts reports whether the authority's bundle has a certificate with the same key as one of those
// in PEM format.
func (a Authority) Trusts(encoded []byte) bool {
	others, err := cert.ParseCertsPEM(encoded)
	return err == nil && slices.ContainsFunc(others, func(other *x509.Certificate) bool {
		return slices.ContainsFunc(a.Bundle, func(own *x509.Certificate) bool { return samePublicKey(own.PublicKey, other.PublicKey) })
	})
}

// UnusableError reports that a Secret of a cluster is missing or cannot be used. Its message holds no key and no
// credentials.
type UnusableError struct{ Message string }

func (e *UnusableError) Error() string { return e.Message }

// invalid returns the error for a certificate Secret whose data has a problem in a field.
func invalid(certificate *secret.Certificate, field, problem string) error {
	return &UnusableError{fmt.Sprintf(
		"certificate Secret %s: data[%q] %s; restore the right value from a backup, or, if no machine exists yet, delete the Secret so that it is generated again",
		certificate.Secret.Name, field, problem)}
}

// missing returns the error for certificate Secrets that do not exist though the cluster needs them.
func missing(cluster string, certificates secret.Certificates) error {
	names := make([]string, 0, len(certificates))
	for _, certificate := range certificates {
		names = append(names, secret.Name(cluster, certificate.Purpose))
	}
	slices.Sort(names)
	return &UnusableError{"certificate Secrets are missing: " + strings.Join(names, ", ") +
		"; provide them: Secrets of an external etcd are never generated, and none is generated once a machine uses the certificates"}
}
