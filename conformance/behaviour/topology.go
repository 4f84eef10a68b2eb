// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
)

const (
	// fast is how quickly an extension must answer with patches.
	fast = 200 * time.Millisecond
	// tries is how often it is asked: the machine may be busy during most of the calls.
	tries = 10
	// strange is in what no extension may patch, and in no patch.
	strange = "conformance.example.com"
)

var errNoHandler = errors.New("no handler answers it")

// refusal is an answer with the status Failure.
type refusal struct{ message string }

func (r refusal) Error() string { return "it answers with the status Failure: " + r.message }

func refused(err error) bool {
	_, is := errors.AsType[refusal](err)
	return is
}

// handler is one that answers a hook.
type handler struct {
	*extension
	hook runtimecatalog.GroupVersionHook
	name string
}

// requestScenarios need requests that only the provider's configuration can know.
func requestScenarios() []scenario {
	return []scenario{
		{"patches of an extension", RuntimeExtension, Waiting, []string{
			"patches-deterministic", "patches-response-time", "patches-needed", "patches-input",
		}, patchesOfExtension},
		{"upgrade plan of an extension", RuntimeExtension, Waiting, []string{"upgrade-plan"}, planOfExtension},
		{"patches in place of an extension", RuntimeExtension, Waiting, []string{"in-place-patches"}, inPlacePatchesOfExtension},
	}
}

// findings are what the answers to all requests show, by rule. A rule without problems holds.
type findings map[string][]error

func (f findings) add(rule string, problem error) {
	f[rule] = append(f[rule], problem)
}

// record checks the rules of findings. If there is an error, some requests have no answer, so no rule holds for all of them.
func (s *story) record(found findings, err error) error {
	for _, rule := range slices.Sorted(maps.Keys(found)) {
		if problem := errors.Join(found[rule]...); problem != nil || err == nil {
			s.check(rule, problem)
		}
	}
	return err
}

// answerConfigured is like answer, but without the suite's own request. Rules are not run if the configuration has none.
func (s *story) answerConfigured(hook string, call func(h handler, request runtime.Object) error) error {
	if len(s.checker.Config.Kinds[RuntimeExtension].Requests[hook]) == 0 {
		s.noneRun("the configuration has no request for the hook " + hook)
		return nil
	}
	return s.answer(hook, func(h handler, number int, request runtime.Object) error {
		if number == 0 {
			return nil
		}
		return call(h, request)
	})
}

// answer calls a function for each handler of a hook and each request. Request 0 is the suite's own; the
// others are from the configuration. If the function fails, it goes on with the next request.
func (s *story) answer(hook string, call func(h handler, number int, request runtime.Object) error) error {
	e, err := s.newExtension()
	if err != nil {
		return err
	}
	handlers, err := e.discover()
	if err != nil {
		return err
	}
	handlers = slices.DeleteFunc(handlers, func(h runtimehooksv1.ExtensionHandler) bool {
		return h.RequestHook.Hook != hook || !e.catalog.IsHookRegistered(hookOf(h))
	})
	if len(handlers) == 0 {
		return fmt.Errorf("%s: %w", hook, errNoHandler)
	}
	var problems []error
	for _, found := range handlers {
		requests, err := e.requests(hookOf(found))
		if err != nil {
			return err
		}
		for number, request := range requests {
			if err := call(handler{e, hookOf(found), found.Name}, number, request); err != nil {
				problems = append(problems, fmt.Errorf("the handler %q: %w", found.Name, err))
			}
		}
	}
	return errors.Join(problems...)
}

// success calls a handler, and returns an error unless it succeeds.
func (h handler) success(request runtime.Object) (runtime.Object, error) {
	answer, err := h.call(h.hook, h.name, request)
	if err != nil {
		return nil, err
	}
	switch response := statusOfAnswer(answer); response.GetStatus() {
	case runtimehooksv1.ResponseStatusSuccess:
		return answer, nil
	case runtimehooksv1.ResponseStatusFailure:
		return nil, refusal{response.GetMessage()}
	default:
		return nil, fmt.Errorf("it answers with the status %q: %s", response.GetStatus(), response.GetMessage())
	}
}

func patchesOfExtension(s *story) error {
	found := findings{}
	patched := map[string]bool{}
	err := s.answerConfigured("GeneratePatches", func(h handler, content runtime.Object) error {
		request, ok := content.(*runtimehooksv1.GeneratePatchesRequest)
		if !ok {
			return fmt.Errorf("its request is a %T", content)
		}
		foreign, err := ofAnotherKind(request)
		if err != nil {
			return err
		}
		first, err := h.patches(request)
		if err != nil {
			return err
		}
		patched[h.name] = patched[h.name] || len(first.given) > 0
		if len(first.given) == 0 {
			return nil
		}
		found.add("patches-needed", errors.Join(first.problems...))
		deterministic, slow := h.checkRepeated(request, first)
		found.add("patches-deterministic", deterministic)
		found.add("patches-response-time", slow)
		found.add("patches-input", errors.Join(h.checkKinds(foreign), h.checkVariables(request, first)))
		return nil
	})
	for _, name := range slices.Sorted(maps.Keys(patched)) {
		if !patched[name] {
			err = errors.Join(err, fmt.Errorf("the handler %q: no request of the configuration gets patches, so nothing can be said about them", name))
		}
	}
	return s.record(found, err)
}

