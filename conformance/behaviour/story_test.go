// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// A kube-apiserver that does not answer breaks no rule.
func TestWhoseProblemItIs(t *testing.T) {
	const server = "https://127.0.0.1:6443"
	for name, test := range map[string]struct {
		problem error
		want    conformance.Status
	}{
		"none":                      {nil, conformance.Passed},
		"the provider":              {errors.New("status.replicas is 1, want 2"), conformance.Failed},
		"a webhook of the provider": {apierrors.NewInternalError(errors.New("failed calling webhook")), conformance.Failed},
		"an extension":              {&url.Error{Op: "Post", URL: "https://127.0.0.1:9443/hooks", Err: errors.New("connection refused")}, conformance.Failed},
		"the connection":            {fmt.Errorf("after it: %w", &url.Error{Op: "Get", URL: server + "/apis", Err: errors.New("stream error")}), conformance.Unfinished},
		"the kube-apiserver":        {errors.Join(apierrors.NewTimeoutError("busy", 1)), conformance.Unfinished},
		"its store":                 {apierrors.NewServerTimeout(schema.GroupResource{Resource: "machines"}, "get", 1), conformance.Unfinished},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			c := &Checker{Config: &Config{Kinds: map[Role]*Kind{BootstrapConfig: {Kind: "Demo"}}}, Environment: &Environment{Config: &rest.Config{Host: server}}}
			g.Expect(c.readRules()).To(Succeed())
			s := &story{scenario: scenario{role: BootstrapConfig, rules: []string{"pausing"}}, checker: c, contract: "v1beta2", results: &results{}}
			s.check("pausing", test.problem)
			g.Expect(s.results.list([]string{"v1beta2"})).To(HaveExactElements(HaveField("Status", test.want)))
		})
	}
}

// A scenario that ends early leaves only the rules unfinished that it has not checked.
func TestScenarioThatEndsEarly(t *testing.T) {
	g := NewWithT(t)
	c := &Checker{Config: &Config{Kinds: map[Role]*Kind{BootstrapConfig: {Kind: "Demo"}}}}
	g.Expect(c.readRules()).To(Succeed())
	s := &story{scenario: scenario{role: BootstrapConfig, rules: []string{"pausing", "pause-resumes"}}, checker: c, contract: "v1beta2", results: &results{}}
	s.check("pausing", nil)
	s.finish(errors.New("objects keep changing"))
	g.Expect(s.results.list([]string{"v1beta2"})).To(ConsistOf(
		And(HaveField("Rule", "bootstrap/pausing"), HaveField("Status", conformance.Passed)),
		And(HaveField("Rule", "bootstrap/pause-resumes"), HaveField("Status", conformance.Unfinished), HaveField("Reason", ContainSubstring("objects keep changing"))),
	))
}

// restless is a client of objects that change all the time.
type restless struct {
	client.Client

	version int
}

func (r *restless) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	if objects, ok := list.(*metav1.PartialObjectMetadataList); ok {
		r.version++
		objects.Items = []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{ResourceVersion: strconv.Itoa(r.version)}}}
	}
	return nil
}

func TestAProviderThatWritesAllTheTimeEndsTheStory(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	config := &Config{Patience: metav1.Duration{Duration: pollInterval}, Quiet: metav1.Duration{Duration: pollInterval}}
	s := &story{Client: &restless{}, ctx: ctx, checker: &Checker{Config: config, programs: &launcher{}}}
	NewWithT(t).Expect(s.settle()).To(MatchError(ContainSubstring("objects keep changing")))
}
