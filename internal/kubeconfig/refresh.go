// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubeconfig

import (
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	capicerts "sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

// serverAnnotation on a Secret records which server this project wrote into its kubeconfig. The
// kubeconfig follows the endpoint of the API server until a user has changed the server.
const serverAnnotation = "controlplane.cluster.x-k8s.io/kubeconfig-server"

// refresh brings up to date what this project wrote into the kubeconfig of its own secret. It
// writes only if that changes something.
func (s *Store) refresh(ctx context.Context, request Request, existing *corev1.Secret, config *api.Config) error {
	refreshed, wanted := existing.DeepCopy(), config.DeepCopy()
	current := wanted.Contexts[wanted.CurrentContext]
	cluster := wanted.Clusters[current.Cluster]
	if cluster.Server == existing.Annotations[serverAnnotation] {
		cluster.Server = request.server()
		refreshed.Annotations[serverAnnotation] = request.server()
	}
	if len(cluster.CertificateAuthorityData) > 0 {
		cluster.CertificateAuthorityData = withBundle(cluster.CertificateAuthorityData, request.Authority.Bundle)
	}
	if err := request.renew(wanted.AuthInfos[current.AuthInfo]); err != nil {
		return err
	}
	if apiequality.Semantic.DeepEqual(config, wanted) {
		return nil
	}
	data, err := clientcmd.Write(*wanted)
	if err != nil {
		return fmt.Errorf("encoding a kubeconfig: %w", err)
	}
	refreshed.Data[secret.KubeconfigDataName] = data
	if err := s.live.Patch(ctx, refreshed, client.MergeFromWithOptions(existing, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("renewing the kubeconfig in Secret %s: %w", existing.Name, err)
	}
	return nil
}

// withBundle adds the certificates of the bundle that are missing to certificates in PEM format.
func withBundle(encoded []byte, bundle []*x509.Certificate) []byte {
	known, err := cert.ParseCertsPEM(encoded)
	if err != nil {
		known = nil // there are none
	}
	lacking := slices.DeleteFunc(slices.Clone(bundle), func(one *x509.Certificate) bool { return slices.ContainsFunc(known, one.Equal) })
	if len(lacking) == 0 {
		return encoded
	}
	var all []byte
	for _, one := range slices.Concat(known, lacking) {
		all = append(all, capicerts.EncodeCertPEM(one)...)
	}
	return all
}

// renew gives a user a new client certificate if the old one expires soon. There may be no user.
func (r Request) renew(user *api.AuthInfo) error {
	if r.Authority.Key == nil || !r.due(user) {
		return nil
	}
	made, err := r.generate()
	if err != nil {
		return err
	}
	for _, fresh := range made.AuthInfos {
		user.ClientCertificateData, user.ClientKeyData = fresh.ClientCertificateData, fresh.ClientKeyData
	}
	return nil
}

// expires returns when the current user's client certificate expires if it expires soon and there is
// no key to renew it with; otherwise zero.
func (r Request) expires(config *api.Config) time.Time {
	user := config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo]
	if r.Authority.Key != nil || !r.due(user) {
		return time.Time{}
	}
	return expiryOf(user)
}

// due reports whether a user's client certificate has less than half of its lifetime left, or whether
// the user has no credentials at all; there may be no user. The certificate does not show when it was
// issued: its validity starts when that of the authority does.
func (r Request) due(user *api.AuthInfo) bool {
	if user == nil || len(user.ClientCertificateData) == 0 && (user.Token != "" || user.Username != "") {
		return false
	}
	return expiryOf(user).Sub(r.Now) < capicerts.ClientCertificateRenewalDuration
}

// expiryOf returns when a user's client certificate expires; zero if there is none.
func expiryOf(user *api.AuthInfo) time.Time {
	certificate, err := capicerts.DecodeCertPEM(user.ClientCertificateData)
	if err != nil || certificate == nil {
		return time.Time{}
	}
	return certificate.NotAfter
}
