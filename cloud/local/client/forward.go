// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"net/url"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
)

// Forward returns a handler that sends calls to the cloud with the credentials of the client in
// place of their own. Whoever can call it acts as the tenant.
func (c *Client) Forward() (http.Handler, error) {
	base, err := url.Parse(c.base)
	if err != nil {
		return nil, err
	}
	return &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(base) },
		Transport: forwarding{c},
		// Events and logs must not wait for more of them.
		FlushInterval: -1,
		// The caller learns of errors.
		ErrorLog: log.New(io.Discard, "", 0),
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if !cloud.IsUnauthorized(err) {
				err = c.transportError(r.Context(), err)
			}
			sent := api.NewError(err)
			_ = api.Send(w, sent.Status(), sent) // the caller has gone if this fails
		},
	}, nil
}

type forwarding struct{ client *Client }

// RoundTrip implements http.RoundTripper.
func (f forwarding) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := f.client.authorize(request); err != nil {
		return nil, err
	}
	return f.client.transport.RoundTrip(request)
}
