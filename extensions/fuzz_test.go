// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	runtimeserver "sigs.k8s.io/cluster-api/exp/runtime/server"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/upgradeplan"
)

func served(g Gomega) []runtimeserver.ExtensionHandler {
	tasks := hooks.Tasks{}
	for _, hook := range hooks.Names() {
		tasks[hook] = []hooks.Task{{Setting: "smokeChecks"}} // Handlers only record its jobs.
	}
	scheme := runtime.NewScheme()
	g.Expect(extensionv1.AddToScheme(scheme)).To(Succeed())
	g.Expect(runtimev1.AddToScheme(scheme)).To(Succeed())
	config := &runtimev1.ExtensionConfig{
		ObjectMeta: metav1.ObjectMeta{Name: "foo"}, Spec: runtimev1.ExtensionConfigSpec{Settings: map[string]string{"smokeChecks": "Enabled"}},
	}
	management := fake.NewClientBuilder().WithScheme(scheme).WithObjects(config).Build()
	return handlers(hooks.New(management, management, tasks), upgradeplan.Planner{})
}

// FuzzHandlers sends any JSON to each handler. No handler panics, each reports its status, and a
// failure has a message.
func FuzzHandlers(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"cluster":null}`, `{"settings":{"smokeChecks":"Enabled"}}`, `{"settings":{"smokeChecks":"Enabled"},"cluster":{"metadata":{"name":"a","namespace":"b","uid":"c"}}}`,
		`{"settings":{"smokeChecks":"Enabled"},"cluster":{"metadata":{"name":"a","namespace":"b","uid":"c","annotations":{"foo.cluster.x-k8s.io/skip-hooks":",, ,x,BeforeClusterCreate"}}},"controlPlaneUpgrades":[{},{"version":"v1"}]}`,
		`{"settings":{"":""},"fromKubernetesVersion":"v1.35.4","toKubernetesVersion":"not a version","cluster":{"spec":{"topology":{"version":"` + "\u0000" + `"}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		g := NewWithT(t)
		for _, handler := range served(g) {
			call := reflect.ValueOf(handler.HandlerFunc)
			request := reflect.New(call.Type().In(1).Elem())
			if err := json.Unmarshal(body, request.Interface()); err != nil {
				continue // Cluster API's server answers with a failure
			}
			answers := map[string]bool{}
			for range 3 {
				response := reflect.New(call.Type().In(2).Elem())
				call.Call([]reflect.Value{reflect.ValueOf(context.Background()), request, response})
				check(g, response.Interface())
				encoded, err := json.Marshal(response.Interface())
				g.Expect(err).NotTo(HaveOccurred())
				answers[string(encoded)] = true
			}
			g.Expect(answers).To(HaveLen(1), "%s answers the same request in several ways", handler.Name)
		}
	})
}

func check(g Gomega, response any) {
	common, ok := response.(runtimehooksv1.ResponseObject)
	g.Expect(ok).To(BeTrue(), "%T", response)
	g.Expect(common.GetStatus()).To(BeElementOf(runtimehooksv1.ResponseStatusSuccess, runtimehooksv1.ResponseStatusFailure))
	if common.GetStatus() != runtimehooksv1.ResponseStatusFailure {
		return
	}
	g.Expect(common.GetMessage()).NotTo(BeEmpty())
	if retry, ok := response.(runtimehooksv1.RetryResponseObject); ok {
		g.Expect(retry.GetRetryAfterSeconds()).To(BeZero(), "Cluster API ignores it when the call has failed")
	}
}
