//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package sharing_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// written are the objects that one manager has written with any of its clients.
type written struct {
	lock    sync.Mutex
	objects map[string]string // resource and name, by both
}

// recorder records each write request.
type recorder struct {
	next http.RoundTripper
	into *written
}

// RoundTrip passes a request on.
func (r recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	// Access reviews also send an object, but write nothing.
	if request.Method == http.MethodGet || strings.HasPrefix(request.URL.Path, "/apis/authorization.k8s.io/") {
		return r.next.RoundTrip(request)
	}
	resource, name, err := target(request)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", request.Method, request.URL.Path, err)
	}
	r.into.lock.Lock()
	r.into.objects[resource+"/"+name] = name
	r.into.lock.Unlock()
	return r.next.RoundTrip(request)
}

// target returns the object that a request writes. For a new event, it is the object that the event
// is about. The name of an event, which a repetition writes, begins with that object's name.
func target(request *http.Request) (resource, name string, err error) {
	_, below, namespaced := strings.Cut(request.URL.Path, "/namespaces/")
	parts := strings.Split(below, "/")
	if !namespaced || len(parts) < 2 {
		return "", "", fmt.Errorf("not an object in a namespace")
	}
	if len(parts) > 2 {
		return parts[1], parts[2], nil
	}
	content, err := io.ReadAll(request.Body)
	if err != nil {
		return "", "", err
	}
	request.Body = io.NopCloser(bytes.NewReader(content))
	var object struct {
		Metadata  struct{ Name, GenerateName string }
		Regarding struct{ Name string }
	}
	if err := json.Unmarshal(content, &object); err != nil {
		return "", "", err
	}
	if parts[1] == "events" {
		return parts[1], object.Regarding.Name, nil
	}
	return parts[1], object.Metadata.Name + object.Metadata.GenerateName, nil
}

// names returns the names of all written objects, with the resources of each name.
func (w *written) names() map[string][]string {
	w.lock.Lock()
	defer w.lock.Unlock()
	result := map[string][]string{}
	for key, name := range w.objects {
		result[name] = append(result[name], strings.TrimSuffix(key, "/"+name))
	}
	return result
}

// resources returns the resources of all written objects.
func (w *written) resources() []string {
	var result []string
	for _, resources := range w.names() {
		result = append(result, resources...)
	}
	return result
}
