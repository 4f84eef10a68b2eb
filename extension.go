/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package main

import (
	"context"
	"crypto/tls"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/capfoo/cluster-api-provider-foo/extensions"
	"github.com/capfoo/cluster-api-provider-foo/extensions/server"
	"github.com/capfoo/cluster-api-provider-foo/internal/options"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// webhookServer returns the server of the webhooks, which with the runtime extension serves its hooks too.
func webhookServer(opts *options.Options, tlsOptions []func(*tls.Config)) (webhook.Server, error) {
	if !opts.Runs(options.RuntimeExtension) {
		return webhook.NewServer(webhook.Options{
			Port: opts.WebhookPort, CertDir: opts.WebhookCertDir, CertName: opts.WebhookCertName, KeyName: opts.WebhookKeyName, TLSOpts: tlsOptions,
		}), nil
	}
	return server.New(server.Options{
		Port: opts.WebhookPort, CertDir: opts.WebhookCertDir, CertName: opts.WebhookCertName, KeyName: opts.WebhookKeyName,
		ClientCAName: opts.ClientCAName, TLS: tlsOptions,
	})
}

func setupRuntimeExtension(ctx context.Context, mgr ctrl.Manager, opts *options.Options) error {
	// Nothing keeps Secrets in memory for it: they are read when a job is done.
	clusters, err := workload.NewClusters(mgr.GetAPIReader(), mgr.GetAPIReader())
	if err != nil {
		return fmt.Errorf("runtime extension: %w", err)
	}
	return extensions.SetupWithManager(ctx, mgr, extensions.Options{
		Clusters:   clusters,
		Controller: controller.Options{MaxConcurrentReconciles: opts.Concurrency(options.HookJob)},
	})
}
