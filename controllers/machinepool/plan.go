/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package machinepool

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// secretVersionKey is the tag of a template with the resource version of the Secret that its user data was read from. It
// tells whether a renewed token has reached the template, without a hash of the secret anywhere.
const secretVersionKey = "infrastructure.cluster.x-k8s.io/bootstrap-data-version"

// secretRetry is when to look again for a Secret that does not exist: a manager may watch only those of Cluster API.
const secretRetry = 5 * time.Second

// revisionLength is the number of characters of a revision, enough to tell the few templates of a pool apart.
const revisionLength = 10

// plan is all that is to do now. Its parts do not depend on each other.
type plan struct {
	// wait says why no pool is ordered yet.
	wait waiting
	// ensure is the order for the pool without its user data; nil while the pool is as it should be.
	ensure *cloud.PoolSpec
	// secret holds the user data.
	secret types.NamespacedName
	// create are instances that no FooMachine stands for yet.
	create []cloud.Instance
	// delete are members that have to go.
	delete []member
	// deletePool says that only the pool itself is left to delete.
	deletePool bool
	// replicas is the size that the MachinePool takes over; nil where it decides itself.
	replicas *int32
}

// decide returns what to do now.
//
//contract:infra-machinepool/machine-pool-machines
func decide(s *scope) plan {
	if !s.fault.IsZero() {
		return plan{}
	}
	if s.deleting() {
		return decideDeletion(s)
	}
	p := plan{create: withoutFooMachine(s.members), delete: unwanted(s), replicas: adoptedReplicas(s)}
	if p.wait = missing(s); p.wait.reason != "" {
		return p
	}
	p.ensure = poolOrder(s)
	p.secret = types.NamespacedName{
		Namespace: s.pool.Namespace, Name: ptr.Deref(s.machinePool.Spec.Template.Spec.Bootstrap.DataSecretName, ""),
	}
	return p
}

// decideDeletion deletes what stands for the instances, so that each goes in the order that Cluster API wants, and then
// the pool, with instances that nothing stands for.
func decideDeletion(s *scope) plan {
	var p plan
	left := false
	for _, m := range s.members {
		if m.fooMachine == nil {
			continue
		}
		left = true
		if !m.leaving() {
			p.delete = append(p.delete, m)
		}
	}
	p.deletePool = !left
	return p
}

// missing returns what must be there before a pool may be ordered, and is not.
func missing(s *scope) waiting {
	switch {
	case !ptr.Deref(s.cluster.Status.Initialization.InfrastructureProvisioned, false):
		return waiting{
			reason:  infrav1.FooMachinePoolWaitingForClusterInfrastructureReason,
			message: "waiting for the Cluster to report its infrastructure as provisioned",
		}
	// Told apart from the next, so that the MachinePool changes when its Cluster is initialized: the kubeadm bootstrap
	// provider looks at a pool's KubeadmConfig then, and else only every 30 s.
	case ptr.Deref(s.machinePool.Spec.Template.Spec.Bootstrap.DataSecretName, "") == "" &&
		!conditions.IsTrue(s.cluster, clusterv1.ClusterControlPlaneInitializedCondition):
		return waiting{
			reason:  infrav1.FooMachinePoolWaitingForControlPlaneReason,
			message: "waiting for the control plane to be initialized",
		}
	case ptr.Deref(s.machinePool.Spec.Template.Spec.Bootstrap.DataSecretName, "") == "":
		return waiting{
			reason:  infrav1.FooMachinePoolWaitingForBootstrapDataReason,
			message: "waiting for spec.template.spec.bootstrap.dataSecretName of the MachinePool",
		}
	case s.secretVersion == "":
		return waiting{
			reason:  infrav1.FooMachinePoolWaitingForBootstrapDataReason,
			message: "the Secret that spec.template.spec.bootstrap.dataSecretName of the MachinePool names does not exist",
			retry:   secretRetry,
		}
	default:
		return waiting{}
	}
}

func withoutFooMachine(members []member) []cloud.Instance {
	var instances []cloud.Instance
	for _, m := range members {
		if m.fooMachine == nil && m.live() {
			instances = append(instances, *m.instance)
		}
	}
	return instances
}

