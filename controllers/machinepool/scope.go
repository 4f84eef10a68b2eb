// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/labels/format"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/cloudfault"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// scope is what one reconcile knows: what it observed before the plan, and what the cloud answered
// afterwards.
type scope struct {
	pool *infrav1.FooMachinePool
	// report writes the FooMachinePool.
	report *report.Report
	// memory is what is known about earlier decisions.
	memory memory
	now    time.Time
	// machinePool and cluster are nil only if they are gone while the FooMachinePool is being
	// deleted.
	machinePool *clusterv1.MachinePool
	cluster     *clusterv1.Cluster
	// clusterTags are the tags that the FooCluster wants on all instances.
	clusterTags map[string]string
	cloud       Cloud

	// members holds the instances with their FooMachines and Machines, sorted by name. While the
	// cloud cannot be queried, they are unknown and must not be taken for lost.
	members      []member
	membersKnown bool
	// rules is what decisions about members depend on; assessed and census hold the members with
	// their states.
	rules    policy
	assessed []candidate
	census   census
	// cloudPool is nil if the cloud has no pool.
	cloudPool *cloud.Pool
	// bootstrap is what is known about the bootstrap data.
	bootstrap bootstrapData
	// revision identifies what instances are created from now; empty if unknown.
	revision string
	// size is the size of the pool's instances; nil if the cloud does not have their type, or was
	// not asked because the size is known.
	size *cloud.InstanceType
	// sizeAsked is true if the cloud was asked for the size.
	sizeAsked bool

	fault cloudfault.Fault
	// conflict is true if the pool in the cloud has changed since it was read.
	conflict bool
	wait     waiting
	// decided is the plan that was decided on, for the status.
	decided plan
	// gone is true if nothing is left in the cloud.
	gone bool
}

// waiting is what a pool that does not exist yet waits for.
type waiting struct {
	reason, message string
	// retry is when to look again if no event may report the change; zero if an event does.
	retry time.Duration
}

func (s *scope) owner() ownertags.Owner {
	return ownertags.Owner{Kind: ownertags.KindMachinePool, Key: client.ObjectKeyFromObject(s.pool)}
}

func (s *scope) deleting() bool { return !s.pool.DeletionTimestamp.IsZero() }

// owns reports whether the FooMachine belongs to this pool. Those of another pool of the same
// MachinePool have the same labels. A restored backup or a foreground deletion may have removed the
// owner reference. Then the name tells: it is the pool's name and a suffix from the cloud.
func (s *scope) owns(fooMachine *infrav1.FooMachine) bool {
	for _, ref := range fooMachine.OwnerReferences {
		if ref.Kind == poolKind {
			return ref.UID == s.pool.UID
		}
	}
	suffix, ours := strings.CutPrefix(fooMachine.Name, s.pool.Name+"-")
	return ours && !strings.Contains(suffix, "-")
}

// reference is the owner reference of the pool's FooMachines. It is not a controller reference:
// Cluster API makes the Machine the controller.
func (s *scope) reference() metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: infrav1.GroupVersion.String(), Kind: poolKind, Name: s.pool.Name, UID: s.pool.UID}
}

// names returns the names of the Cluster and the MachinePool, even when those objects are gone.
func (s *scope) names() (cluster, machinePool string) {
	if s.machinePool != nil {
		return s.machinePool.Spec.ClusterName, s.machinePool.Name
	}
	for _, ref := range s.pool.OwnerReferences {
		if ref.Kind == "MachinePool" {
			machinePool = ref.Name
		}
	}
	return cloudidentity.ClusterOf(s.pool).Name, machinePool
}

// poolLabels returns the labels that select the FooMachines and the Machines of the pool; Cluster
// API selects them by the same labels.
func (s *scope) poolLabels() map[string]string {
	cluster, machinePool := s.names()
	return map[string]string{
		clusterv1.ClusterNameLabel:     cluster,
		clusterv1.MachinePoolNameLabel: format.MustFormatValue(machinePool),
	}
}

