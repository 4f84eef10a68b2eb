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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func objectOf(t *testing.T, text string) *unstructured.Unstructured {
	g := NewWithT(t)
	objects, err := parseManifests(text)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(objects).To(HaveLen(1))
	return objects[0]
}

func TestExplain(t *testing.T) {
	const open, hidden = false, true
	pods := schema.GroupResource{Resource: "pods"}
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", field.ErrorList{field.Invalid(field.NewPath("data", "x"), "hunter2", "is too short")})
	for name, test := range map[string]struct {
		hidden bool
		err    error
		state  state
		reason string
	}{
		"a kind without a CRD": {open, &meta.NoKindMatchError{}, unknownKind, "the cluster does not know the kind in v1 yet"},
		"a kind not served yet": {
			open, apierrors.NewGenericServerResponse(404, "patch", pods, "p", "404 page not found", 0, true), unknownKind,
			"the cluster does not know the kind in v1 yet",
		},
		"no namespace":               {open, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "n"), refused, `NotFound: namespaces "n" not found`},
		"invalid":                    {open, invalid, refused, `Invalid: Pod "p" is invalid: data.x: Invalid value: "hunter2": is too short`},
		"an invalid Secret":          {hidden, invalid, refused, "Invalid: data.x"},
		"a Secret that is forbidden": {hidden, apierrors.NewForbidden(pods, "p", errors.New("hunter2")), refused, "Forbidden"},
		"a kind that is forbidden": {
			open, apierrors.NewForbidden(schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}, "c", errors.New("not allowed here")), refused,
			`Forbidden: clusterroles.rbac.authorization.k8s.io "c" is forbidden: not allowed here`,
		},
		"a webhook that is away": {open, apierrors.NewInternalError(errors.New("dial tcp 10.0.0.1:40123: refused")), refused, "the API server answered InternalError"},
		"no answer":              {open, fmt.Errorf("patch: %w", context.DeadlineExceeded), unanswered, "no answer in time"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			state, reason := explain(objectOf(t, manifest("v1", "Pod", "p")), test.hidden, test.err)
			g.Expect(state).To(Equal(test.state))
			g.Expect(reason).To(Equal(test.reason))
		})
	}
}

func TestLongReasonsAreShortened(t *testing.T) {
	g := NewWithT(t)
	_, reason := explain(objectOf(t, manifest("v1", "Pod", "p")), false, apierrors.NewBadRequest(strings.Repeat("ü\n", 1000)))
	g.Expect(len(reason)).To(BeNumerically("<", maxReason+50))
	g.Expect(reason).To(HavePrefix("BadRequest: ü ü"))
	g.Expect(reason).To(HaveSuffix("..."))
}

func TestReadiness(t *testing.T) {
	deployment := manifest("apps/v1", "Deployment", "d") + "spec: {replicas: 1}\n"
	for name, test := range map[string]struct {
		text   string
		state  state
		reason string
	}{
		"an object without a status": {manifest("v1", "ConfigMap", "c"), ready, ""},
		"a new Deployment":           {deployment, unready, "InProgress: Replicas: 0/1"},
		"a running Deployment": {
			deployment + "status: {replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1, conditions: [{type: Available, status: 'True'}, {type: Progressing, status: 'True', reason: NewReplicaSetAvailable}]}\n", ready, "",
		},
		"a failed Deployment": {
			deployment + "status: {conditions: [{type: Progressing, status: 'False', reason: ProgressDeadlineExceeded, message: timed out}]}\n",
			unready, "Failed: Progress deadline exceeded",
		},
		"a custom resource": {
			manifest("example.com/v1", "Pool", "p") + "status: {conditions: [{type: Ready, status: 'False', message: no address}]}\n",
			unready, "InProgress: no address",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			state, reason := readiness(objectOf(t, test.text))
			g.Expect(state).To(Equal(test.state))
			g.Expect(reason).To(Equal(test.reason))
		})
	}
}
