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
	"slices"
	"strings"
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
)

// Limits for the log, which is a file of the host. Any instance can cause a failed fetch, and choose
// the registry whose answer is logged. loggedFailures are logged in any case, and after that one each
// loggedInterval.
const (
	loggedFailures = 10
	loggedInterval = time.Minute
)

// errNotThere means that another registry will not provide an image, no matter how often it is
// asked.
var errNotThere = errors.New("not there for this cloud")

// newTransport returns a transport to other registries that uses the host's network and proxies. It
// connects only to other machines. The client chooses the registry, so the transport must reach
// neither services of this machine, nor the link-local metadata services of clouds.
func newTransport(own netip.Prefix) *http.Transport {
	checkOther := func(ip netip.Addr) error {
		ip = ip.Unmap().WithZone("")
		inner, err := ofThisMachine(ip)
		if err != nil {
			return err
		}
		if inner || !ip.IsGlobalUnicast() || own.Contains(ip) {
			return fmt.Errorf("%s is not the address of another machine: %w", ip, errNotThere)
		}
		return nil
	}
	refuseInner := func(_, address string, _ syscall.RawConn) error {
		target, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return checkOther(target.Addr())
	}
	proxies, chosen := proxyAddresses(), httpproxy.FromEnvironment().ProxyFunc()
	return &http.Transport{
		// A proxy on this machine reaches what this machine reaches. Nobody checks what it connects to, and
		// only names that it looks up need a certificate.
		Proxy: func(request *http.Request) (*url.URL, error) {
			proxy, err := chosen(request.URL)
			if proxy == nil || err != nil {
				return nil, err
			}
			host := request.URL.Hostname()
			if strings.HasSuffix(host, ".localhost") {
				host = "127.0.0.1"
			}
			if ip, notIP := netip.ParseAddr(host); notIP == nil {
				err = checkOther(ip)
			}
			return proxy, err
		},
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

// ofThisMachine reports whether an interface of this machine has an address. Connections to it never pass the
// firewall that keeps instances from the host.
func ofThisMachine(ip netip.Addr) (bool, error) {
	addresses, err := net.InterfaceAddrs()
	return slices.ContainsFunc(addresses, func(address net.Addr) bool {
		prefix, err := netip.ParsePrefix(address.String())
		return err == nil && prefix.Addr() == ip
	}), err
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

// encrypted carries all requests for an image: to the registry, to where it redirects, and to the token
// server that it names. It refuses plain HTTP, since a metadata service of a cloud may have an ordinary
// address but has no certificate. Only the registry itself may be asked over plain HTTP, if its address is
// private.
type encrypted struct {
	registry name.Registry
	inner    http.RoundTripper
}

// RoundTrip carries a request, or returns errNotThere.
func (e encrypted) RoundTrip(request *http.Request) (*http.Response, error) {
	redirected := request.Response != nil
	exempt := request.URL.Host == e.registry.RegistryStr() && e.registry.Scheme() == "http" && !redirected
	if request.URL.Scheme != "https" && !exempt {
		return nil, fmt.Errorf("%s would be asked without encryption: %w", request.URL.Host, errNotThere)
	}
	return e.inner.RoundTrip(request)
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

// explain returns what an instance is told about a failed fetch from another registry. The text of
// the error is not for instances: it may hold the answer of a server that only the host reaches.
func explain(host string, err error) (status int, code, reason string) {
	const notThere = "MANIFEST_UNKNOWN"
	answer := (*transport.Error)(nil)
	switch {
	case errors.Is(err, errNotThere):
		return http.StatusNotFound, notThere, fmt.Sprintf("the cloud fetches nothing from %q", host)
	case !errors.As(err, &answer):
		return http.StatusBadGateway, "UNAVAILABLE", host + " gives no valid answer"
	}
	status, code = http.StatusBadGateway, "UNAVAILABLE"
	if absent(answer.StatusCode) {
		status, code = http.StatusNotFound, notThere
	}
	return status, code, fmt.Sprintf("%s answers %d %s", host, answer.StatusCode, http.StatusText(answer.StatusCode))
}

// logFailure logs a failed fetch, but not all of a long text. klog escapes only values of one line.
func (r *Registry) logFailure(client string, err error) {
	r.failures.Do(func() {
		reason := strings.ReplaceAll(err.Error(), "\n", " ")
		klog.Background().Info("Image was not fetched from its registry", "client", client, "reason", fmt.Sprintf("%.1000s", reason))
	})
}

// serveOther serves an image from another registry. If it returns an error, it has sent nothing.
// The error is errNotThere if the registry will never provide the image, and a transport.Error if the
// registry refused.
func (r *Registry) serveOther(w http.ResponseWriter, request *http.Request, want wanted) error {
	response, err := r.askOther(request, want)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusPartialContent {
		return &transport.Error{StatusCode: response.StatusCode, Request: response.Request}
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
	checked := encrypted{registry: repository.Registry, inner: r.upstream}
	carrier, err := transport.NewWithContext(ctx, repository.Registry, authn.Anonymous, checked, scopes)
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
	return (&http.Client{Transport: carrier}).Do(outgoing) //nolint:gosec // G704: a mirror asks whom it is told to; see newTransport
}
