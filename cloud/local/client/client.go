// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
)

const (
	// requestTimeout is how long a call may take. A watch or a followed log may take forever.
	requestTimeout = 30 * time.Second
	dialTimeout    = 5 * time.Second
	maxIdle        = 32
	// maxErrorText is how much of a non-JSON answer becomes part of an error.
	maxErrorText = 512
)

// Options defines which cloud to talk to, and as which tenant.
type Options struct {
	// Endpoint is unix:///path/of/socket or https://host:port.
	Endpoint string
	// Token of the tenant. Empty if TokenFile is set.
	Token string
	// TokenFile holds the token. It is read on every call, so the token can be replaced.
	TokenFile string
	// CAFile holds the certificates that verify an https endpoint; the system's certificates if
	// empty.
	CAFile string
	// CA is the content of CAFile. Empty if CAFile is set.
	CA []byte
	// Tenant that the token must belong to; any tenant if empty. The cloud refuses all calls with
	// another tenant's token, so that existing objects are never mistaken for missing ones.
	Tenant string
}

// Client is a connection to a local cloud as one tenant.
type Client struct {
	options   Options
	base      string
	transport *http.Transport
	pace      pace
}

var _ cloud.Cloud = &Client{}

// NewClient returns a client. It does not connect yet. It returns an error if the options are
// invalid.
func NewClient(options Options) (*Client, error) {
	if (options.Token == "") == (options.TokenFile == "") {
		return nil, errors.New("give either a token or a token file")
	}
	endpoint, err := url.Parse(options.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("endpoint %q: %w", options.Endpoint, err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: maxIdle, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: requestTimeout, ExpectContinueTimeout: requestTimeout}
	c := &Client{options: options, transport: transport}
	dialer := &net.Dialer{Timeout: dialTimeout}
	switch {
	case endpoint.Scheme == "unix" && endpoint.Host == "" && endpoint.Path != "":
		c.base = "http://foocloud"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", endpoint.Path)
		}
	case endpoint.Scheme == "https" && endpoint.Host != "":
		c.base = "https://" + endpoint.Host
		transport.DialContext = dialer.DialContext
		transport.TLSClientConfig, err = tlsConfig(options)
	default:
		err = fmt.Errorf("endpoint %q: must be unix:///path or https://host:port", options.Endpoint)
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

func tlsConfig(options Options) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	text, from := options.CA, "what was given"
	if options.CAFile != "" {
		var err error
		if text, err = os.ReadFile(options.CAFile); err != nil {
			return nil, fmt.Errorf("read the certificates of the cloud: %w", err)
		}
		from = options.CAFile
	}
	if options.CAFile == "" && len(text) == 0 {
		return config, nil
	}
	config.RootCAs = x509.NewCertPool()
	if !config.RootCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("certificates of the cloud: %s holds no certificate in PEM format", from)
	}
	return config, nil
}

// Close closes idle connections. Later calls open new ones.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

func (c *Client) token() (string, error) {
	if c.options.TokenFile == "" {
		return c.options.Token, nil
	}
	text, err := os.ReadFile(c.options.TokenFile)
	if err != nil {
		return "", &cloud.UnauthorizedError{Message: fmt.Sprintf("the token cannot be read: %v", err), Err: err}
	}
	token := strings.TrimSpace(string(text))
	if token == "" {
		return "", &cloud.UnauthorizedError{Message: fmt.Sprintf("token file %s is empty", c.options.TokenFile)}
	}
	return token, nil
}

