// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// references converts references. They hold a group in the hub, and a group and a version in
// v1beta1.
type references struct {
	mapper meta.RESTMapper
}

func (r references) toSpoke(ref clusterv1.ContractVersionedObjectReference, namespace string) corev1.ObjectReference {
	if !ref.IsDefined() {
		return corev1.ObjectReference{}
	}
	return corev1.ObjectReference{APIVersion: r.apiVersion(ref.GroupKind()), Kind: ref.Kind, Namespace: namespace, Name: ref.Name}
}

// apiVersion returns the API server's preferred version of a kind. A kind that it does not serve,
// perhaps because its provider was removed, must not make its owners unreadable, so it gets the
// version of the contract.
func (r references) apiVersion(kind schema.GroupKind) string {
	if kind.Group == "" {
		return ""
	}
	version := clusterv1.GroupVersion.Version
	if mapping, err := r.mapper.RESTMapping(kind); err == nil {
		version = mapping.GroupVersionKind.Version
	}
	return schema.GroupVersion{Group: kind.Group, Version: version}.String()
}

// referenceToHub accepts any text as a version. An invalid one must fail in admission, which
// explains why, and not here.
func referenceToHub(ref corev1.ObjectReference) clusterv1.ContractVersionedObjectReference {
	group := ""
	if end := strings.LastIndex(ref.APIVersion, "/"); end > 0 {
		group = ref.APIVersion[:end]
	}
	return clusterv1.ContractVersionedObjectReference{APIGroup: group, Kind: ref.Kind, Name: ref.Name}
}