// assess derives everything that follows from what was observed.
func (s *scope) assess() {
	s.rules = policyOf(s)
	s.assessed = s.rules.assess(s.members)
	s.census = censusOf(s.assessed)
}

func (s *scope) result() (ctrl.Result, error) {
	if !s.fault.IsZero() {
		return s.fault.Result()
	}
	after := s.wait.retry
	if next := s.decided.next; !next.IsZero() && after == 0 {
		after = max(next.Sub(s.now), time.Second)
	}
	return ctrl.Result{RequeueAfter: after}, nil
}

// owners reads the MachinePool and the Cluster. It returns no scope if a FooMachinePool that is not
// being deleted lacks one of them: there is nothing to do until Cluster API sets it.
func (r *reconciler) owners(ctx context.Context, pool *infrav1.FooMachinePool) (*scope, error) {
	s := &scope{pool: pool, memory: r.memories.recall(pool), now: r.clock.Now()}
	var err error
	s.machinePool, err = util.GetOwnerMachinePool(ctx, r.client, pool.ObjectMeta)
	if client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	if cluster, _ := s.names(); cluster != "" {
		s.cluster, err = util.GetClusterByName(ctx, r.client, pool.Namespace, cluster)
		if client.IgnoreNotFound(err) != nil {
			return nil, err
		}
	}
	if s.cluster != nil {
		s.clusterTags, err = cloudidentity.AdditionalTagsOf(ctx, r.client, s.cluster)
		if err != nil {
			return nil, err
		}
	}
	if !s.deleting() && (s.machinePool == nil || s.cluster == nil) {
		ctrl.LoggerFrom(ctx).Info("Waiting for Cluster API to set the owner MachinePool and its Cluster",
			"FooMachinePool", klog.KObj(pool))
		return nil, nil
	}
	s.cloud = r.clouds.OfCluster(ctx, cloudidentity.ClusterOf(pool))
	return s, nil
}

// observe reads Machines, then FooMachines, then the instances. In this order, what is missing is
// certainly gone: a FooMachine exists before its Machine, and an instance before its FooMachine.
func (r *reconciler) observe(ctx context.Context, s *scope, from source) error {
	fooMachines, machines := &infrav1.FooMachineList{}, &clusterv1.MachineList{}
	// If the MachinePool and the Cluster are both gone, Cluster API ends no Machine, so the pool is
	// deleted without waiting for any.
	if s.machinePool != nil || s.cluster != nil {
		if err := from.List(ctx, machines, from.options(s)...); err != nil {
			return fmt.Errorf("listing the Machines of the pool: %w", err)
		}
		if err := from.List(ctx, fooMachines, from.options(s)...); err != nil {
			return fmt.Errorf("listing the FooMachines of the pool: %w", err)
		}
		fooMachines.Items = slices.DeleteFunc(fooMachines.Items, func(m infrav1.FooMachine) bool { return !s.owns(&m) })
	}
	instances, err := observeCloud(ctx, s)
	s.fault = cloudfault.Of(err)
	if s.fault.IsZero() {
		s.fault = poolLost(s, instances, fooMachines.Items)
	}
	s.membersKnown = s.fault.IsZero()
	if !s.membersKnown {
		return nil
	}
	s.members = membersOf(instances, fooMachines.Items, machines.Items)
	r.memories.mark(s.pool, s.members)
	if from.live {
		r.memories.sawLeaving(s.pool, s.members)
	}
	return r.observeBootstrap(ctx, s)
}

// poolLost returns a fault if the cloud has neither the pool nor any of its instances, although they
// were ordered and are still in use. The wrong cloud or tenant may be answering, so nothing is taken
// for lost.
func poolLost(s *scope, instances []cloud.Instance, fooMachines []infrav1.FooMachine) cloudfault.Fault {
	if s.cloudPool != nil || s.pool.Spec.ProviderID == "" || s.deleting() {
		return cloudfault.Fault{}
	}
	inUse := 0
	for i := range fooMachines {
		if slices.ContainsFunc(instances, func(one cloud.Instance) bool { return one.ProviderID == fooMachines[i].Spec.ProviderID }) {
			return cloudfault.Fault{}
		}
		if fooMachines[i].DeletionTimestamp.IsZero() {
			inUse++
		}
	}
	if inUse == 0 {
		return cloudfault.Fault{}
	}
	fault := cloudfault.Of(&cloud.NotFoundError{Kind: cloud.KindPool, Name: s.owner().CloudName()})
	fault.Message += fmt.Sprintf(", although %d FooMachines exist for its instances: check the endpoint and the tenant of the cloud; "+
		"if the pool is gone for good, delete its Machines, and it will be recreated", inUse)
	return fault
}

