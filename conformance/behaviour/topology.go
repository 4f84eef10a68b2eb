// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
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

// answerConfigured is like answer, but without the suite's own request. Rules are not run if the configuration has none.
func (s *story) answerConfigured(hook string, call func(*extension, runtimecatalog.GroupVersionHook, string, []runtime.Object) error) error {
	if len(s.checker.Config.Kinds[RuntimeExtension].Requests[hook]) == 0 {
		s.noneRun("the configuration has no request for the hook " + hook)
		return nil
	}
	return s.answer(hook, func(e *extension, hook runtimecatalog.GroupVersionHook, name string, requests []runtime.Object) error {
		return call(e, hook, name, requests[1:])
	})
}

// answer calls a function for each handler of a hook. The requests are the suite's own, which comes first, and those of
// the configuration.
func (s *story) answer(hook string, call func(*extension, runtimecatalog.GroupVersionHook, string, []runtime.Object) error) error {
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
	for _, handler := range handlers {
		requests, err := e.requests(hookOf(handler))
		if err != nil {
			return err
		}
		if err := call(e, hookOf(handler), handler.Name, requests); err != nil {
			return fmt.Errorf("the handler %q: %w", handler.Name, err)
		}
	}
	return nil
}

// success calls a handler, and returns an error unless it succeeds.
func (e *extension) success(hook runtimecatalog.GroupVersionHook, name string, request runtime.Object) (runtime.Object, error) {
	answer, err := e.call(hook, name, request)
	if err != nil {
		return nil, err
	}
	if response := statusOfAnswer(answer); response.GetStatus() != runtimehooksv1.ResponseStatusSuccess {
		return nil, fmt.Errorf("it answers with the status %q: %s", response.GetStatus(), response.GetMessage())
	}
	return answer, nil
}

func patchesOfExtension(s *story) error {
	return s.answerConfigured("GeneratePatches", func(e *extension, hook runtimecatalog.GroupVersionHook, name string, requests []runtime.Object) error {
		ask := func(request *runtimehooksv1.GeneratePatchesRequest) (patches, error) {
			answer, err := e.success(hook, name, request)
			if err != nil {
				return nil, err
			}
			return patchesIn(answer)
		}
		patched := false
		for _, content := range requests {
			request, ok := content.(*runtimehooksv1.GeneratePatchesRequest)
			if !ok {
				return fmt.Errorf("its request is a %T", content)
			}
			first, err := ask(request)
			if err != nil {
				return err
			}
			if len(first) == 0 {
				continue
			}
			patched = true
			e.check("patches-deterministic", e.checkRepeated(request, first, ask))
			e.check("patches-needed", checkNeeded(request, first, ask))
			e.check("patches-input", checkInput(request, ask))
		}
		if !patched {
			return errors.New("no request of the configuration gets patches, so nothing can be said about them")
		}
		return nil
	})
}

// patches holds the patches of each template, in order, by the template's UID.
type patches map[types.UID][]patch

// asking asks an extension for patches.
type asking func(*runtimehooksv1.GeneratePatchesRequest) (patches, error)

// patch is what an extension answers for a template.
type patch struct {
	kind    runtimehooksv1.PatchType
	content any
	raw     []byte
}

// patchesIn returns the patches of an answer that do something, by template.
func patchesIn(answer runtime.Object) (patches, error) {
	response, ok := answer.(*runtimehooksv1.GeneratePatchesResponse)
	if !ok {
		return nil, fmt.Errorf("its answer is a %T", answer)
	}
	found := patches{}
	for _, item := range response.Items {
		one := patch{kind: item.PatchType, raw: item.Patch}
		if err := json.Unmarshal(item.Patch, &one.content); err != nil {
			return nil, fmt.Errorf("the patch for %s is no JSON: %w", item.UID, err)
		}
		// Cluster API's own library answers with empty patches.
		if content := reflect.ValueOf(one.content); content.IsValid() && (content.Kind() == reflect.Map || content.Kind() == reflect.Slice) && content.Len() == 0 {
			continue
		}
		found[item.UID] = append(found[item.UID], one)
	}
	return found, nil
}

func (p patch) apply(object []byte) ([]byte, error) {
	switch p.kind {
	case runtimehooksv1.JSONMergePatchType:
		return jsonpatch.MergePatch(object, p.raw)
	case runtimehooksv1.JSONPatchType:
		operations, err := jsonpatch.DecodePatch(p.raw)
		if err != nil {
			return nil, err
		}
		return operations.Apply(object)
	default:
		return nil, fmt.Errorf("patchType is %q, want JSONPatch or JSONMergePatch", p.kind)
	}
}

