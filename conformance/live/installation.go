// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// This file installs, upgrades and removes the providers.

// inventory is where clusterctl notes what it has installed.
var inventory = schema.GroupVersionKind{Group: "clusterctl.cluster.x-k8s.io", Version: "v1alpha3", Kind: "Provider"}

// inventoryVersion returns the version of a provider that clusterctl has installed; empty for none.
func (c *Checker) inventoryVersion(ctx context.Context, label string) (string, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(inventory)
	if err := c.Client.List(ctx, list); meta.IsNoMatchError(err) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("read the inventory of clusterctl: %w", err)
	}
	for i := range list.Items {
		if list.Items[i].GetName() == label {
			return fields.Text(&list.Items[i], "version"), nil
		}
	}
	return "", nil
}

// checkReleases returns an error unless the providers can be installed and are not there yet: those
// of a user must not be upgraded or removed.
func (c *Checker) checkReleases(ctx context.Context) error {
	if c.Releases == nil {
		return nil
	}
	if err := c.Releases.Validate(); err != nil {
		return err
	}
	for _, label := range c.Releases.labels() {
		if found, err := c.inventoryVersion(ctx, label); err != nil {
			return err
		} else if found != "" {
			return fmt.Errorf("the management cluster has %s %s already; a release is installed only where the provider is not", label, found)
		}
	}
	return nil
}

// install installs the releases with clusterctl.
func (s *story) install(ctx context.Context) error {
	if s.Releases == nil {
		return nil
	}
	err := s.initialize(ctx, s.Releases.Versions)
	if err == nil {
		err = s.awaitInstalled(ctx)
	}
	s.record("clusterctl/install", "", title(s.Releases.Versions), err)
	return cmp.Or(err, s.checkContracts())
}

// initialize runs clusterctl init.
func (s *story) initialize(ctx context.Context, releases map[string]string) error {
	s.installed = true
	return s.Releases.manage(ctx, releases, append([]string{"init"}, s.waiting()...)...)
}

// waiting are the flags that make clusterctl wait for the Deployments of managers.
func (s *story) waiting() []string {
	return []string{"--wait-providers", "--wait-provider-timeout=" + strconv.Itoa(max(int(s.Patience.Seconds()), 1))}
}

// awaitInstalled waits until all components of the releases work, and reads the CRDs again.
func (s *story) awaitInstalled(ctx context.Context) error {
	for _, label := range s.Releases.labels() {
		wanted, err := s.Releases.components(ctx, label)
		if err != nil {
			return err
		}
		if err := until(ctx, s.Patience, func() error {
			version, err := s.inventoryVersion(ctx, label)
			if err != nil {
				return err
			}
			components, err := s.find(ctx, wanted)
			return errors.Join(err, isInstalled(label, version, s.Releases.Versions[label], components))
		}); err != nil {
			return err
		}
	}
	return s.readCRDs(ctx)
}

// component is an object that clusterctl installs, and what the management cluster has of it; nil if
// it does not exist.
type component struct {
	wanted, found *unstructured.Unstructured
}

func (c component) String() string { return c.wanted.GetKind() + " " + c.wanted.GetName() }

