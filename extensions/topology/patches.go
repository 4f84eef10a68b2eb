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

package topology

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

// Where a kubeadm cluster with an external etcd finds the certificates for it.
const (
	etcdCAFile   = "/etc/kubernetes/pki/etcd/ca.crt"
	etcdCertFile = "/etc/kubernetes/pki/apiserver-etcd-client.crt"
	etcdKeyFile  = "/etc/kubernetes/pki/apiserver-etcd-client.key"
)

// Patches answers the hook GeneratePatches.
type Patches struct{}

// GeneratePatches returns a JSON merge patch for each template that a variable changes, in the order of the UIDs. A merge patch
// adds what a template has nothing of, and leaves everything else alone without looking at it. A variable that does not follow
// its schema is a Failure; one that is missing leaves the templates as they are. It reads no settings.
func (Patches) GeneratePatches(_ context.Context, request *runtimehooksv1.GeneratePatchesRequest, response *runtimehooksv1.GeneratePatchesResponse) {
	shared, wrong := readCommon(request.Variables)
	items := make([]runtimehooksv1.GeneratePatchesResponseItem, 0, len(request.Items))
	for i := range request.Items {
		item := &request.Items[i]
		template, unreadable := shared.read(item.HolderReference, item.Object.Raw, item.Variables)
		if len(unreadable) > 0 {
			wrong = append(wrong, unreadable...)
			continue
		}
		patch, err := template.patch()
		if err != nil {
			wrong = append(wrong, findings{err.Error()}.at(template.where())...)
		}
		if patch != nil {
			items = append(items, runtimehooksv1.GeneratePatchesResponseItem{UID: item.UID, PatchType: runtimehooksv1.JSONMergePatchType, Patch: patch})
		}
	}
	if len(wrong) == 0 {
		slices.SortFunc(items, func(a, b runtimehooksv1.GeneratePatchesResponseItem) int {
			return cmp.Or(cmp.Compare(a.UID, b.UID), bytes.Compare(a.Patch, b.Patch))
		})
		response.Items = items
	}
	wrong.into(response)
}

// patch returns the merge patch of a template, or nil if no variable changes it.
func (t *template) patch() ([]byte, error) {
	changes, err := t.changes()
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	// The keys of a map are sorted: the same changes are the same bytes.
	return json.Marshal(tree{"spec": tree{"template": tree{"spec": changes}}})
}

// use is a kind of template and who uses it.
type use struct {
	kind schema.GroupKind
	user user
}

// changers write down what the variables change in each use below spec.template.spec. Other uses have no variables.
var changers = map[use]func(*template, tree) error{
	{controlPlaneKind, controlPlane}: (*template).changeControlPlane,
	{machineKind, controlPlane}:      (*template).changeControlPlaneMachines,
	{machineKind, deployment}:        (*template).changeDeployment,
	{poolKind, pool}:                 (*template).changePool,
	{bootstrapKind, deployment}:      (*template).changeBootstrap,
	{bootstrapKind, pool}:            (*template).changeBootstrap,
}

// changes returns what the variables change below spec.template.spec.
func (t *template) changes() (tree, error) {
	changes := tree{}
	change, known := changers[use{t.kind, t.user}]
	if !known || t.version != v1beta1 && t.version != v1beta2 || t.ofOtherWorkers() {
		return changes, nil
	}
	return changes, change(t, changes)
}

func (t *template) changeControlPlaneMachines(changes tree) error {
	changes.setText(t.values.controlPlaneInstanceType, "instanceType")
	return nil
}

func (t *template) changeDeployment(changes tree) error {
	changes.setText(t.values.workerInstanceType, "instanceType")
	return nil
}

func (t *template) changePool(changes tree) error {
	changes.setText(t.values.workerInstanceType, "template", "instanceType")
	if t.values.poolStrategy != (infrav1.FooMachinePoolStrategy{}) {
		changes.set(t.values.poolStrategy, "strategy")
	}
	return nil
}

func (t *template) changeBootstrap(changes tree) error {
	return t.arguments(changes, t.values.kubeletExtraArgs, "joinConfiguration", "nodeRegistration", "kubeletExtraArgs")
}

// changeControlPlane changes the kubeadm configuration of the control plane. An external etcd takes the place of members on
// the machines, and of what is said of those.
func (t *template) changeControlPlane(changes tree) error {
	const config, components = "kubeadmConfigSpec", "clusterConfiguration"
	if len(t.values.certificateSANs) > 0 {
		changes.set(t.values.certificateSANs, config, components, "apiServer", "certSANs")
	}
	for _, one := range []struct {
		list []argument
		path []string
	}{
		{t.values.apiServerExtraArgs, []string{config, components, "apiServer", "extraArgs"}},
		{t.values.controllerManagerExtraArgs, []string{config, components, "controllerManager", "extraArgs"}},
		{t.values.schedulerExtraArgs, []string{config, components, "scheduler", "extraArgs"}},
		{t.values.kubeletExtraArgs, []string{config, "initConfiguration", "nodeRegistration", "kubeletExtraArgs"}},
		{t.values.kubeletExtraArgs, []string{config, "joinConfiguration", "nodeRegistration", "kubeletExtraArgs"}},
		{t.values.etcdExtraArgs, []string{config, components, "etcd", "local", "extraArgs"}},
	} {
		if err := t.arguments(changes, one.list, one.path...); err != nil {
			return err
		}
	}
	if len(t.values.externalEtcdEndpoints) > 0 {
		changes.set(tree{
			"local":    nil,
			"external": tree{"endpoints": t.values.externalEtcdEndpoints, "caFile": etcdCAFile, "certFile": etcdCertFile, "keyFile": etcdKeyFile},
		}, config, components, "etcd")
	}
	return nil
}
