// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"fmt"
	"time"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg"

	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
)

// Fields in which Machines can be out of date. Fields of the KubeadmConfig have their own paths.
const (
	fieldVersion     = "spec.version"
	fieldTemplate    = "spec.machineTemplate.spec.infrastructureRef"
	fieldConfig      = "spec.kubeadmConfigSpec"
	fieldAfter       = "spec.rollout.after"
	fieldCertificate = "spec.rollout.before.certificatesExpiryDays"
)

// compare lists how each Machine differs from a new one. It is called once per reconcile.
func (s *scope) compare() error {
	var err error
	if s.madeFrom, err = newMadeFrom(s.controlPlane); err != nil {
		return err
	}
	s.differences = map[string][]plan.Difference{}
	for _, machine := range s.machines {
		found := s.due(machine)
		if machine.Spec.Version != s.controlPlane.Spec.Version {
			found = append(found, plan.Difference{
				Field: fieldVersion,
				Text:  fmt.Sprintf("Version %s, %s required", machine.Spec.Version, s.controlPlane.Spec.Version),
			})
		}
		found = append(found, s.infraDifference(machine)...)
		changed, err := s.configDifference(machine)
		if err != nil {
			return err
		}
		if found = s.asked(machine, append(found, changed...)); len(found) > 0 {
			s.differences[machine.Name] = found
		}
	}
	return nil
}

// due lists the points in time in the spec that require the Machine's replacement now.
func (s *scope) due(machine *clusterv1.Machine) []plan.Difference {
	var found []plan.Difference
	if after := s.controlPlane.Spec.Rollout.After; !after.IsZero() && !s.now.Before(after.Time) && machine.CreationTimestamp.Before(&after) {
		found = append(found, plan.Difference{Field: fieldAfter, Asked: true, Text: "created before spec.rollout.after " + after.UTC().Format(time.RFC3339)})
	}
	if at, ok := s.replacedBefore(machine); ok && !s.now.Before(at) {
		found = append(found, plan.Difference{Field: fieldCertificate, Asked: true, Text: "Certificates will expire soon, at " + s.expiry(machine).UTC().Format(time.RFC3339)})
	}
	return found
}

// replacedBefore is when the Machine must be replaced because its certificates expire.
func (s *scope) replacedBefore(machine *clusterv1.Machine) (time.Time, bool) {
	days, expiry := s.controlPlane.Spec.Rollout.Before.CertificatesExpiryDays, s.expiry(machine)
	if days == 0 || expiry.IsZero() {
		return time.Time{}, false
	}
	return expiry.Add(-time.Duration(days) * 24 * time.Hour), true
}

// expiry is when the Machine's certificates expire, according to its status or the annotations;
// zero if unknown.
func (s *scope) expiry(machine *clusterv1.Machine) time.Time {
	if !machine.Status.CertificatesExpiryDate.IsZero() {
		return machine.Status.CertificatesExpiryDate.Time
	}
	annotation := machine.Annotations[clusterv1.MachineCertificatesExpiryDateAnnotation]
	if config, ok := s.configs[machine.Name]; ok && annotation == "" {
		annotation = config.Annotations[clusterv1.MachineCertificatesExpiryDateAnnotation]
	}
	expiry, err := time.Parse(time.RFC3339, annotation)
	if err != nil {
		return time.Time{}
	}
	return expiry
}

// nextDue is when the next Machine becomes due; zero if none does.
func (s *scope) nextDue() time.Time {
	var next time.Time
	earlier := func(at time.Time) {
		if at.After(s.now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	earlier(s.controlPlane.Spec.Rollout.After.Time)
	for _, machine := range s.machines {
		if at, ok := s.replacedBefore(machine); ok {
			earlier(at)
		}
	}
	return next
}

// infraDifference compares only the template that the infrastructure machine was cloned from, since
// its spec belongs to its provider.
func (s *scope) infraDifference(machine *clusterv1.Machine) []plan.Difference {
	object, ok := s.infraMachines[machine.Name]
	if !ok {
		return nil
	}
	reference := s.controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef
	name := object.GetAnnotations()[clusterv1.TemplateClonedFromNameAnnotation]
	kind := object.GetAnnotations()[clusterv1.TemplateClonedFromGroupKindAnnotation]
	if name == "" || (name == reference.Name && kind == reference.GroupKind().String()) {
		return nil
	}
	return []plan.Difference{{
		Field: fieldTemplate,
		Text:  fmt.Sprintf("%s was created from template %s %s, %s %s required", object.GetKind(), kind, name, reference.GroupKind(), reference.Name),
	}}
}

// configDifference compares the KubeadmConfig with a new one, with Cluster API's own rules for what
// does not matter. The first Machine's config may also match that of a joining one, since it is an
// ordinary member of the control plane by now.
func (s *scope) configDifference(machine *clusterv1.Machine) ([]plan.Difference, error) {
	current, ok := s.configs[machine.Name]
	if !ok || s.madeFrom.Outcome == "" {
		return nil, nil
	}
	var found []plan.Difference
	for _, as := range []role{roleJoin, roleInit} {
		spec, err := desiredConfigSpec(s.controlPlane, as)
		if err != nil {
			return nil, err
		}
		wanted := current.DeepCopy()
		wanted.Spec = spec
		wanted, compared := pkg.PrepareKubeadmConfigsForDiff(wanted, current, as == roleJoin)
		if found, err = compareFields(fieldConfig, compared.Spec, wanted.Spec); err != nil || len(found) == 0 {
			return nil, err
		}
		if current.Spec.JoinConfiguration.ControlPlane != nil {
			break
		}
	}
	return found, nil
}
