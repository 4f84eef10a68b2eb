// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
)

// cloudClient calls the HTTP API of the Foo cloud, as described in its OpenAPI document.
type cloudClient struct {
	http  *http.Client
	token string
}

// instanceOrder is a request for an instance.
type instanceOrder struct {
	Name              string `json:"name"`
	Hostname          string `json:"hostname"`
	Type              string `json:"type"`
	KubernetesVersion string `json:"kubernetesVersion"`
	UserData          []byte `json:"userData"`
}

// instance holds the fields of an instance that matter here.
type instance struct {
	ID        string `json:"id"`
	State     string `json:"state"`
	Message   string `json:"message"`
	Bootstrap struct {
		State   string `json:"state"`
		Message string `json:"message"`
	} `json:"bootstrap"`
}

// newCloudClient returns a client for an endpoint unix://<path of a socket>.
func newCloudClient(endpoint, tokenFile string) (*cloudClient, error) {
	socket, ok := strings.CutPrefix(endpoint, "unix://")
	if !ok {
		return nil, fmt.Errorf("cloud endpoint %q: want unix://<path>", endpoint)
	}
	token, err := os.ReadFile(tokenFile)
	if err != nil {
		return nil, err
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &cloudClient{
		http:  &http.Client{Transport: &http.Transport{DialContext: dial}},
		token: strings.TrimSpace(string(token)),
	}, nil
}

// statusError is an unsuccessful response of the cloud.
type statusError struct {
	call, text string
	code       int
}

func (e *statusError) Error() string { return fmt.Sprintf("%s: %d %s", e.call, e.code, e.text) }

// do makes a call and returns the body of the response, which the caller must close.
func (c *cloudClient) do(ctx context.Context, method, path string, body io.Reader) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://foocloud"+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode < 300 {
		return response.Body, nil
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	return nil, &statusError{call: method + " " + path, text: strings.TrimSpace(string(text)), code: response.StatusCode}
}

// read makes a call and decodes the response.
func (c *cloudClient) read(ctx context.Context, path string, into any) error {
	body, err := c.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	return json.NewDecoder(body).Decode(into)
}

// order creates an instance.
func (c *cloudClient) order(ctx context.Context, order instanceOrder) (*instance, error) {
	content, err := json.Marshal(order)
	if err != nil {
		return nil, err
	}
	body, err := c.do(ctx, http.MethodPost, "/v1/instances", bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	made := &instance{}
	return made, json.NewDecoder(body).Decode(made)
}

// console returns the output of an instance's first process and of its bootstrap commands.
func (c *cloudClient) console(ctx context.Context, id string) (string, error) {
	body, err := c.do(ctx, http.MethodGet, "/v1/instances/"+id+"/console", nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = body.Close() }()
	text, err := io.ReadAll(body)
	return string(text), err
}

// until checks now and after each event of the cloud, until done returns true or an error.
func (c *cloudClient) until(ctx context.Context, done func() (bool, error)) error {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	body, err := c.do(watching, http.MethodGet, "/v1/watch", nil)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	for events := json.NewDecoder(body); ; {
		var event struct {
			Kind string `json:"kind"`
		}
		if err := events.Decode(&event); err != nil { // the first is Synced: later events are not missed
			return fmt.Errorf("watch the cloud: %w", err)
		}
		if ok, err := done(); ok || err != nil {
			return err
		}
	}
}
