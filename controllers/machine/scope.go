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

package machine

import (
	"context"
	"errors"
	"time"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/labels"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudfault"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
)

// errNoOwner says that the FooMachine has no Machine or no Cluster yet, so that there is nothing to do.
var errNoOwner = errors.New("no owner yet")

// scope is what one reconcile knows: what was observed before the plan, and what the cloud answered after it.
type scope struct {
	fooMachine *infrav1.FooMachine
	// machine is nil for a FooMachine of a pool before Cluster API made its Machine, and after the Machine is gone.
	machine *clusterv1.Machine
	// cluster is nil only while the FooMachine is deleted after its Cluster is gone.
	cluster *clusterv1.Cluster
	cloud   cloud.Instances

	instance *cloud.Instance
	// lost says that the cloud has no instance of the provider ID any more.
	lost  bool
	fault cloudfault.Fault
	// wait is why nothing is ordered yet.
	wait waiting
	// gone says that nothing is left in the cloud.
	gone bool
}

// waiting is what a FooMachine without an instance waits for.
type waiting struct {
	reason, message string
	// retry is when to look again, for what no event tells of; zero for what an event tells of.
	retry time.Duration
}

func (s *scope) owner() ownertags.Owner {
	return ownertags.Owner{Kind: ownertags.KindMachine, Key: client.ObjectKeyFromObject(s.fooMachine)}
}

func (s *scope) deleting() bool { return !s.fooMachine.DeletionTimestamp.IsZero() }

// goes reports whether the FooMachine is gone once it is written. Nobody could see what its status says then.
func (s *scope) goes() bool { return s.gone && len(s.fooMachine.Finalizers) == 0 }

// unwanted reports whether the instance is meant to go, though perhaps by somebody else's hand, as with its whole pool.
func (s *scope) unwanted() bool {
	return s.deleting() || s.cluster == nil || !s.cluster.DeletionTimestamp.IsZero() ||
		(s.machine != nil && !s.machine.DeletionTimestamp.IsZero())
}

func (s *scope) ofPool() bool { return labels.IsMachinePoolOwned(s.fooMachine) }

// result is what Reconcile returns.
func (s *scope) result() (ctrl.Result, error) {
	if !s.fault.IsZero() {
		return s.fault.Result()
	}
	return ctrl.Result{RequeueAfter: s.wait.retry}, nil
}

// owners reads the Machine and the Cluster. It returns errNoOwner while a FooMachine that is not being deleted lacks
// what it needs of them.
func (r *reconciler) owners(ctx context.Context, fooMachine *infrav1.FooMachine) (*scope, error) {
	s := &scope{fooMachine: fooMachine}
	var err error
	s.machine, err = util.GetOwnerMachine(ctx, r.client, fooMachine.ObjectMeta)
	if client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	if s.machine == nil && !s.ofPool() && !s.deleting() {
		ctrl.LoggerFrom(ctx).Info("Waiting for Cluster API to make a Machine the owner", "FooMachine", klog.KObj(fooMachine))
		return nil, errNoOwner
	}
	s.cluster, err = r.clusterOf(ctx, s)
	if client.IgnoreNotFound(err) != nil {
		return nil, err
	}
	if s.cluster == nil && !s.deleting() {
		ctrl.LoggerFrom(ctx).Info("Waiting for the Cluster that the label names",
			"FooMachine", klog.KObj(fooMachine), "label", clusterv1.ClusterNameLabel)
		return nil, errNoOwner
	}
	return s, nil
}

func (r *reconciler) clusterOf(ctx context.Context, s *scope) (*clusterv1.Cluster, error) {
	name := s.fooMachine.Labels[clusterv1.ClusterNameLabel]
	if s.machine != nil {
		name = s.machine.Spec.ClusterName
	}
	if name == "" {
		return nil, nil
	}
	cluster, err := util.GetClusterByName(ctx, r.client, s.fooMachine.Namespace, name)
	if err != nil {
		return nil, err
	}
	return cluster, nil
}

// observe asks the cloud for the instance: by its ID where that is known. Without one, only a deletion needs to look,
// by name, since an order whose answer got lost may have left an instance.
func observe(ctx context.Context, s *scope) {
	id, err := cloud.InstanceID(s.fooMachine.Spec.ProviderID)
	switch {
	case err == nil:
		observeByID(ctx, s, id)
	case s.deleting():
		observeByName(ctx, s)
	case s.fooMachine.Spec.ProviderID != "":
		s.fault = cloudfault.Of(err)
	}
}

func observeByName(ctx context.Context, s *scope) {
	instances, err := s.cloud.ListInstances(ctx, cloud.InstanceFilter{Name: s.owner().CloudName()})
	s.fault = cloudfault.Of(err)
	if len(instances) > 0 {
		s.instance = &instances[0]
	}
}

func observeByID(ctx context.Context, s *scope, id string) {
	instance, err := s.cloud.GetInstance(ctx, id)
	switch {
	case cloud.IsNotFound(err):
		s.lost = true
	case err != nil:
		s.fault = cloudfault.Of(err)
	default:
		s.instance = &instance
	}
}
