// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

const (
	// maxTimeout is the longest timeout that Cluster API accepts, in seconds.
	maxTimeout = 30
	// maxAnswer is how long an answer may be.
	maxAnswer = 10 << 20
	// soon is how quickly a hook should answer on a busy machine.
	soon = 5 * time.Second
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
}

func (s *story) newExtension() (*extension, error) {
	catalog := runtimecatalog.New()
	if err := runtimehooksv1.AddToCatalog(catalog); err != nil {
		return nil, err
	}
	e := &extension{story: s, catalog: catalog, client: &http.Client{Timeout: maxTimeout * time.Second}}
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
	handlers, err := e.discover()
	s.check("discovery", errors.Join(err, checkFailurePolicies(handlers)))
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

// checkAnswers checks how each handler answers.
func (e *extension) checkAnswers(handlers []runtimehooksv1.ExtensionHandler) error {
	problems := map[string][]error{}
	for _, handler := range handlers {
		hook := hookOf(handler)
		if !e.catalog.IsHookRegistered(hook) {
			continue
		}
		request, err := e.request(hook)
		if err != nil {
			return err
		}
		for rule, problem := range e.callHandler(hook, handler.Name, request) {
			problems[rule] = append(problems[rule], problem)
		}
	}
	for _, rule := range []string{"responses", "response-time", "idempotence", "deterministic", "error-messages", "bad-requests"} {
		e.check(rule, errors.Join(problems[rule]...))
	}
	return nil
}

// callHandler calls a handler twice with the same request, and then with wrong ones. It returns the
// problems by their rules.
func (e *extension) callHandler(hook runtimecatalog.GroupVersionHook, name string, request runtime.Object) map[string]error {
	problems := map[string]error{}
	start := time.Now()
	first, err := e.call(hook, name, request)
	took := time.Since(start)
	if err == nil {
		err = checkAnswer(first)
	}
	if err != nil {
		problems["responses"] = fmt.Errorf("the handler %q: %w", name, err)
		return problems
	}
	start = time.Now()
	second, err := e.call(hook, name, request)
	// The machine may have been busy during one of the calls.
	if took = min(took, time.Since(start)); took > soon {
		problems["response-time"] = fmt.Errorf("the handler %q took %s", name, took.Round(time.Millisecond))
	}
	if err != nil {
		problems["idempotence"] = fmt.Errorf("the handler %q answers only the first call: %w", name, err)
		return problems
	}
	was, is := statusOfAnswer(first), statusOfAnswer(second)
	switch {
	case was.GetStatus() == runtimehooksv1.ResponseStatusSuccess && is.GetStatus() != was.GetStatus():
		problems["idempotence"] = fmt.Errorf("the handler %q succeeds only once: %q", name, is.GetMessage())
	case was.GetStatus() == runtimehooksv1.ResponseStatusFailure && was.GetMessage() != is.GetMessage():
		problems["error-messages"] = fmt.Errorf("the handler %q gives two messages for one error: %q and %q", name, was.GetMessage(), is.GetMessage())
	case fields.Show(first) != fields.Show(second):
		problems["deterministic"] = fmt.Errorf("the handler %q answers the same request with %s and %s", name, fields.Show(first), fields.Show(second))
	}
	if err := e.callBadly(hook, name); err != nil {
		problems["bad-requests"] = fmt.Errorf("the handler %q: %w", name, err)
	}
	return problems
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

// request returns a request for a hook about a small Cluster.
func (e *extension) request(hook runtimecatalog.GroupVersionHook) (runtime.Object, error) {
	request, err := e.catalog.NewRequest(hook)
	if err != nil {
		return nil, err
	}
	version := e.checker.Config.prefixedVersion()
	cluster := clusterv1.Cluster{
		TypeMeta:   metav1.TypeMeta{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster"},
		ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: "conformance", UID: "5b5a8b2c-0000-4000-8000-000000000000"},
		Spec:       clusterv1.ClusterSpec{Topology: clusterv1.Topology{ClassRef: clusterv1.ClusterClassRef{Name: "class"}, Version: version}},
	}
	// Each kind of request takes what it has.
	fields, err := json.Marshal(map[string]any{
		"cluster": cluster, "kubernetesVersion": version, "fromKubernetesVersion": version, "toKubernetesVersion": version,
		"fromControlPlaneKubernetesVersion": version, "fromWorkersKubernetesVersion": version, "settings": map[string]string{},
		"variables": []any{}, "items": []any{},
	})
	if err != nil {
		return nil, err
	}
	return request, json.Unmarshal(fields, request)
}

// call calls a handler and returns its answer.
func (e *extension) call(hook runtimecatalog.GroupVersionHook, name string, request runtime.Object) (runtime.Object, error) {
	kind, err := e.catalog.Request(hook)
	if err != nil {
		return nil, err
	}
	request.GetObjectKind().SetGroupVersionKind(kind)
	body, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	status, content, err := e.post(runtimecatalog.GVHToPath(hook, name), body)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("it answers with the HTTP status %d: %.200s", status, content)
	}
	response, err := e.catalog.NewResponse(hook)
	if err != nil {
		return nil, err
	}
	// Cluster API ignores what it does not know, such as fields of newer versions.
	if err := json.NewDecoder(bytes.NewReader(content)).Decode(response); err != nil {
		return nil, fmt.Errorf("the answer is no %T: %w", response, err)
	}
	return response, nil
}

func (e *extension) post(path string, body []byte) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(e.ctx, maxTimeout*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := e.client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return response.StatusCode, content, err
}

// callBadly sends what is no request. Any answer but a success will do.
func (e *extension) callBadly(hook runtimecatalog.GroupVersionHook, name string) error {
	for _, body := range []string{"", "{", `[1]`} {
		status, content, err := e.post(runtimecatalog.GVHToPath(hook, name), []byte(body))
		if err != nil {
			return fmt.Errorf("the request %q gets no answer: %w", body, err)
		}
		var answer struct{ Status runtimehooksv1.ResponseStatus }
		if json.Unmarshal(content, &answer) == nil && status == http.StatusOK && answer.Status == runtimehooksv1.ResponseStatusSuccess {
			return fmt.Errorf("the request %q gets a success", body)
		}
	}
	return nil
}
