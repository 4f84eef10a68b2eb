// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

const (
	// maxTimeout is the longest timeout that Cluster API accepts, in seconds.
	maxTimeout = 30
	// maxAnswer is how long an answer may be.
	maxAnswer = 10 << 20
)

func extensionScenarios() []scenario {
	return []scenario{{"hooks of an extension", RuntimeExtension, Waiting, []string{
		"discovery", "handler-names", "handler-timeouts", "handler-hooks", "failure-policy", "in-place-handlers",
		"responses", "response-time", "idempotence", "deterministic", "error-messages", "bad-requests",
	}, hooksOfExtension}}
}

// extension calls the hooks of a runtime extension as Cluster API does.
type extension struct {
	*story
	catalog *runtimecatalog.Catalog
	url     string
	client  *http.Client
	// soon is how quickly a hook should answer.
	soon time.Duration
}

func (s *story) newExtension() (*extension, error) {
	catalog := runtimecatalog.New()
	if err := runtimehooksv1.AddToCatalog(catalog); err != nil {
		return nil, err
	}
	e := &extension{story: s, catalog: catalog, client: &http.Client{Timeout: maxTimeout * time.Second}, soon: 5 * time.Second} // on a busy machine
	kind := s.checker.Config.Kinds[RuntimeExtension]
	if kind.URL != "" {
		e.url = kind.URL
		return e, nil
	}
	for _, p := range s.checker.programs.processes {
		if p.name == kind.Program {
			roots := x509.NewCertPool()
			roots.AppendCertsFromPEM(s.checker.programs.certificate.ca)
			e.url = "https://127.0.0.1:" + p.variables["WEBHOOK_PORT"]
			e.client.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
			return e, nil
		}
	}
	return nil, fmt.Errorf("no program %s is running", kind.Program)
}

func hooksOfExtension(s *story) error {
	e, err := s.newExtension()
	if err != nil {
		return err
	}
	return e.checkHooks()
}

func (e *extension) checkHooks() error {
	handlers, err := e.discover()
	e.check("discovery", errors.Join(err, checkFailurePolicies(handlers)))
	if err != nil {
		return err
	}
	e.checkHandlers(handlers)
	return e.checkAnswers(handlers)
}

