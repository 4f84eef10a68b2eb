// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

func parsed(t *testing.T, from source) []object {
	found, err := from.objects()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return found
}

func TestExplain(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", field.ErrorList{field.Invalid(field.NewPath("data", "x"), "hunter2", "is too short")})
	open := parsed(t, holding(manifest("v1", "Pod", "p")))[0]
	hidden := parsed(t, holding(manifest("v1", "Secret", "p")))[0]
	for name, test := range map[string]struct {
		object object
		err    error
		state  state
		reason string
	}{
		"applied":              {open, nil, applied, ""},
		"a kind without a CRD": {open, &meta.NoKindMatchError{}, unknownKind, "the cluster does not know the kind in v1 yet"},
		"a kind not served yet": {
			open, apierrors.NewGenericServerResponse(404, "patch", pods, "p", "404 page not found", 0, true), unknownKind,
			"the cluster does not know the kind in v1 yet",
		},
		"no namespace":               {open, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "n"), refused, `NotFound: namespaces "n" not found`},
		"invalid":                    {open, invalid, refused, `Invalid: Pod "p" is invalid: data.x: Invalid value: "hunter2": is too short`},
		"an invalid Secret":          {hidden, invalid, refused, "Invalid: data.x"},
		"a Secret that is forbidden": {hidden, apierrors.NewForbidden(pods, "p", errors.New("hunter2")), refused, "Forbidden"},
		"a webhook that is away":     {open, apierrors.NewInternalError(errors.New("dial tcp 10.0.0.1:40123: refused")), refused, "the API server answered InternalError"},
		"no answer":                  {open, fmt.Errorf("patch: %w", context.DeadlineExceeded), unanswered, "no answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			state, reason := explain(t.Context(), test.object, test.err)
			g.Expect(state).To(Equal(test.state))
			g.Expect(reason).To(Equal(test.reason))
		})
	}
}

func TestLongReasonsAreShortened(t *testing.T) {
	g := NewWithT(t)
	_, reason := explain(t.Context(), parsed(t, holding(manifest("v1", "Pod", "p")))[0], apierrors.NewBadRequest(strings.Repeat("ü\n", 1000)))
	g.Expect(len(reason)).To(BeNumerically("<", maxReason+50))
	g.Expect(reason).To(HavePrefix("BadRequest: ü ü"))
	g.Expect(reason).To(HaveSuffix("..."))
}

func TestOutcome(t *testing.T) {
	from := holding(manifest("v1", "Namespace", "ns") + "---\n" + manifest("example.com/v1", "Pool", "p"))
	objects := parsed(t, from)
	made := choice{chosen: []source{from}, missing: []string{"cpi"}}
	results := func(first, second state) []result {
		return []result{{objects[0], first, "why"}, {objects[1], second, "why"}}
	}
	many := findings{version: "v1.36.3"}
	for i := range 12 {
		many.problems = append(many.problems, fmt.Sprintf("p%02d", i))
	}
	for name, test := range map[string]struct {
		findings findings
		want     hooks.Outcome
	}{
		"nothing to do": {findings{}, hooks.Outcome{Done: true, Message: "no add-on applies to this Cluster now"}},
		"all applied": {findings{choice: made, version: "v1.36.3", results: results(applied, applied)}, hooks.Outcome{
			Done: true, Message: "applied 2 objects of the add-ons cni; there is no variant for v1.36.3 of cpi",
			Report: "cni (ConfigMap a, key all.yaml): Namespace ns: applied\ncni (ConfigMap a, key all.yaml): Pool p: applied\ncpi: no variant for v1.36.3\n",
		}},
		"a kind that is not known": {findings{choice: choice{chosen: made.chosen}, results: results(applied, unknownKind)}, hooks.Outcome{
			Message:    "add-ons are not applied yet: ConfigMap a, key all.yaml: Pool p: why",
			Report:     "cni (ConfigMap a, key all.yaml): Namespace ns: applied\ncni (ConfigMap a, key all.yaml): Pool p: waiting: why\n",
			RetryAfter: kindWait,
		}},
		"no answer": {findings{choice: choice{chosen: made.chosen}, results: results(unanswered, untried)}, hooks.Outcome{
			Message: "add-ons are not applied yet: the workload API server does not answer: why",
			Report:  "cni (ConfigMap a, key all.yaml): Namespace ns: no answer: why\ncni (ConfigMap a, key all.yaml): Pool p: not tried yet\n",
		}},
		"refused": {findings{choice: choice{chosen: made.chosen}, problems: []string{"first"}, results: results(refused, unknownKind)}, hooks.Outcome{
			Message: "add-ons are not applied yet: ConfigMap a, key all.yaml: Namespace ns: why; ConfigMap a, key all.yaml: Pool p: why; first",
			Report:  "cni (ConfigMap a, key all.yaml): Namespace ns: refused: why\ncni (ConfigMap a, key all.yaml): Pool p: waiting: why\n",
		}},
		"many problems": {many, hooks.Outcome{Message: "add-ons are not applied yet: p00; p01; p02; p03; p04; and 7 more"}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(test.findings.outcome()).To(Equal(test.want))
		})
	}
}
