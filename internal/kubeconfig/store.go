// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	capikubeconfig "sigs.k8s.io/cluster-api/util/kubeconfig"
	"sigs.k8s.io/cluster-api/util/secret"

	"github.com/capfoo/cluster-api-provider-foo/internal/certs"
)

// errMissing is returned if there is no kubeconfig, and no owner for a new one.
var errMissing = &certs.UnusableError{Message: "there is no kubeconfig Secret"}

// errNoKey is returned if there is no kubeconfig, nor a key with which to sign a client certificate.
var errNoKey = &certs.UnusableError{
	Message: errMissing.Message + ", and no key of the cluster's certificate authority to create one with: provide the kubeconfig Secret as well",
}

// Store reads and writes kubeconfig Secrets.
type Store struct {
	secrets certs.Secrets
	live    client.Client
}

// NewStore returns a store. It looks for a Secret in cached first, which may hold only those of
// Cluster API, and then in live. It writes through live, which must not cache secrets.
func NewStore(cached client.Reader, live client.Client) *Store {
	return &Store{secrets: certs.Secrets{Cached: cached, Live: live}, live: live}
}

// Request describes what the kubeconfig must hold.
type Request struct {
	// Cluster is the key of the Cluster; the Secret is named after it.
	Cluster client.ObjectKey
	// Endpoint is the endpoint of the API server.
	Endpoint clusterv1.APIEndpoint
	// Authority signs the client certificate. Without one, nothing is created or renewed, and a
	// kubeconfig is not checked for trusting it.
	Authority certs.Authority
	// Algorithm is that of the client's key; empty means RSA-2048.
	Algorithm bootstrapv1.EncryptionAlgorithmType
	// Owner becomes the controller of the Secret, unless it is the user's own. Without one, nothing is
	// written.
	Owner metav1.OwnerReference
	// Now is the time that determines how much of the client certificate's lifetime is over.
	Now time.Time
}

// Ensure creates the kubeconfig Secret if there is none, makes sure that it is owned, and renews
// its client certificate when half of the certificate's lifetime is over. The server follows the
// endpoint unless a user has changed it, and missing certificates of the authority are added. The
// rest of a kubeconfig stays as it is. Ensure never writes a Secret that a user created.
//
// It returns when the client certificate expires if it should be renewed and there is no key to do
// so; otherwise zero. It returns an UnusableError if it cannot create a Secret, or if the existing one
// is not for this cluster.
func (s *Store) Ensure(ctx context.Context, request Request) (expires time.Time, err error) {
	existing, err := s.secrets.Get(ctx, request.Cluster, secret.Kubeconfig)
	if apierrors.IsNotFound(err) {
		return expires, s.create(ctx, request)
	}
	if err != nil {
		return expires, fmt.Errorf("getting the kubeconfig Secret: %w", err)
	}
	config, err := check(existing, request)
	if err != nil {
		return expires, err
	}
	if err := certs.EnsureOwner(ctx, s.live, existing, request.Owner); err != nil {
		return expires, err
	}
	if existing.Type != clusterv1.ClusterSecretType || request.Owner.UID == "" {
		return expires, nil // it is the user's own, or nobody's
	}
	return request.expires(config), s.refresh(ctx, request, existing, config)
}

func (s *Store) create(ctx context.Context, request Request) error {
	if request.Owner.UID == "" {
		return errMissing
	}
	if request.Authority.Key == nil {
		return errNoKey
	}
	config, err := request.generate()
	if err != nil {
		return err
	}
	data, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encoding a kubeconfig: %w", err)
	}
	made := capikubeconfig.GenerateSecretWithOwner(request.Cluster, data, request.Owner)
	made.Annotations = map[string]string{serverAnnotation: request.server()}
	err = s.live.Create(ctx, made)
	// A Secret that somebody else created in the meantime is as good.
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating the kubeconfig Secret: %w", err)
	}
	return nil
}

func (r Request) server() string { return "https://" + r.Endpoint.String() }

// generate returns a kubeconfig whose client certificate is valid for a year.
func (r Request) generate() (*api.Config, error) {
	config, err := capikubeconfig.New(
		r.Cluster.Name,
		r.server(),
		r.Authority.Certificate,
		r.Authority.Key,
		capikubeconfig.KeyEncryptionAlgorithm(r.Algorithm),
	)
	if err != nil {
		return nil, fmt.Errorf("creating a kubeconfig: %w", err)
	}
	config.Clusters[r.Cluster.Name].CertificateAuthorityData = withBundle(nil, r.Authority.Bundle)
	return config, nil
}
