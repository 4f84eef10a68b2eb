// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplanerules

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/feature"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

// validateInfrastructureRef requires a template. Its type has no field for a namespace, so the
// template is always in the FooControlPlane's own namespace.
func validateInfrastructureRef(reference clusterv1.ContractVersionedObjectReference, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for name, value := range map[string]string{"apiGroup": reference.APIGroup, "name": reference.Name} {
		switch problems := validation.IsDNS1123Subdomain(value); {
		case value == "":
			errs = append(errs, field.Required(path.Child(name), "must identify the infrastructure machine template"))
		case len(problems) > 0:
			errs = append(errs, field.Invalid(path.Child(name), value, strings.Join(problems, ", ")))
		}
	}
	switch {
	case reference.Kind == "":
		errs = append(errs, field.Required(path.Child("kind"), "must identify the infrastructure machine template"))
	case !strings.HasSuffix(reference.Kind, clusterv1.TemplateSuffix) || reference.Kind == clusterv1.TemplateSuffix:
		errs = append(errs, field.Invalid(path.Child("kind"), reference.Kind, "must be the kind of a template, such as FooMachineTemplate"))
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Field, b.Field) })
	return errs
}

func validateGates(gates []clusterv1.MachineReadinessGate, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	known := map[string]bool{}
	for i, gate := range gates {
		child := path.Index(i).Child("conditionType")
		switch problems := validation.IsQualifiedName(gate.ConditionType); {
		case len(problems) > 0:
			errs = append(errs, field.Invalid(child, gate.ConditionType, strings.Join(problems, ", ")))
		case known[gate.ConditionType]:
			errs = append(errs, field.Duplicate(child, gate.ConditionType))
		}
		known[gate.ConditionType] = true
	}
	return errs
}

// validateTaints applies the rules that Cluster API has for the taints of Machines. Machines that
// violate them could not be created.
func validateTaints(taints []clusterv1.MachineTaint, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	known := map[string]bool{}
	for i, taint := range taints {
		child := path.Index(i)
		errs = append(errs, validateTaint(taint, child)...)
		if !feature.Gates.Enabled(feature.MachineTaintPropagation) {
			// The taint's text is part of the path, so that a taint from before the gate was
			// disabled can be told from a new one.
			text := fmt.Sprintf("%s=%s:%s", taint.Key, taint.Value, taint.Effect)
			errs = append(errs, field.Forbidden(path.Key(text),
				"Cluster API rejects Machines with taints while its feature gate MachineTaintPropagation is disabled; enable it in Cluster API's core and in this manager"))
		}
		identity := taint.Key + ":" + string(taint.Effect)
		if known[identity] {
			errs = append(errs, field.Duplicate(child, identity))
		}
		known[identity] = true
	}
	return errs
}

func validateTaint(taint clusterv1.MachineTaint, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if problems := validation.IsQualifiedName(taint.Key); len(problems) > 0 {
		errs = append(errs, field.Invalid(path.Child("key"), taint.Key, strings.Join(problems, ", ")))
	} else if reason := reserved(taint.Key); reason != "" {
		errs = append(errs, field.Invalid(path.Child("key"), taint.Key, reason))
	}
	if problems := validation.IsValidLabelValue(taint.Value); len(problems) > 0 {
		errs = append(errs, field.Invalid(path.Child("value"), taint.Value, strings.Join(problems, ", ")))
	}
	effects := []corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}
	if !slices.Contains(effects, taint.Effect) {
		errs = append(errs, field.NotSupported(path.Child("effect"), taint.Effect, effects))
	}
	ways := []clusterv1.MachineTaintPropagation{clusterv1.MachineTaintPropagationAlways, clusterv1.MachineTaintPropagationOnInitialization}
	if !slices.Contains(ways, taint.Propagation) {
		errs = append(errs, field.NotSupported(path.Child("propagation"), taint.Propagation, ways))
	}
	return errs
}

// reserved returns why a taint must not be set; empty if it may be.
func reserved(key string) string {
	switch {
	case key == clusterv1.NodeUninitializedTaint.Key, key == clusterv1.NodeOutdatedRevisionTaint.Key:
		return "is managed by Cluster API"
	case key == "node.kubernetes.io/out-of-service":
		return ""
	case strings.HasPrefix(key, "node.kubernetes.io/"):
		return "is managed by Kubernetes; of its taints, only node.kubernetes.io/out-of-service may be set"
	case strings.HasPrefix(key, "node.cloudprovider.kubernetes.io/"):
		return "is managed by cloud providers"
	case key == "node-role.kubernetes.io/master":
		return "has been obsolete since Kubernetes 1.24"
	}
	return ""
}

func validateNaming(naming controlplanev1.MachineNamingSpec, path *field.Path) field.ErrorList {
	if naming.Template == "" {
		return nil
	}
	_, err := MachineName(naming.Template, Names{Cluster: "cluster", ControlPlane: "control-plane", Random: "abcde"})
	if err == nil {
		return nil
	}
	return field.ErrorList{field.Invalid(path, naming.Template, fmt.Sprint(err))}
}
