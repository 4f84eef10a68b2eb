// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/utils/ptr"
	runtimecatalog "sigs.k8s.io/cluster-api/api/runtime/catalog"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	runtimeserver "sigs.k8s.io/cluster-api/exp/runtime/server"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/topology"
	"github.com/capfoo/cluster-api-provider-foo/extensions/upgradeplan"
)

// timeoutSeconds is how long Cluster API should wait for an answer. Handlers need milliseconds; the
// rest is for a busy API server.
const timeoutSeconds = 10

// NewServer returns Cluster API's server of runtime hooks without handlers. Use it as the webhook
// server of the manager, which reloads its certificate when that changes.
//
// If ClientCAName is empty, anybody may call. Otherwise the file is read again for each connection. After the
// CA of callers is replaced, a caller may keep using connections that are already open. Request bodies are at
// most 20 MiB. The catalog in the options is replaced.
func NewServer(options runtimeserver.Options) (*runtimeserver.Server, error) {
	options.Catalog = runtimecatalog.New()
	if err := runtimehooksv1.AddToCatalog(options.Catalog); err != nil {
		return nil, fmt.Errorf("catalog of runtime hooks: %w", err)
	}
	if options.ClientCAName != "" {
		options.TLSOpts = append(slices.Clone(options.TLSOpts), clientAuthorities(filepath.Join(options.CertDir, options.ClientCAName)).renew)
	}
	server, err := runtimeserver.New(options)
	if err != nil {
		return nil, fmt.Errorf("server of runtime hooks: %w", err)
	}
	return server, nil
}

// Register adds all handlers to the manager's webhook server, which NewServer must have created. The
// manager starts that server. Every handler's failure policy is Fail, so that none can be left out
// unnoticed.
func Register(mgr ctrl.Manager, lifecycle hooks.Hooks, planner upgradeplan.Planner) error {
	server, ok := mgr.GetWebhookServer().(*runtimeserver.Server)
	if !ok {
		return fmt.Errorf("the manager's webhook server is a %T, which serves no runtime hooks", mgr.GetWebhookServer())
	}
	for _, handler := range handlers(lifecycle, planner) {
		handler.TimeoutSeconds = ptr.To[int32](timeoutSeconds)
		handler.FailurePolicy = ptr.To(runtimehooksv1.FailurePolicyFail)
		if err := server.AddExtensionHandler(handler); err != nil {
			return fmt.Errorf("handler %s: %w", handler.Name, err)
		}
	}
	return nil
}

// handlers returns those of the lifecycle hooks, those of the ClusterClass foo-extension, and the one
// that plans upgrades.
func handlers(lifecycle hooks.Hooks, planner upgradeplan.Planner) []runtimeserver.ExtensionHandler {
	return append(lifecycle.Handlers(),
		runtimeserver.ExtensionHandler{Hook: runtimehooksv1.GeneratePatches, Name: "generate-patches", HandlerFunc: topology.GeneratePatches},
		runtimeserver.ExtensionHandler{Hook: runtimehooksv1.ValidateTopology, Name: "validate-topology", HandlerFunc: topology.ValidateTopology},
		runtimeserver.ExtensionHandler{Hook: runtimehooksv1.DiscoverVariables, Name: "discover-variables", HandlerFunc: topology.DiscoverVariables},
		runtimeserver.ExtensionHandler{Hook: runtimehooksv1.GenerateUpgradePlan, Name: "generate-upgrade-plan", HandlerFunc: planner.GenerateUpgradePlan},
	)
}

// clientAuthorities is the path of a file with the CAs that sign the certificates of callers.
type clientAuthorities string

// renew checks each new connection against the current content of the file. The webhook server
// reads it only once.
func (a clientAuthorities) renew(config *tls.Config) {
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		pool, err := a.read()
		if err != nil {
			return nil, err
		}
		renewed := config.Clone()
		renewed.ClientCAs = pool
		// A caller that resumes a session is not asked for a certificate again.
		renewed.SessionTicketsDisabled = true
		return renewed, nil
	}
}

func (a clientAuthorities) read() (*x509.CertPool, error) {
	content, err := os.ReadFile(string(a))
	if err != nil {
		return nil, fmt.Errorf("reading the CAs of callers: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(content) {
		return nil, fmt.Errorf("the CAs of callers: %s has no certificate in PEM format", string(a))
	}
	return pool, nil
}
