// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
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
	handlers := []map[string]any{handler("before", "BeforeClusterCreate"), handler("update", "CanUpdateMachine")}
	switch violates {
	case "handler-names":
		handlers[1]["name"] = "before"
	case "":
		handlers[0]["timeoutSeconds"] = 0 // Cluster API takes its default
	case "handler-timeouts":
		handlers[0]["timeoutSeconds"] = 60
	case "handler-hooks":
		handlers = append(handlers, handler("never", "BeforeLunch"))
	case "failure-policy":
		handlers[0]["failurePolicy"] = "Ignore"
	case "discovery, as a policy":
		handlers[0]["failurePolicy"] = "Retry"
	case "in-place-handlers":
		handlers = append(handlers, handler("update-too", "CanUpdateMachine"))
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct{ Kind string }
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
			misbehave(answer, violates, calls.Add(1))
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// still is a provider with nothing to do.
type still struct{}

func (still) Step(context.Context, string) (bool, error) { return false, nil }

func misbehave(answer map[string]any, violates string, call int64) {
	switch violates {
	case "responses":
		answer["status"] = "Maybe"
	case "idempotence":
		if call%2 == 0 {
			answer["status"], answer["message"] = "Failure", "it is done already"
		}
	case "deterministic":
		answer["message"] = fmt.Sprint("call ", call)
	case "error-messages":
		answer["status"], answer["message"] = "Failure", fmt.Sprint("error ", call)
	}
}

func TestEachExtensionFailsItsRuleOnly(t *testing.T) {
	// response-time is not here: it would take as long as it allows.
	for _, violates := range []string{
		"", "discovery", "discovery, as a policy", "handler-names", "handler-timeouts", "handler-hooks", "failure-policy", "in-place-handlers",
		"responses", "idempotence", "deterministic", "error-messages", "bad-requests",
	} {
		t.Run(violates, func(t *testing.T) {
			g := NewWithT(t)
			config := &Config{Kinds: map[Role]*Kind{RuntimeExtension: {URL: serveExtension(t, violates), Features: []string{"inPlaceUpdates"}}}}
			config.setDefaults()
			g.Expect(config.validate()).To(Succeed())
			checker := &Checker{Config: config, Stepper: still{}}
			g.Expect(checker.readRules()).To(Succeed())
			s := &story{scenario: extensionScenarios()[0], ctx: t.Context(), checker: checker, contract: "v1beta2", results: &results{}}
			err := hooksOfExtension(s)
			if violates != "discovery" {
				g.Expect(err).NotTo(HaveOccurred())
			}
			var failed []string
			for _, result := range s.results.list([]string{"v1beta2"}) {
				if result.Status == conformance.Failed {
					failed = append(failed, strings.TrimPrefix(result.Rule, "runtime-extension/"))
				}
			}
			if violates == "" {
				g.Expect(failed).To(BeEmpty())
				return
			}
			rule, _, _ := strings.Cut(violates, ",")
			g.Expect(failed).To(Equal([]string{rule}))
		})
	}
}
