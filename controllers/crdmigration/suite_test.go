//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package crdmigration_test

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"

	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
	controlplaneadmission "github.com/capfoo/cluster-api-provider-foo/webhooks/admission/controlplane"
	infraadmission "github.com/capfoo/cluster-api-provider-foo/webhooks/admission/infrastructure"
)

var environment *envtestenv.Environment

func TestMigration(t *testing.T) {
	envtestenv.Run(t, "CRD migration", &environment, envtestenv.StartWithWebhooks, serveWebhooks)
}

func serveWebhooks(context.Context) {
	mgr, err := environment.NewManager()
	Expect(err).NotTo(HaveOccurred())
	Expect(controlplaneadmission.SetupWithManager(mgr)).To(Succeed())
	Expect(infraadmission.SetupWithManager(mgr)).To(Succeed())
	envtestenv.RunManager(mgr)
	Eventually(func() error { return mgr.GetWebhookServer().StartedChecker()(nil) }).Should(Succeed(), "the server listens in its own goroutine")
}
