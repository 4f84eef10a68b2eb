// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	bootstraputil "k8s.io/cluster-bootstrap/token/util"
	secretutil "k8s.io/cluster-bootstrap/util/secrets"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tokenLife is how long a machine may take to join, unless its token is kept. The kubeadm bootstrap
// provider uses the same time.
const tokenLife = 15 * time.Minute

// CreateToken implements Access.
func (c *Connections) CreateToken(ctx context.Context, cluster client.ObjectKey) (string, error) {
	token, err := bootstraputil.GenerateBootstrapToken()
	if err != nil {
		return "", fmt.Errorf("generating a bootstrap token: %w", err)
	}
	err = c.write(ctx, cluster, func(ctx context.Context, direct client.Client) error {
		if err := direct.Create(ctx, tokenSecret(token, time.Now())); err != nil {
			return fmt.Errorf("creating a bootstrap token: %w", err)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return token, nil
}

// tokenSecret returns the Secret that makes a token valid from now on.
func tokenSecret(token string, now time.Time) *corev1.Secret {
	id, rest, _ := strings.Cut(token, ".")
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: bootstraputil.BootstrapTokenSecretName(id)},
		Type:       bootstrapapi.SecretTypeBootstrapToken,
		Data: map[string][]byte{
			bootstrapapi.BootstrapTokenIDKey:               []byte(id),
			bootstrapapi.BootstrapTokenSecretKey:           []byte(rest),
			bootstrapapi.BootstrapTokenExpirationKey:       tokenExpiration(now),
			bootstrapapi.BootstrapTokenUsageSigningKey:     []byte("true"),
			bootstrapapi.BootstrapTokenUsageAuthentication: []byte("true"),
			bootstrapapi.BootstrapTokenExtraGroupsKey:      []byte("system:bootstrappers:kubeadm:default-node-token"),
			bootstrapapi.BootstrapTokenDescriptionKey:      []byte("token for a control plane machine to join with"),
		},
	}
}

func tokenExpiration(now time.Time) []byte {
	return []byte(now.UTC().Add(tokenLife).Format(time.RFC3339))
}

// KeepToken implements Access.
func (c *Connections) KeepToken(ctx context.Context, cluster client.ObjectKey, token string) error {
	return c.write(ctx, cluster, func(ctx context.Context, direct client.Client) error {
		if err := keepToken(ctx, direct, token, time.Now()); err != nil {
			return fmt.Errorf("extending a bootstrap token: %w", err)
		}
		return nil
	})
}

func keepToken(ctx context.Context, c client.Client, token string, now time.Time) error {
	wanted, found := tokenSecret(token, now), &corev1.Secret{}
	err := c.Get(ctx, client.ObjectKeyFromObject(wanted), found)
	if apierrors.IsNotFound(err) {
		return c.Create(ctx, wanted)
	}
	if err != nil {
		return err
	}
	left, expired := secretutil.GetExpiration(found, now)
	lasts := secretutil.GetData(found, bootstrapapi.BootstrapTokenExpirationKey) == "" || left > tokenLife/2
	if lasts && !expired {
		return nil
	}
	before := found.DeepCopy()
	found.Data[bootstrapapi.BootstrapTokenExpirationKey] = tokenExpiration(now)
	return c.Patch(ctx, found, client.MergeFrom(before))
}
