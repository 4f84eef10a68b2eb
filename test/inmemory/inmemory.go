// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package inmemory prepares a management cluster for Cluster API's in-memory infrastructure
// provider, in which everything is fake, and returns how to start the provider. Limits: the
// provider runs without its webhooks, so templates must set the fields that the webhooks would
// default.
package inmemory

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"
	utilyaml "sigs.k8s.io/cluster-api/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/internal/kustomize"
)

const (
	// Program is the path of the provider among the built programs.
	Program = "tools/in-memory-provider"
	// Variable sets the address on which the provider serves the API servers of its clusters, in its
	// environment.
	Variable = "POD_IP=127.0.0.1"
	// fieldOwner of its CRDs.
	fieldOwner = client.FieldOwner("in-memory-provider")
)

// InstallCRDs applies the provider's CRDs without their conversion webhooks, because only the
// stored version is used. The parameter tools is the folder hack/tools of the repository.
func InstallCRDs(ctx context.Context, kube client.Client, tools string) error {
	command := exec.CommandContext(ctx, "go", "list", "-modfile=inmemory.mod", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api/test")
	command.Dir, command.Stderr = tools, os.Stderr
	folder, err := command.Output()
	if err != nil {
		return fmt.Errorf("find the provider's module: %w", err)
	}
	content, err := kustomize.Build(filepath.Join(strings.TrimSpace(string(folder)), "infrastructure/docker/config/crd"))
	if err != nil {
		return err
	}
	objects, err := utilyaml.ToUnstructured(content)
	if err != nil {
		return fmt.Errorf("read the provider's CRDs: %w", err)
	}
	for i := range objects {
		unstructured.RemoveNestedField(objects[i].Object, "spec", "conversion")
		if err := kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(&objects[i]), fieldOwner); err != nil {
			return fmt.Errorf("apply CRD %s: %w", objects[i].GetName(), err)
		}
	}
	return nil
}

// Arguments returns the arguments of the provider and the URL of its readiness check. It creates
// the folder for the certificates of the webhooks, although nothing calls them.
func Arguments(ctx context.Context, kubeconfig, folder string) (arguments []string, ready string, err error) {
	if err := writeCertificate(folder); err != nil {
		return nil, "", err
	}
	health, err := freeAddress(ctx)
	if err != nil {
		return nil, "", err
	}
	webhook, err := freeAddress(ctx)
	if err != nil {
		return nil, "", err
	}
	_, port, err := net.SplitHostPort(webhook)
	// The same flags as quickstart uses for its providers.
	return []string{
		"--leader-elect=false", "--kube-api-qps=1000", "--kube-api-burst=2000", "--feature-gates=ReconcilerRateLimiting=false",
		"--kubeconfig=" + kubeconfig, "--health-addr=" + health, "--diagnostics-address=127.0.0.1:0",
		"--webhook-port=" + port, "--webhook-cert-dir=" + folder,
	}, "http://" + health + "/readyz", err
}

func writeCertificate(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "tls.crt"), certificate, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "tls.key"), key, 0o600)
}

// freeAddress returns an address of this machine that nothing listens on.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
