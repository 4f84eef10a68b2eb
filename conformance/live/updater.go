// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/cert"
	"k8s.io/utils/ptr"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
)

// The hooks of updates in place.
const canUpdateMachine, updateMachine = "CanUpdateMachine", "UpdateMachine"

// updater is a runtime extension that can update every Machine in place, says at once that it has, and
// notes what it is asked.
type updater struct {
	url       string
	authority []byte
	server    *http.Server

	lock   sync.Mutex
	called []string
}

// serveUpdates serves the extension at an address of this machine.
func serveUpdates(ctx context.Context, address string) (*updater, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	u := &updater{url: "https://" + listener.Addr().String(), authority: certificate}
	u.server = &http.Server{Handler: u, ReadHeaderTimeout: 10 * time.Second, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}}
	go func() { _ = u.server.ServeTLS(listener, "", "") }() // it ends with close; what it cannot serve shows in the checks
	return u, nil
}

func (u *updater) close() { _ = u.server.Close() } // there is nothing left to lose

// calls returns the hooks that were called.
func (u *updater) calls() []string {
	u.lock.Lock()
	defer u.lock.Unlock()
	return slices.Clone(u.called)
}

// config registers the extension for one namespace.
func (u *updater) config(namespace string) *runtimev1.ExtensionConfig {
	config := &runtimev1.ExtensionConfig{ObjectMeta: metav1.ObjectMeta{Name: "capi-conformance"}}
	config.Spec.ClientConfig = runtimev1.ClientConfig{URL: u.url, CABundle: u.authority}
	config.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
	return config
}

// ServeHTTP answers the hooks. Paths are /GROUP/VERSION/HOOK, with the name of the handler behind.
func (u *updater) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var answer runtime.Object
	kind, err := "", error(nil)
	switch hook := path.Base(path.Dir(r.URL.Path)); {
	case strings.HasSuffix(r.URL.Path, "/discovery"):
		kind, answer = "DiscoveryResponse", discovery()
	case hook == strings.ToLower(canUpdateMachine):
		u.note(canUpdateMachine)
		kind = "CanUpdateMachineResponse"
		answer, err = everything(r)
	case hook == strings.ToLower(updateMachine):
		u.note(updateMachine)
		response := &runtimehooksv1.UpdateMachineResponse{}
		response.SetStatus(runtimehooksv1.ResponseStatusSuccess)
		kind, answer = "UpdateMachineResponse", response
	default:
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer.GetObjectKind().SetGroupVersionKind(runtimehooksv1.GroupVersion.WithKind(kind))
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // who asked has gone
}

func (u *updater) note(hook string) {
	u.lock.Lock()
	defer u.lock.Unlock()
	u.called = append(u.called, hook)
}

func discovery() runtime.Object {
	response := &runtimehooksv1.DiscoveryResponse{}
	response.SetStatus(runtimehooksv1.ResponseStatusSuccess)
	for _, hook := range []string{canUpdateMachine, updateMachine} {
		response.Handlers = append(response.Handlers, runtimehooksv1.ExtensionHandler{
			Name: strings.ToLower(hook), RequestHook: runtimehooksv1.GroupVersionHook{APIVersion: runtimehooksv1.GroupVersion.String(), Hook: hook},
			TimeoutSeconds: ptr.To[int32](10), FailurePolicy: ptr.To(runtimehooksv1.FailurePolicyFail),
		})
	}
	return response
}

// everything answers CanUpdateMachine: what is wanted can be done.
func everything(r *http.Request) (runtime.Object, error) {
	type spec struct {
		Spec json.RawMessage `json:"spec"`
	}
	var request struct {
		Desired struct{ Machine, InfrastructureMachine, BootstrapConfig spec }
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		return nil, fmt.Errorf("the request is no CanUpdateMachineRequest: %w", err)
	}
	response := &runtimehooksv1.CanUpdateMachineResponse{}
	response.SetStatus(runtimehooksv1.ResponseStatusSuccess)
	for wanted, patch := range map[*spec]*runtimehooksv1.Patch{
		&request.Desired.Machine:               &response.MachinePatch,
		&request.Desired.InfrastructureMachine: &response.InfrastructureMachinePatch,
		&request.Desired.BootstrapConfig:       &response.BootstrapConfigPatch,
	} {
		if len(wanted.Spec) == 0 {
			continue
		}
		content, err := json.Marshal(wanted)
		if err != nil {
			return nil, err
		}
		*patch = runtimehooksv1.Patch{PatchType: runtimehooksv1.JSONMergePatchType, Patch: content}
	}
	return response, nil
}
