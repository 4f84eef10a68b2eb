/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// aggregationLabel is on each ClusterRole that gives this controller the rights on the kinds of one infrastructure provider.
const aggregationLabel = "controlplane.cluster.x-k8s.io/aggregate-to-foo"

// What the controller does with the three kinds of an infrastructure provider.
var (
	clusterVerbs  = []string{"get", "list", "watch"}
	templateVerbs = []string{"get", "list", "watch", "patch"}
	machineVerbs  = []string{"get", "list", "watch", "create", "patch", "delete"}
)

// rights knows whether the controller may do with the kinds of an infrastructure provider what it has to. They are known
// only at run time, so no role of a release can name them all. It asks before the cache does, which would wait for a list
// that is never granted until the reconcile times out. A kind is asked about once, and again only while something is missing.
type rights struct {
	client client.Client
	// namespace that the manager's cache is restricted to; empty is none.
	namespace string

	mutex   sync.Mutex
	answers map[schema.GroupKind]answer
}

// answer is what may not be done with a kind, and when that was asked.
type answer struct {
	missing []string
	asked   time.Time
}

func newRights(c client.Client, namespace string) *rights {
	return &rights{client: c, namespace: namespace, answers: map[schema.GroupKind]answer{}}
}

// infraVerbs returns the kinds of the infrastructure provider that a control plane has to do with, and what is done with each.
func (s *scope) infraVerbs() map[schema.GroupKind][]string {
	template := s.controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef.GroupKind()
	machine := cloneKind(template.WithVersion("")).GroupKind()
	verbs := map[schema.GroupKind][]string{template: templateVerbs, machine: machineVerbs}
	for _, one := range s.machines {
		verbs[one.Spec.InfrastructureRef.GroupKind()] = machineVerbs
	}
	if s.cluster.Spec.InfrastructureRef.IsDefined() {
		verbs[s.cluster.Spec.InfrastructureRef.GroupKind()] = clusterVerbs
	}
	return verbs
}

// missing says what may not be done with the kinds; empty if all of it may be.
func (r *rights) missing(ctx context.Context, now time.Time, verbs map[schema.GroupKind][]string) (string, error) {
	var refused []string
	for kind, needed := range verbs {
		missing, err := r.ofKind(ctx, now, kind, needed)
		if err != nil {
			return "", err
		}
		if len(missing) > 0 {
			refused = append(refused, strings.Join(missing, ", ")+" "+kind.String())
		}
	}
	if len(refused) == 0 {
		return "", nil
	}
	slices.Sort(refused)
	return fmt.Sprintf("the manager may not %s; give it these rights by a ClusterRole with the label %s: \"true\"",
		strings.Join(refused, ", and not "), aggregationLabel), nil
}

func (r *rights) ofKind(ctx context.Context, now time.Time, kind schema.GroupKind, verbs []string) ([]string, error) {
	if known, ok := r.known(kind); ok && (len(known.missing) == 0 || now.Sub(known.asked) < unsettledInterval) {
		return known.missing, nil
	}
	mapping, err := r.client.RESTMapper().RESTMapping(kind)
	if meta.IsNoMatchError(err) {
		// Whoever looks for an object of the kind says that there is none.
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("finding the resource of %s: %w", kind, err)
	}
	var missing []string
	for _, verb := range verbs {
		allowed, err := r.allowed(ctx, verb, mapping.Resource.GroupResource())
		if err != nil {
			return nil, err
		}
		if !allowed {
			missing = append(missing, verb)
		}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.answers[kind] = answer{missing: missing, asked: now}
	return missing, nil
}

func (r *rights) known(kind schema.GroupKind) (answer, bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	known, ok := r.answers[kind]
	return known, ok
}

func (r *rights) allowed(ctx context.Context, verb string, resource schema.GroupResource) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: r.namespace, Verb: verb, Group: resource.Group, Resource: resource.Resource,
		},
	}}
	if err := r.client.Create(ctx, review); err != nil {
		return false, fmt.Errorf("asking for the right to %s %s: %w", verb, resource, err)
	}
	return review.Status.Allowed, nil
}
