// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinepool

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/cloudfault"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// apply carries out the plan and stores the cloud's answers in the scope. It returns errors that
// did not come from the cloud.
func (r *reconciler) apply(ctx context.Context, s *scope, p plan) error {
	s.wait, s.decided = p.wait, p
	if err := r.remember(ctx, s, p.memory); err != nil {
		return err
	}
	errs := slices.Concat(
		each(p.create, func(instance cloud.Instance) error { return r.createFooMachine(ctx, s, instance) }),
		each(p.propagate, func(a application) error { return r.propagate(ctx, a) }))
	if p.replicas != nil {
		errs = append(errs, r.adoptReplicas(ctx, s, *p.replicas))
	}
	if p.ensure != nil {
		errs = append(errs, r.ensurePool(ctx, s, p))
	}
	victims := p.allowed(s)
	if err := r.remember(ctx, s, p.memory.with(victims, s.revision, s.now)); err != nil {
		return kerrors.NewAggregate(append(errs, err))
	}
	errs = append(errs, each(victims, func(v victim) error { return r.deleteMember(ctx, s, v) })...)
	if p.deletePool {
		requestDeletion(ctx, s)
	}
	return kerrors.NewAggregate(errs)
}

// maxRefused is how many writes of one kind may fail in one reconcile before the rest are skipped:
// what rejects one object may reject them all.
const maxRefused = 3

// each calls do for every element, and gives up after maxRefused failures.
func each[T any](all []T, do func(T) error) []error {
	var errs []error
	for _, one := range all {
		if len(errs) == maxRefused {
			break
		}
		if err := do(one); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// ensurePool orders the pool with the bootstrap data that the decision was based on. If the data
// has changed meanwhile, it orders nothing and sets a retry.
func (r *reconciler) ensurePool(ctx context.Context, s *scope, p plan) error {
	if s.bootstrap.userData == nil && (s.cloudPool == nil || !s.cloudPool.SameTemplate(*p.ensure)) {
		secret := &corev1.Secret{}
		key := client.ObjectKey{
			Namespace: s.pool.Namespace, Name: ptr.Deref(s.machinePool.Spec.Template.Spec.Bootstrap.DataSecretName, ""),
		}
		if err := r.live.Get(ctx, key, secret); err != nil {
			return fmt.Errorf("getting the Secret %s with the bootstrap data: %w", key, err)
		}
		if read := readBootstrap(secret); read.version == s.bootstrap.version {
			s.bootstrap = read
		} else {
			s.wait.retry = secretRetry
			return nil
		}
	}
	spec := *p.ensure
	spec.Template.UserData = s.bootstrap.userData
	r.order(ctx, s, spec)
	return nil
}

// order changes the template of the pool and then its size. If the pool has changed since it was
// read, everything is decided again.
func (r *reconciler) order(ctx context.Context, s *scope, spec cloud.PoolSpec) {
	var err error
	grown := false
	if s.cloudPool == nil || !s.cloudPool.SameTemplate(spec) {
		err = s.ordered(s.cloud.EnsurePool(ctx, spec, s.seenVersion()))
	}
	if err == nil && s.cloudPool.Size != spec.Size {
		err = s.ordered(s.cloud.ScalePool(ctx, spec.Name, spec.Size, s.seenVersion()))
		// The only invalid size is one below what the pool has grown to meanwhile.
		grown = cloud.IsInvalid(err) && spec.Size <= infrav1.MaxPoolReplicas
	}
	if grown || cloud.IsConflict(err) {
		s.conflict, s.wait.retry = true, rereadAfter
		return
	}
	s.fault = cloudfault.Of(err)
}

// ordered stores the answer to an order. A refusal leaves the pool as it was.
func (s *scope) ordered(answer cloud.Pool, err error) error {
	if err == nil {
		s.cloudPool = &answer
	}
	return err
}

// seenVersion returns the version of the pool that was read; empty if there was none.
func (s *scope) seenVersion() string {
	if s.cloudPool == nil {
		return ""
	}
	return s.cloudPool.Version
}

// propagate is the only place where the controller changes a Machine or an existing FooMachine.
func (r *reconciler) propagate(ctx context.Context, a application) error {
	err := r.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(a.object), client.ForceOwnership, client.FieldOwner(a.manager))
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("applying the pool's settings to %s %s: %w", a.object.GetKind(), a.object.GetName(), err)
	}
	return nil
}

// createFooMachine is the only place where the controller creates a FooMachine. The FooMachine has
// its finalizer from the start, so it is never removed before its instance.
func (r *reconciler) createFooMachine(ctx context.Context, s *scope, instance cloud.Instance) error {
	labels := s.poolLabels()
	if filter, ok := s.pool.Labels[clusterv1.WatchLabel]; ok {
		labels[clusterv1.WatchLabel] = filter
	}
	fooMachine := &infrav1.FooMachine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       s.pool.Namespace,
			Name:            instance.Hostname,
			Labels:          labels,
			Finalizers:      []string{infrav1.FooMachineFinalizer},
			OwnerReferences: []metav1.OwnerReference{s.reference()},
		},
		Spec: infrav1.FooMachineSpec{
			ProviderID: instance.ProviderID, InstanceType: instance.Type, Image: instance.Image,
			RootDisk:       infrav1.RootDisk{SizeGiB: int32(instance.DiskBytes >> 30)},
			AdditionalTags: ownertags.Additional(instance.Tags, s.clusterTags),
		},
	}
	if instance.Interruptible {
		fooMachine.Spec.Interruptible = ptr.To(true)
	}
	if err := r.client.Create(ctx, fooMachine); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("creating FooMachine %s for its instance: %w", instance.Hostname, err)
	}
	return nil
}

// deleteMember deletes the Machine, so that its Node is drained before its FooMachine is deleted. It
// deletes the FooMachine itself only if Cluster API has created no Machine.
func (r *reconciler) deleteMember(ctx context.Context, s *scope, v victim) error {
	var object client.Object = v.fooMachine
	if v.machine != nil {
		object = v.machine
	}
	uid := object.GetUID()
	err := r.client.Delete(ctx, object, client.Preconditions{UID: &uid})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("deleting %T %s of the pool: %w", object, v.name, err)
	}
	r.memories.expectDeletion(s.pool, uid)
	ctrl.LoggerFrom(ctx).Info("Removing a Machine of the pool", "Machine", klog.KRef(s.pool.Namespace, v.name), "cause", v.why)
	return nil
}

// adoptReplicas is the only place where the controller writes a MachinePool.
func (r *reconciler) adoptReplicas(ctx context.Context, s *scope, replicas int32) error {
	before := s.machinePool.DeepCopy()
	s.machinePool.Spec.Replicas = &replicas
	if err := r.client.Patch(ctx, s.machinePool, client.MergeFrom(before)); err != nil {
		key := types.NamespacedName{Namespace: before.Namespace, Name: before.Name}
		return fmt.Errorf("setting the replicas of MachinePool %s to the size of its pool: %w", key, err)
	}
	return nil
}

// requestDeletion is called until the cloud reports that the pool is gone; a cloud event triggers
// the next call.
func requestDeletion(ctx context.Context, s *scope) {
	err := s.cloud.DeletePool(ctx, s.owner().CloudName())
	if !cloud.IsNotFound(err) {
		s.fault = cloudfault.Of(err)
		return
	}
	s.gone, s.cloudPool, s.members = true, nil, nil
	controllerutil.RemoveFinalizer(s.pool, infrav1.FooMachinePoolFinalizer)
}