func (c *Checker) find(ctx context.Context, wanted []*unstructured.Unstructured) ([]component, error) {
	var all []component
	for _, object := range wanted {
		found := &unstructured.Unstructured{}
		found.SetGroupVersionKind(object.GroupVersionKind())
		err := c.Client.Get(ctx, client.ObjectKeyFromObject(object), found)
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			found = nil
		} else if err != nil {
			return nil, fmt.Errorf("read %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		all = append(all, component{object, found})
	}
	return all, nil
}

// isInstalled returns an error unless a provider has a release, all components of it exist, its
// Deployments are available, and the API server serves its kinds.
func isInstalled(label, found, release string, components []component) error {
	var errs []error
	if found != release {
		errs = append(errs, fmt.Errorf("clusterctl's inventory has %s in the version %q, want %q", label, found, release))
	}
	for _, c := range components {
		condition := map[string]string{"Deployment": "Available", "CustomResourceDefinition": "Established"}[c.wanted.GetKind()]
		switch {
		case c.found == nil:
			errs = append(errs, fmt.Errorf("%s of the components does not exist", c))
		case condition != "" && fields.StatusOf(c.found, condition) != "True":
			errs = append(errs, fmt.Errorf("%s does not have the condition %s", c, condition))
		}
	}
	return errors.Join(errs...)
}

// upgradeProviders upgrades the providers under a cluster that the previous release has made.
func (s *story) upgradeProviders(ctx context.Context) error {
	if s.Releases == nil || len(s.Releases.Previous) == 0 {
		return nil
	}
	if err := errors.Join(s.uninstall(ctx), s.createNamespace(ctx)); err != nil {
		return err
	}
	s.quiet = true // the previous release is not what is checked
	before, err := s.createWithPrevious(ctx)
	s.quiet = false
	if err != nil {
		return fmt.Errorf("with the previous release: %w", err)
	}
	problem := s.replaceProviders(ctx, before)
	s.record("clusterctl/upgrade", "", title(s.Releases.upgraded()), problem)
	s.now = &view{}
	return errors.Join(problems(problem), s.startAgain(ctx))
}

// createWithPrevious installs the previous release, and creates a cluster with it.
func (s *story) createWithPrevious(ctx context.Context) (*view, error) {
	if err := s.initialize(ctx, s.Releases.before()); err != nil {
		return nil, err
	}
	if err := s.readCRDs(ctx); err != nil {
		return nil, err
	}
	err := s.create(ctx)
	return s.now, err
}

// replaceProviders upgrades the providers, and lets the new managers add workers.
func (s *story) replaceProviders(ctx context.Context, before *view) error {
	if err := s.upgradeRelease(ctx); err != nil {
		return err
	}
	s.quiet = true
	err := s.addWorkers(ctx)
	s.quiet = false
	if err != nil {
		return fmt.Errorf("after the upgrade: %w", err)
	}
	return kept(before, s.now)
}

// upgradeRelease runs clusterctl upgrade.
func (s *story) upgradeRelease(ctx context.Context) error {
	if err := s.Releases.manage(ctx, s.Releases.upgraded(), append([]string{"upgrade", "apply"}, s.waiting()...)...); err != nil {
		return err
	}
	return s.awaitInstalled(ctx)
}

// addWorkers adds a machine to each set of workers.
func (s *story) addWorkers(ctx context.Context) error {
	for i := range s.now.deployments {
		deployment := &s.now.deployments[i]
		if err := s.change(ctx, deployment, func() { deployment.Spec.Replicas = ptr.To(ptr.Deref(deployment.Spec.Replicas, 1) + 1) }); err != nil {
			return err
		}
	}
	for i := range s.now.pools {
		p := &s.now.pools[i].MachinePool
		if err := s.change(ctx, p, func() { p.Spec.Replicas = ptr.To(ptr.Deref(p.Spec.Replicas, 1) + 1) }); err != nil {
			return err
		}
	}
	return s.settle(ctx, nil)
}

// kept returns an error unless all objects of the providers, Machines and Nodes are still there.
func kept(before, after *view) error {
	var left []string
	for i := range before.namespaced {
		one := &before.namespaced[i]
		if before.owns[one.UID] && !after.owns[one.UID] {
			left = append(left, one.Kind+" "+one.Name)
		}
	}
	for _, m := range before.machines {
		if !slices.Contains(uids(after.machines), m.UID) {
			left = append(left, "Machine "+m.Name)
		}
	}
	unknown := cmp.Or(before.unknownNodes(), after.unknownNodes())
	for name, node := range before.nodes {
		if now, ok := after.nodes[name]; unknown == nil && (!ok || now.UID != node.UID) {
			left = append(left, "Node "+name)
		}
	}
	if len(left) > 0 {
		slices.Sort(left)
		return fmt.Errorf("the upgrade has deleted or replaced: %s", strings.Join(left, ", "))
	}
	return unknown
}

// startAgain deletes the cluster and the namespace with all that is left, and creates the namespace.
func (s *story) startAgain(ctx context.Context) error {
	if err := s.remove(ctx); err != nil {
		return err
	}
	if err := s.deleteNamespace(ctx); err != nil {
		return err
	}
	return s.createNamespace(ctx)
}

// uninstall removes what the checker has installed.
func (s *story) uninstall(ctx context.Context) error {
	if s.Releases == nil || !s.installed {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	if err := s.deleteNamespace(ctx); err != nil {
		return err
	}
	// One after the other: clusterctl fails to list kinds that it has just deleted with another provider.
	for _, label := range s.Releases.labels() {
		wanted, err := s.Releases.components(ctx, label)
		if err != nil {
			return err
		}
		err = s.Releases.manage(ctx, map[string]string{label: ""}, "delete", "--include-crd")
		problem := err
		if err == nil {
			problem = until(ctx, min(soon, s.Patience), func() error {
				components, err := s.find(ctx, wanted)
				return errors.Join(err, isGone(components))
			})
		}
		s.record("clusterctl/uninstall", "", label+" "+s.Releases.Versions[label], problem)
		if err != nil {
			return err
		}
	}
	s.installed = false
	return nil
}

// keptKinds are the kinds of components that clusterctl does not remove: Namespaces because they may have
// objects of users, and roles of all providers.
var keptKinds = []string{"Namespace", "ClusterRole", "ClusterRoleBinding"}

// isGone returns an error if something of a provider is left that clusterctl should remove.
func isGone(components []component) error {
	var left []string
	for _, c := range components {
		if c.found != nil && !slices.Contains(keptKinds, c.wanted.GetKind()) {
			left = append(left, c.String())
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("left behind: %s", strings.Join(left, ", "))
	}
	return nil
}
