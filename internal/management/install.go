// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package management

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwner is the field manager of everything that the package applies.
const fieldOwner = client.FieldOwner("foo-quickstart")

// applyLimit is how many objects are applied in parallel.
const applyLimit = 8

// client returns the administrator's client for the kinds that this package installs.
func (c *Cluster) client() (client.WithWatch, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{apiextensionsv1.AddToScheme, rbacv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return client.NewWithWatch(c.Config(), client.Options{Scheme: scheme})
}

// install applies the objects, namespaces first, and returns once the API server serves all their
// CRDs.
func (c *Cluster) install(ctx context.Context, objects []*unstructured.Unstructured) error {
	kube, err := c.client()
	if err != nil {
		return err
	}
	var rest []*unstructured.Unstructured
	crds := sets.New[string]()
	for _, object := range objects {
		switch object.GetKind() {
		case "Namespace":
			if err := apply(ctx, kube, object); err != nil {
				return err
			}
			continue
		case "CustomResourceDefinition":
			crds.Insert(object.GetName())
			markMovable(object)
		case "ClusterRole":
			if _, aggregated := object.Object["aggregationRule"]; aggregated {
				c.aggregated.Insert(object.GetName())
			}
		}
		rest = append(rest, object)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(applyLimit)
	for _, object := range rest {
		group.Go(func() error { return apply(groupCtx, kube, object) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return waitEstablished(ctx, kube, crds)
}

// markMovable labels a CRD as clusterctl does when it installs a provider. clusterctl move takes
// objects of labelled CRDs only.
func markMovable(crd *unstructured.Unstructured) {
	labels := crd.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[clusterctlv1.ClusterctlLabel] = ""
	crd.SetLabels(labels)
}

func apply(ctx context.Context, kube client.Client, object *unstructured.Unstructured) error {
	// This program owns what it applies, so changes by an earlier start or by a provider are
	// reverted.
	err := kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), fieldOwner, client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

// waitEstablished returns once the API server serves all the CRDs.
func waitEstablished(ctx context.Context, kube client.WithWatch, names sets.Set[string]) error {
	return waitFor(ctx, kube, &apiextensionsv1.CustomResourceDefinitionList{}, names, func(object client.Object) bool {
		crd, ok := object.(*apiextensionsv1.CustomResourceDefinition)
		return ok && apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established)
	})
}

// waitAggregated returns once the rules of all the ClusterRoles have been aggregated. A provider
// that starts earlier is denied everything, and retries only after ever longer pauses.
func waitAggregated(ctx context.Context, kube client.WithWatch, names sets.Set[string]) error {
	return waitFor(ctx, kube, &rbacv1.ClusterRoleList{}, names, func(object client.Object) bool {
		role, ok := object.(*rbacv1.ClusterRole)
		return ok && len(role.Rules) > 0
	})
}

// waitFor watches a kind and returns once a condition holds for all named objects.
func waitFor(ctx context.Context, kube client.WithWatch, list client.ObjectList, names sets.Set[string], holds func(client.Object) bool) error {
	waiting := names.Clone()
	if waiting.Len() == 0 {
		return nil
	}
	// A watch without a resource version starts with the existing objects.
	watcher, err := kube.Watch(ctx, list)
	if err != nil {
		return fmt.Errorf("watch %T: %w", list, err)
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		if object, ok := event.Object.(client.Object); ok && event.Type != watch.Deleted && holds(object) {
			waiting.Delete(object.GetName())
		}
		if waiting.Len() == 0 {
			return nil
		}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("wait for %v: %w", sets.List(waiting), context.Cause(ctx))
	}
	return fmt.Errorf("watch %T: the API server closed the watch", list)
}
