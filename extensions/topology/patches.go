// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

// Paths where a kubeadm cluster with external etcd finds the certificates for it.
const (
	etcdCAFile   = "/etc/kubernetes/pki/etcd/ca.crt"
	etcdCertFile = "/etc/kubernetes/pki/apiserver-etcd-client.crt"
	etcdKeyFile  = "/etc/kubernetes/pki/apiserver-etcd-client.key"
)

// Patches answers the hook GeneratePatches.
type Patches struct{}

// GeneratePatches returns a JSON merge patch for each template that differs from what the variables
// specify, in the order of the UIDs. A merge patch adds fields even if their parents are missing,
// and leaves everything else alone. A variable that is missing or violates its schema is a Failure.
// The hook reads no settings.
func (Patches) GeneratePatches(_ context.Context, request *runtimehooksv1.GeneratePatchesRequest, response *runtimehooksv1.GeneratePatchesResponse) {
	shared, wrong := readCommon(request.Variables)
	wrong = append(wrong, missing(request.Variables)...)
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

// patch returns the merge patch of a template, or nil if the template already has what the
// variables specify.
func (t *template) patch() ([]byte, error) {
	changed, err := t.change()
	if err != nil {
		return nil, err
	}
	// The keys of a map are sorted, so the same changes give the same bytes.
	content, err := json.Marshal(tree{"spec": tree{"template": tree{"spec": changed}}})
	if err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	var patch map[string]any
	if err := json.Unmarshal(content, &patch); err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	if len(changed) == 0 || !changes(patch, t.object) {
		return nil, nil
	}
	return content, nil
}

// use is a kind of template and who uses it.
type use struct {
	kind schema.GroupKind
	user user
}

// changers record what the variables change below spec.template.spec for each use. Other uses have
// no variables.
var changers = map[use]func(*template, tree) error{
	{clusterKind, cluster}:           (*template).changeCluster,
	{controlPlaneKind, controlPlane}: (*template).changeControlPlane,
	{machineKind, controlPlane}:      (*template).changeControlPlaneMachines,
	{machineKind, deployment}:        (*template).changeDeployment,
	{poolKind, pool}:                 (*template).changePool,
	{bootstrapKind, deployment}:      (*template).changeBootstrap,
	{bootstrapKind, pool}:            (*template).changeBootstrap,
}

// change returns what the variables specify for a template below spec.template.spec.
func (t *template) change() (tree, error) {
	said := tree{}
	change, known := changers[use{t.kind, t.user}]
	if !known || t.version != v1beta1 && t.version != v1beta2 || t.ofOtherWorkers() {
		return said, nil
	}
	return said, change(t, said)
}

func (t *template) changeCluster(said tree) error {
	said.setText(t.values.identity, "identityRef", "name")
	return nil
}

func (t *template) changeControlPlaneMachines(said tree) error {
	said.setText(t.values.controlPlaneInstanceType, "instanceType")
	return nil
}

func (t *template) changeDeployment(said tree) error {
	said.setText(t.values.workerInstanceType, "instanceType")
	if t.values.workerInterruptible {
		said.set(true, "interruptible")
	}
	return nil
}

func (t *template) changePool(said tree) error {
	said.setText(t.values.workerInstanceType, "template", "instanceType")
	if t.values.workerInterruptible {
		said.set(true, "template", "interruptible")
	}
	if t.values.poolStrategy != (infrav1.FooMachinePoolStrategy{}) {
		said.set(t.values.poolStrategy, "strategy")
	}
	return nil
}

func (t *template) changeBootstrap(said tree) error {
	t.addFiles(said, t.values.files, "files")
	return t.arguments(said, t.values.kubeletExtraArgs, "joinConfiguration", "nodeRegistration", "kubeletExtraArgs")
}

// changeControlPlane changes the kubeadm configuration of the control plane. External etcd replaces
// the members on the machines and their configuration.
func (t *template) changeControlPlane(said tree) error {
	const config, components = "kubeadmConfigSpec", "clusterConfiguration"
	if len(t.values.certificateSANs) > 0 {
		said.set(t.values.certificateSANs, config, components, "apiServer", "certSANs")
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
		{t.values.etcdArguments(), []string{config, components, "etcd", "local", "extraArgs"}},
	} {
		if err := t.arguments(said, one.list, one.path...); err != nil {
			return err
		}
	}
	said.setText(t.values.imageRepository, config, components, "imageRepository")
	files := t.values.files
	if t.values.fast {
		changeFast(said, config)
		files = slices.Concat(files, patches)
	}
	t.addFiles(said, files, config, "files")
	if err := t.changeLife(said); err != nil {
		return err
	}
	if len(t.values.externalEtcdEndpoints) > 0 {
		said.set(tree{
			"local":    nil,
			"external": tree{"endpoints": t.values.externalEtcdEndpoints, "caFile": etcdCAFile, "certFile": etcdCertFile, "keyFile": etcdKeyFile},
		}, config, components, "etcd")
	}
	return nil
}

// changeLife sets how machines of the control plane are replaced.
func (t *template) changeLife(said tree) error {
	rollout, remediation := t.values.rollout, t.values.remediation
	if rollout == (values{}).rollout && remediation == (controlplanev1.FooControlPlaneRemediationSpec{}) {
		return nil
	}
	if t.version == v1beta1 {
		return fmt.Errorf("the variables rollout and remediation are for templates of %s, want no template of %s", v1beta2, v1beta1)
	}
	if rollout.CertificatesExpiryDays != 0 {
		said.set(rollout.CertificatesExpiryDays, "rollout", "before", "certificatesExpiryDays")
	}
	if rollout.MaxSurge != nil {
		said.set(tree{"type": "RollingUpdate", "rollingUpdate": tree{"maxSurge": rollout.MaxSurge}}, "rollout", "strategy")
	}
	if remediation != (controlplanev1.FooControlPlaneRemediationSpec{}) {
		said.set(remediation, "remediation")
	}
	return nil
}

// addFiles adds files to those of the template that have other paths. A merge patch replaces a list
// as a whole.
func (t *template) addFiles(said tree, added []file, path ...string) {
	if len(added) == 0 {
		return
	}
	files, _, _ := unstructured.NestedSlice(t.object, append([]string{"spec", "template", "spec"}, path...)...)
	there := map[any]bool{}
	for _, one := range files {
		if fields, isObject := one.(map[string]any); isObject {
			there[fields["path"]] = true
		}
	}
	for _, one := range added {
		if !there[one.Path] {
			files = append(files, one)
		}
	}
	said.set(files, path...)
}