// observeCloud reads the pool and its instances, which stay if only the pool is lost.
func observeCloud(ctx context.Context, s *scope) ([]cloud.Instance, error) {
	name := s.owner().CloudName()
	cloudPool, err := s.cloud.GetPool(ctx, name)
	if err == nil {
		s.cloudPool = &cloudPool
		err = observeSize(ctx, s)
	} else {
		s.cloudPool = nil
	}
	if err != nil && !cloud.IsNotFound(err) {
		return nil, err
	}
	return s.cloud.ListInstances(ctx, cloud.InstanceFilter{Pool: name})
}

// observeSize asks for the size of an instance once for each generation of the spec, and for as
// long as the cloud does not create instances of the type that the spec names.
func observeSize(ctx context.Context, s *scope) error {
	wanted := s.pool.Spec.Template.InstanceTypeOrDefault()
	if len(s.pool.Status.Capacity) > 0 && s.pool.Status.ObservedGeneration == s.pool.Generation && s.cloudPool.Template.Type == wanted {
		return nil
	}
	types, err := s.cloud.InstanceTypes(ctx)
	if err != nil {
		return err
	}
	s.sizeAsked = true
	for _, t := range types {
		if t.Name == wanted {
			s.size = &t
		}
	}
	return nil
}

// observeBootstrap reads the metadata of the Secret. It reads the data only if the cloud's template
// does not have it yet.
func (r *reconciler) observeBootstrap(ctx context.Context, s *scope) error {
	if s.machinePool == nil || s.deleting() {
		return nil
	}
	bootstrap := s.machinePool.Spec.Template.Spec.Bootstrap
	name := ptr.Deref(bootstrap.DataSecretName, "")
	if name == "" {
		return nil
	}
	key := client.ObjectKey{Namespace: s.pool.Namespace, Name: name}
	secret := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}}
	err := r.secrets.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) { // the cache may hold only the Secrets of Clusters
		err = r.live.Get(ctx, key, secret)
	}
	if apierrors.IsNotFound(err) {
		s.bootstrap.problem = "The Secret in spec.template.spec.bootstrap.dataSecretName of the MachinePool does not exist"
		return nil
	}
	if err != nil {
		return fmt.Errorf("getting the metadata of the Secret %s with the bootstrap data: %w", key, err)
	}
	if config := controlledBy(secret, bootstrap.ConfigRef.Kind); config != "" && config != bootstrap.ConfigRef.Name {
		s.bootstrap.problem = fmt.Sprintf("The Secret %s still has the bootstrap data of %s %s instead of %s",
			name, bootstrap.ConfigRef.Kind, config, bootstrap.ConfigRef.Name)
		return nil
	}
	if err := r.knowBootstrap(ctx, s, secret); err != nil {
		return err
	}
	s.revision = revisionOf(s)
	return nil
}

func (r *reconciler) knowBootstrap(ctx context.Context, s *scope, metadata *metav1.PartialObjectMetadata) error {
	if s.cloudPool != nil && s.cloudPool.Template.Tags[secretVersionKey] == metadata.ResourceVersion {
		s.bootstrap = bootstrapData{version: metadata.ResourceVersion, digest: s.cloudPool.Template.Tags[bootstrapDigestKey]}
	}
	if s.bootstrap.digest != "" {
		return nil
	}
	secret := &corev1.Secret{}
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(metadata), secret); err != nil {
		return fmt.Errorf("getting the Secret %s with the bootstrap data: %w", metadata.Name, err)
	}
	s.bootstrap = readBootstrap(secret)
	return nil
}