// unwanted are members whose instance is lost, and those that are too many. Before all instances have a FooMachine
// nothing is too many: the choice would fall on those that have one, however well they work.
func unwanted(s *scope) []member {
	var members []member
	live := 0
	for _, m := range s.members {
		if m.lost() {
			members = append(members, m)
		}
		if m.live() {
			live++
		}
	}
	if annotations.ReplicasManagedByExternalAutoscaler(s.machinePool) || len(withoutFooMachine(s.members)) > 0 {
		return members
	}
	return append(members, victims(s.members, live-int(wantedReplicas(s)))...)
}

// wantedReplicas is the size that the pool is to have: what the MachinePool says, unless somebody else manages it.
func wantedReplicas(s *scope) int32 {
	if s.machinePool == nil {
		return 0
	}
	if s.cloudPool != nil && annotations.ReplicasManagedByExternalAutoscaler(s.machinePool) {
		return s.cloudPool.Size
	}
	return ptr.Deref(s.machinePool.Spec.Replicas, 1)
}

// adoptedReplicas is the pool's size where somebody else manages it and the MachinePool does not know it yet.
func adoptedReplicas(s *scope) *int32 {
	if s.cloudPool == nil || !annotations.ReplicasManagedByExternalAutoscaler(s.machinePool) {
		return nil
	}
	if s.machinePool.Spec.Replicas != nil && *s.machinePool.Spec.Replicas == s.cloudPool.Size {
		return nil
	}
	return &s.cloudPool.Size
}

// poolOrder returns the order for the pool, and nil while the pool is as it should be. While the pool has more instances
// than wanted, each deletion makes its size smaller by itself; an order in between could only make it grow again.
func poolOrder(s *scope) *cloud.PoolSpec {
	want := poolSpec(s)
	have := s.cloudPool
	switch {
	case have == nil:
		return &want
	case have.Deleting:
		return nil
	case have.Instances > want.Size:
		if have.Size <= have.Instances {
			return nil
		}
		want.Size = have.Instances
		return &want
	case have.Size == want.Size && sameTemplate(have.PoolSpec, want):
		return nil
	default:
		return &want
	}
}

func sameTemplate(a, b cloud.PoolSpec) bool {
	return a.Revision == b.Revision && slices.Equal(a.Zones, b.Zones) && a.Template.Type == b.Template.Type &&
		a.Template.KubernetesVersion == b.Template.KubernetesVersion && a.Template.Tags.Equal(b.Template.Tags)
}

// poolSpec is the pool as it should be, without user data.
func poolSpec(s *scope) cloud.PoolSpec {
	cluster := types.NamespacedName{Namespace: s.cluster.Namespace, Name: s.cluster.Name}
	template := s.machinePool.Spec.Template.Spec
	tags := maps.Clone(s.owner().InstanceTags(cluster, ownertags.RoleWorker))
	tags[secretVersionKey] = s.secretVersion
	return cloud.PoolSpec{
		Name:           s.owner().CloudName(),
		HostnamePrefix: s.pool.Name,
		Tags:           s.owner().Tags(cluster),
		Size:           wantedReplicas(s),
		Zones:          slices.Sorted(slices.Values(s.machinePool.Spec.FailureDomains)),
		Revision:       revision(s),
		Template: cloud.InstanceTemplate{
			Type:              s.pool.Spec.Template.InstanceTypeOrDefault(),
			KubernetesVersion: template.Version,
			Tags:              tags,
		},
	}
}

// revision names what instances are made from. The bootstrap data itself is not part of it: a renewed token makes no
// other instance.
func revision(s *scope) string {
	template := s.machinePool.Spec.Template.Spec
	bootstrap := template.Bootstrap.ConfigRef.Name
	if bootstrap == "" {
		bootstrap = ptr.Deref(template.Bootstrap.DataSecretName, "")
	}
	hash := sha256.New()
	for _, part := range []string{s.pool.Spec.Template.InstanceTypeOrDefault(), template.Version, bootstrap} {
		hash.Write([]byte(part))
		hash.Write([]byte{0})
	}
	return hex.EncodeToString(hash.Sum(nil))[:revisionLength]
}
