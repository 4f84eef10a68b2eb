// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// serveExtension serves an extension that obeys all rules but one.
func serveExtension(t *testing.T, violates string) string {
	t.Helper()
	calls := atomic.Int64{}
	handler := func(name, hook string) map[string]any {
		return map[string]any{"name": name, "requestHook": map[string]any{"apiVersion": "hooks.runtime.cluster.x-k8s.io/v1alpha1", "hook": hook}, "timeoutSeconds": 10, "failurePolicy": "Fail"}
	}
	handlers := []map[string]any{handler("before", "BeforeClusterCreate"), handler("update", "CanUpdateMachine"), handler("patch", "GeneratePatches")}
	switch violates {
	case "handler-names":
		handlers[1]["name"] = "before"
	case "":
		handlers[0]["timeoutSeconds"] = 0 // Cluster API takes its default
	case "handler-timeouts":
		handlers[0]["timeoutSeconds"] = 60
	case "handler-hooks":
		handlers = append(handlers, handler("never", "BeforeLunch"))
	case "handler-hooks, all":
		handlers = []map[string]any{handler("never", "BeforeLunch")}
	case "failure-policy":
		handlers[0]["failurePolicy"] = "Ignore"
	case "discovery, as a policy":
		handlers[0]["failurePolicy"] = "Retry"
	case "in-place-handlers":
		handlers = append(handlers, handler("update-too", "CanUpdateMachine"))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request request
		if err := json.NewDecoder(r.Body).Decode(&request); err != nil && violates != "bad-requests" {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := map[string]any{"apiVersion": "hooks.runtime.cluster.x-k8s.io/v1alpha1", "status": "Success"}
		if strings.HasSuffix(r.URL.Path, "/discovery") {
			answer["kind"], answer["handlers"] = "DiscoveryResponse", handlers
			answer["inFutureVersions"] = "unknown" // Cluster API does not mind
			if violates == "discovery" {
				answer["status"] = "Failure"
			}
		} else {
			respond(answer, request, violates, calls.Add(1))
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// still is a provider with nothing to do.
type still struct{}

func (still) Step(context.Context, string) (bool, error) { return false, nil }

// request has what the extension reads of a request.
type request struct {
	Settings map[string]string
	Items    []struct{ UID string }
}

func respond(answer map[string]any, request request, violates string, call int64) {
	switch {
	case violates == "responses":
		answer["status"] = "Maybe"
	case violates == "idempotence" && call%2 == 0 && request.Settings["refuse"] == "":
		answer["status"], answer["message"] = "Failure", "it is done already"
	case violates == "deterministic, at all":
		answer["message"] = fmt.Sprint("call ", call)
	case violates == "error-messages" && request.Settings["refuse"] != "":
		answer["status"], answer["message"] = "Failure", fmt.Sprint("error ", call)
	case violates == always, request.Settings["refuse"] != "":
		answer["status"], answer["message"] = "Failure", "the setting refuse is set"
	}
	var items []map[string]any
	value := int64(1)
	if violates == "deterministic" {
		value = call
	}
	for _, item := range request.Items {
		operations := []map[string]any{{"op": "add", "path": "/spec/one", "value": value}, {"op": "add", "path": "/spec/two", "value": 2}}
		if violates == "allowed, in another order" && call%2 == 0 {
			slices.Reverse(operations)
		}
		patch, _ := json.Marshal(operations)
		items = append(items, map[string]any{"uid": item.UID, "patchType": "JSONPatch", "patch": patch})
	}
	if violates == "allowed, in another order" && call%2 == 0 {
		slices.Reverse(items)
	}
	answer["items"] = items
	updateMachine(answer, violates, call)
}

// updateMachine says what the extension changes in place.
func updateMachine(answer map[string]any, violates string, call int64) {
	value := int64(1)
	if violates == "deterministic, of a machine" {
		value = call
	}
	operations := []string{`{"op":"add","path":"/one","value":1}`, fmt.Sprintf(`{"op":"add","path":"/two","value":%d}`, value)}
	if violates == "allowed, in another order" && call%2 == 0 {
		slices.Reverse(operations)
	}
	answer["machinePatch"] = map[string]any{"patchType": "JSONPatch", "patch": []byte("[" + strings.Join(operations, ",") + "]")}
}

// always is what an extension does that answers with nothing but Failure.
const always = "always refuse"

// enough are requests that show whether an extension follows all rules.
var enough = map[string][]map[string]any{
	"BeforeClusterCreate": {{"settings": map[string]any{"refuse": "yes"}}},
	"GeneratePatches": {{"items": []any{
		map[string]any{"uid": "1", "object": map[string]any{"spec": map[string]any{}}}, map[string]any{"uid": "2", "object": map[string]any{"spec": map[string]any{}}},
	}}},
}

// checkExtension returns the names of the rules by outcome.
func checkExtension(t *testing.T, violates string, requests map[string][]map[string]any) (map[conformance.Status][]string, error) {
	t.Helper()
	g := NewWithT(t)
	config := &Config{Kinds: map[Role]*Kind{RuntimeExtension: {URL: serveExtension(t, violates), Features: []string{"inPlaceUpdates"}, Requests: requests}}}
	config.setDefaults()
	g.Expect(config.validate()).To(Succeed())
	checker := &Checker{Config: config, Stepper: still{}}
	g.Expect(checker.readRules()).To(Succeed())
	s := &story{scenario: extensionScenarios()[0], ctx: t.Context(), checker: checker, contract: "v1beta2", results: &results{}}
	e, err := s.newExtension()
	g.Expect(err).NotTo(HaveOccurred())
	if violates == "response-time" {
		e.soon = 0
	}
	err = e.checkHooks()
	s.finish(err)
	found := map[conformance.Status][]string{}
	for _, result := range s.results.list([]string{"v1beta2"}) {
		found[result.Status] = append(found[result.Status], strings.TrimPrefix(result.Rule, "runtime-extension/"))
	}
	return found, err
}

func TestEachExtensionFailsItsRuleOnly(t *testing.T) {
	for _, violates := range []string{
		"", "discovery", "discovery, as a policy", "handler-names", "handler-timeouts", "handler-hooks", "failure-policy", "in-place-handlers",
		"responses", "response-time", "idempotence", "deterministic", "deterministic, of a machine", "deterministic, at all", "error-messages", "bad-requests",
		"allowed, in another order",
	} {
		t.Run(violates, func(t *testing.T) {
			g := NewWithT(t)
			found, err := checkExtension(t, violates, enough)
			if violates != "discovery" {
				g.Expect(err).NotTo(HaveOccurred())
			}
			rule, _, _ := strings.Cut(violates, ",")
			if violates == "" || rule == "allowed" {
				g.Expect(found).To(HaveLen(1))
				g.Expect(found[conformance.Passed]).To(ConsistOf(extensionScenarios()[0].rules))
				return
			}
			g.Expect(found[conformance.Failed]).To(Equal([]string{rule}))
		})
	}
}

// A rule about answers passes only if such answers were seen.
func TestAnswersThatShowNothing(t *testing.T) {
	for name, test := range map[string]struct {
		violates string
		requests map[string][]map[string]any
		failed   []string
		notRun   []string
	}{
		"nothing succeeds":   {always, enough, nil, []string{"deterministic", "idempotence"}},
		"nothing is refused": {"", map[string][]map[string]any{"GeneratePatches": enough["GeneratePatches"]}, nil, []string{"error-messages"}},
		"no template":        {"deterministic", map[string][]map[string]any{"BeforeClusterCreate": enough["BeforeClusterCreate"]}, nil, []string{"deterministic", "idempotence"}},
		"no valid answer":    {"responses", enough, []string{"responses"}, []string{"deterministic", "error-messages", "idempotence", "response-time"}},
		"no known hook": {
			"handler-hooks, all", nil, []string{"handler-hooks"},
			[]string{"bad-requests", "deterministic", "error-messages", "idempotence", "response-time", "responses"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			found, err := checkExtension(t, test.violates, test.requests)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(found[conformance.Failed]).To(Equal(test.failed))
			g.Expect(found[conformance.NotRun]).To(Equal(test.notRun))
		})
	}
}

func TestRequestsThatNoHandlerGets(t *testing.T) {
	for name, requests := range map[string]map[string][]map[string]any{
		"no handler answers the hook BeforeLunch":     {"BeforeLunch": {{}}},
		"BeforeClusterCreate: json: unknown field":    {"BeforeClusterCreate": {{"setings": map[string]any{}}}},
		"GeneratePatches: json: cannot unmarshal str": {"GeneratePatches": {{"items": "none"}}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			found, err := checkExtension(t, "", requests)
			g.Expect(err).To(MatchError(ContainSubstring(name)))
			g.Expect(found[conformance.Unfinished]).To(ContainElement("idempotence"))
		})
	}
}
