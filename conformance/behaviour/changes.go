// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"bytes"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// changeScenarios are about changes of an object that an update extension carries out.
func changeScenarios() []scenario {
	return []scenario{
		{"change of a machine", InfraMachine, Provisioned, []string{"in-place-changes", "in-place-changes-ignored"}, changeOfMachine},
		{"change of a bootstrap configuration", BootstrapConfig, DataSecretCreated, []string{"in-place-changes", "in-place-changes-allowed"}, changeOfConfig},
	}
}

func changeOfMachine(s *story) error {
	object, err := s.ready()
	if err != nil {
		return err
	}
	id := fields.Text(object, "spec.providerID")
	if allowed, err := s.changeSpec(object, "in-place-changes"); err != nil || !allowed {
		return err
	}
	if err := errors.Join(s.settle(), s.read(object)); err != nil {
		return err
	}
	problem := fields.IsTrue(object, fields.CompletedPath(string(s.role), s.contract))
	if now := fields.Text(object, "spec.providerID"); now != id {
		problem = fmt.Errorf("spec.providerID was %q, and is %q after spec was changed", id, now)
	}
	s.check("in-place-changes-ignored", problem)
	return nil
}

func changeOfConfig(s *story) error {
	object, err := s.ready()
	if err != nil {
		return err
	}
	before, err := s.dataSecretOf(object)
	if err != nil {
		return err
	}
	if allowed, err := s.changeSpec(object, "in-place-changes-allowed"); err != nil || !allowed {
		return err
	}
	if err := errors.Join(s.settle(), s.read(object)); err != nil {
		return err
	}
	now, err := s.dataSecretOf(object)
	if err == nil {
		err = sameData(before, now)
	}
	s.check("in-place-changes", err)
	return nil
}

func sameData(before, now *corev1.Secret) error {
	if now.Name != before.Name {
		return fmt.Errorf("status.dataSecretName was %q, and is %q after spec was changed", before.Name, now.Name)
	}
	if !bytes.Equal(now.Data["value"], before.Data["value"]) {
		return fmt.Errorf("the bootstrap data in the Secret %s was written again after spec was changed", now.Name)
	}
	return nil
}

// changeSpec merges the configuration's change of a template into an object, and reports whether the provider
// allows that, which is the rule.
func (s *story) changeSpec(object *unstructured.Unstructured, rule string) (allowed bool, err error) {
	change := s.checker.Config.Kinds[s.role].TemplateChange
	if len(change) == 0 {
		s.noneRun("the configuration has no templateChange, which the suite would also make in an object")
		return false, nil
	}
	if change, err = s.substitute(change); err != nil {
		return false, err
	}
	before, wanted := "", ""
	err = s.change(object, func() {
		spec := specIn(object.Object)
		before = fields.Show(spec)
		mergeInto(spec, change)
		wanted = fields.Show(spec)
	})
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err) {
		s.check(rule, err)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if wanted == before {
		return false, changesNothing(change)
	}
	if fields.Show(specIn(object.Object)) != before {
		s.check(rule, nil)
		return true, nil
	}
	// If a template changes, the configuration is right, and the provider takes the change back.
	if _, err := s.changeTemplate(change); err != nil {
		return false, err
	}
	s.check(rule, fmt.Errorf("a change of spec is accepted, and spec stays the same: %s", fields.Show(change)))
	return false, nil
}
