// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/labels"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/cloudfault"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// state is what a reconcile observes before it decides.
type state struct {
	fooMachine *infrav1.FooMachine
	// machine is nil for a FooMachine of a pool before Cluster API creates its Machine, and after
	// the Machine is gone.
	machine *clusterv1.Machine
	// cluster is nil only if the FooMachine is being deleted and its Cluster is already gone.
	cluster *clusterv1.Cluster
	// clusterTags are the tags that the FooCluster wants on all instances.
	clusterTags map[string]string

	knowledge
}

// knowledge is what is known about the instance. observe sets at most one of the fields.
type knowledge struct {
	instance *cloud.Instance
	// lost is true if the cloud no longer has the instance of the provider ID.
	lost bool
	// fault is why the cloud could not be queried, or why it refused a request.
	fault cloudfault.Fault
}

func (s *state) owner() ownertags.Owner {
	return ownertags.Owner{Kind: ownertags.KindMachine, Key: client.ObjectKeyFromObject(s.fooMachine)}
}

// clusterKey returns the key of the Cluster, even if the Cluster is gone.
func (s *state) clusterKey() client.ObjectKey {
	if s.machine != nil {
		return client.ObjectKey{Namespace: s.machine.Namespace, Name: s.machine.Spec.ClusterName}
	}
	return cloudidentity.ClusterOf(s.fooMachine)
}

func (s *state) deleting() bool { return !s.fooMachine.DeletionTimestamp.IsZero() }

// unwanted reports whether the instance should disappear, perhaps with its whole pool.
func (s *state) unwanted() bool {
	return s.deleting() || s.cluster == nil || !s.cluster.DeletionTimestamp.IsZero() ||
		(s.machine != nil && !s.machine.DeletionTimestamp.IsZero())
}

func (s *state) ofPool() bool { return labels.IsMachinePoolOwned(s.fooMachine) }

// owners reads the Machine and the Cluster. It returns no state if the FooMachine lacks one that it
// needs: there is nothing to do yet.
func (r *reconciler) owners(ctx context.Context, fooMachine *infrav1.FooMachine) (*state, error) {
	s := &state{fooMachine: fooMachine}
	var err error
	s.machine, err = util.GetOwnerMachine(ctx, r.client, fooMachine.ObjectMeta)
	if client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	if s.machine == nil && !s.ofPool() && !s.deleting() {
		ctrl.LoggerFrom(ctx).Info("Waiting for Cluster API to set the owner Machine", "FooMachine", klog.KObj(fooMachine))
		return nil, nil
	}
	if key := s.clusterKey(); key.Name != "" {
		s.cluster, err = util.GetClusterByName(ctx, r.client, key.Namespace, key.Name)
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
	if s.cluster == nil && !s.deleting() {
		ctrl.LoggerFrom(ctx).Info("Waiting for the Cluster that the label names",
			"FooMachine", klog.KObj(fooMachine), "label", clusterv1.ClusterNameLabel)
		return nil, nil
	}
	return s, nil
}

// observe asks the cloud for the instance, by ID if the ID is known. Without an ID, only a deletion
// needs to look, by name: an order whose answer was lost may have left an instance behind.
func observe(ctx context.Context, c cloud.Instances, s *state) {
	id, err := cloud.InstanceID(s.fooMachine.Spec.ProviderID)
	switch {
	case err == nil:
		s.knowledge = byID(ctx, c, id)
		if s.instance != nil && s.instance.Name != s.owner().CloudName() {
			s.knowledge = foreign(s)
		}
	case s.deleting():
		s.knowledge = byName(ctx, c, s.owner().CloudName())
	case s.fooMachine.Spec.ProviderID != "":
		s.fault = cloudfault.Of(err)
	}
}

func byName(ctx context.Context, c cloud.Instances, name string) knowledge {
	instances, err := c.ListInstances(ctx, cloud.InstanceFilter{Name: name})
	if err != nil || len(instances) == 0 {
		return knowledge{fault: cloudfault.Of(err)}
	}
	return knowledge{instance: &instances[0]}
}

func byID(ctx context.Context, c cloud.Instances, id string) knowledge {
	instance, err := c.GetInstance(ctx, id)
	if cloud.IsNotFound(err) {
		return knowledge{lost: true}
	}
	if err != nil {
		return knowledge{fault: cloudfault.Of(err)}
	}
	return knowledge{instance: &instance}
}

// foreign is what is known of an instance that has the name of another FooMachine: whoever copies a
// FooMachine to another namespace copies its provider ID. The copy can be deleted, and the instance
// stays.
func foreign(s *state) knowledge {
	if s.deleting() {
		return knowledge{}
	}
	return knowledge{fault: cloudfault.Of(&cloud.InvalidError{
		Field: "spec.providerID", Value: s.fooMachine.Spec.ProviderID, Problem: "the instance " + s.instance.Name + " belongs to another FooMachine",
	})}
}
