// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"fmt"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd/api"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
)

// InvalidError reports that a kubeconfig Secret is not one for its cluster. It holds no
// credentials.
type InvalidError struct {
	// Secret is the name of the secret.
	Secret string
	// Problem is what is wrong with its kubeconfig.
	Problem string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("kubeconfig Secret %s: data[%q] %s; correct the Secret, or delete it so that it is created again",
		e.Secret, secret.KubeconfigDataName, e.Problem)
}

// own reports whether the Secret is not the user's.
func own(existing *corev1.Secret) bool { return existing.Type == clusterv1.ClusterSecretType }

// check returns the kubeconfig in a Secret if it is for the requested cluster: it must trust the
// cluster's authority. The server may differ from the endpoint, because a user may know another way
// to the cluster.
func check(existing *corev1.Secret, request Request) (*api.Config, error) {
	problem := func(format string, arguments ...any) (*api.Config, error) {
		return nil, &InvalidError{Secret: existing.Name, Problem: fmt.Sprintf(format, arguments...)}
	}
	config, err := Load(existing)
	if err != nil {
		return nil, err
	}
	current := config.Contexts[config.CurrentContext]
	cluster := config.Clusters[current.Cluster]
	server, err := url.Parse(cluster.Server)
	if err != nil || server.Host == "" {
		return problem("has no URL as the server of cluster %q", current.Cluster)
	}
	if request.Authority.Certificate != nil && len(cluster.CertificateAuthorityData) > 0 && !request.Authority.Trusts(cluster.CertificateAuthorityData) {
		return problem("is for another cluster: it does not trust the certificate authority in Secret %s",
			secret.Name(request.Cluster.Name, secret.ClusterCA))
	}
	return config, nil
}
