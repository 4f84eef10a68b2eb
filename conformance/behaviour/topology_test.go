// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// servePatches serves an extension that takes the size and the labels of machines from variables, plans an upgrade, and
// updates machines in place. It obeys all rules but one.
func servePatches(t *testing.T, violates string) string {
	t.Helper()
	calls := atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := map[string]any{"apiVersion": "hooks.runtime.cluster.x-k8s.io/v1alpha1", "status": "Success"}
		var request patchRequest
		_ = json.NewDecoder(r.Body).Decode(&request)
		switch path := r.URL.Path; {
		case strings.HasSuffix(path, "/discovery"):
			handlers := []map[string]any{handlerOf("patches", "GeneratePatches"), handlerOf("plan", "GenerateUpgradePlan"), handlerOf("can-update", "CanUpdateMachine")}
			if violates == otherHandler {
				handlers = append(handlers, handlerOf("other-patches", "GeneratePatches"))
			}
			answer["kind"], answer["handlers"] = "DiscoveryResponse", handlers
		case request.Settings["answer"] == "refuse", strings.HasSuffix(path, "/other-patches"):
			refuse(answer)
		case request.Settings["answer"] == "break":
			http.Error(w, "broken", http.StatusInternalServerError)
			return
		case strings.HasSuffix(path, "/patches"):
			if violates == "patches-response-time" {
				pause(r.Context(), fast)
			}
			patchMachines(request, answer, violates, calls.Add(1))
		case strings.HasSuffix(path, "/plan"):
			planUpgrade(request, answer, violates)
		default:
			updateInPlace(request, answer, violates)
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// otherHandler is an extension with a second handler, which refuses all requests.
const otherHandler = "with another handler"

func handlerOf(name, hook string) map[string]any {
	return map[string]any{"name": name, "requestHook": map[string]any{"apiVersion": "hooks.runtime.cluster.x-k8s.io/v1alpha1", "hook": hook}}
}

func refuse(answer map[string]any) {
	answer["status"], answer["message"] = "Failure", "it is refused"
}

// patchRequest has what the extension reads of requests.
type patchRequest struct {
	Settings                     map[string]string
	FromWorkersKubernetesVersion string
	Current                      struct{ InfrastructureMachine any }
	Variables                    []struct {
		Name  string
		Value any
	}
	Items []templateItem
}

type templateItem struct {
	UID    string
	Object struct {
		Kind string
		Spec struct {
			Template struct {
				Spec struct{ Size, Labels, Commands any }
			}
		}
	}
}

func planUpgrade(request patchRequest, answer map[string]any, violates string) {
	versions := []map[string]any{{"version": "v1.35.4"}, {"version": "v1.36.3"}}
	if violates == "upgrade-plan" {
		versions = versions[1:]
	}
	answer["controlPlaneUpgrades"] = versions
	if request.FromWorkersKubernetesVersion != "" {
		answer["workersUpgrades"] = versions
	}
}

func updateInPlace(request patchRequest, answer map[string]any, violates string) {
	kind := "JSONPatch"
	switch {
	case violates == "in-place-patches":
		kind = "JSONMergePatch"
	case violates == "no patches in place":
		answer["machinePatch"] = map[string]any{"patchType": "JSONPatch", "patch": []byte("[]")}
		return
	case violates == "strict" && request.Current.InfrastructureMachine == nil:
		refuse(answer)
		return
	}
	answer["machinePatch"] = map[string]any{"patchType": kind, "patch": []byte(`[{"op":"replace","path":"/spec/version","value":"v1.36.3"}]`)}
}

func patchMachines(request patchRequest, answer map[string]any, violates string, call int64) {
	variables := map[string]any{}
	for _, variable := range request.Variables {
		variables[variable.Name] = variable.Value
	}
	size, sized := variables["size"]
	labels, labelled := variables["labels"]
	_, text := size.(string)
	_, object := labels.(map[string]any)
	switch {
	case violates == "patches-input, of an empty value" && sized && !text:
		size = ""
	case violates == "patches-input, of variables":
	case violates == "patches-input, without a variable" && !sized, violates == "patches-input, in an error" && !text:
		answer["status"] = "Broken"
		return
	case violates == "allowed, without what is wrong" && labelled && !object:
		labelled = false
	case sized && !text, labelled && !object:
		refuse(answer)
		return
	}
	items := []any{}
	for _, item := range request.Items {
		if item.Object.Kind != "DemoMachineTemplate" && violates != "patches-input" {
			continue
		}
		operations := []any{}
		now := item.Object.Spec.Template.Spec
		if sized && (now.Size != size || violates == "patches-needed") {
			operations = append(operations, operationOf("size", size))
		}
		if labelled && !reflect.DeepEqual(now.Labels, labels) {
			operations = append(operations, operationOf("labels", labels))
		}
		patch, _ := json.Marshal(variant(operations, violates, call))
		if request.Settings["answer"] == "rubbish" {
			patch = []byte("rubbish")
		}
		uid := item.UID
		if violates == "patches-needed, of another template" {
			uid = "unknown"
		}
		items = append(items, map[string]any{"uid": uid, "patchType": "JSONPatch", "patch": patch})
	}
	answer["items"] = items
}

func operationOf(field string, value any) map[string]any {
	return map[string]any{"op": "add", "path": "/spec/template/spec/" + field, "value": value}
}

// variant returns the operations on a template as extensions may choose them.
func variant(operations []any, violates string, call int64) []any {
	switch {
	case violates == "patches-deterministic":
		return append(operations, operationOf("commands", []any{call}))
	case violates == "patches-needed, that do not fit":
		return append(operations, operationOf("none/none", "none"))
	case violates == "allowed, in another order" && call%2 == 0:
		slices.Reverse(operations)
	case violates == "allowed, in other words" && call%2 == 0 && len(operations) > 0:
		operations = append([]any{operationOf("size", "medium")}, operations...)
	case violates == "allowed, at the end":
		return append(operations, operationOf("commands/-", "sync"))
	}
	return operations
}

// requests are what a configuration has for the extension.
var requests = map[string][]map[string]any{
	"GeneratePatches": {{
		"variables": []any{
			map[string]any{"name": "size", "value": "large"}, map[string]any{"name": "labels", "value": map[string]any{"a": "b"}},
			map[string]any{"name": "builtin", "value": map[string]any{}},
		},
		"items": []any{templateOf("1", "small", nil), templateOf("2", "large", map[string]any{"a": "b"})},
	}},
	"GenerateUpgradePlan": {{
		"fromControlPlaneKubernetesVersion": "v1.34.1", "fromWorkersKubernetesVersion": "v1.34.1", "toKubernetesVersion": "v1.36.3",
	}},
}

func templateOf(uid, size string, labels map[string]any) map[string]any {
	return map[string]any{"uid": uid, "object": map[string]any{
		"apiVersion": "infrastructure.demo.example.com/v1beta2", "kind": "DemoMachineTemplate",
		"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"size": size, "labels": labels, "commands": []any{}}}},
	}}
}

func TestEachAnswerToARequestFailsItsRuleOnly(t *testing.T) {
	for _, violates := range []string{
		"", "patches-deterministic", "patches-response-time",
		"patches-needed", "patches-needed, that do not fit", "patches-needed, of another template",
		"patches-input", "patches-input, of variables", "patches-input, of an empty value", "patches-input, in an error", "patches-input, without a variable",
		"upgrade-plan", "in-place-patches",
		"allowed, in another order", "allowed, in other words", "allowed, at the end", "allowed, without what is wrong",
	} {
		t.Run(violates, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			results := answersTo(t, g, servePatches(t, violates), requests)
			var failed []string
			for _, result := range results {
				rule := strings.TrimPrefix(result.Rule, "runtime-extension/")
				// On a busy machine, all answers may be slow.
				if result.Status != conformance.Passed && (rule != "patches-response-time" || rule == violates) {
					failed = append(failed, rule)
				}
			}
			if rule, _, _ := strings.Cut(violates, ","); rule != "" && rule != "allowed" {
				g.Expect(failed).To(Equal([]string{rule}))
			} else {
				g.Expect(failed).To(BeEmpty())
				g.Expect(results).To(HaveLen(6))
			}
		})
	}
}

// Without a request, nothing is known about patches and plans.
func TestRulesWithoutARequestAreNotRun(t *testing.T) {
	g := NewWithT(t)
	for _, result := range answersTo(t, g, servePatches(t, "no patches in place"), nil) {
		g.Expect(result).To(HaveField("Status", conformance.NotRun), result.Rule)
	}
}

// A rule holds only if it does for all requests and handlers.
func TestProblemsOfALaterRequest(t *testing.T) {
	for name, test := range map[string]struct {
		extension, answer string
		want              conformance.Status
		reason            string
	}{
		"nothing":                   {"", "", conformance.Passed, ""},
		"a patch that is no patch":  {"", "rubbish", conformance.Failed, ""},
		"a failure":                 {"", "refuse", conformance.Unfinished, "the status Failure"},
		"no answer":                 {"", "break", conformance.Unfinished, "the HTTP status 500"},
		"another handler's failure": {otherHandler, "", conformance.Unfinished, `the handler "other-patches"`},
		"a failure, and a finding":  {"patches-needed", "refuse", conformance.Failed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			results := answersTo(t, g, servePatches(t, test.extension), withAnother(test.answer, "GeneratePatches"))
			g.Expect(results).To(ContainElement(And(
				HaveField("Rule", "runtime-extension/patches-needed"), HaveField("Status", test.want), HaveField("Reason", ContainSubstring(test.reason)),
			)))
			for _, result := range results {
				if test.want == conformance.Unfinished && strings.HasPrefix(result.Rule, "runtime-extension/patches-") {
					g.Expect(result).To(HaveField("Status", test.want), result.Rule)
				}
			}
		})
	}
}

