// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
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

	lock sync.Mutex
	// called has the names of the Machines by hook.
	called map[string][]string
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
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	u := &updater{url: "https://" + net.JoinHostPort(host, port), authority: certificate, called: map[string][]string{}}
	u.server = &http.Server{Handler: u, ReadHeaderTimeout: 10 * time.Second, TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}}
	go func() { _ = u.server.ServeTLS(listener, "", "") }() // it ends with close; what it cannot serve shows in the checks
	return u, nil
}

func (u *updater) close() { _ = u.server.Close() } // there is nothing left to lose

// machines returns the names of the Machines that a hook was called for.
func (u *updater) machines(hook string) []string {
	u.lock.Lock()
	defer u.lock.Unlock()
	return slices.Clone(u.called[hook])
}

// config registers the extension for one namespace.
func (u *updater) config(namespace string) *runtimev1.ExtensionConfig {
	config := &runtimev1.ExtensionConfig{ObjectMeta: metav1.ObjectMeta{Name: "capi-conformance"}}
	config.Spec.ClientConfig = runtimev1.ClientConfig{URL: u.url, CABundle: u.authority}
	config.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
	return config
}

// updateRequest is what the requests of both hooks have.
type updateRequest struct {
	Desired struct{ Machine, InfrastructureMachine, BootstrapConfig wantedObject }
}

type wantedObject struct {
	Metadata metav1.ObjectMeta
	Spec     json.RawMessage
}

// ServeHTTP answers the hooks. Paths are /GROUP/VERSION/HOOK, with the name of the handler behind.
func (u *updater) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/discovery") {
		reply(w, "DiscoveryResponse", discovery())
		return
	}
	request := &updateRequest{}
	if err := json.NewDecoder(r.Body).Decode(request); err != nil {
		http.Error(w, "no request about a Machine: "+err.Error(), http.StatusBadRequest)
		return
	}
	switch path.Base(path.Dir(r.URL.Path)) {
	case strings.ToLower(canUpdateMachine):
		u.note(canUpdateMachine, request)
		reply(w, "CanUpdateMachineResponse", everything(request))
	case strings.ToLower(updateMachine):
		u.note(updateMachine, request)
		response := &runtimehooksv1.UpdateMachineResponse{}
		response.SetStatus(runtimehooksv1.ResponseStatusSuccess)
		reply(w, "UpdateMachineResponse", response)
	default:
		http.NotFound(w, r)
	}
}

func reply(w http.ResponseWriter, kind string, answer runtime.Object) {
	answer.GetObjectKind().SetGroupVersionKind(runtimehooksv1.GroupVersion.WithKind(kind))
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // who asked has gone
}

func (u *updater) note(hook string, request *updateRequest) {
	u.lock.Lock()
	defer u.lock.Unlock()
	if name := request.Desired.Machine.Metadata.Name; !slices.Contains(u.called[hook], name) {
		u.called[hook] = append(u.called[hook], name)
	}
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
func everything(request *updateRequest) runtime.Object {
	response := &runtimehooksv1.CanUpdateMachineResponse{}
	response.SetStatus(runtimehooksv1.ResponseStatusSuccess)
	for wanted, patch := range map[*wantedObject]*runtimehooksv1.Patch{
		&request.Desired.Machine:               &response.MachinePatch,
		&request.Desired.InfrastructureMachine: &response.InfrastructureMachinePatch,
		&request.Desired.BootstrapConfig:       &response.BootstrapConfigPatch,
	} {
		if len(wanted.Spec) > 0 {
			*patch = runtimehooksv1.Patch{PatchType: runtimehooksv1.JSONMergePatchType, Patch: fmt.Appendf(nil, `{"spec":%s}`, wanted.Spec)}
		}
	}
	return response
}
