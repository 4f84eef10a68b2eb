// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

func machineScenarios() []scenario {
	return []scenario{
		{lifeOf + "an infrastructure machine", InfraMachine, Provisioned, []string{
			"initialization", "provider-id", "provider-id-stable", "failure-domain", "addresses", "conditions", "conditions-implemented", "ready-condition",
		}, lifeOfInfraMachine},
		{"bootstrap data comes late", InfraMachine, Provisioned, []string{"waits-for-bootstrap"}, bootstrapDataLate},
		{"infrastructure comes late", InfraMachine, Provisioned, []string{"waits-for-infrastructure"}, infrastructureLate},
		{"deletion before bootstrap data", InfraMachine, Waiting, []string{"deletion-waiting"}, deletionWaiting},
		{"status of a template", InfraMachine, Waiting, []string{"template-capacity", "template-node-info"}, statusOfTemplate},
	}
}

func lifeOfInfraMachine(s *story) error {
	object, err := s.prepare()
	if err != nil {
		return err
	}
	wanted := s.machine.Spec.FailureDomain
	if err := s.Create(s.ctx, object); err != nil {
		return err
	}
	err = s.until("after the Machine got its bootstrap data", func() error { return s.acted(object) })
	s.check("initialization", err)
	if err != nil {
		return err
	}
	id := fields.Text(object, "spec.providerID")
	s.check("provider-id", checkProviderID(id))
	s.checkFailureDomain(object, wanted)
	s.check("addresses", checkAddresses(object))
	if err := s.checkReady(object); err != nil {
		return err
	}
	return s.checkProviderIDStable(object, id)
}

func checkProviderID(id string) error {
	if id == "" {
		return errors.New("it is provisioned, and spec.providerID is not set")
	}
	if len(id) > 512 {
		return fmt.Errorf("spec.providerID has %d characters; at most 512 are allowed", len(id))
	}
	return nil
}

func (s *story) checkFailureDomain(object *unstructured.Unstructured, wanted string) {
	const rule = "failure-domain"
	path := "status.failureDomain"
	if s.contract == fields.V1Beta1 {
		path = "spec.failureDomain"
	}
	// Reporting where the machine is, is optional; being elsewhere is not.
	switch got := fields.Text(object, path); {
	case wanted == "":
		s.check(rule, errors.New("the Cluster has no failure domains, although the configuration claims the feature"))
	case got == "":
		s.notRun(rule, path+" is not set, so nothing shows where the machine is")
	case got != wanted:
		s.check(rule, fmt.Errorf("the Machine wants the failure domain %q, and %s is %q", wanted, path, got))
	default:
		s.check(rule, nil)
	}
}

func checkAddresses(object *unstructured.Unstructured) error {
	list, _ := fields.At(object, "status.addresses").([]any)
	if len(list) == 0 {
		return fmt.Errorf("status.addresses is %s, want at least one address", fields.Show(fields.At(object, "status.addresses")))
	}
	allowed := []string{"Hostname", "ExternalIP", "InternalIP", "ExternalDNS", "InternalDNS"}
	for _, item := range list {
		kind, _ := fields.Get(item, "type").(string)
		if address, _ := fields.Get(item, "address").(string); address == "" || !slices.Contains(allowed, kind) {
			return fmt.Errorf("status.addresses has %s; want an address, and one of the types %v", fields.Show(item), allowed)
		}
	}
	return nil
}

// checkProviderIDStable compares the ID with the one of a second machine, and with its own after
// another reconciliation.
func (s *story) checkProviderIDStable(object *unstructured.Unstructured, id string) error {
	other, err := s.prepareInfraMachine("other")
	if err != nil {
		return err
	}
	if err := s.Create(s.ctx, other); err != nil {
		return err
	}
	if err := s.until("a second machine", func() error { return s.acted(other) }); err != nil {
		return err
	}
	if err := s.change(object, func() { annotate(object, "conformance.example.com/touched", "true") }); err != nil {
		return err
	}
	if err := errors.Join(s.settle(), s.read(object)); err != nil {
		return err
	}
	var problem error
	switch now := fields.Text(object, "spec.providerID"); {
	case now != id:
		problem = fmt.Errorf("spec.providerID changed from %q to %q", id, now)
	case now != "" && now == fields.Text(other, "spec.providerID"):
		problem = fmt.Errorf("two machines have the same spec.providerID %q", now)
	}
	s.check("provider-id-stable", problem)
	return nil
}

