// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// remove deletes the cluster, and waits until it is gone. A move that failed has left it paused, and
// then nobody would act.
func (s *story) remove(ctx context.Context) error {
	cluster := &clusterv1.Cluster{}
	cluster.Namespace, cluster.Name = s.Namespace, clusterName
	if err := s.change(ctx, cluster, func() { cluster.Spec.Paused = nil }); err != nil {
		return client.IgnoreNotFound(err)
	}
	if err := s.Client.Delete(ctx, cluster); err != nil {
		return client.IgnoreNotFound(err)
	}
	return until(ctx, s.Patience, func() error {
		if err := s.Client.Get(ctx, client.ObjectKeyFromObject(cluster), cluster); err != nil {
			return client.IgnoreNotFound(err)
		}
		return errors.New("the Cluster still exists")
	})
}

// delete deletes the cluster, and looks for what is left of what it has now: a move that failed may
// have replaced only a part.
func (s *story) delete(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	before, err := s.read(ctx)
	if err != nil {
		return errors.Join(client.IgnoreNotFound(err), s.remove(ctx))
	}
	s.now = before
	err = s.remove(ctx)
	v := &view{}
	if readErr := s.readNamespace(ctx, v); readErr != nil {
		return errors.Join(err, readErr)
	}
	s.checkDeleted(v)
	return err
}

// checkDeleted records which kinds have objects left. While there is the Cluster, Cluster API may not have
// deleted all of them yet. A control plane is not to blame for Machines that it has deleted and that stay.
func (s *story) checkDeleted(v *view) {
	left := map[types.UID]*metav1.PartialObjectMetadata{}
	for i := range v.namespaced {
		left[v.namespaced[i].UID] = &v.namespaced[i]
	}
	cluster := left[s.now.cluster.UID]
	if cluster != nil && cluster.DeletionTimestamp.IsZero() {
		return
	}
	for _, role := range roles {
		for _, o := range s.now.objects(role) {
			one := left[o.GetUID()]
			switch {
			case one == nil:
				s.record(role+"/deletion", o.contract, o.GetKind(), nil)
			case role == "control-plane" && v.keepsMachines():
			case cluster == nil || !one.DeletionTimestamp.IsZero():
				s.record(role+"/deletion", o.contract, o.GetKind(), fmt.Errorf("%s still exists after its Cluster was deleted, with the finalizers %v", one.Name, one.Finalizers))
			}
		}
	}
}
