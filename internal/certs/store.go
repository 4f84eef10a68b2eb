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

package certs

import (
	"context"
	"crypto"
	"crypto/x509"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	capicerts "sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"

	"github.com/capfoo/cluster-api-provider-foo/internal/secretowner"
)

// Store reads and writes the certificate secrets.
type Store struct {
	cached client.Client
	live   client.Client
}

// NewStore returns a store. Secrets are looked for in cached first, which may hold only those of Cluster API, and
// then in live, through which they are also written; live must not cache secrets.
func NewStore(cached, live client.Client) *Store {
	return &Store{cached: cached, live: live}
}

// Request says whose certificates are wanted.
type Request struct {
	// Cluster is the key of the Cluster; the secrets are named after it.
	Cluster client.ObjectKey
	// Config of the control plane: the certificate folder, the validity and the encryption algorithm of what is
	// generated, and whether etcd is external, in which case its certificates must be provided by the user.
	Config bootstrapv1.ClusterConfiguration
	// Owner becomes the controller of the secrets that are not the user's own.
	Owner metav1.OwnerReference
}

// Authority is a certificate authority, ready to sign.
type Authority struct {
	// Certificate of the authority.
	Certificate *x509.Certificate
	// Key of the authority. It is nil if the user keeps it elsewhere.
	Key crypto.Signer
}

// LookupOrGenerate returns the cluster's certificate authority, after every certificate secret that was missing has been
// generated. It returns an InvalidError for a secret that can not be used.
func (s *Store) LookupOrGenerate(ctx context.Context, request Request) (Authority, error) {
	certificates := secret.NewCertificatesForInitialControlPlane(&request.Config)
	if err := certificates.LookupOrGenerateCached(ctx, s.cached, s.live, request.Cluster, request.Owner); err != nil {
		return Authority{}, lookupError(request.Cluster.Name, certificates, err)
	}
	return s.finish(ctx, request, certificates)
}

// Lookup returns the cluster's certificate authority and generates nothing. It returns a MissingError if a secret is not
// there, and an InvalidError for one that can not be used.
func (s *Store) Lookup(ctx context.Context, request Request) (Authority, error) {
	certificates := secret.NewCertificatesForInitialControlPlane(&request.Config)
	if err := certificates.LookupCached(ctx, s.cached, s.live, request.Cluster); err != nil {
		return Authority{}, lookupError(request.Cluster.Name, certificates, err)
	}
	return s.finish(ctx, request, certificates)
}

// lookupError tells a certificate of an external etcd that the user has not provided from a fault.
func lookupError(cluster string, certificates secret.Certificates, err error) error {
	if !apierrors.IsNotFound(err) {
		return fmt.Errorf("looking up or generating certificate secrets: %w", err)
	}
	external := slices.DeleteFunc(slices.Clone(certificates), func(certificate *secret.Certificate) bool { return !certificate.External })
	return &MissingError{Secrets: missingSecrets(cluster, external)}
}

func (s *Store) finish(ctx context.Context, request Request, certificates secret.Certificates) (Authority, error) {
	if missing := missingSecrets(request.Cluster.Name, certificates); len(missing) > 0 {
		return Authority{}, &MissingError{Secrets: missing}
	}
	for _, certificate := range certificates {
		if err := secretowner.Ensure(ctx, s.live, certificate.Secret, request.Owner); err != nil {
			return Authority{}, err
		}
	}
	return parseAuthority(certificates.GetByPurpose(secret.ClusterCA))
}

func missingSecrets(cluster string, certificates secret.Certificates) []string {
	var missing []string
	for _, certificate := range certificates {
		if certificate.Secret == nil {
			missing = append(missing, secret.Name(cluster, certificate.Purpose))
		}
	}
	slices.Sort(missing)
	return missing
}

func parseAuthority(certificate *secret.Certificate) (Authority, error) {
	name := certificate.Secret.Name
	authority, err := capicerts.DecodeCertPEM(certificate.KeyPair.Cert)
	if err != nil || authority == nil {
		return Authority{}, &InvalidError{Secret: name, Field: secret.TLSCrtDataName, Problem: "is not a PEM certificate"}
	}
	if len(certificate.KeyPair.Key) == 0 {
		return Authority{Certificate: authority}, nil
	}
	// The parser's own error is left out, since it may quote what it could not parse.
	key, err := capicerts.DecodePrivateKeyPEM(certificate.KeyPair.Key)
	if err != nil || key == nil {
		return Authority{}, &InvalidError{Secret: name, Field: secret.TLSKeyDataName, Problem: "is not a PEM private key"}
	}
	return Authority{Certificate: authority, Key: key}, nil
}
