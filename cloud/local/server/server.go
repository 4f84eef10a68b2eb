// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/console"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
)

// maxBody is the maximum size of a request: the largest user data in base64, with some room to
// spare.
const maxBody = 4 << 20

// Backend is the cloud as seen by one tenant, with its logs, commands and power
// switches.
type Backend interface {
	cloud.Cloud
	// Log opens a log of an instance.
	Log(ctx context.Context, id string, log engine.Log) (io.ReadCloser, error)
	// Exec runs a command in an instance and returns its exit code.
	Exec(ctx context.Context, id string, exec engine.Exec) (int, error)
	// CheckExec returns an error if the command cannot run in the instance.
	CheckExec(ctx context.Context, id string, command []string) error
	// SwitchInstance starts a power action on an instance.
	SwitchInstance(ctx context.Context, id string, action engine.Power) error
	Faults
}

// Faults manages the fault rules as seen by one tenant; see the methods of engine.Tenant.
type Faults interface {
	// EnsureFault adds or changes a rule.
	EnsureFault(ctx context.Context, reach fault.Reach, spec fault.Spec) (fault.Rule, error)
	// GetFault returns a rule of a tenant; of the caller if tenant is empty.
	GetFault(ctx context.Context, reach fault.Reach, tenant, name string) (fault.Rule, error)
	// ListFaults returns the rules within reach.
	ListFaults(ctx context.Context, reach fault.Reach) ([]fault.Rule, error)
	// RemoveFault removes a rule.
	RemoveFault(ctx context.Context, reach fault.Reach, tenant, name string) error
	// Disturbance draws what happens to a call.
	Disturbance(ctx context.Context) (fault.Disturbance, error)
}

// Tenant is a tenant that may call the API.
type Tenant struct {
	// Name of the tenant.
	Name string
	// Token that the tenant's calls carry.
	Token string
	// ViewerToken is for calls that change nothing; none if empty.
	ViewerToken string
	// Backend that answers the calls.
	Backend Backend
	// RequestsPerSecond that the tenant may make, also the maximum burst; 0 means no limit.
	RequestsPerSecond int
}

// Images manages the container images that instances pull; see the methods of registry.Registry.
type Images interface {
	// List returns the images.
	List() ([]api.ContainerImage, error)
	// Load adds the images of an archive.
	Load(archive io.Reader, name string) ([]api.ContainerImage, error)
	// Delete deletes an image.
	Delete(name string) error
}

// Server answers the calls of tenants.
type Server struct {
	// Images of the cloud's registry; nil if it has none. Set it before the first call.
	Images  Images
	mux     *http.ServeMux
	callers map[[sha256.Size]byte]*caller
	// several is true if there is more than one tenant.
	several bool
}

// caller is a tenant with one of its tokens.
type caller struct {
	Tenant
	// readOnly is true for the viewer token.
	readOnly bool
	// limit is the same for all tokens of a tenant.
	limit *rate.Limiter
}