func TestFailuresOfALaterPlan(t *testing.T) {
	g := NewWithT(t)
	g.Expect(answersTo(t, g, servePatches(t, ""), withAnother("refuse", "GenerateUpgradePlan"))).To(ContainElement(And(
		HaveField("Rule", "runtime-extension/upgrade-plan"), HaveField("Status", conformance.Unfinished), HaveField("Reason", ContainSubstring("the status Failure")),
	)))
}

// withAnother returns the requests with another one for a hook, after which the extension answers in some other way.
func withAnother(answer, hook string) map[string][]map[string]any {
	other := maps.Clone(requests[hook][0])
	other["settings"] = map[string]any{"answer": answer}
	all := maps.Clone(requests)
	all[hook] = append(slices.Clone(all[hook]), other)
	return all
}

func TestPatchesInPlace(t *testing.T) {
	complete := map[string]any{"current": map[string]any{"infrastructureMachine": map[string]any{"kind": "DemoMachine"}}}
	refused := map[string]any{"settings": map[string]any{"answer": "refuse"}}
	for name, test := range map[string]struct {
		extension string
		requests  []map[string]any
		want      conformance.Status
	}{
		"of the suite's own request":        {"", nil, conformance.Passed},
		"that are none":                     {"no patches in place", []map[string]any{complete}, conformance.NotRun},
		"of a strict extension":             {"strict", []map[string]any{complete}, conformance.Passed},
		"of a strict extension, unasked":    {"strict", nil, conformance.NotRun},
		"that a request does not get":       {"", []map[string]any{refused}, conformance.Unfinished},
		"in the wrong format, once refused": {"in-place-patches", []map[string]any{refused}, conformance.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			results := answersTo(t, g, servePatches(t, test.extension), map[string][]map[string]any{"CanUpdateMachine": test.requests})
			g.Expect(results).To(ContainElement(And(HaveField("Rule", "runtime-extension/in-place-patches"), HaveField("Status", test.want))))
		})
	}
}

func answersTo(t *testing.T, g Gomega, url string, requests map[string][]map[string]any) []conformance.Result {
	t.Helper()
	config := &Config{Kinds: map[Role]*Kind{RuntimeExtension: {URL: url, Features: []string{"inPlaceUpdates", "patches", "upgradePlan"}, Requests: requests}}}
	config.setDefaults()
	g.Expect(config.validate()).To(Succeed())
	checker := &Checker{Config: config, Stepper: still{}}
	g.Expect(checker.readRules()).To(Succeed())
	found := &results{}
	for _, scenario := range requestScenarios() {
		s := &story{scenario: scenario, ctx: t.Context(), checker: checker, contract: "v1beta2", results: found}
		s.finish(scenario.run(s))
	}
	return found.list([]string{"v1beta2"})
}
