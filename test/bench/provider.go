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
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/hack/kustomize"
)

// provider is one that quickstart does not start. It runs without its webhooks: what they would fill in is in the
// templates.
type provider struct {
	program string
	// module holds the CRDs, in a kustomization.
	module, kustomization string
	// moduleFile in hack/tools, which says the version of the module.
	moduleFile string
	// variables of its environment.
	variables []string
}

// toolsFolder holds the module files of other programs, seen from the root of the repository.
const toolsFolder = "hack/tools"

// startProvider installs the CRDs of a provider and starts it. A program is returned as soon as one runs, even with an
// error.
func (e *environment) startProvider(ctx context.Context, provider provider) (*program, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, e.timeout, errSlow)
	defer cancel()
	if err := e.installCRDs(ctx, provider); err != nil {
		return nil, err
	}
	certificates, err := e.webhookCertificates(filepath.Base(provider.program))
	if err != nil {
		return nil, err
	}
	health, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	webhook, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(webhook)
	if err != nil {
		return nil, err
	}
	started, err := startProgram(ctx, provider.variables, provider.program,
		// As quickstart starts the providers that it starts.
		"--leader-elect=false", "--kube-api-qps=1000", "--kube-api-burst=2000", "--feature-gates=ReconcilerRateLimiting=false",
		"--kubeconfig="+e.kubeconfig(), "--health-addr="+health, "--diagnostics-address=127.0.0.1:0",
		"--webhook-port="+port, "--webhook-cert-dir="+certificates)
	if err != nil {
		return nil, err
	}
	return started, started.healthy(ctx, "http://"+health+"/readyz")
}

// installCRDs applies the CRDs without their conversion webhooks: only the stored version is used.
func (e *environment) installCRDs(ctx context.Context, provider provider) error {
	source, err := moduleFolder(ctx, provider)
	if err != nil {
		return err
	}
	content, err := kustomize.Build(filepath.Join(source, provider.kustomization))
	if err != nil {
		return err
	}
	objects, err := decode(content)
	if err != nil {
		return err
	}
	for _, object := range objects {
		unstructured.RemoveNestedField(object.Object, "spec", "conversion")
		if err := e.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), fieldOwner); err != nil {
			return fmt.Errorf("apply CRD %s: %w", object.GetName(), err)
		}
	}
	return nil
}

func moduleFolder(ctx context.Context, provider provider) (string, error) {
	command := exec.CommandContext(ctx, "go", "list", "-modfile="+provider.moduleFile, "-m", "-f", "{{.Dir}}", provider.module)
	command.Dir = toolsFolder
	command.Stderr = os.Stderr
	folder, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("find module %s: %w", provider.module, err)
	}
	return strings.TrimSpace(string(folder)), nil
}

// webhookCertificates writes what a provider wants to have for its webhooks, though nobody calls them.
func (e *environment) webhookCertificates(name string) (string, error) {
	folder := filepath.Join(e.stateDir, name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", nil, nil)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(folder, "tls.crt"), certificate, 0o600); err != nil {
		return "", err
	}
	return folder, os.WriteFile(filepath.Join(folder, "tls.key"), key, 0o600)
}

// freeAddress returns an address of this machine that nobody listens on.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(0)))
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// healthy waits until a program says so. There is nothing to watch that would tell.
func (p *program) healthy(ctx context.Context, url string) error {
	return wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		if p.ended() {
			return false, fmt.Errorf("%s ended with %s: %s", p.cmd.Path, p.cmd.ProcessState, p.said)
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return false, err
		}
		return answersOK(request), nil
	})
}

// answersOK is false also while nobody listens.
func answersOK(request *http.Request) bool {
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
}
