// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "sigs.k8s.io/cluster-api/api/core/v1beta1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// seconds returns a duration in whole seconds, or nil for none. Fractions of a second are cut off.
func seconds(duration *metav1.Duration) *int32 {
	if duration == nil {
		return nil
	}
	whole := int32(max(min(duration.Duration/time.Second, math.MaxInt32), math.MinInt32))
	return &whole
}

// optional returns a pointer to a text, or nil for the empty text, by which the hub means an unset
// one.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func given(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func count(replicas *int32) int32 {
	if replicas == nil {
		return 0
	}
	return *replicas
}

// setCount writes a number over one that may be unset. Zero keeps an existing zero and unsets
// anything else.
func setCount(value int32, target **int32) {
	clusterv1.Convert_int32_To_Pointer_int32(value, true, *target, target)
}

// setBool writes a boolean over one that may be unset. False keeps an existing false and unsets
// anything else.
func setBool(value bool, target **bool) {
	clusterv1.Convert_bool_To_Pointer_bool(value, true, *target, target)
}

func metaToSpoke(meta clusterv1.ObjectMeta) clusterv1beta1.ObjectMeta {
	return clusterv1beta1.ObjectMeta{Labels: meta.Labels, Annotations: meta.Annotations}
}

func metaToHub(meta clusterv1beta1.ObjectMeta) clusterv1.ObjectMeta {
	return clusterv1.ObjectMeta{Labels: meta.Labels, Annotations: meta.Annotations}
}

// convertAll converts each item of a list. It returns nil for an empty list.
func convertAll[From, To any](list []From, convert func(From) To) []To {
	if len(list) == 0 {
		return nil
	}
	result := make([]To, 0, len(list))
	for _, item := range list {
		result = append(result, convert(item))
	}
	return result
}

func addressToSpoke(address clusterv1.MachineAddress) clusterv1beta1.MachineAddress {
	return clusterv1beta1.MachineAddress{Type: clusterv1beta1.MachineAddressType(address.Type), Address: address.Address}
}

func addressToHub(address clusterv1beta1.MachineAddress) clusterv1.MachineAddress {
	return clusterv1.MachineAddress{Type: clusterv1.MachineAddressType(address.Type), Address: address.Address}
}