// send sends a request and returns the answer, or the typed error in the answer. The caller closes
// the body.
func (c *Client) send(ctx context.Context, method, path string, body any) (*http.Response, error) {
	if body == nil {
		return c.sendContent(ctx, method, path, http.NoBody, nil)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return c.sendContent(ctx, method, path, bytes.NewReader(text), map[string]string{"Content-Type": api.JSON})
}

func (c *Client) sendContent(ctx context.Context, method, path string, content io.Reader, headers map[string]string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	if err := c.authorize(request); err != nil {
		return nil, err
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := (&http.Client{Transport: c.transport}).Do(request)
	if err != nil {
		return nil, c.transportError(ctx, err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		defer func() { _ = response.Body.Close() }()
		return nil, decodeError(response)
	}
	return response, nil
}

// authorize adds to a request on whose behalf it is.
func (c *Client) authorize(request *http.Request) error {
	token, err := c.token()
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	if c.options.Tenant != "" {
		request.Header.Set(api.HeaderTenant, c.options.Tenant)
	}
	return nil
}

// transportError converts a failure to connect into an error that names the endpoint: an
// UnavailableError, or an UnauthorizedError if this user may not connect.
func (c *Client) transportError(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errTimeout) {
		return ctx.Err()
	}
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err
	}
	var verification *tls.CertificateVerificationError
	if errors.As(err, &verification) {
		return fmt.Errorf("endpoint %s: %w (give the certificate of the cloud as CA file)", c.options.Endpoint, err)
	}
	message := fmt.Sprintf("endpoint %s: %v", c.options.Endpoint, err)
	if errors.Is(err, fs.ErrPermission) { // of the socket
		return &cloud.UnauthorizedError{Message: message}
	}
	return &cloud.UnavailableError{Message: message}
}

func decodeError(response *http.Response) error {
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err == nil && kind == api.JSON {
		var sent api.Error
		if err := json.NewDecoder(response.Body).Decode(&sent); err == nil && sent.Reason != "" {
			return typedError(response, sent)
		}
	}
	text, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorText))
	return foreignError(response, fmt.Sprintf("the cloud answered %s: %s", response.Status, bytes.TrimSpace(text)))
}

// typedError returns a serverError for untyped errors that are the server's fault.
func typedError(response *http.Response, sent api.Error) error {
	if sent.Reason == cloud.ReasonUnknown && response.StatusCode >= http.StatusInternalServerError {
		return &serverError{message: sent.Message}
	}
	return sent.Typed()
}

var errTimeout = errors.New("no answer in time")

func call[T any](ctx context.Context, c *Client, method, path string, body any) (T, error) {
	var result T
	ctx, cancel := context.WithTimeoutCause(ctx, requestTimeout, errTimeout)
	defer cancel()
	err := c.pace.persist(ctx, func() error {
		response, err := c.send(ctx, method, path, body)
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		result = *new(T)
		if err := json.NewDecoder(response.Body).Decode(&result); err != nil {
			return c.transportError(ctx, fmt.Errorf("read the answer: %w", err))
		}
		return nil
	})
	return result, err
}

// stream opens an answer that may never end. The caller closes it.
func (c *Client) stream(ctx context.Context, path string) (io.ReadCloser, error) {
	if err := c.pace.admit(time.Now()); err != nil {
		return nil, err
	}
	response, err := c.send(ctx, http.MethodGet, path, nil)
	c.pace.note(err, time.Now())
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

func list[T any](ctx context.Context, c *Client, path string) ([]T, error) {
	result, err := call[api.List[T]](ctx, c, http.MethodGet, path, nil)
	return result.Items, err
}

// order requests work that continues after the answer. The answer has no content.
func (c *Client) order(ctx context.Context, method, path string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, requestTimeout, errTimeout)
	defer cancel()
	return c.pace.persist(ctx, func() error {
		response, err := c.send(ctx, method, path, nil)
		if err != nil {
			return err
		}
		return response.Body.Close()
	})
}

func named(collection, name string) string { return collection + "/" + url.PathEscape(name) }

func query(path string, tags cloud.Tags, fields map[string]string) string {
	values := url.Values{}
	for key, value := range tags {
		values.Add(api.ParameterTag, key+"="+value)
	}
	for key, value := range fields {
		if value != "" {
			values.Set(key, value)
		}
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// foreignError returns the typed error for an answer that did not come from the cloud itself, for
// example from a proxy. It never returns a NotFoundError: only the cloud itself can report that an
// object is gone, and objects that are gone get deleted.
func foreignError(response *http.Response, message string) error {
	switch {
	case response.StatusCode == http.StatusTooManyRequests:
		return &cloud.ThrottledError{RetryAfter: retryAfter(response.Header, time.Now())}
	case response.StatusCode == http.StatusUnauthorized:
		return &cloud.UnauthorizedError{Message: message}
	case response.StatusCode >= http.StatusInternalServerError:
		return &cloud.UnavailableError{Message: message}
	default:
		return errors.New(message)
	}
}

// retryAfter reads a Retry-After header in either form, whole seconds or a date. It returns zero,
// which leaves the pace to the caller, if the header is missing, invalid or in the past.
func retryAfter(header http.Header, now time.Time) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(0, date.Sub(now))
}
