// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

func bootstrapScenarios() []scenario {
	return []scenario{
		{lifeOf + "a bootstrap configuration", BootstrapConfig, DataSecretCreated, []string{
			"initialization", "data-secret", "data-secret-format", "data-secret-name", "sentinel-file", "conditions", "conditions-implemented", "ready-condition",
		}, lifeOfBootstrapConfig},
	}
}

func lifeOfBootstrapConfig(s *story) error {
	object, err := s.initialized()
	if err != nil {
		return err
	}
	secret, err := s.dataSecretOf(object)
	s.check("data-secret", err)
	if err != nil {
		return err
	}
	s.check("data-secret-format", checkDataSecret(secret, object))
	var problem error
	if data := readable(secret.Data["value"]); !strings.Contains(data, "bootstrap-success.complete") {
		problem = errors.New("the bootstrap data does not mention the file bootstrap-success.complete")
	}
	s.check("sentinel-file", problem)
	if err := s.checkReady(object); err != nil {
		return err
	}
	return s.checkDataSecretName(object, secret)
}

func (s *story) dataSecretOf(object *unstructured.Unstructured) (*corev1.Secret, error) {
	name := fields.Text(object, "status.dataSecretName")
	if name == "" {
		return nil, errors.New("it is complete, and status.dataSecretName is not set")
	}
	secret := &corev1.Secret{}
	if err := s.Get(s.ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, secret); err != nil {
		return nil, fmt.Errorf("status.dataSecretName: %w", err)
	}
	return secret, nil
}

func checkDataSecret(secret *corev1.Secret, object *unstructured.Unstructured) error {
	var errs []error
	if got, want := secret.Labels[clusterv1.ClusterNameLabel], secret.Namespace; got != want {
		errs = append(errs, fmt.Errorf("the Secret has the label %s=%q, want %q", clusterv1.ClusterNameLabel, got, want))
	}
	if owner := metav1.GetControllerOf(secret); owner == nil || owner.UID != object.GetUID() {
		errs = append(errs, fmt.Errorf("the Secret has the owner references %s, want the object as the controller", fields.Show(secret.OwnerReferences)))
	}
	if len(secret.Data["value"]) == 0 {
		errs = append(errs, errors.New("the Secret has no key value"))
	}
	return errors.Join(errs...)
}

var encoded = regexp.MustCompile(`[A-Za-z0-9+/]{40,}={0,2}`)

// readable returns bootstrap data with the parts that are encoded as well: compressed data, and files
// in base64.
func readable(data []byte) string {
	if reader, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
		if plain, err := io.ReadAll(io.LimitReader(reader, 10<<20)); err == nil {
			return readable(plain)
		}
	}
	all := string(data)
	for _, part := range encoded.FindAllString(all, -1) {
		if plain, err := base64.StdEncoding.DecodeString(part); err == nil && len(plain) > 0 {
			all += "\n" + readable(plain)
		}
	}
	return all
}

// checkDataSecretName creates the same object again, as clusterctl move does.
func (s *story) checkDataSecretName(object *unstructured.Unstructured, secret *corev1.Secret) error {
	if !s.wants("data-secret-name") {
		return nil
	}
	if err := errors.Join(s.remove(object), s.remove(secret)); err != nil {
		return err
	}
	again, err := s.object(BootstrapConfig, machineName)
	if err != nil {
		return err
	}
	setOwner(again, s.machine, "Machine")
	if err := s.Create(s.ctx, again); err != nil {
		return err
	}
	if err := s.until("after the same object was created again", func() error { return s.acted(again) }); err != nil {
		return err
	}
	var problem error
	if now := fields.Text(again, "status.dataSecretName"); now != secret.Name {
		problem = fmt.Errorf("status.dataSecretName is %q, and was %q when the same object existed before", now, secret.Name)
	}
	s.check("data-secret-name", problem)
	return nil
}
