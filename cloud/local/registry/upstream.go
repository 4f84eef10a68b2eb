// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"golang.org/x/net/http/httpproxy"
	"k8s.io/klog/v2"
)

// Limits for other registries. The first one detects a host without a network quickly.
const (
	dialTimeout     = 2 * time.Second
	securityTimeout = 5 * time.Second
	headerTimeout   = 10 * time.Second
	idleTimeout     = 30 * time.Second
	maxHeaders      = 64 << 10
	maxRedirects    = 10
)

// errNotThere means that another registry will not provide an image, no matter how often it is
// asked.
var errNotThere = errors.New("not there for this cloud")

// newTransport returns a transport to other registries that uses the host's network and proxies. It
// connects only to other machines. The client chooses the registry, so the transport must reach
// neither services that listen only for this machine, nor the link-local metadata services of
// clouds.
func newTransport(own netip.Prefix) *http.Transport {
	refuseInner := func(_, address string, _ syscall.RawConn) error {
		target, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		ip := target.Addr().Unmap()
		if !ip.IsGlobalUnicast() || own.Contains(ip) {
			return fmt.Errorf("%s is not the address of another machine: %w", ip, errNotThere)
		}
		return nil
	}
	proxies := proxyAddresses()
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			dialer := &net.Dialer{Timeout: dialTimeout}
			if !proxies[address] {
				dialer.Control = refuseInner
			}
			return dialer.DialContext(ctx, network, address)
		},
		TLSHandshakeTimeout: securityTimeout, ResponseHeaderTimeout: headerTimeout, IdleConnTimeout: idleTimeout,
		MaxResponseHeaderBytes: maxHeaders, DisableCompression: true,
	}
}

// proxyAddresses returns the proxies that the environment names. They may be on this machine.
func proxyAddresses() map[string]bool {
	ports := map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}
	config, addresses := httpproxy.FromEnvironment(), map[string]bool{}
	for _, text := range []string{config.HTTPProxy, config.HTTPSProxy} {
		proxy, err := url.Parse(text)
		if err != nil || proxy.Host == "" {
			// The scheme is optional.
			proxy, err = url.Parse("http://" + text)
		}
		if err != nil || proxy.Host == "" {
			continue
		}
		port := proxy.Port()
		if port == "" {
			port = ports[proxy.Scheme]
		}
		addresses[net.JoinHostPort(proxy.Hostname(), port)] = true
	}
	return addresses
}

// secure returns an error for a redirect to plain HTTP. The metadata service of a cloud may have an
// ordinary address, but it has no certificate.
func secure(next *http.Request, before []*http.Request) error {
	if next.URL.Scheme != "https" {
		return fmt.Errorf("it redirects to %s without encryption: %w", next.URL.Host, errNotThere)
	}
	if len(before) >= maxRedirects {
		return errors.New("it redirects too many times")
	}
	return nil
}

// passedOn are the request headers, and passedBack the response headers, that are forwarded.
// Credentials are not among them.
var (
	passedOn   = []string{"Accept", "Range"}
	passedBack = []string{"Accept-Ranges", "Content-Length", "Content-Range", "Content-Type", digestHeader}
)

// absent reports whether a registry answered that it does not have an image, or not for anonymous
// clients.
func absent(status int) bool {
	return status == http.StatusNotFound || status == http.StatusUnauthorized || status == http.StatusForbidden
}

// serveOther serves an image from another registry. If it returns an error, it has sent nothing.
// The error is errNotThere unless a retry may succeed.
func (r *Registry) serveOther(w http.ResponseWriter, request *http.Request, want wanted) error {
	response, err := r.askOther(request, want)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	switch {
	case response.StatusCode == http.StatusOK, response.StatusCode == http.StatusPartialContent:
	case absent(response.StatusCode):
		return fmt.Errorf("%s answers %s: %w", want.host, response.Status, errNotThere)
	default:
		return fmt.Errorf("%s answers %s", want.host, response.Status)
	}
	for _, header := range passedBack {
		if values := response.Header[header]; values != nil {
			w.Header()[header] = values
		}
	}
	w.WriteHeader(response.StatusCode)
	if _, err := io.Copy(w, response.Body); err != nil {
		klog.Background().V(1).Info("Image was not passed on whole", "registry", want.host, "repository", want.repository)
	}
	return nil
}

// askOther sends the request to another registry, without credentials.
func (r *Registry) askOther(request *http.Request, want wanted) (*http.Response, error) {
	if want.host == "" {
		return nil, fmt.Errorf("the request names no other registry: %w", errNotThere)
	}
	repository, err := name.NewRepository(want.host+"/"+want.repository, name.StrictValidation)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotThere, err)
	}
	ctx, scopes := request.Context(), []string{repository.Scope(transport.PullScope)}
	carrier, err := transport.NewWithContext(ctx, repository.Registry, authn.Anonymous, r.upstream, scopes)
	if answer := (*transport.Error)(nil); errors.As(err, &answer) && absent(answer.StatusCode) {
		return nil, fmt.Errorf("%w: %w", errNotThere, err)
	}
	if err != nil {
		return nil, err
	}
	target := url.URL{
		Scheme: "https", Host: repository.RegistryStr(), Path: root + repository.RepositoryStr() + "/" + want.kind + "/" + want.reference,
	}
	outgoing, err := http.NewRequestWithContext(ctx, request.Method, target.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	for _, header := range passedOn {
		outgoing.Header[header] = request.Header[header]
	}
	return (&http.Client{Transport: carrier, CheckRedirect: secure}).Do(outgoing) //nolint:gosec // G704: a mirror asks whom it is told to; see newTransport
}
