// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api/util/secret"
)

// RESTConfig returns how to connect with the kubeconfig in a Secret. It returns an UnusableError if
// that cannot be used or would run a program or read a file: whoever may write the Secret must get
// neither the permissions nor the token of this program. Contexts other than the current one are not
// used, and may do so.
func RESTConfig(found *corev1.Secret) (*rest.Config, error) {
	loaded, err := load(found)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.NewDefaultClientConfig(*loaded, nil).ClientConfig()
	if err != nil {
		// The error is left out, because it may quote credentials.
		return nil, unusable(found, "is not a kubeconfig")
	}
	return config, nil
}

func load(found *corev1.Secret) (*api.Config, error) {
	// The parser's own error is left out, because it may quote the credentials that it could not
	// parse.
	config, err := clientcmd.Load(found.Data[secret.KubeconfigDataName])
	if err != nil {
		return nil, unusable(found, "is not a kubeconfig")
	}
	current, ok := config.Contexts[config.CurrentContext]
	if !ok || config.Clusters[current.Cluster] == nil {
		return nil, unusable(found, "has no current context that names a cluster")
	}
	if field := outside(config.Clusters[current.Cluster], config.AuthInfos[current.AuthInfo]); field != "" {
		return nil, unusable(found, "must hold its certificates and credentials itself, because no program is run for it and no file is read: context %q uses %s",
			config.CurrentContext, field)
	}
	return config, nil
}

// outside returns the first field that makes client-go run a program or read a file; empty if there
// is none. A context may have no user.
func outside(cluster *api.Cluster, user *api.AuthInfo) string {
	named := func(field string, used bool) string {
		if used {
			return field
		}
		return ""
	}
	field := named("certificate-authority", cluster.CertificateAuthority != "")
	if user == nil {
		return field
	}
	return cmp.Or(field,
		named("exec", user.Exec != nil),
		named("auth-provider", user.AuthProvider != nil),
		named("tokenFile", user.TokenFile != ""),
		named("client-certificate", user.ClientCertificate != ""),
		named("client-key", user.ClientKey != ""))
}

// Reader reads kubeconfig Secrets for code that uses their content without RESTConfig, such as
// Cluster API's ClusterCache.
type Reader struct{ client.Reader }

// Get reads an object. If it is a Secret, Get fails as RESTConfig does.
func (r Reader) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if err := r.Reader.Get(ctx, key, object, options...); err != nil {
		return err
	}
	if found, ok := object.(*corev1.Secret); ok {
		_, err := load(found)
		return err
	}
	return nil
}
