// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"sigs.k8s.io/cluster-api/util/annotations"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// Tags of the template of a pool. They show whether renewed bootstrap data has reached the
// template, and identify the data without its token, so that it is read only after a change.
const (
	secretVersionKey   = "infrastructure.cluster.x-k8s.io/bootstrap-data-version"
	bootstrapDigestKey = "infrastructure.cluster.x-k8s.io/bootstrap-data-digest"
)

// revisionLength is the number of characters of a revision, enough to tell the few templates of a
// pool apart.
const revisionLength = 10

// withoutFooMachine returns the instances that have no FooMachine yet.
func withoutFooMachine(members []member) []cloud.Instance {
	var instances []cloud.Instance
	for _, m := range members {
		if m.fooMachine == nil && m.counted() && !m.leaving() {
			instances = append(instances, *m.instance)
		}
	}
	return instances
}

// withoutMachine names the instances that have no FooMachine or no Machine yet. Until all have
// both, nothing is surplus: the choice would fall on those that have both, however well they work.
func withoutMachine(members []member) []string {
	var names []string
	for _, m := range members {
		if (m.fooMachine == nil || m.machine == nil) && m.counted() && !m.leaving() {
			names = append(names, m.name)
		}
	}
	return names
}

// scaledElsewhere reports whether an external autoscaler changes the size of the pool in the cloud.
func scaledElsewhere(s *scope) bool {
	return s.cloudPool != nil && s.machinePool != nil && annotations.ReplicasManagedByExternalAutoscaler(s.machinePool)
}

// wantedReplicas returns the size that the pool should have: the MachinePool's replicas, unless an
// external autoscaler manages them. Then it is the pool's own size, or the remembered size while
// members are replaced, because replacements temporarily change the pool's size.
func wantedReplicas(s *scope) int32 {
	switch {
	case s.machinePool == nil:
		return 0
	case !scaledElsewhere(s):
		return ptr.Deref(s.machinePool.Spec.Replicas, 1)
	case s.memory.Replicas != nil:
		return *s.memory.Replicas
	default:
		return max(s.cloudPool.Size-drainingIn(s.members), 0)
	}
}

// desired returns the size that was decided on, even after the cloud has changed the pool's size as
// ordered.
func (s *scope) desired() int32 {
	if s.decided.desired != nil {
		return *s.decided.desired
	}
	return wantedReplicas(s)
}

// drainingIn counts the members on their way out that the cloud still counts.
func drainingIn(members []member) int32 {
	var count int32
	for _, m := range members {
		if m.leaving() && m.counted() {
			count++
		}
	}
	return count
}

// adoptedReplicas returns the pool's size if somebody else manages it and the MachinePool does not
// have it yet.
func adoptedReplicas(s *scope) *int32 {
	if !scaledElsewhere(s) {
		return nil
	}
	wanted := wantedReplicas(s)
	if s.machinePool.Spec.Replicas != nil && *s.machinePool.Spec.Replicas == wanted {
		return nil
	}
	return &wanted
}

// poolOrder returns the order for the pool; nil if the pool is as it should be. The pool shrinks by
// itself as instances are deleted, so an order reduces the size only to stop growth that is no
// longer wanted.
func poolOrder(s *scope, size int32) *cloud.PoolSpec {
	want := poolSpec(s, size)
	have := s.cloudPool
	switch {
	case have == nil:
		return &want
	case have.Deleting:
		return nil
	case scalingOf(s) == scalingElsewhere:
		want.Size = max(size, have.Size)
	}
	want.Size = max(want.Size, have.Instances)
	if have.Size == want.Size && have.SameTemplate(want) {
		return nil
	}
	return &want
}

// poolSpec returns the pool as it should be, without user data.
func poolSpec(s *scope, size int32) cloud.PoolSpec {
	cluster := types.NamespacedName{Namespace: s.cluster.Namespace, Name: s.cluster.Name}
	wanted := &s.pool.Spec.Template
	tags := s.owner().InstanceTags(cluster, ownertags.RoleWorker, s.clusterTags, wanted.AdditionalTags)
	tags[secretVersionKey] = s.bootstrap.version
	tags[bootstrapDigestKey] = s.bootstrap.digest
	return cloud.PoolSpec{
		Name:           s.owner().CloudName(),
		HostnamePrefix: s.pool.Name,
		Tags:           s.owner().Tags(cluster),
		Size:           size,
		Zones:          zones(s),
		Revision:       s.revision,
		Template: cloud.InstanceTemplate{
			Type:              wanted.InstanceTypeOrDefault(),
			KubernetesVersion: s.machinePool.Spec.Template.Spec.Version,
			Image:             wanted.Image,
			DiskBytes:         wanted.RootDisk.Bytes(),
			Tags:              tags,
			Interruptible:     ptr.Deref(wanted.Interruptible, false),
		},
	}
}

// zones returns the failure domains over which the cloud spreads the instances: the MachinePool's,
// or else all of the cluster's.
func zones(s *scope) []string {
	if len(s.machinePool.Spec.FailureDomains) > 0 {
		return slices.Compact(slices.Sorted(slices.Values(s.machinePool.Spec.FailureDomains)))
	}
	names := make([]string, 0, len(s.cluster.Status.FailureDomains))
	for _, domain := range s.cluster.Status.FailureDomains {
		names = append(names, domain.Name)
	}
	slices.Sort(names)
	return names
}

// revisionOf identifies what instances are created from: the template, the version, the name of the
// bootstrap config, and the bootstrap data without its token, so that a renewed token does not
// change it. It is empty while the bootstrap data is unknown.
func revisionOf(s *scope) string {
	if s.machinePool == nil || s.bootstrap.digest == "" {
		return ""
	}
	template := s.pool.Spec.Template
	template.InstanceType = template.InstanceTypeOrDefault()
	machine := s.machinePool.Spec.Template.Spec
	config := machine.Bootstrap.ConfigRef.Name
	if config == "" {
		config = ptr.Deref(machine.Bootstrap.DataSecretName, "")
	}
	encoded, err := json.Marshal([]any{template, machine.Version, config, s.bootstrap.digest})
	if err != nil { // cannot happen: all of it came from JSON
		return ""
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])[:revisionLength]
}

// controlledBy returns the name of an object's controller if it is of this kind, or empty.
func controlledBy(object metav1.Object, kind string) string {
	if owner := metav1.GetControllerOf(object); owner != nil && owner.Kind == kind {
		return owner.Name
	}
	return ""
}