// bootstrapDataLate creates the machine before its Machine has bootstrap data.
func bootstrapDataLate(s *story) error {
	object, err := s.prepareInfraMachine(machineName)
	if err != nil {
		return err
	}
	if err := s.change(s.machine, func() { s.machine.Spec.Bootstrap.DataSecretName = nil }); err != nil {
		return err
	}
	if err := errors.Join(s.Create(s.ctx, object), s.settle()); err != nil {
		return err
	}
	problem, err := s.notActed(object, "its Machine has no bootstrap data")
	if err != nil {
		return err
	}
	if id := fields.Text(object, "spec.providerID"); problem == nil && id != "" {
		problem = fmt.Errorf("spec.providerID is %q although its Machine has no bootstrap data", id)
	}
	if problem == nil {
		if err := s.change(s.machine, func() { s.machine.Spec.Bootstrap.DataSecretName = ptr.To(dataSecret) }); err != nil {
			return err
		}
		problem = s.until("after spec.bootstrap.dataSecretName of the Machine was set", func() error { return s.acted(object) })
	}
	s.check("waits-for-bootstrap", problem)
	return nil
}

// infrastructureLate creates the machine before the Cluster's infrastructure is provisioned.
func infrastructureLate(s *story) error {
	if err := s.bringUpCluster(); err != nil {
		return err
	}
	provisioned := func(value *bool) error {
		return s.changeStatus(s.cluster, func() { s.cluster.Status.Initialization.InfrastructureProvisioned = value })
	}
	if err := provisioned(ptr.To(false)); err != nil {
		return err
	}
	object, err := s.prepareInfraMachine(machineName)
	if err != nil {
		return err
	}
	if err := errors.Join(s.Create(s.ctx, object), s.settle()); err != nil {
		return err
	}
	problem, err := s.notActed(object, "the Cluster's infrastructure is not provisioned")
	if err != nil {
		return err
	}
	if problem == nil {
		if err := provisioned(ptr.To(true)); err != nil {
			return err
		}
		problem = s.until("after the Cluster's infrastructure was provisioned", func() error { return s.acted(object) })
	}
	s.check("waits-for-infrastructure", problem)
	return nil
}

// deletionWaiting deletes machines that wait for their bootstrap data.
func deletionWaiting(s *story) error {
	if s.checker.Config.reaches(s.role, Provisioned) {
		if err := s.checker.deletes(s); err != nil {
			return err
		}
	}
	object, err := s.prepareInfraMachine(machineName)
	if err != nil {
		return err
	}
	if err := s.change(s.machine, func() { s.machine.Spec.Bootstrap.DataSecretName = nil }); err != nil {
		return err
	}
	if err := errors.Join(s.Create(s.ctx, object), s.settle()); err != nil {
		return err
	}
	if err := s.changeStatus(s.cluster, func() { s.cluster.Status.Initialization.InfrastructureProvisioned = ptr.To(false) }); err != nil {
		return err
	}
	if err := s.Delete(s.ctx, object); err != nil {
		return err
	}
	s.check("deletion-waiting", s.untilGone(object, "it was deleted, before its Machine had bootstrap data"))
	return nil
}

// statusOfTemplate looks at what a template says to the cluster autoscaler.
func statusOfTemplate(s *story) error {
	if err := s.bringUpCluster(); err != nil {
		return err
	}
	object, err := s.object(s.role, machineName)
	if err != nil {
		return err
	}
	template, err := s.template(object.Object["spec"])
	if err != nil {
		return err
	}
	setOwner(template, s.cluster, "Cluster")
	if err := s.Create(s.ctx, template); err != nil {
		return err
	}
	for _, each := range []struct{ rule, path string }{{"template-capacity", "status.capacity.cpu"}, {"template-node-info", "status.nodeInfo.architecture"}} {
		if s.wants(each.rule) {
			s.check(each.rule, s.until("a template", func() error {
				if err := s.read(template); err != nil {
					return err
				}
				if fields.At(template, each.path) == nil {
					return fmt.Errorf("%s is not set", each.path)
				}
				return nil
			}))
		}
	}
	return nil
}
