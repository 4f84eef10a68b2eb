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

// How long other registries may take. A host without a network to them is found out by the first.
const (
	dialTimeout     = 2 * time.Second
	securityTimeout = 5 * time.Second
	headerTimeout   = 10 * time.Second
	idleTimeout     = 30 * time.Second
	maxHeaders      = 64 << 10
)

// errNotThere is the error if an image cannot be had from another registry, however often it is asked for.
var errNotThere = errors.New("not there for this cloud")

// newTransport returns what carries requests to other registries, by the network and the proxies of the host. It connects to other machines
// only: who asks chooses the registry, which must lead neither to what listens on this machine for itself alone, nor to the services that
// clouds have on link-local addresses.
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

// proxyAddresses are the proxies that the environment names, which may well be on this machine.
func proxyAddresses() map[string]bool {
	ports := map[string]string{"http": "80", "https": "443", "socks5": "1080", "socks5h": "1080"}
	config, addresses := httpproxy.FromEnvironment(), map[string]bool{}
	for _, text := range []string{config.HTTPProxy, config.HTTPSProxy} {
		proxy, err := url.Parse(text)
		if err != nil || proxy.Host == "" {
			// The scheme may be left out.
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

// passed are the headers of a request, and of its answer, that are passed on. Credentials are not among them.
var (
	passedOn   = []string{"Accept", "Range"}
	passedBack = []string{"Accept-Ranges", "Content-Length", "Content-Range", "Content-Type", digestHeader}
)

// absent reports whether a registry says by its answer that it does not have an image, or not for everybody.
func absent(status int) bool {
	return status == http.StatusNotFound || status == http.StatusUnauthorized || status == http.StatusForbidden
}

// serveOther answers with what another registry has, or returns why it cannot and has sent nothing. The error is errNotThere unless the
// image may be had later.
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

// askOther asks another registry, without credentials.
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
	return (&http.Client{Transport: carrier}).Do(outgoing) //nolint:gosec // G704: a mirror asks whom it is told to; see newTransport
}
