// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	. "github.com/onsi/gomega"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"github.com/capfoo/cluster-api-provider-foo/extensions/lifecycle"
	"github.com/capfoo/cluster-api-provider-foo/extensions/settings"
	"github.com/capfoo/cluster-api-provider-foo/extensions/work"
)

var doWork = settings.Switch("work", "Whether the hooks do anything.")

// switched is a task that the setting turns on.
type switched struct{}

func (switched) Wanted(given map[string]string) (bool, error) { return doWork.Get(given) }

func (switched) Run(context.Context, work.Job) (work.Outcome, error) { return work.Outcome{}, nil }

// waiting is a ledger in which all jobs wait.
type waiting struct{}

func (waiting) Ask(_ context.Context, job work.Job) (work.Answer, error) {
	return work.Answer{State: work.Waiting, Message: job.Cluster.String()}, nil
}

func handlers() Handlers {
	tasks := map[string]work.Task{}
	for _, hook := range lifecycle.Names() {
		tasks[hook] = switched{}
	}
	return Handlers{Lifecycle: lifecycle.New(lifecycle.Options{Jobs: waiting{}, Tasks: tasks, Settings: []settings.Doc{doWork.Doc()}})}
}

// FuzzHandlers sends any JSON to each handler. No handler panics, each reports its status, and a
// failure has a message.
func FuzzHandlers(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `{"cluster":null}`, `{"settings":{"work":"Enabled"}}`, `{"settings":{"work":"Enabled"},"cluster":{"metadata":{"name":"a","namespace":"b","uid":"c"}}}`,
		`{"settings":{"work":"Enabled"},"cluster":{"metadata":{"name":"a","namespace":"b","uid":"c","annotations":{"foo.cluster.x-k8s.io/skip-hooks":",, ,x,BeforeClusterCreate"}}},"controlPlaneUpgrades":[{},{"version":"v1"}]}`,
		`{"settings":{"":""},"fromKubernetesVersion":"v1.35.4","toKubernetesVersion":"not a version","cluster":{"spec":{"topology":{"version":"` + "\u0000" + `"}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		g := NewWithT(t)
		for _, handler := range handlers().list() {
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
