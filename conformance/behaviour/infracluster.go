// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

func clusterScenarios() []scenario {
	return []scenario{
		{lifeOf + "an infrastructure cluster", InfraCluster, Provisioned, []string{
			"initialization", "endpoint", "failure-domains", "conditions", "conditions-implemented", "ready-condition",
		}, lifeOfInfraCluster},
		{"endpoint of the user", InfraCluster, Provisioned, []string{"endpoint-kept"}, endpointOfUser},
		{"endpoint of the Cluster comes late", InfraCluster, Provisioned, []string{"waits-for-endpoint"}, endpointOfClusterLate},
		{"externally managed infrastructure", InfraCluster, Provisioned, []string{"externally-managed"}, externallyManaged},
	}
}

func lifeOfInfraCluster(s *story) error {
	object, err := s.initialized()
	if err != nil {
		return err
	}
	var problem error
	if endpoint := endpointOf(object); !endpoint.IsValid() {
		problem = fmt.Errorf("%s is true, and spec.controlPlaneEndpoint is %s", fields.CompletedPath(string(s.role), s.contract), fields.Show(fields.At(object, "spec.controlPlaneEndpoint")))
	}
	s.check("endpoint", problem)
	s.check("failure-domains", checkFailureDomains(object, s.contract))
	return s.checkReady(object)
}

// checkFailureDomains returns an error unless there are failure domains in the shape of the contract.
func checkFailureDomains(object *unstructured.Unstructured, contract string) error {
	domains := failureDomains(object, contract)
	if len(domains) == 0 {
		shape := "a list"
		if contract == fields.V1Beta1 {
			shape = "a map by name"
		}
		return fmt.Errorf("status.failureDomains is %s, want %s of at least one failure domain", fields.Show(fields.At(object, "status.failureDomains")), shape)
	}
	known := sets.New[string]()
	for _, domain := range domains {
		if domain.Name == "" || known.Has(domain.Name) {
			return fmt.Errorf("status.failureDomains is %s; names must be set and unique", fields.Show(fields.At(object, "status.failureDomains")))
		}
		known.Insert(domain.Name)
	}
	return nil
}

// checkReady checks the conditions of an object that is complete.
func (s *story) checkReady(object *unstructured.Unstructured) error {
	ready := func() error {
		if err := s.read(object); err != nil {
			return err
		}
		got := fields.StatusOf(object, clusterv1.ReadyCondition)
		if got != "True" && len(fields.Conditions(object, "status.conditions")) > 0 {
			return fmt.Errorf("its condition %s is %q, want True; all conditions: %s", clusterv1.ReadyCondition, got, fields.Show(fields.At(object, "status.conditions")))
		}
		return nil
	}
	problem := s.until("it is complete", ready)
	if err := errors.Join(s.settle(), s.read(object)); err != nil {
		return err
	}
	all := fields.Conditions(object, "status.conditions")
	if len(all) == 0 {
		s.check("conditions-implemented", errors.New("status.conditions is empty"))
		return nil
	}
	s.check("conditions-implemented", nil)
	s.check("conditions", fields.CheckConditions(all))
	if problem == nil {
		problem = ready()
	}
	s.check("ready-condition", problem)
	return nil
}

// endpointOfClusterLate creates an infrastructure cluster without an endpoint of its own before its Cluster has one.
func endpointOfClusterLate(s *story) error {
	object, err := s.object(InfraCluster, s.namespace)
	if err != nil {
		return err
	}
	if err := s.createCluster(object, func(cluster *clusterv1.Cluster) { cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{} }); err != nil {
		return err
	}
	setOwner(object, s.cluster, "Cluster")
	if err := errors.Join(s.Create(s.ctx, object), s.settle()); err != nil {
		return err
	}
	problem, err := s.notActed(object, "the Cluster has no endpoint")
	if err != nil {
		return err
	}
	if problem == nil {
		if err := s.change(s.cluster, func() {
			s.cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: standInHost, Port: standInPort}
		}); err != nil {
			return err
		}
		problem = s.until("after the Cluster got an endpoint", func() error { return s.acted(object) })
	}
	s.check("waits-for-endpoint", problem)
	return nil
}

// endpointOfUser creates an infrastructure cluster with an endpoint that the user chose.
func endpointOfUser(s *story) error {
	object, err := s.prepare()
	if err != nil {
		return err
	}
	chosen := map[string]any{"host": "192.0.2.10", "port": int64(6443)}
	if err := unstructured.SetNestedMap(object.Object, chosen, "spec", "controlPlaneEndpoint"); err != nil {
		return err
	}
	if err := errors.Join(s.Create(s.ctx, object), s.settle(), s.read(object)); err != nil {
		return err
	}
	var problem error
	if endpoint := endpointOf(object); endpoint.Host != chosen["host"] || endpoint.Port != 6443 {
		problem = fmt.Errorf("the user set spec.controlPlaneEndpoint to %s, and the provider changed it to %s", fields.Show(chosen), endpoint)
	}
	s.check("endpoint-kept", problem)
	return nil
}

// externallyManaged creates an infrastructure cluster that another system manages.
func externallyManaged(s *story) error {
	object, err := s.prepare()
	if err != nil {
		return err
	}
	annotate(object, clusterv1.ManagedByAnnotation, "somebody-else")
	if err := errors.Join(s.Create(s.ctx, object), s.settle()); err != nil {
		return err
	}
	created := object.DeepCopy()
	if err := s.read(object); err != nil {
		return err
	}
	var problem error
	if object.GetResourceVersion() != created.GetResourceVersion() {
		problem = fmt.Errorf("it has the annotation %s, and the provider changed it: finalizers %v, status %s",
			clusterv1.ManagedByAnnotation, object.GetFinalizers(), fields.Show(object.Object["status"]))
	}
	s.check("externally-managed", problem)
	return nil
}
