// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

const inPlaceUpdates = "control-plane/in-place-updates"

// updateInPlace gives the control plane another machine template with the same content, while an
// extension is registered that can update every Machine in place. One that first adds a Machine, to lose
// none if the update fails, updates in place only if it has several.
func (s *story) updateInPlace(ctx context.Context) error {
	if !s.scalable(inPlaceUpdates) || s.notHere(inPlaceUpdates) != "" || s.now.controlPlane.contract == fields.V1Beta1 {
		return nil
	}
	extension, err := serveUpdates(ctx, s.HooksAddress)
	if err != nil {
		return err
	}
	defer extension.close()
	unregister, err := s.register(ctx, extension)
	if err != nil {
		return err
	}
	return s.updateWith(ctx, extension, unregister)
}

// updateWith is updateInPlace with a registered extension.
func (s *story) updateWith(ctx context.Context, extension *updater, unregister func() error) error {
	reference, _ := fields.At(s.now.controlPlane.Unstructured, templateReference).(map[string]any)
	template, err := s.copyTemplate(ctx, reference)
	if err != nil {
		return errors.Join(err, unregister())
	}
	err = s.useTemplate(ctx, template.GetName())
	if err == nil {
		err = s.awaitUpdate(ctx, template.GetName(), extension)
	}
	problem := s.now.updatedInPlace(template.GetName(), extension.machines(canUpdateMachine), extension.machines(updateMachine))
	if gone := unregister(); gone != nil {
		return errors.Join(err, gone)
	}
	switch {
	case errors.Is(problem, errNoGate):
		s.missing(inPlaceUpdates, conformance.NotRun, problem.Error())
	case err == nil:
		s.onControlPlane(inPlaceUpdates, problem)
	// A control plane that begins an update and does not get on with it breaks the rule.
	case !isNoProblem(problem):
		s.onControlPlane(inPlaceUpdates, problem)
		if ctx.Err() == nil {
			name, _ := reference["name"].(string)
			return s.dropTemplate(ctx, template, name)
		}
	}
	return err
}

// dropTemplate makes the control plane use its own template again. The rule is a recommendation, and a
// control plane that does not follow it can still do the rest.
func (s *story) dropTemplate(ctx context.Context, template *unstructured.Unstructured, original string) error {
	if err := s.useTemplate(ctx, original); err != nil {
		return err
	}
	if err := s.Client.Delete(ctx, template); client.IgnoreNotFound(err) != nil {
		return err
	}
	return s.settle(ctx, func(v *view) error {
		for _, m := range v.controlPlanes() {
			if m.infra != nil && m.infra.GetAnnotations()[clusterv1.TemplateClonedFromNameAnnotation] == template.GetName() {
				return fmt.Errorf("the infrastructure of the Machine %s still says that it was created from the template %s", m.Name, template.GetName())
			}
		}
		return nil
	})
}

// awaitUpdate waits until the control plane has followed another template, and Cluster API its marks.
func (s *story) awaitUpdate(ctx context.Context, template string, extension *updater) error {
	if err := s.settle(ctx, func(v *view) error { return errors.Join(v.madeFrom(template), v.allMarked()) }); err != nil {
		return err
	}
	if err := until(ctx, soon, func() error {
		if len(without(extension.machines(canUpdateMachine), extension.machines(updateMachine))) == 0 {
			return nil
		}
		return errNoGate
	}); err != nil {
		return ctx.Err() // updatedInPlace finds out whose fault it is
	}
	return s.settle(ctx, nil)
}

// register registers the extension for the namespace of the cluster, and waits until Cluster API knows
// its hooks.
func (s *story) register(ctx context.Context, extension *updater) (unregister func() error, err error) {
	config := extension.config(s.Namespace)
	if err := s.Client.Create(ctx, config, fieldOwner); err != nil {
		return nil, fmt.Errorf("register the suite as an extension: %w", err)
	}
	unregister = func() error { return client.IgnoreNotFound(s.Client.Delete(context.WithoutCancel(ctx), config)) }
	err = until(ctx, soon, func() error {
		if err := s.Client.Get(ctx, client.ObjectKeyFromObject(config), config); err != nil {
			return err
		}
		if statusOf(config.Status.Conditions, runtimev1.ExtensionConfigDiscoveredCondition) == metav1.ConditionTrue {
			return nil
		}
		return fmt.Errorf("does Cluster API reach the suite at %s? The conditions of its ExtensionConfig are %s", config.Spec.ClientConfig.URL, fields.Show(config.Status.Conditions))
	})
	if err != nil {
		return nil, errors.Join(err, unregister())
	}
	return unregister, nil
}

