// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// topology is the field manager of Cluster API's topology controller.
const topology = client.FieldOwner("capi-topology")

// apply applies an object as the topology controller does, and returns what the API server made of
// it.
func (s *story) apply(object *unstructured.Unstructured, options ...client.ApplyOption) (*unstructured.Unstructured, error) {
	applied := object.DeepCopy()
	options = append(options, topology, client.ForceOwnership)
	return applied, s.Apply(s.ctx, client.ApplyConfigurationFromUnstructured(applied), options...)
}

// serverSideApply applies an object twice. The topology controller compares the answers to a dry run
// in order to tell whether something changed.
func serverSideApply(s *story) error {
	object, err := s.prepare()
	if err != nil {
		return err
	}
	// So that only the API server and webhooks change it.
	annotate(object, clusterv1.PausedAnnotation, "true")
	object.SetOwnerReferences(nil)
	if _, err := s.apply(object, client.DryRunAll); err != nil {
		s.check("apply-dry-run", fmt.Errorf("a server-side apply that is a dry run fails: %w", err))
		return nil
	}
	s.check("apply-dry-run", nil)
	first, err := s.apply(object)
	if err != nil {
		return err
	}
	if err := s.settle(); err != nil {
		return err
	}
	if err := s.read(first); err != nil {
		return err
	}
	second, err := s.apply(object)
	if err != nil {
		return err
	}
	var problem error
	if was, is := fields.Show(first.Object["spec"]), fields.Show(second.Object["spec"]); was != is {
		problem = fmt.Errorf("applying the same object twice changes its spec from %s to %s", was, is)
	}
	s.check("apply-idempotent", problem)
	return nil
}

func annotate(object *unstructured.Unstructured, key, value string) {
	annotations := maps.Clone(object.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	object.SetAnnotations(annotations)
}

// templateDryRun checks that a template can change in a dry run.
func templateDryRun(s *story) error {
	change := s.checker.Config.Kinds[s.role].TemplateChange
	if len(change) == 0 {
		s.results.notRun(s.rule("ssa-dry-run"), s.contract, "the configuration has no templateChange for the kind")
		return nil
	}
	change, err := s.substitute(change)
	if err != nil {
		return err
	}
	refused, err := s.changeTemplate(change)
	if err != nil {
		return err
	}
	s.check("ssa-dry-run", refused)
	return nil
}

// changeTemplate changes a template in a dry run, as the topology controller does to find out whether machines
// must be replaced. It returns why that is refused, and an error if the change changes nothing.
func (s *story) changeTemplate(change map[string]any) (refused, err error) {
	object, err := s.object(s.role, machineName)
	if err != nil {
		return nil, err
	}
	template, err := s.template(specIn(object.Object))
	if err != nil {
		return nil, err
	}
	applied, err := s.apply(template)
	if err != nil {
		return nil, err
	}
	changed := template.DeepCopy()
	annotate(changed, clusterv1.TopologyDryRunAnnotation, "")
	content, _ := fields.At(changed, "spec.template.spec").(map[string]any)
	mergeInto(content, change)
	answer, err := s.apply(changed, client.DryRunAll)
	if err != nil {
		return fmt.Errorf("a dry run of the topology controller that changes spec.template is refused: %w", err), nil
	}
	if fields.Show(answer.Object["spec"]) == fields.Show(applied.Object["spec"]) {
		return nil, changesNothing(change)
	}
	return nil, nil
}

func changesNothing(change map[string]any) error {
	return fmt.Errorf("templateChange in the configuration changes nothing: %s", fields.Show(change))
}

// specIn returns the spec in an object or a part of one, and adds it if there is none.
func specIn(content map[string]any) map[string]any {
	spec, ok := content["spec"].(map[string]any)
	if !ok {
		spec = map[string]any{}
		content["spec"] = spec
	}
	return spec
}

// mergeInto merges a change into an object: maps are merged, and all else is replaced.
func mergeInto(object, change map[string]any) {
	for name, value := range change {
		was, ok := object[name].(map[string]any)
		if inner, isMap := value.(map[string]any); ok && isMap {
			mergeInto(was, inner)
		} else {
			object[name] = value
		}
	}
}
