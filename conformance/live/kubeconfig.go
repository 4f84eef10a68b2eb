// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

const (
	// almostOver is how long the certificate that the provider must replace is valid at most.
	almostOver = time.Hour
	// rotation is how long the provider may take to notice it.
	rotation = 3 * time.Minute
)

// rotateKubeconfig gives the kubeconfig a certificate that is about to expire, as if the cluster were
// old, and waits for a new one.
func (s *story) rotateKubeconfig(ctx context.Context) error {
	const rule = "control-plane/kubeconfig-rotation"
	if s.now.controlPlane == nil || !s.now.controlPlane.own {
		return nil
	}
	secret := s.now.secrets[clusterName+"-kubeconfig"]
	valid := secret.Data["value"]
	old, end, err := expiring(s.now.secrets[clusterName+"-ca"], secret, time.Now())
	s.missingIf(rule, err)
	if len(old) == 0 {
		return nil
	}
	if err := s.change(ctx, &secret, func() { secret.Data["value"] = old }); err != nil {
		return err
	}
	controlPlane := s.now.controlPlane
	if err := s.change(ctx, controlPlane.Unstructured, func() {
		annotations := controlPlane.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[changedLabel] = "yes"
		controlPlane.SetAnnotations(annotations)
	}); err != nil {
		return err
	}
	problem := until(ctx, rotation, func() error {
		v, err := s.read(ctx)
		if err != nil {
			return err
		}
		return isValidAfter(v.secrets[secret.Name], end)
	})
	s.onControlPlane(rule, problem)
	if problem != nil { // the later steps need a kubeconfig
		if err := s.change(ctx, &secret, func() { secret.Data["value"] = valid }); err != nil {
			return err
		}
	}
	return s.settle(ctx, nil)
}

// missingIf records that a rule was not run if no certificate that expires soon could be created.
func (s *story) missingIf(rule string, err error) {
	if err != nil {
		s.missing(rule, conformance.NotRun, "no certificate that expires soon could be created: "+err.Error())
	}
}

// isValidAfter returns an error unless the client certificate of a kubeconfig expires after a time.
func isValidAfter(secret corev1.Secret, end time.Time) error {
	certificate, err := clientCertificate(secret)
	if err == nil && !certificate.NotAfter.After(end) {
		err = fmt.Errorf("the client certificate in the Secret %s expires at %s, and was not replaced", secret.Name, certificate.NotAfter.Format(time.RFC3339))
	}
	return err
}

func clientCertificate(secret corev1.Secret) (*x509.Certificate, error) {
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["value"])
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(config.CertData)
	if block == nil {
		return nil, errors.New("the kubeconfig has no client certificate")
	}
	return x509.ParseCertificate(block.Bytes)
}

// expiring returns the kubeconfig of a Secret with a client certificate for the same user that expires
// soon, and when that is: after a twelfth of the old one's life, and at most after an hour.
func expiring(authority, secret corev1.Secret, now time.Time) (kubeconfig []byte, end time.Time, err error) {
	certificate, err := clientCertificate(secret)
	if err != nil {
		return nil, end, err
	}
	pair, err := tls.X509KeyPair(authority.Data["tls.crt"], authority.Data["tls.key"])
	if err != nil {
		return nil, end, fmt.Errorf("the certificate authority in a Secret: %w", err)
	}
	signer, ok := pair.PrivateKey.(crypto.Signer)
	if !ok {
		return nil, end, fmt.Errorf("the key of the certificate authority is a %T", pair.PrivateKey)
	}
	issuer, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return nil, end, err
	}
	if err := certificate.CheckSignatureFrom(issuer); err != nil {
		return nil, end, fmt.Errorf("another authority has signed the client certificate than the one in a Secret: %w", err)
	}
	end = now.Add(min(almostOver, certificate.NotAfter.Sub(certificate.NotBefore)/12)).Truncate(time.Second) // as certificates have it
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: certificate.Subject, NotBefore: now.Add(-time.Minute), NotAfter: end,
		KeyUsage: certificate.KeyUsage, ExtKeyUsage: certificate.ExtKeyUsage,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, certificate.PublicKey, signer)
	if err != nil {
		return nil, end, err
	}
	config, err := clientcmd.Load(secret.Data["value"])
	if err != nil {
		return nil, end, err
	}
	for _, user := range config.AuthInfos {
		user.ClientCertificateData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	kubeconfig, err = clientcmd.Write(*config)
	return kubeconfig, end, err
}
