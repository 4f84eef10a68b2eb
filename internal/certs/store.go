// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"crypto"
	"crypto/x509"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	capicerts "sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

// Store reads and writes the certificate Secrets.
type Store struct {
	secrets Secrets
	live    client.Client
}

// NewStore returns a store. It looks for Secrets in cached first, which may hold only those of
// Cluster API, and then in live. It writes through live, which must not cache secrets.
func NewStore(cached client.Reader, live client.Client) *Store {
	return &Store{secrets: Secrets{Cached: cached, Live: live}, live: live}
}

// Request describes whose certificates are wanted.
type Request struct {
	// Cluster is the key of the Cluster; the Secrets are named after it.
	Cluster client.ObjectKey
	// Config is the configuration of the control plane: the certificate folder, the validity and
	// the encryption algorithm of what is generated, and whether etcd is external, in which case
	// the user must provide its certificates.
	Config bootstrapv1.ClusterConfiguration
	// Owner becomes the controller of the Secrets that are not the user's own. Without one, Lookup
	// writes nothing.
	Owner metav1.OwnerReference
	// Now is the time at which certificates must be valid.
	Now time.Time
}

// Authority is a certificate authority, ready to sign.
type Authority struct {
	// Certificate is the certificate of the authority.
	Certificate *x509.Certificate
	// Bundle holds all certificates in the authority's Secret; the first is Certificate.
	Bundle []*x509.Certificate
	// Key is the key of the authority; nil if the user keeps it elsewhere.
	Key crypto.Signer
}

// Found is what the certificate Secrets hold.
type Found struct {
	// Authority is the cluster's certificate authority.
	Authority Authority
	// Expiries lists when the certificates in the Secrets expire, soonest first.
	Expiries []Expiry
}

// Expiry is when a certificate in a Secret expires.
type Expiry struct {
	// Secret is the name of the secret.
	Secret string
	// At is when the first of the Secret's certificates expires.
	At time.Time
}

// LookupOrGenerate returns what the cluster's certificate Secrets hold, after generating every
// missing one. It returns an UnusableError if a Secret of an external etcd is missing, or a Secret
// cannot be used.
func (s *Store) LookupOrGenerate(ctx context.Context, request Request) (Found, error) {
	certificates, absent, err := s.read(ctx, request)
	if err != nil {
		return Found{}, err
	}
	if external := slices.DeleteFunc(slices.Clone(absent), func(certificate *secret.Certificate) bool { return !certificate.External }); len(external) > 0 {
		return Found{}, missing(request.Cluster.Name, external)
	}
	if err := absent.Generate(); err != nil {
		return Found{}, fmt.Errorf("generating certificates: %w", err)
	}
	if err := absent.SaveGenerated(ctx, s.live, request.Cluster, request.Owner); err != nil {
		return Found{}, fmt.Errorf("writing certificate Secrets: %w", err)
	}
	return finish(request, certificates)
}

// Lookup returns what the cluster's certificate Secrets hold and generates nothing. It returns an
// UnusableError if a Secret is missing or cannot be used. Even then it returns the authority, unless
// the authority's own Secret is the problem.
func (s *Store) Lookup(ctx context.Context, request Request) (Found, error) {
	certificates, absent, err := s.read(ctx, request)
	if err != nil {
		return Found{}, err
	}
	if len(absent) > 0 {
		return remains(request, certificates), missing(request.Cluster.Name, absent)
	}
	return finish(request, certificates)
}

// remains returns what can be used although other certificates cannot: the authority.
func remains(request Request, certificates secret.Certificates) Found {
	authority := certificates.GetByPurpose(secret.ClusterCA)
	if authority == nil || authority.Secret == nil {
		return Found{}
	}
	checked, err := check(authority, request.Now)
	if err != nil {
		return Found{}
	}
	return Found{Authority: checked}
}

// read reads the Secrets that exist and takes them over, even if others are missing or one cannot be
// used. Otherwise they could be deleted with their earlier owner, such as the KubeadmConfig of the first
// Machine. It returns all certificates, and those without a Secret.
func (s *Store) read(ctx context.Context, request Request) (all, absent secret.Certificates, err error) {
	all = secret.NewCertificatesForInitialControlPlane(&request.Config)
	for _, certificate := range all {
		found, err := s.secrets.Get(ctx, request.Cluster, certificate.Purpose)
		if apierrors.IsNotFound(err) {
			absent = append(absent, certificate)
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("reading Secret %s: %w", secret.Name(request.Cluster.Name, certificate.Purpose), err)
		}
		if err := EnsureOwner(ctx, s.live, found, request.Owner); err != nil {
			return nil, nil, err
		}
		certificate.Secret = found
		certificate.KeyPair = &capicerts.KeyPair{Cert: found.Data[secret.TLSCrtDataName], Key: found.Data[secret.TLSKeyDataName]}
	}
	return all, absent, nil
}

// finish checks the certificates and returns what they hold.
func finish(request Request, certificates secret.Certificates) (Found, error) {
	var found Found
	for _, certificate := range certificates {
		checked, err := check(certificate, request.Now)
		if err != nil {
			return remains(request, certificates), err
		}
		if len(checked.Bundle) > 0 {
			first := slices.MinFunc(checked.Bundle, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
			found.Expiries = append(found.Expiries, Expiry{Secret: certificate.Secret.Name, At: first.NotAfter})
		}
		if certificate.Purpose == secret.ClusterCA {
			found.Authority = checked
		}
	}
	slices.SortStableFunc(found.Expiries, func(a, b Expiry) int { return a.At.Compare(b.At) })
	return found, nil
}

// EnsureOwner makes the owner, if there is one, the controller of a Secret of Cluster API's type, in
// place of any other controller. Such a Secret is deleted with its control plane. A Secret of another
// type is the user's and is left alone. It writes only if that changes something.
func EnsureOwner(ctx context.Context, writer client.Writer, existing *corev1.Secret, owner metav1.OwnerReference) error {
	if existing.Type != clusterv1.ClusterSecretType || owner.UID == "" {
		return nil
	}
	changed := existing.DeepCopy()
	if controller := metav1.GetControllerOf(existing); controller != nil && controller.UID != owner.UID {
		changed.OwnerReferences = util.RemoveOwnerRef(changed.OwnerReferences, *controller)
	}
	changed.OwnerReferences = util.EnsureOwnerRef(changed.OwnerReferences, owner)
	if apiequality.Semantic.DeepEqual(existing.OwnerReferences, changed.OwnerReferences) {
		return nil
	}
	if err := writer.Patch(ctx, changed, client.MergeFrom(existing)); err != nil {
		return fmt.Errorf("setting the owner of Secret %s: %w", changed.Name, err)
	}
	return nil
}
