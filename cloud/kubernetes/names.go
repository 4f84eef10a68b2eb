// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"crypto/sha256"
	"encoding/base32"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/rand"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// prefix is part of the keys of all labels and annotations.
const prefix = "foocloud.cluster.x-k8s.io/"

// Labels. Names and tags can be longer than the value of a label, and have other characters, so
// labels have their hashes.
const (
	// kindLabel says what an object is.
	kindLabel = prefix + "kind"
	// nameLabel has the hash of the name in the cloud.
	nameLabel = prefix + "name"
	// poolLabel has the hash of the pool's name.
	poolLabel = prefix + "pool"
	// backendLabel is on Pods that load balancers may use.
	backendLabel = prefix + "backend"
	// drainingLabel is on Pods that were taken out of their load balancers.
	drainingLabel = prefix + "draining"
	// tagLabelPrefix precedes the hash of a tag.
	tagLabelPrefix = "tag." + prefix

	yes = "true"
)

// Values of kindLabel.
const (
	kindInstance     = "instance"
	kindUserData     = "user-data"
	kindPool         = "pool"
	kindLoadBalancer = "load-balancer"
	kindHolder       = "holder"
)

// Annotations. The first two have the record of an object, as JSON.
const (
	instanceAnnotation     = prefix + "instance"
	loadBalancerAnnotation = prefix + "load-balancer"
	// addressAnnotation has the address of a load balancer, which never changes.
	addressAnnotation = prefix + "address"
	// reclaimAnnotation has the time at which the instance ends, once that is known.
	reclaimAnnotation = prefix + "reclaim-at"
	// backendAnnotation is on the holder of a load balancer, with the address of the first instance.
	backendAnnotation = prefix + "backend-address"
	// machineAnnotation has what the instance is told about itself.
	machineAnnotation = prefix + "machine"
)

// storedAnnotation has the time at which user data was written last.
const storedAnnotation = prefix + "stored"

const (
	// maxObjectName leaves room in a DNS label for the random part of an ID.
	maxObjectName = 63 - 1 - randomLength
	randomLength  = 8
	hashLength    = 10
	// suffixLength is the length of the random part of the name of a pool's instance.
	suffixLength = 5
)

// hash returns a short name for a text of any length and characters.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return strings.ToLower(base32.HexEncoding.EncodeToString(sum[:]))[:hashLength]
}

// objectName returns the name of the Pod of an instance. It is a DNS label that humans recognize, and
// different for different names.
func objectName(name string) string {
	readable := strings.ReplaceAll(name, ".", "-")
	if limit := maxObjectName - 1 - hashLength; len(readable) > limit {
		readable = strings.TrimRight(readable[:limit], "-")
	}
	return readable + "-" + hash(name)
}

// newID returns a new ID for the instance that has a Pod of this name.
func newID(pod string) string { return pod + "-" + rand.String(randomLength) }

// podOf returns the name of the Pod of the instance with this ID. It is empty if no instance can
// have the ID.
func podOf(id string) string {
	cut := len(id) - 1 - randomLength
	if cut <= 0 || id[cut] != '-' {
		return ""
	}
	return id[:cut]
}

func poolObject(name string) string { return "pool-" + objectName(name) }

// serviceObject returns the name of a load balancer's Service, which must start with a letter.
func serviceObject(name string) string { return "lb-" + objectName(name) }

func tagLabel(key, value string) string { return tagLabelPrefix + hash(key+"\x00"+value) }

// tagLabels returns the labels that stand for the tags.
func tagLabels(tags cloud.Tags) map[string]string {
	found := map[string]string{}
	for key, value := range tags {
		found[tagLabel(key, value)] = yes
	}
	return found
}

// objectLabels returns the labels of an object.
func objectLabels(kind, name string, tags cloud.Tags) map[string]string {
	all := tagLabels(tags)
	all[kindLabel], all[nameLabel] = kind, hash(name)
	return all
}

// setLabels sets all labels of an object, because somebody may have removed some, and removes the labels
// of tags that it no longer has.
func setLabels(object metav1.Object, kind, name string, tags cloud.Tags) {
	all := objectLabels(kind, name, tags)
	for key, value := range object.GetLabels() {
		if _, ours := all[key]; !ours && !strings.HasPrefix(key, tagLabelPrefix) {
			all[key] = value
		}
	}
	object.SetLabels(all)
}

// backendLabels returns the labels of the Pods that a load balancer for these tags uses.
func backendLabels(tags cloud.Tags) map[string]string {
	all := tagLabels(tags)
	all[backendLabel] = yes
	return all
}

// selects reports whether a load balancer with this selector uses Pods with these labels. Without a
// selector, it uses none.
func selects(selector, podLabels map[string]string) bool {
	return len(selector) > 0 && labels.SelectorFromSet(selector).Matches(labels.Set(podLabels))
}

// selector selects the objects of a kind that have the tags and the labels.
func selector(kind string, tags cloud.Tags, more map[string]string) string {
	all := tagLabels(tags)
	maps.Copy(all, more)
	all[kindLabel] = kind
	return labels.SelectorFromSet(all).String()
}

// sortedBy returns the items sorted by a text.
func sortedBy[T any](items []T, key func(T) string) []T {
	slices.SortFunc(items, func(a, b T) int { return strings.Compare(key(a), key(b)) })
	return items
}
