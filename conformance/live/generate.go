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
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// flavor is a cluster template of a provider; the default one has no name.
type flavor struct{ label, name string }

// flavors returns what the infrastructure providers publish. clusterctl reads templates of no others.
func (s *story) flavors() ([]flavor, error) {
	var all []flavor
	for _, label := range s.Releases.labels() {
		if !strings.HasPrefix(label, "infrastructure-") {
			continue
		}
		names, err := s.Releases.flavors(label)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			all = append(all, flavor{label, name})
		}
	}
	return all, nil
}

// generate generates a cluster of each flavor with clusterctl, and asks the API server whether it
// accepts what belongs to the providers.
func (s *story) generate(ctx context.Context) error {
	const rule = "clusterctl/generate"
	if s.Releases == nil {
		return nil
	}
	flavors, err := s.flavors()
	switch {
	case errors.Is(err, errNoFolder):
		s.missing(rule, conformance.NotRun, errNoFolder.Error())
		return nil
	case err != nil:
		return err
	case len(flavors) == 0:
		s.missing(rule, conformance.NotClaimed, "no provider publishes a cluster template")
		return nil
	}
	var unset []string
	for _, f := range flavors {
		problem := s.generateFlavor(ctx, f)
		if problem != nil && strings.Contains(problem.Error(), unsetVariables) {
			unset = append(unset, fmt.Sprintf("flavor %q: %s", f.name, problem))
		} else if problem != nil {
			s.record(rule, "", fmt.Sprintf("flavor %q of %s", f.name, f.label), problem)
		}
	}
	if len(unset) > 0 {
		s.missing(rule, conformance.NotRun, strings.Join(unset, "; "))
	} else {
		s.record(rule, "", "", nil)
	}
	return nil
}

// unsetVariables is part of what clusterctl says if a template needs variables that have no value.
const unsetVariables = "value for variables"

func (s *story) generateFlavor(ctx context.Context, f flavor) error {
	provider, err := flag(f.label, s.Releases.Versions[f.label])
	if err != nil {
		return err
	}
	flags := []string{provider}
	if version := s.Variables["KUBERNETES_VERSION"]; version != "" {
		flags = append(flags, "--kubernetes-version="+version)
	}
	content, err := s.Releases.run(ctx, slices.Concat([]string{
		"generate", "cluster", clusterName, "--target-namespace=" + s.Namespace, "--flavor=" + f.name,
		"--control-plane-machine-count=1", "--worker-machine-count=1",
	}, flags, s.Releases.connection())...)
	if err != nil {
		return err
	}
	objects, err := fields.Decode(content)
	if err != nil {
		return fmt.Errorf("what clusterctl generates is no YAML: %w", err)
	}
	if err := hasCluster(objects); err != nil {
		return err
	}
	for _, object := range objects {
		if !s.own(object.GroupVersionKind().GroupKind()) {
			continue
		}
		if err := s.Client.Create(ctx, object, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict), fieldOwner); err != nil {
			return fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// hasCluster returns an error unless one of the objects is the Cluster.
func hasCluster(objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if kind := object.GroupVersionKind(); kind.Group == clusterv1.GroupVersion.Group && kind.Kind == "Cluster" && object.GetName() == clusterName {
			return nil
		}
	}
	return fmt.Errorf("clusterctl generates no Cluster with the name %s that it was given", clusterName)
}
