// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine/fake"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/registry"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/server"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
)

const (
	version   = "v1.36.3"
	tokenA    = "token-of-a"
	tokenB    = "token-of-b"
	tokenSlow = "token-of-slow"
	// viewerTokenA is for calls that change nothing.
	viewerTokenA = "viewer-token-of-a"
)

// world is a local cloud with fake machines and load balancers, behind a server whose requests and
// responses are all checked against the OpenAPI document.
type world struct {
	*GomegaWithT
	t         *testing.T
	engine    *engine.Engine
	machines  *fake.Machines
	balancers *fake.Balancers
	client    *client.Client
	other     *client.Client
	slow      *client.Client
	handler   http.Handler
	endpoint  string
	caFile    string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{GomegaWithT: NewWithT(t), t: t, machines: fake.NewMachines(), balancers: fake.NewBalancers()}
	state, err := store.Open(filepath.Join(t.TempDir(), "state.db"))
	w.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = state.Close() })
	e := engine.New(engine.Options{
		Store: state, Machines: w.machines, Balancers: w.balancers, Network: netip.MustParsePrefix("10.91.0.0/24"),
		Zones:         []cloud.Zone{{Name: "zone-b"}, {Name: "zone-a", ControlPlane: true}},
		InstanceTypes: []cloud.InstanceType{{Name: "small", CPUs: 2, MemoryBytes: 1 << 31}},
		Images: func() ([]cloud.Image, error) {
			return []cloud.Image{{KubernetesVersion: version}, {Name: "gpu", KubernetesVersion: version}}, nil
		},
		Limits: map[string]cloud.Resources{"a": {Instances: 3, LoadBalancers: 1}, "b": {}},
	})
	w.engine = e
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(e.Wait)
	t.Cleanup(cancel)
	w.Expect(e.Start(ctx)).To(Succeed())
	handler, err := server.New([]server.Tenant{
		{Name: "a", Token: tokenA, ViewerToken: viewerTokenA, Backend: e.Tenant("a")},
		{Name: "b", Token: tokenB, Backend: e.Tenant("b")},
		{Name: "slow", Token: tokenSlow, Backend: e.Tenant("slow"), RequestsPerSecond: 1},
	})
	w.Expect(err).NotTo(HaveOccurred())
	handler.Images, err = registry.Open(registry.Options{Folder: filepath.Join(t.TempDir(), "images")})
	w.Expect(err).NotTo(HaveOccurred())
	w.handler = handler
	w.serve(t, handler)
	w.client, w.other, w.slow = w.as(tokenA), w.as(tokenB), w.as(tokenSlow)
	return w
}

func (w *world) serve(t *testing.T, handler http.Handler) {
	t.Helper()
	web := httptest.NewTLSServer(validated(t, handler))
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	w.endpoint = web.URL
	w.caFile = filepath.Join(t.TempDir(), "ca.crt")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw})
	w.Expect(os.WriteFile(w.caFile, text, 0o600)).To(Succeed())
}

func (w *world) as(token string) *client.Client {
	c, err := client.NewClient(client.Options{Endpoint: w.endpoint, Token: token, CAFile: w.caFile})
	w.Expect(err).NotTo(HaveOccurred())
	return c
}

func loadDocument(t *testing.T) (*openapi3.T, routers.Router) {
	t.Helper()
	g := NewWithT(t)
	document, err := openapi3.NewLoader().LoadFromData(api.Document)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(document.Validate(context.Background())).To(Succeed())
	g.Expect(string(api.Document)).NotTo(ContainSubstring("<<:"), "YAML 1.2, which OpenAPI 3 asks for, has no merge keys")
	router, err := legacy.NewRouter(document)
	g.Expect(err).NotTo(HaveOccurred())
	return document, router
}

// validated fails the test if a request that the server accepts, or a response that it sends,
// violates the document.
func validated(t *testing.T, handler http.Handler) http.Handler {
	t.Helper()
	openapi3filter.RegisterBodyDecoder(api.Lines, openapi3filter.FileBodyDecoder)
	openapi3filter.RegisterBodyDecoder(api.Tar, openapi3filter.FileBodyDecoder)
	_, router := loadDocument(t)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		route, params, err := router.FindRoute(r)
		if err != nil {
			handler.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read the request: %v", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		input := &openapi3filter.RequestValidationInput{
			Request: r, PathParams: params, Route: route,
			Options: &openapi3filter.Options{
				AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true,
			},
		}
		requestProblem := openapi3filter.ValidateRequest(r.Context(), input)
		r.Body = io.NopCloser(bytes.NewReader(body))
		recorder := &recorder{ResponseWriter: w, status: http.StatusOK}
		handler.ServeHTTP(recorder, r)
		if requestProblem != nil && recorder.status < http.StatusBadRequest {
			t.Errorf("%s %s was taken though the document forbids it: %v", r.Method, r.URL, requestProblem)
		}
		checkResponse(t, input, recorder)
	})
}

func checkResponse(t *testing.T, input *openapi3filter.RequestValidationInput, recorder *recorder) {
	t.Helper()
	if recorder.Header().Get("Content-Type") == api.Lines {
		checkEvents(t, input.Route.Spec, recorder.body.Bytes())
	}
	err := openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: recorder.status, Header: recorder.Header(),
		Body: io.NopCloser(&recorder.body), Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	if err != nil {
		t.Errorf("%s %s: status %d: %v", input.Request.Method, input.Request.URL, recorder.status, err)
	}
	if kind := recorder.Header().Get("Content-Type"); recorder.status == http.StatusOK && kind == "" {
		t.Errorf("%s %s: no content type", input.Request.Method, input.Request.URL)
	}
}

// checkEvents checks each line of a stream, since the document can only describe the stream as
// text.
func checkEvents(t *testing.T, document *openapi3.T, stream []byte) {
	t.Helper()
	for line := range bytes.Lines(stream) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue // only a keepalive
		}
		var event any
		err := json.Unmarshal(line, &event)
		if err == nil {
			err = document.Components.Schemas["Event"].Value.VisitJSON(event)
		}
		if err != nil {
			t.Errorf("event %s: %v", line, err)
		}
	}
}

type recorder struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(text []byte) (int, error) {
	r.body.Write(text)
	return r.ResponseWriter.Write(text)
}

func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func TestEveryRouteIsDocumented(t *testing.T) {
	g := NewWithT(t)
	document, _ := loadDocument(t)
	var documented, served []string
	for path, item := range document.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	for _, route := range server.Routes() {
		served = append(served, route.Method+" "+route.Path)
	}
	g.Expect(served).To(ConsistOf(documented))
}

func TestDocumentIsServedWithoutToken(t *testing.T) {
	w := newWorld(t)
	for path, start := range map[string]string{api.PathDocument: "openapi: 3", api.PathHealth: "ok"} {
		response := w.get(path)
		w.Expect(response.StatusCode).To(Equal(http.StatusOK), path)
		text, err := io.ReadAll(response.Body)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(strings.HasPrefix(string(text), start)).To(BeTrue(), path)
	}
}
