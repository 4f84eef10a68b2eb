// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package observer

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

var errUnreachable = errors.New("unreachable")

// server returns the configuration for an API server with one Node, to which the first connections
// fail.
func server(t *testing.T, failures int32) *rest.Config {
	t.Helper()
	var connections atomic.Int32
	return serverWith(t, func(ctx context.Context, network, address string) (net.Conn, error) {
		if connections.Add(1) <= failures {
			return nil, errUnreachable
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	})
}

func serverWith(t *testing.T, dial func(ctx context.Context, network, address string) (net.Conn, error)) *rest.Config {
	t.Helper()
	answers := map[string]any{
		"/api":  metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}},
		"/apis": metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}},
		"/api/v1": metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: "v1",
			APIResources: []metav1.APIResource{{Name: "nodes", Kind: "Node", Verbs: metav1.Verbs{"list", "watch"}}},
		},
		"/api/v1/nodes": corev1.NodeList{
			TypeMeta: metav1.TypeMeta{Kind: "NodeList", APIVersion: "v1"}, ListMeta: metav1.ListMeta{ResourceVersion: "1"},
			Items: []corev1.Node{{ObjectMeta: metav1.ObjectMeta{Name: "one", ResourceVersion: "1"}}},
		},
	}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("sendInitialEvents") != "" {
			http.Error(w, "this server only lists", http.StatusUnprocessableEntity)
			return
		}
		if r.URL.Query().Get("watch") != "" {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(answers[r.URL.Path]); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(api.Close)
	return &rest.Config{Host: api.URL, Dial: dial, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
}

func TestStartWaitsForAnAPIServerThatDoesNotAnswerYet(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	config := server(t, 3)
	o, err := Start(ctx, config, Options{Scheme: scheme.Scheme}, &corev1.Node{})
	if err != nil {
		t.Fatal(err)
	}
	var nodes corev1.NodeList
	if err := o.List(ctx, &nodes); err != nil || len(nodes.Items) != 1 {
		t.Errorf("list: %d Nodes, %v, want one", len(nodes.Items), err)
	}
	cancel() // the watch holds the server's connection
}

func TestStartSaysWhyItGaveUp(t *testing.T) {
	late := errors.New("too late")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var connections atomic.Int32
	config := serverWith(t, func(context.Context, string, string) (net.Conn, error) {
		if connections.Add(1) > 3 {
			cancel(late)
		}
		return nil, errUnreachable
	})
	_, err := Start(ctx, config, Options{Scheme: scheme.Scheme}, &corev1.Node{})
	if !errors.Is(err, late) || !errors.Is(err, errUnreachable) {
		t.Errorf("error %v, want the end of the context and the last failure", err)
	}
}

// An API server that answers has said all there is to say.
func TestStartDoesNotWaitForAKindThatDoesNotExist(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := Start(ctx, server(t, 0), Options{Scheme: scheme.Scheme}, &corev1.Pod{}); err == nil || ctx.Err() != nil {
		t.Errorf("error %v after the end of the context: %v, want one before", err, ctx.Err())
	}
}