// patches asks for patches.
func (h handler) patches(request *runtimehooksv1.GeneratePatchesRequest) (patches, error) {
	answer, err := h.success(request)
	if err != nil {
		return patches{}, err
	}
	return patchesOf(request, answer), nil
}

// checkRepeated asks several times. It also returns an error if even the fastest answer takes too long.
func (h handler) checkRepeated(request *runtimehooksv1.GeneratePatchesRequest, first patches) (problem, slow error) {
	fastest := time.Hour
	for range tries {
		start := time.Now()
		again, err := h.patches(request)
		fastest = min(fastest, time.Since(start))
		switch {
		case err != nil:
			problem = errors.Join(problem, fmt.Errorf("the same request again: %w", err))
		case problem == nil && !first.same(again):
			problem = fmt.Errorf("the same request gets %s and %s", first, again)
		}
	}
	if fastest > fast {
		slow = fmt.Errorf("the fastest of %d answers took %s, want at most %s", tries, fastest.Round(time.Millisecond), fast)
	}
	return problem, slow
}

// ofAnotherKind returns a request about templates of a kind that no extension knows.
func ofAnotherKind(request *runtimehooksv1.GeneratePatchesRequest) (*runtimehooksv1.GeneratePatchesRequest, error) {
	foreign := request.DeepCopy()
	for i := range foreign.Items {
		var object map[string]any
		if err := json.Unmarshal(foreign.Items[i].Object.Raw, &object); err != nil {
			return nil, fmt.Errorf("requests: GeneratePatches: items[%d].object: %w", i, err)
		}
		object["apiVersion"], object["kind"] = strange+"/v1", "ConformanceTemplate"
		raw, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		foreign.Items[i].Object.Raw = raw
	}
	return foreign, nil
}

// checkKinds asks for patches of templates of another kind. A failure is an answer, and so is to leave them alone.
func (h handler) checkKinds(foreign *runtimehooksv1.GeneratePatchesRequest) error {
	found, err := h.patches(foreign)
	if err != nil && !refused(err) {
		return fmt.Errorf("for templates of the kind ConformanceTemplate of %s: %w", strange, err)
	}
	if len(found.given) > 0 {
		return fmt.Errorf("templates of the kind ConformanceTemplate of %s get %s", strange, found)
	}
	return nil
}

// checkVariables leaves out each variable, and gives it a value of another type. A failure is an answer, and so are the
// patches with the right value, or without one.
func (h handler) checkVariables(request *runtimehooksv1.GeneratePatchesRequest, first patches) error {
	var problems []error
	for i, variable := range request.Variables {
		if variable.Name == runtimehooksv1.BuiltinsName {
			continue
		}
		without := request.DeepCopy()
		without.Variables = slices.Delete(without.Variables, i, i+1)
		absent, absentErr := h.patches(without)
		if absentErr != nil && !refused(absentErr) {
			problems = append(problems, fmt.Errorf("without the variable %s: %w", variable.Name, absentErr))
		}
		wrong := request.DeepCopy()
		wrong.Variables[i].Value.Raw = ofAnotherType(variable.Value.Raw)
		found, err := h.patches(wrong)
		switch {
		case refused(err):
		case err != nil:
			problems = append(problems, fmt.Errorf("with the value %s of the variable %s: %w", wrong.Variables[i].Value.Raw, variable.Name, err))
		case !found.same(first) && (absentErr != nil || !found.same(absent)):
			problems = append(problems, fmt.Errorf("the value %s of the variable %s gets %s, and %s gets %s",
				wrong.Variables[i].Value.Raw, variable.Name, found, variable.Value.Raw, first))
		}
	}
	return errors.Join(problems...)
}

// ofAnotherType returns a value that is no object if the other one is an object or a list, and otherwise one.
func ofAnotherType(value []byte) []byte {
	if trimmed := bytes.TrimSpace(value); bytes.HasPrefix(trimmed, []byte("{")) || bytes.HasPrefix(trimmed, []byte("[")) {
		return []byte(`"` + strange + `"`)
	}
	return []byte(`{"` + strange + `":[]}`)
}

func inPlacePatchesOfExtension(s *story) error {
	found := findings{}
	var problems []error
	handled := false
	for _, hook := range []string{"CanUpdateMachine", "CanUpdateMachineSet"} {
		err := s.answer(hook, func(h handler, number int, request runtime.Object) error {
			handled = true
			answer, err := h.success(request)
			if number == 0 && refused(err) {
				return nil // the suite's own request has no objects of providers
			}
			if err != nil {
				return err
			}
			for _, one := range changesIn(answer) {
				if apply, err := one.decode(); err != nil {
					found.add("in-place-patches", fmt.Errorf("%s of the type %q is %.200q: %w", one.of, one.kind, one.patch, err))
				} else if apply != nil {
					found.add("in-place-patches", nil)
				}
			}
			return nil
		})
		if !errors.Is(err, errNoHandler) {
			problems = append(problems, err)
		}
	}
	if handled && len(found) == 0 {
		s.notRun("in-place-patches", "no answer has a patch; add a request with a change that can be made in place to requests in the configuration")
	}
	return s.record(found, errors.Join(problems...))
}
