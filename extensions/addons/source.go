// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"fmt"
	"strings"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	configMapKind = "ConfigMap"
	secretKind    = "Secret"
)

// source is a ConfigMap or Secret that holds a variant of an add-on.
type source struct {
	kind, name, addon string
	annotations       map[string]string
	data              map[string][]byte
	// binary are the keys of a ConfigMap's binaryData.
	binary []string
}

// String names the source for users.
func (s source) String() string { return s.kind + " " + s.name }

// secret reports whether the content of the source must not be shown.
func (s source) secret() bool { return s.kind == secretKind }

// list returns all sources of a namespace.
func list(ctx context.Context, reader client.Reader, namespace string) ([]source, error) {
	selected := []client.ListOption{client.InNamespace(namespace), client.HasLabels{AddonLabel}}
	var configMaps corev1.ConfigMapList
	if err := reader.List(ctx, &configMaps, selected...); err != nil {
		return nil, fmt.Errorf("listing the ConfigMaps with the label %s: %w", AddonLabel, err)
	}
	var secrets corev1.SecretList
	if err := reader.List(ctx, &secrets, selected...); err != nil {
		return nil, fmt.Errorf("listing the Secrets with the label %s: %w", AddonLabel, err)
	}
	sources := make([]source, 0, len(configMaps.Items)+len(secrets.Items))
	for i := range configMaps.Items {
		sources = append(sources, ofConfigMap(&configMaps.Items[i]))
	}
	for i := range secrets.Items {
		sources = append(sources, ofSecret(&secrets.Items[i]))
	}
	return sources, nil
}

func ofConfigMap(configMap *corev1.ConfigMap) source {
	made := sourceOf(configMapKind, configMap.ObjectMeta)
	for key, value := range configMap.Data {
		made.data[key] = []byte(value)
	}
	for key := range configMap.BinaryData {
		made.binary = append(made.binary, key)
	}
	return made
}

func ofSecret(secret *corev1.Secret) source {
	made := sourceOf(secretKind, secret.ObjectMeta)
	made.data = secret.Data
	return made
}

func sourceOf(kind string, object metav1.ObjectMeta) source {
	return source{
		kind: kind, name: object.Name, addon: object.Labels[AddonLabel], annotations: object.Annotations, data: map[string][]byte{},
	}
}

// selects reports whether the add-on is for a Cluster with these labels.
func (s source) selects(cluster labels.Set) (bool, error) {
	text, ok := s.annotations[ClusterSelectorAnnotation]
	if !ok {
		return true, nil
	}
	selector, err := labels.Parse(text)
	if err != nil {
		return false, fmt.Errorf("%s: annotation %s is %q, want a label selector, for example cni=calico", s, ClusterSelectorAnnotation, text)
	}
	return selector.Matches(cluster), nil
}

// appliesAt reports whether the add-on is applied at a moment.
func (s source) appliesAt(moment Moment) (bool, error) {
	text, ok := s.annotations[ApplyAnnotation]
	if !ok {
		return moment == AfterInitialization, nil
	}
	applies := false
	for name := range strings.SplitSeq(text, ",") {
		switch given := Moment(strings.TrimSpace(name)); given {
		case AfterInitialization, BeforeUpgrade:
			applies = applies || given == moment
		default:
			return false, fmt.Errorf("%s: annotation %s is %q, want %s, %s or both, separated by a comma", s, ApplyAnnotation, text, AfterInitialization, BeforeUpgrade)
		}
	}
	return applies, nil
}

// fits reports whether the variant is for a version.
func (s source) fits(version semver.Version) (bool, error) {
	text, ok := s.annotations[VersionsAnnotation]
	if !ok {
		return true, nil
	}
	within, err := semver.ParseRange(text)
	if err != nil {
		return false, fmt.Errorf("%s: annotation %s is %q, want a range of versions, for example >=1.35.0 <1.37.0", s, VersionsAnnotation, text)
	}
	return within(version), nil
}
