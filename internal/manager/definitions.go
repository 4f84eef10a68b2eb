// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/cluster-api/util/contract"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// DefinitionsError reports which CustomResourceDefinitions a manager cannot work with, and what to do.
type DefinitionsError struct {
	// Problems has one sentence per problem.
	Problems []string
}

// Error returns all problems in one line.
func (e *DefinitionsError) Error() string {
	return strings.Join(e.Problems, "; ") + ": install the CRDs and the manager of the same release, " +
		"with clusterctl init or clusterctl upgrade apply; existing objects are not affected meanwhile"
}

// CheckDefinitions returns a *DefinitionsError unless the kinds of all objects are installed, serve the version of the
// object, and are stored only in versions that the scheme knows. Any other error comes from the API
// server.
func CheckDefinitions(ctx context.Context, reader client.Reader, scheme *runtime.Scheme, objects ...client.Object) error {
	var problems []string
	for _, object := range objects {
		kind, err := apiutil.GVKForObject(object, scheme)
		if err != nil {
			return err
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		name := contract.CalculateCRDName(kind.Group, kind.Kind)
		err = reader.Get(ctx, client.ObjectKey{Name: name}, crd)
		if apierrors.IsNotFound(err) {
			problems = append(problems, "CRD "+name+" is not installed")
			continue
		}
		if err != nil {
			return fmt.Errorf("read the versions of CRD %s: %w", name, err)
		}
		known := scheme.VersionsForGroupKind(kind.GroupKind())
		names := make([]string, 0, len(known))
		for _, version := range known {
			names = append(names, version.Version)
		}
		slices.Sort(names)
		problems = append(problems, problemsOf(crd, kind.Version, names)...)
	}
	if len(problems) == 0 {
		return nil
	}
	slices.Sort(problems)
	return &DefinitionsError{Problems: problems}
}

// problemsOf returns why a manager that uses one version of a kind, and can convert the known ones,
// cannot work with the CRD.
func problemsOf(crd *apiextensionsv1.CustomResourceDefinition, speaks string, known []string) []string {
	var served, problems []string
	stored := slices.Clone(crd.Status.StoredVersions)
	for _, version := range crd.Spec.Versions {
		if version.Served {
			served = append(served, version.Name)
		}
		if version.Storage {
			stored = append(stored, version.Name)
		}
	}
	if !slices.Contains(served, speaks) {
		problems = append(problems, fmt.Sprintf("CRD %s does not serve %s, which this manager needs, but only %s",
			crd.Name, speaks, strings.Join(served, ", ")))
	}
	slices.Sort(stored)
	for _, version := range slices.Compact(stored) {
		if !slices.Contains(known, version) {
			problems = append(problems, fmt.Sprintf("CRD %s stores objects as %s, which this manager cannot convert: it knows only %s",
				crd.Name, version, strings.Join(known, ", ")))
		}
	}
	return problems
}