// checkRepeated asks several times, and also checks how long the fastest answer takes.
func (e *extension) checkRepeated(request *runtimehooksv1.GeneratePatchesRequest, first patches, ask asking) error {
	fastest := time.Hour
	var problem error
	for range tries {
		start := time.Now()
		again, err := ask(request)
		fastest = min(fastest, time.Since(start))
		switch {
		case err != nil:
			problem = errors.Join(problem, fmt.Errorf("the same request again: %w", err))
		case problem == nil && !same(first, again):
			problem = fmt.Errorf("the same request gets the patches %s and %s", show(first), show(again))
		}
	}
	var slow error
	if fastest > fast {
		slow = fmt.Errorf("the fastest of %d answers took %s, want at most %s", tries, fastest.Round(time.Millisecond), fast)
	}
	e.check("patches-response-time", slow)
	return problem
}

func same(a, b patches) bool { return show(a) == show(b) }

func show(found patches) string {
	contents := map[string]any{}
	for uid, all := range found {
		shown := make([]any, 0, len(all))
		for _, one := range all {
			shown = append(shown, map[string]any{string(one.kind): one.content})
		}
		contents[string(uid)] = shown
	}
	return fields.Show(contents)
}

// checkNeeded applies the patches, and asks again: then the templates are as the extension wants them.
func checkNeeded(request *runtimehooksv1.GeneratePatchesRequest, first patches, ask asking) error {
	patched := request.DeepCopy()
	for i, item := range patched.Items {
		object := item.Object.Raw
		for _, one := range first[item.UID] {
			changed, err := one.apply(object)
			if err != nil {
				return fmt.Errorf("the patch for %s cannot be applied: %w", item.UID, err)
			}
			if jsonpatch.Equal(changed, object) {
				return fmt.Errorf("the patch %s changes nothing", one.raw)
			}
			object = changed
		}
		patched.Items[i].Object.Raw = object
	}
	again, err := ask(patched)
	if err != nil {
		return fmt.Errorf("with its own patches: %w", err)
	}
	if len(again) > 0 {
		return fmt.Errorf("templates that have its patches get patches again: %s", show(again))
	}
	return nil
}

// checkInput asks for patches of templates of another kind, and with variables of a wrong type. A failure is
// an answer, and so is to leave them alone.
func checkInput(request *runtimehooksv1.GeneratePatchesRequest, ask asking) error {
	foreign := request.DeepCopy()
	for i := range foreign.Items {
		var object map[string]any
		if err := json.Unmarshal(foreign.Items[i].Object.Raw, &object); err != nil {
			return fmt.Errorf("requests: GeneratePatches: items[%d].object: %w", i, err)
		}
		object["apiVersion"], object["kind"] = strange+"/v1", "ConformanceTemplate"
		raw, err := json.Marshal(object)
		if err != nil {
			return err
		}
		foreign.Items[i].Object.Raw = raw
	}
	if found, err := ask(foreign); err == nil && len(found) > 0 {
		return fmt.Errorf("templates of the kind ConformanceTemplate of %s get the patches %s", strange, show(found))
	}
	for i, variable := range request.Variables {
		if variable.Name == runtimehooksv1.BuiltinsName {
			continue
		}
		wrong := request.DeepCopy()
		wrong.Variables[i].Value.Raw = []byte(`{"` + strange + `":[]}`)
		found, err := ask(wrong)
		if err == nil && bytes.Contains([]byte(show(found)), []byte(strange)) {
			return fmt.Errorf("the value %s of the variable %s is in the patches %s", wrong.Variables[i].Value.Raw, variable.Name, show(found))
		}
	}
	return nil
}

func inPlacePatchesOfExtension(s *story) error {
	var problems []error
	answered := false
	for _, hook := range []string{"CanUpdateMachine", "CanUpdateMachineSet"} {
		err := s.answer(hook, func(e *extension, hook runtimecatalog.GroupVersionHook, name string, requests []runtime.Object) error {
			for _, request := range requests {
				answer, err := e.success(hook, name, request)
				if err != nil {
					return err
				}
				answered = true
				problems = append(problems, checkInPlacePatches(answer))
			}
			return nil
		})
		if err != nil && !errors.Is(err, errNoHandler) {
			return err
		}
	}
	if answered {
		s.check("in-place-patches", errors.Join(problems...))
	}
	return nil
}

// checkInPlacePatches checks the format of all patches in an answer.
func checkInPlacePatches(answer runtime.Object) error {
	data, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	var problems []error
	for name, content := range all {
		found := runtimehooksv1.Patch{}
		if json.Unmarshal(content, &found) != nil || !found.IsDefined() {
			continue // not a patch
		}
		switch found.PatchType {
		case runtimehooksv1.JSONMergePatchType:
			var object map[string]any
			err = json.Unmarshal(found.Patch, &object)
		case runtimehooksv1.JSONPatchType:
			_, err = jsonpatch.DecodePatch(found.Patch)
		default:
			err = errors.New("want the type JSONPatch or JSONMergePatch")
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s of the type %q is %.200q: %w", name, found.PatchType, found.Patch, err))
		}
	}
	return errors.Join(problems...)
}
