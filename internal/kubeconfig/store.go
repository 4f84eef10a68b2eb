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

package kubeconfig

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	capikubeconfig "sigs.k8s.io/cluster-api/util/kubeconfig"
	"sigs.k8s.io/cluster-api/util/secret"

	"github.com/capfoo/cluster-api-provider-foo/internal/certs"
	"github.com/capfoo/cluster-api-provider-foo/internal/secretowner"
)

// ErrNoKey is returned if a kubeconfig has to be made and the certificate authority's key is not there to sign it.
var ErrNoKey = errors.New("the key of the cluster's certificate authority is kept elsewhere: provide the kubeconfig secret as well")

// Store reads and writes kubeconfig secrets.
type Store struct {
	cached client.Reader
	live   client.Client
}

// NewStore returns a store. A secret is looked for in cached first, which may hold only those of Cluster API, and then in
// live, through which it is also written; live must not cache secrets.
func NewStore(cached client.Reader, live client.Client) *Store {
	return &Store{cached: cached, live: live}
}

// Request says what the kubeconfig must hold.
type Request struct {
	// Cluster is the key of the Cluster; the secret is named after it.
	Cluster client.ObjectKey
	// Endpoint of the API server.
	Endpoint clusterv1.APIEndpoint
	// Authority signs the client certificate.
	Authority certs.Authority
	// Algorithm of the client's key; empty is RSA-2048.
	Algorithm bootstrapv1.EncryptionAlgorithmType
	// Owner becomes the controller of the secret, unless it is the user's own.
	Owner metav1.OwnerReference
}

// Ensure makes the kubeconfig secret if there is none, and sees to it that it is owned.
func (s *Store) Ensure(ctx context.Context, request Request) error {
	existing, err := secret.GetFromNamespacedName(ctx, s.cached, request.Cluster, secret.Kubeconfig)
	if apierrors.IsNotFound(err) {
		existing, err = secret.GetFromNamespacedName(ctx, s.live, request.Cluster, secret.Kubeconfig)
	}
	if apierrors.IsNotFound(err) {
		return s.create(ctx, request)
	}
	if err != nil {
		return fmt.Errorf("getting the kubeconfig secret: %w", err)
	}
	return secretowner.Ensure(ctx, s.live, existing, request.Owner)
}

func (s *Store) create(ctx context.Context, request Request) error {
	if request.Authority.Key == nil {
		return ErrNoKey
	}
	config, err := capikubeconfig.New(
		request.Cluster.Name,
		"https://"+request.Endpoint.String(),
		request.Authority.Certificate,
		request.Authority.Key,
		capikubeconfig.KeyEncryptionAlgorithm(request.Algorithm),
	)
	if err != nil {
		return fmt.Errorf("making a kubeconfig: %w", err)
	}
	data, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encoding a kubeconfig: %w", err)
	}
	err = s.live.Create(ctx, capikubeconfig.GenerateSecretWithOwner(request.Cluster, data, request.Owner))
	// A secret that somebody else made in the meantime is as good.
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating the kubeconfig secret: %w", err)
	}
	return nil
}