// New returns a server for the tenants. All tokens must be different.
func New(tenants []Tenant) (*Server, error) {
	s := &Server{mux: http.NewServeMux(), several: len(tenants) > 1, callers: map[[sha256.Size]byte]*caller{}}
	for _, tenant := range tenants {
		c := caller{Tenant: tenant}
		if tenant.RequestsPerSecond > 0 {
			c.limit = rate.NewLimiter(rate.Limit(tenant.RequestsPerSecond), tenant.RequestsPerSecond)
		}
		err := s.admit(tenant.Token, c)
		if err == nil && tenant.ViewerToken != "" {
			c.readOnly = true
			err = s.admit(tenant.ViewerToken, c)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, route := range Routes() {
		s.mux.HandleFunc(route.Method+" "+route.Path, s.handler(route))
	}
	page, err := console.Handler()
	if err != nil {
		return nil, err
	}
	s.mux.Handle("GET "+console.Path, page)
	s.mux.Handle("GET /{$}", http.RedirectHandler(console.Path, http.StatusFound))
	s.mux.HandleFunc("/", unknown)
	return s, nil
}

// admit makes the server accept calls with a token. It looks up tokens by hash, so that the time of
// a lookup reveals nothing about the token.
func (s *Server) admit(token string, c caller) error {
	key := sha256.Sum256([]byte(token))
	switch other, ok := s.callers[key]; {
	case ok && other.Name == c.Name:
		return fmt.Errorf("tenant %q has the same token for viewers and for everything", c.Name)
	case ok:
		return fmt.Errorf("tenants %q and %q have the same token", other.Name, c.Name)
	}
	s.callers[key] = &c
	return nil
}

// ServeHTTP answers one call.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

func (s *Server) handler(route Route) http.HandlerFunc {
	if route.public != nil {
		return route.public
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Body != nil && !route.long {
			r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		}
		c, err := s.caller(r)
		if err == nil {
			err = s.answer(route, c, w, r)
		}
		if err != nil {
			fail(w, r, err)
		}
	}
}

func (s *Server) answer(route Route, c *caller, w http.ResponseWriter, r *http.Request) error {
	if c.readOnly && route.Method != http.MethodGet {
		return &cloud.UnauthorizedError{
			Message: fmt.Sprintf("the token only permits calls that change nothing; use the token of tenant %q that permits everything", c.Name),
		}
	}
	if route.long {
		// The server may limit how long other calls take.
		if err := http.NewResponseController(w).SetReadDeadline(time.Time{}); err != nil {
			return err
		}
	}
	if !route.calm {
		if err := disturb(r.Context(), c.Backend); err != nil {
			return err
		}
	}
	if route.caller != nil {
		route.caller(c, w)
		return nil
	}
	if route.images != nil {
		return s.serveImages(route, w, r)
	}
	return route.handle(c.Backend, w, r)
}

// caller returns the tenant whose token the call carries.
func (s *Server) caller(r *http.Request) (*caller, error) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !ok || token == "" {
		return nil, &cloud.UnauthorizedError{Message: "the request carries no bearer token"}
	}
	c, ok := s.callers[sha256.Sum256([]byte(token))]
	if !ok {
		return nil, &cloud.UnauthorizedError{Message: "the token belongs to no tenant; check the token file"}
	}
	if wanted := r.Header.Get(api.HeaderTenant); wanted != "" && wanted != c.Name {
		return nil, &cloud.UnauthorizedError{Message: fmt.Sprintf("the token belongs to tenant %q, but the call is for tenant %q", c.Name, wanted)}
	}
	return c, c.throttle()
}

func (c *caller) throttle() error {
	if c.limit == nil {
		return nil
	}
	reservation := c.limit.Reserve()
	delay := reservation.Delay()
	if delay == 0 {
		return nil
	}
	reservation.Cancel()
	return &cloud.ThrottledError{RetryAfter: delay.Round(time.Millisecond) + time.Millisecond}
}

// fail sends an error. An untyped error is the server's fault. It is logged here, since nothing
// else on the server reports it.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	sent := api.NewError(err)
	status := sent.Status()
	var disturbed *fault.StatusError
	if errors.As(err, &disturbed) {
		status = disturbed.Status
	} else if sent.Reason == cloud.ReasonUnknown {
		klog.Background().Error(err, "Request failed", "method", r.Method, "path", r.URL.Path)
	}
	if after := math.Ceil(sent.RetryAfterSeconds); after > 0 {
		// The body is more precise. The header is for clients and proxies that only know HTTP.
		w.Header().Set("Retry-After", strconv.Itoa(int(after)))
	}
	send(w, status, sent)
}

func unknown(w http.ResponseWriter, r *http.Request) {
	send(w, http.StatusNotFound, api.Error{
		Reason: cloud.ReasonUnknown, Message: fmt.Sprintf("the API has no %s %s, see %s", r.Method, r.URL.Path, api.PathDocument),
	})
}

func send(w http.ResponseWriter, status int, body any) {
	if err := api.Send(w, status, body); err != nil {
		klog.Background().V(1).Info("Caller disconnected before the answer was sent", "reason", err.Error())
	}
}

func receive[T any](r *http.Request) (T, error) {
	var body T
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&body)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return body, &cloud.InvalidError{Field: "body", Value: "…", Problem: fmt.Sprintf("is larger than %d bytes", tooLarge.Limit)}
	}
	if err != nil {
		return body, &cloud.InvalidError{Field: "body", Value: "…", Problem: "is not a valid request: " + err.Error()}
	}
	return body, nil
}
