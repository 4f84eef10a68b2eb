// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// content is what an add-on contains for one Cluster at one version.
type content struct {
	addon *extensionv1.Addon
	// version is the Kubernetes version that the content is for.
	version string
	// ahead means that the control plane does not have the version yet.
	ahead bool
	// missing means that no variant is for the version.
	missing bool
	// objects are in the order in which they are applied.
	objects []*unstructured.Unstructured
	// hash identifies the objects.
	hash string
	// results has the objects that were applied or tried.
	results []result
	// problem is why there are no objects, or why they are not applied and ready.
	problem string
	// done means that all objects are applied and ready.
	done bool
}

// selected returns the add-ons that select a Cluster, in the order in which they are applied. They
// include those whose selector is invalid, because they may be meant for it.
func selected(addons []extensionv1.Addon, cluster *clusterv1.Cluster) []*extensionv1.Addon {
	var found []*extensionv1.Addon
	for i := range addons {
		selector, err := metav1.LabelSelectorAsSelector(&addons[i].Spec.ClusterSelector)
		if err != nil || selector.Matches(labels.Set(cluster.Labels)) {
			found = append(found, &addons[i])
		}
	}
	slices.SortFunc(found, func(a, b *extensionv1.Addon) int {
		return cmp.Or(cmp.Compare(a.Spec.Order, b.Spec.Order), cmp.Compare(a.Name, b.Name))
	})
	return found
}

// read returns the content of an add-on for a Cluster at a version. It reads the Secret of the
// add-on.
func read(ctx context.Context, from client.Reader, addon *extensionv1.Addon, cluster *clusterv1.Cluster, version string) content {
	made := content{addon: addon, version: version}
	text, err := variant(addon, version)
	if err == nil && text == "" {
		made.missing = true
		return made
	}
	secret := &corev1.Secret{}
	if err == nil && addon.Spec.SecretName != "" {
		secret, err = secretOf(ctx, from, addon)
	}
	if err == nil {
		text, err = fill(text, cluster, version, secret)
	}
	if err == nil {
		made.objects, err = parseManifests(text)
	}
	switch {
	case err == nil:
		made.hash = hash(text, secret)
	case addon.Spec.SecretName != "":
		made.problem = hooks.Line(withoutQuotes(err), maxReason)
	default:
		made.problem = hooks.Line(err.Error(), maxReason)
	}
	return made
}

// variant returns the template for a version. It is empty if there is none.
func variant(addon *extensionv1.Addon, version string) (string, error) {
	if _, err := metav1.LabelSelectorAsSelector(&addon.Spec.ClusterSelector); err != nil {
		return "", fmt.Errorf("spec.clusterSelector: %w", err)
	}
	wanted, err := semver.ParseTolerant(version)
	if err != nil {
		return "", fmt.Errorf("the Cluster's version is %q, but must be one like v1.36.3", version)
	}
	for i, one := range addon.Spec.Variants {
		if one.KubernetesVersions == "" {
			return one.Template, nil
		}
		within, err := semver.ParseRange(one.KubernetesVersions)
		if err != nil {
			return "", fmt.Errorf("spec.variants[%d].kubernetesVersions is %q, but must be a range of versions, for example >=1.35.0 <1.37.0", i, one.KubernetesVersions)
		}
		if within(wanted) {
			return one.Template, nil
		}
	}
	return "", nil
}

// secretOf returns the Secret of an add-on.
func secretOf(ctx context.Context, from client.Reader, addon *extensionv1.Addon) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: addon.Namespace, Name: addon.Spec.SecretName}
	if err := from.Get(ctx, key, secret); err != nil {
		return nil, errors.New("reading its Secret: " + hooks.Cause(err))
	}
	if secret.Type != extensionv1.AddonValuesType {
		return nil, fmt.Errorf("the type of the Secret %s is %q, but must be %s", key.Name, secret.Type, extensionv1.AddonValuesType)
	}
	return secret, nil
}

// fill fills in the values of a template.
func fill(text string, cluster *clusterv1.Cluster, version string, secret *corev1.Secret) (string, error) {
	given, err := values(cluster, version)
	if err != nil {
		return "", err
	}
	strings := map[string]string{}
	for key, value := range secret.Data {
		strings[key] = string(value)
	}
	given["Secret"] = strings
	return render(text, given)
}

// hash identifies a text without revealing anything about the values of a Secret in it: nobody who
// cannot read the Secret knows its UID.
func hash(text string, secret *corev1.Secret) string {
	sum := hmac.New(sha256.New, []byte(secret.UID))
	sum.Write([]byte(text))
	return hex.EncodeToString(sum.Sum(nil))
}

// refuseShared sets the problem of add-ons that have an object twice or share one with another
// add-on, because it would be changed back and forth. It also refuses too many objects.
func refuseShared(all []content) {
	owners, count := map[identity]string{}, 0
	for i := range all {
		one := &all[i]
		if count += len(one.objects); count > maxObjects {
			one.problem = fmt.Sprintf("the add-ons of the Cluster have more than %d objects", maxObjects)
		}
		for _, object := range one.objects {
			if owner, taken := owners[identify(object)]; taken {
				one.problem = fmt.Sprintf("%s is already in the add-on %s", title(object), owner)
				break
			}
			owners[identify(object)] = one.addon.Name
		}
	}
}