// templateReference is where a control plane names its machine template.
const templateReference = "spec.machineTemplate.spec.infrastructureRef"

// copyTemplate copies the machine template of the control plane.
func (s *story) copyTemplate(ctx context.Context, reference map[string]any) (*unstructured.Unstructured, error) {
	group, _ := reference["apiGroup"].(string)
	kind, _ := reference["kind"].(string)
	name, _ := reference["name"].(string)
	version, _, err := s.version(schema.GroupKind{Group: group, Kind: kind})
	if err != nil {
		return nil, fmt.Errorf("%s of the control plane: %w", templateReference, err)
	}
	original := &unstructured.Unstructured{}
	original.SetGroupVersionKind(version)
	if err := s.Client.Get(ctx, s.key(name), original); err != nil {
		return nil, err
	}
	template := &unstructured.Unstructured{Object: map[string]any{"spec": original.Object["spec"]}}
	template.SetGroupVersionKind(version)
	template.SetNamespace(s.Namespace)
	template.SetName(name + "-copy")
	template.SetLabels(original.GetLabels())
	return template, s.Client.Create(ctx, template, fieldOwner)
}

// useTemplate makes the control plane use another machine template.
func (s *story) useTemplate(ctx context.Context, name string) error {
	controlPlane := s.now.controlPlane.Unstructured
	return s.change(ctx, controlPlane, func() {
		_ = unstructured.SetNestedField(controlPlane.Object, name, strings.Split(templateReference+".name", ".")...) // it was there before
	})
}

// madeFrom returns an error unless all Machines of the control plane have their infrastructure from a
// template.
func (v *view) madeFrom(template string) error {
	for _, m := range v.controlPlanes() {
		if m.infra == nil {
			return fmt.Errorf("the Machine %s has no infrastructure", m.Name)
		}
		if from := m.infra.GetAnnotations()[clusterv1.TemplateClonedFromNameAnnotation]; from != template {
			return fmt.Errorf("the infrastructure of the Machine %s says that it was created from the template %q, want %q", m.Name, from, template)
		}
	}
	return nil
}

// errNoGate means that the control plane has done its part, and Cluster API does not continue.
var errNoGate = errors.New("the hook UpdateMachine is pending, and Cluster API does not call it, for which its manager needs the feature gate InPlaceUpdates")

// updatedInPlace returns what is wrong with how a control plane has followed another template. The names
// are of the Machines that CanUpdateMachine and UpdateMachine were called for.
func (v *view) updatedInPlace(template string, asked, updated []string) error {
	if len(asked) == 0 {
		return fmt.Errorf("%w: the control plane does not call CanUpdateMachine", errNotClaimed)
	}
	machines := v.controlPlanes()
	for _, name := range asked {
		if !slices.Contains(names(machines), name) {
			return fmt.Errorf("CanUpdateMachine was answered with yes, and the control plane has replaced the Machine %s", name)
		}
	}
	// Cluster API calls UpdateMachine only after the control plane has done its part.
	missing := without(asked, updated)
	for _, m := range machines {
		if slices.Contains(missing, m.Name) {
			if err := m.marked(); err != nil {
				return fmt.Errorf("UpdateMachine was not called: %w", err)
			}
		}
	}
	if len(missing) > 0 {
		return errNoGate
	}
	return v.madeFrom(template)
}

// without returns the names that others do not have.
func without(names, others []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// allMarked returns an error if an update in place has begun and is not marked as the contract wants it.
func (v *view) allMarked() error {
	for _, m := range v.controlPlanes() {
		if _, begun := m.Annotations[clusterv1.UpdateInProgressAnnotation]; !begun {
			continue
		}
		if err := m.marked(); err != nil {
			return err
		}
	}
	return nil
}

// marked returns an error unless a Machine and what it refers to have the marks that begin an update in
// place.
func (m machine) marked() error {
	objects := []client.Object{&m.Machine}
	for _, o := range []*object{m.infra, m.bootstrap} {
		if o != nil {
			objects = append(objects, o.Unstructured)
		}
	}
	for _, o := range objects {
		if _, ok := o.GetAnnotations()[clusterv1.UpdateInProgressAnnotation]; !ok {
			return fmt.Errorf("%s does not have the annotation %s", o.GetName(), clusterv1.UpdateInProgressAnnotation)
		}
	}
	if pending := m.Annotations[runtimev1.PendingHooksAnnotation]; !slices.Contains(strings.Split(pending, ","), updateMachine) {
		return fmt.Errorf("the annotation %s of %s is %q, want %s", runtimev1.PendingHooksAnnotation, m.Name, pending, updateMachine)
	}
	return nil
}
