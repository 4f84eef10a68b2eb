// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	bootstrapapi "k8s.io/cluster-bootstrap/token/api"
	bootstraputil "k8s.io/cluster-bootstrap/token/util"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tokenLife is how long a machine may take to join. The kubeadm bootstrap provider gives as much, and extends it while the machine starts.
const tokenLife = 15 * time.Minute

// CreateToken implements Access.
func (c *Connections) CreateToken(ctx context.Context, cluster client.ObjectKey) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	connection, err := c.direct.connect(ctx, cluster)
	if err != nil {
		return "", err
	}
	token, err := bootstraputil.GenerateBootstrapToken()
	if err != nil {
		return "", fmt.Errorf("making a bootstrap token: %w", err)
	}
	id, rest, _ := strings.Cut(token, ".")
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem, Name: bootstraputil.BootstrapTokenSecretName(id)},
		Type:       bootstrapapi.SecretTypeBootstrapToken,
		StringData: map[string]string{
			bootstrapapi.BootstrapTokenIDKey:               id,
			bootstrapapi.BootstrapTokenSecretKey:           rest,
			bootstrapapi.BootstrapTokenExpirationKey:       time.Now().UTC().Add(tokenLife).Format(time.RFC3339),
			bootstrapapi.BootstrapTokenUsageSigningKey:     "true",
			bootstrapapi.BootstrapTokenUsageAuthentication: "true",
			bootstrapapi.BootstrapTokenExtraGroupsKey:      "system:bootstrappers:kubeadm:default-node-token",
			bootstrapapi.BootstrapTokenDescriptionKey:      "token for a control plane machine to join with",
		},
	}
	if err := connection.client.Create(ctx, secret); err != nil {
		return "", fmt.Errorf("creating a bootstrap token: %w", err)
	}
	return token, nil
}
