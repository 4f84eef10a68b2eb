// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// pass is one run of a task for a Cluster.
type pass struct {
	Task

	job      hooks.Job
	contents []content
	workload client.Client
	stored   inventory
	// failure is why the pass ended early.
	failure string
}

// do applies what can be applied now.
func (p *pass) do(ctx context.Context) {
	for _, step := range []struct {
		problem string
		do      func(context.Context) error
	}{
		{"the workload cluster cannot be reached", p.connect},
		{"the version of the workload cluster is unknown", p.read},
		{"the inventory in the workload cluster cannot be read", p.readInventory},
		{"the workload API server does not answer", p.apply},
		{"objects that are no longer in an add-on could not be deleted", p.prune},
	} {
		if err := step.do(ctx); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Failed to apply add-ons to a workload cluster")
			p.failure = step.problem + ": " + hooks.Cause(err)
			return
		}
	}
}

func (p *pass) connect(ctx context.Context) (err error) {
	p.workload, err = p.Workload(ctx, p.job.Key())
	return err
}

// read reads the content of the add-ons, for the version that the step of an upgrade leads to.
// Otherwise it is for the version of the control plane, or for the version that was applied last if
// that is later: during a step, some add-ons are ahead. The version of the Cluster's topology says
// nothing about this, because an upgrade to it may have several steps.
func (p *pass) read(ctx context.Context) error {
	version, err := p.job.To, error(nil)
	if version == "" {
		version, err = p.serverVersion(ctx)
	}
	if err != nil {
		return err
	}
	has := oldest(version, p.job.Cluster)
	for i := range p.contents {
		addon, wanted, ahead := p.contents[i].addon, version, p.job.Hook == hooks.BeforeControlPlaneUpgrade
		if p.job.To == "" {
			wanted = later(has, entryOf(addon, p.job.Cluster).KubernetesVersion)
			ahead = isLaterRelease(wanted, has)
		}
		p.contents[i] = read(ctx, p.Client, addon, p.job.Cluster, wanted)
		p.contents[i].ahead = ahead
	}
	refuseShared(p.contents)
	return nil
}

func (p *pass) serverVersion(ctx context.Context) (string, error) {
	config, err := p.Config(ctx, p.job.Key())
	if err != nil {
		return "", err
	}
	asked, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return "", err
	}
	info, err := asked.ServerVersion()
	if err != nil {
		return "", err
	}
	return info.GitVersion, nil
}

// oldest returns the version that a whole control plane has, given the version of the API server that has
// answered. During a step, that may be a new one, while old ones still run. The version of a kubelet alone says
// nothing: it may stay older.
func oldest(version string, cluster *clusterv1.Cluster) string {
	if cluster.Status.ControlPlane == nil || len(cluster.Status.ControlPlane.Versions) < 2 {
		return version
	}
	for _, reported := range cluster.Status.ControlPlane.Versions {
		if isLaterRelease(version, reported.Version) {
			version = reported.Version
		}
	}
	return version
}

// later returns the later one of two versions. A version that cannot be read is not later.
func later(one, other string) string {
	a, _ := semver.ParseTolerant(one)
	b, err := semver.ParseTolerant(other)
	if err == nil && b.GT(a) {
		return other
	}
	return one
}

// isLaterRelease reports whether a version is later than another, whatever vendors append to either.
func isLaterRelease(one, other string) bool {
	a, err := semver.ParseTolerant(one)
	b, otherErr := semver.ParseTolerant(other)
	a.Pre, b.Pre = nil, nil
	return err == nil && otherErr == nil && a.GT(b)
}

func (p *pass) readInventory(ctx context.Context) (err error) {
	p.stored, err = readInventory(ctx, p.workload)
	return err
}

// apply applies the add-ons in order. It fails if the API server does not answer.
func (p *pass) apply(ctx context.Context) error {
	for i := range p.contents {
		one := &p.contents[i]
		if one.missing || one.problem != "" {
			continue
		}
		if names := p.unfinished(one.addon.Spec.Order); len(names) > 0 {
			one.problem = "waiting for the add-ons with a lower order: " + strings.Join(names, ", ")
			continue
		}
		if err := p.applyAddon(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// unfinished returns the names of the add-ons with a lower order that are not ready.
func (p *pass) unfinished(order int32) []string {
	var names []string
	for i := range p.contents {
		if one := &p.contents[i]; one.addon.Spec.Order < order && one.problem != "" {
			names = append(names, one.addon.Name)
		}
	}
	return names
}

// applyAddon applies one add-on. It first adds its objects to the inventory, so that they are found
// even if the extension ends in between.
func (p *pass) applyAddon(ctx context.Context, one *content) error {
	if err := p.stored.change(ctx, p.workload, one.addon.Name, identities(one.objects), nil); err != nil {
		return err
	}
	var problems []string
	for _, object := range one.objects {
		made, err := applyOne(ctx, p.workload, one.addon, object)
		if made.state == unknownKind && one.ahead && !p.defines(object.GroupVersionKind().GroupKind()) {
			made.state = deferred
		}
		one.results = append(one.results, made)
		if made.state == unanswered {
			return err
		}
		if made.state != ready && made.state != deferred {
			problems = append(problems, fmt.Sprintf("%s: %s", title(object), made.reason))
		}
	}
	one.problem = hooks.Join(problems, shown)
	one.done = len(problems) == 0
	return nil
}

// defines reports whether an add-on has the CRD of a kind. If not, an API server that does not know
// the kind may be too old for it, and would never know it if its upgrade waited.
func (p *pass) defines(kind schema.GroupKind) bool {
	for i := range p.contents {
		for _, object := range p.contents[i].objects {
			group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
			name, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
			if object.GetKind() == "CustomResourceDefinition" && (schema.GroupKind{Group: group, Kind: name}) == kind {
				return true
			}
		}
	}
	return false
}

// prune deletes what add-ons no longer contain, once all of them are ready. Until then, an object
// could be one that another add-on will contain.
func (p *pass) prune(ctx context.Context) error {
	applied := sets.New[types.UID]()
	for i := range p.contents {
		if p.contents[i].problem != "" {
			return nil
		}
		for _, result := range p.contents[i].results {
			applied.Insert(result.uid)
		}
	}
	var errs []error
	for i := range p.contents {
		one := &p.contents[i]
		// Until a step is done, the control plane may need what only the variant before it has.
		if one.missing || one.ahead {
			continue
		}
		dropped := p.stored.objects[one.addon.Name].Difference(identities(one.objects))
		err := prune(ctx, p.workload, one.addon.Name, dropped, applied)
		if err == nil {
			err = p.stored.change(ctx, p.workload, one.addon.Name, nil, dropped)
		}
		if err != nil {
			one.done = false
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func identities(objects []*unstructured.Unstructured) sets.Set[identity] {
	all := sets.New[identity]()
	for _, object := range objects {
		all.Insert(identify(object))
	}
	return all
}
