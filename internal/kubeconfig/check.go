// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"fmt"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd/api"

	"sigs.k8s.io/cluster-api/util/secret"

	"github.com/capfoo/cluster-api-provider-foo/internal/certs"
)

// unusable returns the error for a kubeconfig Secret that has a problem.
func unusable(found *corev1.Secret, problem string, arguments ...any) error {
	return &certs.UnusableError{Message: fmt.Sprintf("kubeconfig Secret %s: data[%q] %s; correct the Secret, or delete it so that it is created again",
		found.Name, secret.KubeconfigDataName, fmt.Sprintf(problem, arguments...))}
}

// check returns the kubeconfig in a Secret if it is for the requested cluster: it must trust the
// cluster's authority. The server may differ from the endpoint, because a user may know another way
// to the cluster.
func check(existing *corev1.Secret, request Request) (*api.Config, error) {
	config, err := load(existing)
	if err != nil {
		return nil, err
	}
	current := config.Contexts[config.CurrentContext]
	cluster := config.Clusters[current.Cluster]
	server, err := url.Parse(cluster.Server)
	if err != nil || server.Host == "" {
		return nil, unusable(existing, "has no URL as the server of cluster %q", current.Cluster)
	}
	if request.Authority.Certificate != nil && len(cluster.CertificateAuthorityData) > 0 && !request.Authority.Trusts(cluster.CertificateAuthorityData) {
		return nil, unusable(existing, "is for another cluster: it does not trust the certificate authority in Secret %s",
			secret.Name(request.Cluster.Name, secret.ClusterCA))
	}
	return config, nil
}