// discover asks for the handlers.
func (e *extension) discover() ([]runtimehooksv1.ExtensionHandler, error) {
	hook, err := e.catalog.GroupVersionHook(runtimehooksv1.Discovery)
	if err != nil {
		return nil, err
	}
	var answer *runtimehooksv1.DiscoveryResponse
	err = e.until("discovery", func() error {
		response, err := e.call(hook, "", &runtimehooksv1.DiscoveryRequest{})
		if err != nil {
			return err
		}
		found, ok := response.(*runtimehooksv1.DiscoveryResponse)
		switch {
		case !ok:
			return fmt.Errorf("the answer is a %T", response)
		case found.Status != runtimehooksv1.ResponseStatusSuccess:
			return fmt.Errorf("the status is %q with the message %q, want Success", found.Status, found.Message)
		case len(found.Handlers) == 0:
			return errors.New("there are no handlers")
		}
		answer = found
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answer.Handlers, nil
}

// checkFailurePolicies returns an error if Cluster API would reject the discovery because of a failure policy.
func checkFailurePolicies(handlers []runtimehooksv1.ExtensionHandler) error {
	var unknown []error
	for _, handler := range handlers {
		switch policy := ptr.Deref(handler.FailurePolicy, runtimehooksv1.FailurePolicyFail); policy {
		case runtimehooksv1.FailurePolicyFail, runtimehooksv1.FailurePolicyIgnore:
		default:
			unknown = append(unknown, fmt.Errorf("the handler %q has the failure policy %q, want Fail or Ignore", handler.Name, policy))
		}
	}
	return errors.Join(unknown...)
}

// checkHandlers checks what discovery says.
func (e *extension) checkHandlers(handlers []runtimehooksv1.ExtensionHandler) {
	var naming, timeouts, hooks, policies []error
	known := sets.New[string]()
	for _, handler := range handlers {
		if problems := validation.IsDNS1123Label(handler.Name); len(problems) > 0 || known.Has(handler.Name) {
			naming = append(naming, fmt.Errorf("the handler %q needs a unique name that is a DNS label", handler.Name))
		}
		known.Insert(handler.Name)
		if seconds := ptr.Deref(handler.TimeoutSeconds, 0); seconds < 0 || seconds > maxTimeout {
			timeouts = append(timeouts, fmt.Errorf("the handler %q has a timeout of %d s; 1 to %d are allowed, or 0 for the default", handler.Name, seconds, maxTimeout))
		}
		if !e.catalog.IsHookRegistered(hookOf(handler)) {
			hooks = append(hooks, fmt.Errorf("the handler %q answers the hook %s of %q, which Cluster API does not have",
				handler.Name, handler.RequestHook.Hook, handler.RequestHook.APIVersion))
		}
		if ptr.Deref(handler.FailurePolicy, runtimehooksv1.FailurePolicyFail) == runtimehooksv1.FailurePolicyIgnore && e.blocks(hookOf(handler)) {
			policies = append(policies, fmt.Errorf("the handler %q of %s has the failure policy Ignore, so it cannot block", handler.Name, handler.RequestHook.Hook))
		}
	}
	e.check("handler-names", errors.Join(naming...))
	e.check("handler-timeouts", errors.Join(timeouts...))
	e.check("handler-hooks", errors.Join(hooks...))
	e.check("failure-policy", errors.Join(policies...))
	e.check("in-place-handlers", checkInPlaceHandlers(handlers))
}

// blocks reports whether an answer to a hook can tell Cluster API to wait.
func (e *extension) blocks(hook runtimecatalog.GroupVersionHook) bool {
	if !e.catalog.IsHookRegistered(hook) {
		return false
	}
	answer, err := e.catalog.NewResponse(hook)
	_, retries := answer.(runtimehooksv1.RetryResponseObject)
	return err == nil && retries
}

// checkInPlaceHandlers returns an error if several handlers answer a hook of which Cluster API calls
// one handler only.
func checkInPlaceHandlers(handlers []runtimehooksv1.ExtensionHandler) error {
	counts := map[string]int{}
	for _, handler := range handlers {
		counts[handler.RequestHook.Hook]++
	}
	var several error
	for _, hook := range []string{"CanUpdateMachine", "CanUpdateMachineSet", "UpdateMachine"} {
		if counts[hook] > 1 {
			several = errors.Join(several, fmt.Errorf("%d handlers answer %s", counts[hook], hook))
		}
	}
	return several
}

func hookOf(handler runtimehooksv1.ExtensionHandler) runtimecatalog.GroupVersionHook {
	version, err := schema.ParseGroupVersion(handler.RequestHook.APIVersion)
	if err != nil {
		return runtimecatalog.GroupVersionHook{}
	}
	return runtimecatalog.GroupVersionHook{Group: version.Group, Version: version.Version, Hook: handler.RequestHook.Hook}
}

// answers are what was seen of how the handlers answer.
type answers struct {
	// problems by their rules.
	problems map[string][]error
	// unsuccessful are the handlers that answered no request with Success.
	unsuccessful []string
	// failure says that some request was answered with Failure.
	failure bool
	// called says that some handler was called, and timed that one has answered the same request twice.
	called, timed bool
}

func (a *answers) add(rule, message string, values ...any) {
	a.problems[rule] = append(a.problems[rule], fmt.Errorf(message, values...))
}

// unseen returns why the answers show nothing of a rule; empty if they do.
func (a *answers) unseen(rule string) string {
	switch {
	case !a.called:
		return "no handler answers a hook that Cluster API has"
	case rule == "response-time" && !a.timed:
		return "no handler has answered the same request twice"
	case slices.Contains([]string{"idempotence", "deterministic"}, rule) && len(a.unsuccessful) > 0:
		slices.Sort(a.unsuccessful) // extensions may list their handlers in any order
		return fmt.Sprintf("no request made these handlers succeed: %s; add some to requests in the configuration", strings.Join(a.unsuccessful, ", "))
	case rule == "error-messages" && !a.failure:
		return "no handler answered with Failure; add a request that one must refuse to requests in the configuration"
	default:
		return ""
	}
}

// checkAnswers checks how each handler answers.
func (e *extension) checkAnswers(handlers []runtimehooksv1.ExtensionHandler) error {
	if err := e.checkRequests(handlers); err != nil {
		return err
	}
	seen := &answers{problems: map[string][]error{}}
	for _, handler := range handlers {
		hook := hookOf(handler)
		if !e.catalog.IsHookRegistered(hook) {
			continue
		}
		requests, err := e.requests(hook)
		if err != nil {
			return err
		}
		e.callHandler(hook, handler.Name, requests, seen)
	}
	for _, rule := range []string{"responses", "response-time", "idempotence", "deterministic", "error-messages", "bad-requests"} {
		if reason := seen.unseen(rule); reason != "" && len(seen.problems[rule]) == 0 {
			e.notRun(rule, reason)
			continue
		}
		e.check(rule, errors.Join(seen.problems[rule]...))
	}
	return nil
}

// callHandler calls a handler with requests, and then with wrong ones.
func (e *extension) callHandler(hook runtimecatalog.GroupVersionHook, name string, requests []runtime.Object, seen *answers) {
	seen.called = true
	if !e.succeeds(hook, name, requests, seen) {
		seen.unsuccessful = append(seen.unsuccessful, name)
	}
	if err := e.callBadly(hook, name); err != nil {
		seen.add("bad-requests", "the handler %q: %w", name, err)
	}
}

// succeeds calls a handler with requests, and reports whether it answers them, one at least with Success.
func (e *extension) succeeds(hook runtimecatalog.GroupVersionHook, name string, requests []runtime.Object, seen *answers) bool {
	succeeded := false
	for _, request := range requests {
		switch e.callTwice(hook, name, request, seen) {
		case runtimehooksv1.ResponseStatusSuccess:
			succeeded = succeeded || !isEmpty(request)
		case runtimehooksv1.ResponseStatusFailure:
			seen.failure = true
		default:
			return false
		}
	}
	return succeeded
}

// callTwice calls a handler twice with the same request. It returns the status of the first answer; empty if
// there are no two answers.
func (e *extension) callTwice(hook runtimecatalog.GroupVersionHook, name string, request runtime.Object, seen *answers) runtimehooksv1.ResponseStatus {
	start := time.Now()
	first, err := e.call(hook, name, request)
	took := time.Since(start)
	if err == nil {
		err = checkAnswer(first)
	}
	if err != nil {
		seen.add("responses", "the handler %q: %w", name, err)
		return ""
	}
	start = time.Now()
	second, err := e.call(hook, name, request)
	// The machine may have been busy during one of the calls.
	if took = min(took, time.Since(start)); took > e.soon {
		seen.add("response-time", "the handler %q took %s", name, took.Round(time.Millisecond))
	}
	if err != nil {
		seen.add("idempotence", "the handler %q answers only the first call: %w", name, err)
		return ""
	}
	seen.timed = true
	was, is := statusOfAnswer(first), statusOfAnswer(second)
	switch {
	case was.GetStatus() == runtimehooksv1.ResponseStatusSuccess && is.GetStatus() != was.GetStatus():
		seen.add("idempotence", "the handler %q succeeds only once: %q", name, is.GetMessage())
	case was.GetStatus() == runtimehooksv1.ResponseStatusFailure && was.GetMessage() != is.GetMessage():
		seen.add("error-messages", "the handler %q gives two messages for one error: %q and %q", name, was.GetMessage(), is.GetMessage())
	case !sameAnswers(request, first, second):
		seen.add("deterministic", "the handler %q answers the same request with %s and %s", name, fields.Show(first), fields.Show(second))
	}
	return was.GetStatus()
}

func statusOfAnswer(answer runtime.Object) runtimehooksv1.ResponseObject {
	response, ok := answer.(runtimehooksv1.ResponseObject)
	if !ok {
		return &runtimehooksv1.DiscoveryResponse{}
	}
	return response
}

// checkAnswer returns an error unless Cluster API accepts an answer.
func checkAnswer(answer runtime.Object) error {
	response := statusOfAnswer(answer)
	switch response.GetStatus() {
	case runtimehooksv1.ResponseStatusSuccess:
	case runtimehooksv1.ResponseStatusFailure:
		if response.GetMessage() == "" {
			return errors.New("the status is Failure, and the message is empty")
		}
	default:
		return fmt.Errorf("the status is %q, want Success or Failure", response.GetStatus())
	}
	if retry, ok := answer.(runtimehooksv1.RetryResponseObject); ok && retry.GetRetryAfterSeconds() < 0 {
		return fmt.Errorf("retryAfterSeconds is %d, want 0 or more", retry.GetRetryAfterSeconds())
	}
	return nil
}
