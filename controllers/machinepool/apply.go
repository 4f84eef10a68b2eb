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
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudfault"
)

// apply does what was decided and puts the cloud's answers into the scope. It returns errors that are not the cloud's.
func (r *reconciler) apply(ctx context.Context, s *scope, p plan) error {
	s.wait = p.wait
	var errs []error
	for _, instance := range p.create {
		errs = append(errs, r.createFooMachine(ctx, s, instance))
	}
	for _, m := range p.delete {
		errs = append(errs, r.deleteMember(ctx, m))
	}
	if p.replicas != nil {
		errs = append(errs, r.adoptReplicas(ctx, s, *p.replicas))
	}
	if p.ensure != nil {
		errs = append(errs, r.ensurePool(ctx, s, p))
	}
	if p.deletePool {
		r.deletePool(ctx, s)
	}
	return kerrors.NewAggregate(errs)
}

func (r *reconciler) ensurePool(ctx context.Context, s *scope, p plan) error {
	secret := &corev1.Secret{}
	if err := r.live.Get(ctx, p.secret, secret); err != nil {
		return fmt.Errorf("get the Secret %s with the bootstrap data: %w", p.secret, err)
	}
	if problem := problemOf(secret); problem != "" {
		s.wait = waiting{reason: infrav1.FooMachinePoolWaitingForBootstrapDataReason, message: problem}
		return nil
	}
	spec := *p.ensure
	spec.Template.UserData = secret.Data["value"]
	spec.Template.Tags[secretVersionKey] = secret.ResourceVersion
	cloudPool, err := r.cloud.EnsurePool(ctx, spec)
	if err != nil {
		s.fault = cloudfault.Of(err)
		return nil
	}
	s.cloudPool = &cloudPool
	return nil
}

// problemOf says what is wrong with bootstrap data, in words that quote none of it.
func problemOf(secret *corev1.Secret) string {
	if len(secret.Data["value"]) == 0 {
		return fmt.Sprintf("the Secret %s has no bootstrap data under the key value", secret.Name)
	}
	if format := string(secret.Data["format"]); format != "" && format != "cloud-config" {
		return fmt.Sprintf("the Secret %s has bootstrap data of format %q, allowed: cloud-config", secret.Name, format)
	}
	return ""
}

// createFooMachine is the only way by which the controller writes a FooMachine. The FooMachine has its finalizer from the
// start, so that it never goes before its instance. The owner reference is none of a controller: Cluster API makes
// the Machine the controller.
func (r *reconciler) createFooMachine(ctx context.Context, s *scope, instance cloud.Instance) error {
	labels := s.poolLabels()
	if filter, ok := s.pool.Labels[clusterv1.WatchLabel]; ok {
		labels[clusterv1.WatchLabel] = filter
	}
	fooMachine := &infrav1.FooMachine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:  s.pool.Namespace,
			Name:       instance.Hostname,
			Labels:     labels,
			Finalizers: []string{infrav1.FooMachineFinalizer},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: infrav1.GroupVersion.String(), Kind: poolKind, Name: s.pool.Name, UID: s.pool.UID,
			}},
		},
		Spec: infrav1.FooMachineSpec{ProviderID: instance.ProviderID, InstanceType: instance.Type},
	}
	if err := r.client.Create(ctx, fooMachine); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create FooMachine %s for its instance: %w", instance.Hostname, err)
	}
	return nil
}

// deleteMember deletes the Machine, which drains its Node before it deletes the FooMachine; the FooMachine itself only
// where Cluster API has made no Machine.
func (r *reconciler) deleteMember(ctx context.Context, m member) error {
	var object client.Object = m.fooMachine
	if m.machine != nil {
		object = m.machine
	}
	uid := object.GetUID()
	err := r.client.Delete(ctx, object, client.Preconditions{UID: &uid})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete %T %s of the pool: %w", object, m.name, err)
	}
	return nil
}

// adoptReplicas is the only way by which the controller writes a MachinePool.
func (r *reconciler) adoptReplicas(ctx context.Context, s *scope, replicas int32) error {
	before := s.machinePool.DeepCopy()
	s.machinePool.Spec.Replicas = &replicas
	if err := r.client.Patch(ctx, s.machinePool, client.MergeFrom(before)); err != nil {
		key := types.NamespacedName{Namespace: before.Namespace, Name: before.Name}
		return fmt.Errorf("set the replicas of MachinePool %s to what its pool has: %w", key, err)
	}
	return nil
}

// deletePool is called until the cloud says that the pool is gone; an event of the cloud tells when to ask.
func (r *reconciler) deletePool(ctx context.Context, s *scope) {
	err := r.cloud.DeletePool(ctx, s.owner().CloudName())
	if !cloud.IsNotFound(err) {
		s.fault = cloudfault.Of(err)
		return
	}
	s.gone, s.cloudPool, s.members = true, nil, nil
	controllerutil.RemoveFinalizer(s.pool, infrav1.FooMachinePoolFinalizer)
}
