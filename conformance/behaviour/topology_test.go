// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// servePatches serves an extension that sets the size of machines to that of a variable, plans an upgrade, and updates
// machines in place. It obeys all rules but one.
func servePatches(t *testing.T, violates string) string {
	t.Helper()
	calls := atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := map[string]any{"apiVersion": "hooks.runtime.cluster.x-k8s.io/v1alpha1", "status": "Success"}
		switch path := r.URL.Path; {
		case strings.HasSuffix(path, "/discovery"):
			answer["kind"], answer["handlers"] = "DiscoveryResponse", []map[string]any{
				handlerOf("patches", "GeneratePatches"), handlerOf("plan", "GenerateUpgradePlan"), handlerOf("can-update", "CanUpdateMachine"),
			}
		case strings.HasSuffix(path, "/patches"):
			if violates == "patches-response-time" {
				pause(r.Context(), fast)
			}
			patchSize(r, answer, violates, calls.Add(1))
		case strings.HasSuffix(path, "/plan"):
			versions := []map[string]any{{"version": "v1.35.4"}, {"version": "v1.36.3"}}
			if violates == "upgrade-plan" {
				versions = versions[1:]
			}
			answer["controlPlaneUpgrades"] = versions
			var request struct{ FromWorkersKubernetesVersion string }
			if _ = json.NewDecoder(r.Body).Decode(&request); request.FromWorkersKubernetesVersion != "" {
				answer["workersUpgrades"] = versions
			}
		default:
			kind := "JSONPatch"
			if violates == "in-place-patches" {
				kind = "JSONMergePatch"
			}
			answer["machinePatch"] = map[string]any{"patchType": kind, "patch": []byte(`[{"op":"replace","path":"/spec/version","value":"v1.36.3"}]`)}
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func handlerOf(name, hook string) map[string]any {
	return map[string]any{"name": name, "requestHook": map[string]any{"apiVersion": "hooks.runtime.cluster.x-k8s.io/v1alpha1", "hook": hook}}
}

func patchSize(r *http.Request, answer map[string]any, violates string, call int64) {
	var request struct {
		Variables []struct {
			Name  string
			Value any
		}
		Items []struct {
			UID    string
			Object struct {
				Kind string
				Spec struct {
					Template struct{ Spec struct{ Size any } }
				}
			}
		}
	}
	_ = json.NewDecoder(r.Body).Decode(&request)
	size := request.Variables[0].Value
	if _, text := size.(string); !text && violates != "patches-input, of variables" {
		answer["status"], answer["message"] = "Failure", "the variable size is no text"
		return
	}
	operation := "add"
	if violates == "patches-deterministic" && call%2 == 0 {
		operation = "replace"
	}
	items := []any{}
	for _, item := range request.Items {
		known := item.Object.Kind == "DemoMachineTemplate" || violates == "patches-input"
		if known && (item.Object.Spec.Template.Spec.Size != size || violates == "patches-needed") {
			patch, _ := json.Marshal([]any{map[string]any{"op": operation, "path": "/spec/template/spec/size", "value": size}})
			items = append(items, map[string]any{"uid": item.UID, "patchType": "JSONPatch", "patch": patch})
		}
	}
	answer["items"] = items
}

// requests are what a configuration has for the extension.
var requests = map[string][]map[string]any{
	"GeneratePatches": {{
		"variables": []any{map[string]any{"name": "size", "value": "large"}},
		"items": []any{map[string]any{"uid": "1", "object": map[string]any{
			"apiVersion": "infrastructure.demo.example.com/v1beta2", "kind": "DemoMachineTemplate",
			"spec": map[string]any{"template": map[string]any{"spec": map[string]any{"size": "small"}}},
		}}},
	}},
	"GenerateUpgradePlan": {{
		"fromControlPlaneKubernetesVersion": "v1.34.1", "fromWorkersKubernetesVersion": "v1.34.1", "toKubernetesVersion": "v1.36.3",
	}},
}

func TestEachAnswerToARequestFailsItsRuleOnly(t *testing.T) {
	for _, violates := range []string{
		"", "patches-deterministic", "patches-response-time", "patches-needed", "patches-input", "patches-input, of variables", "upgrade-plan", "in-place-patches",
	} {
		t.Run(violates, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			results := answersTo(t, g, servePatches(t, violates), requests)
			var failed []string
			for _, result := range results {
				if result.Status != conformance.Passed {
					failed = append(failed, strings.TrimPrefix(result.Rule, "runtime-extension/"))
				}
			}
			if rule, _, _ := strings.Cut(violates, ","); rule != "" {
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
	for _, result := range answersTo(t, g, servePatches(t, ""), nil) {
		want := conformance.NotRun
		if result.Rule == "runtime-extension/in-place-patches" {
			want = conformance.Passed
		}
		g.Expect(result).To(HaveField("Status", want), result.Rule)
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
