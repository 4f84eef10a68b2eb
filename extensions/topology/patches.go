// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	"sigs.k8s.io/cluster-api/exp/runtime/topologymutation"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// argument is an argument of a component.
type argument = bootstrapv1.Arg

// Paths where a kubeadm cluster with external etcd finds the certificates for it.
const (
	etcdCAFile   = "/etc/kubernetes/pki/etcd/ca.crt"
	etcdCertFile = "/etc/kubernetes/pki/apiserver-etcd-client.crt"
	etcdKeyFile  = "/etc/kubernetes/pki/apiserver-etcd-client.key"
)

// GeneratePatches answers the hook of that name with a JSON merge patch for each template that differs
// from what the variables specify, in the order of the UIDs. No variables, or one that violates its
// schema, are a Failure. The hook reads no settings.
func GeneratePatches(ctx context.Context, request *runtimehooksv1.GeneratePatchesRequest, response *runtimehooksv1.GeneratePatchesResponse) {
	common := topologymutation.ToMap(request.Variables)
	values, wrong := readValues(common)
	wrong = append(wrong, undiscovered(common)...).at("spec.topology.variables")
	if len(wrong) > 0 {
		wrong.into(response)
		return
	}
	// Cluster API sends the templates in any order, and an error must always be the same one.
	sorted := *request
	sorted.Items = slices.SortedFunc(slices.Values(request.Items), func(a, b runtimehooksv1.GeneratePatchesRequestItem) int {
		return strings.Compare(string(a.UID), string(b.UID))
	})
	for _, item := range sorted.Items {
		if decode(item.Object.Raw) == nil {
			own, _ := readValues(topologymutation.ToMap(item.Variables))
			values.Builtin = own.Builtin
			wrong = append(wrong, undecodable(item.HolderReference, values)...)
		}
	}
	topologymutation.WalkTemplates(ctx, unstructured.UnstructuredJSONScheme, &sorted, response,
		func(_ context.Context, object runtime.Object, variables map[string]apiextensionsv1.JSON, holder runtimehooksv1.HolderReference) error {
			wrong = append(wrong, patch(object, variables, holder)...)
			return nil
		}, topologymutation.PatchFormat{Format: runtimehooksv1.JSONMergePatchType})
	response.Items = slices.DeleteFunc(response.Items, func(item runtimehooksv1.GeneratePatchesResponseItem) bool { return string(item.Patch) == "{}" })
	if response.Status != runtimehooksv1.ResponseStatusSuccess {
		wrong = append(wrong, response.Message)
	}
	if len(wrong) > 0 {
		response.Items = nil
	}
	wrong.into(response)
}

// patch changes a template as the variables specify, and returns what is wrong.
func patch(object runtime.Object, variables map[string]apiextensionsv1.JSON, holder runtimehooksv1.HolderReference) findings {
	content, ok := object.(*unstructured.Unstructured)
	if !ok {
		return nil // a list
	}
	template, wrong := newTemplate(holder, content, variables)
	if len(wrong) > 0 {
		return wrong
	}
	if change := changers[use{template.kind, template.user}]; change != nil && template.covered() {
		if err := change(&template); err != nil {
			return findings{err.Error()}.at(template.where())
		}
	}
	return nil
}

// use is a kind of template and who uses it.
type use struct {
	kind schema.GroupKind
	user user
}

// changers change the templates for each use. Other uses have no variables.
var changers = map[use]func(*template) error{
	{clusterKind, cluster}:           (*template).changeCluster,
	{controlPlaneKind, controlPlane}: (*template).changeControlPlane,
	{machineKind, controlPlane}: func(t *template) error {
		return t.changeMachines(machines{t.ControlPlaneInstanceType, t.ControlPlaneImage, t.ControlPlaneRootDiskGiB})
	},
	{machineKind, deployment}:   func(t *template) error { return t.changeWorkers() },
	{poolKind, pool}:            (*template).changePool,
	{bootstrapKind, deployment}: (*template).changeBootstrap,
	{bootstrapKind, pool}:       (*template).changeBootstrap,
}

// set sets a JSON value below spec.template.spec, and creates the objects above it.
func (t *template) set(value any, path ...string) error {
	return unstructured.SetNestedField(t.object.Object, value, append([]string{"spec", "template", "spec"}, path...)...)
}

// setText sets a text unless it is empty.
func (t *template) setText(text string, path ...string) error {
	if text == "" {
		return nil
	}
	return t.set(text, path...)
}

// setList sets a list of texts unless it is empty.
func (t *template) setList(texts []string, path ...string) error {
	if len(texts) == 0 {
		return nil
	}
	return unstructured.SetNestedStringSlice(t.object.Object, texts, append([]string{"spec", "template", "spec"}, path...)...)
}

// setArguments replaces all arguments at a path, unless the list is empty. In v1beta2 arguments are
// a list. In v1beta1 they are the keys of an object, so none can be given twice.
func (t *template) setArguments(arguments []argument, path ...string) error {
	if len(arguments) == 0 {
		return nil
	}
	named, listed := map[string]any{}, make([]any, 0, len(arguments))
	for _, one := range arguments {
		if _, twice := named[one.Name]; twice && t.version == v1beta1 {
			return fmt.Errorf("the argument %s is given twice, but must be given once: a %s template cannot hold it twice, a %s template can", one.Name, v1beta1, v1beta2)
		}
		item := map[string]any{"name": one.Name}
		named[one.Name] = ""
		if one.Value != nil {
			item["value"], named[one.Name] = *one.Value, *one.Value
		}
		listed = append(listed, item)
	}
	if t.version == v1beta1 {
		return t.set(named, path...)
	}
	return t.set(listed, path...)
}

// setFields sets the fields of a struct. Fields that are empty stay as they are in the template.
func (t *template) setFields(fields any, path ...string) error {
	converted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(fields)
	if err != nil {
		return err
	}
	for field, value := range converted {
		if err := t.set(value, append(slices.Clone(path), field)...); err != nil {
			return err
		}
	}
	return nil
}

// addFiles adds files to those of the template that have other paths.
func (t *template) addFiles(added []file, path ...string) error {
	if len(added) == 0 {
		return nil
	}
	files, _, _ := unstructured.NestedSlice(t.object.Object, append([]string{"spec", "template", "spec"}, path...)...)
	there := map[any]bool{}
	for _, one := range files {
		if fields, isObject := one.(map[string]any); isObject {
			there[fields["path"]] = true
		}
	}
	for _, one := range added {
		if there[one.Path] {
			continue
		}
		converted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&one)
		if err != nil {
			return err
		}
		files = append(files, converted)
	}
	return t.set(files, path...)
}

func (t *template) changePool() error {
	if err := t.changeWorkers("template"); err != nil {
		return err
	}
	if t.PoolStrategy == (infrav1.FooMachinePoolStrategy{}) {
		return nil
	}
	return t.setFields(&t.PoolStrategy, "strategy")
}

// changeWorkers changes the fields of worker machines, which are below the path.
func (t *template) changeWorkers(path ...string) error {
	if t.WorkerInterruptible {
		if err := t.set(true, append(path, "interruptible")...); err != nil {
			return err
		}
	}
	return t.changeMachines(machines{t.WorkerInstanceType, t.WorkerImage, t.WorkerRootDiskGiB}, path...)
}

// machines is what control plane machines and workers have variables for.
type machines struct {
	instanceType, image string
	rootDiskGiB         int64
}

// changeMachines changes the fields of machines, which are below the path.
func (t *template) changeMachines(wanted machines, path ...string) error {
	if wanted.rootDiskGiB != 0 {
		if err := t.set(map[string]any{"sizeGiB": wanted.rootDiskGiB}, append(path, "rootDisk")...); err != nil {
			return err
		}
	}
	if err := t.setText(wanted.image, append(path, "image")...); err != nil {
		return err
	}
	return t.setText(wanted.instanceType, append(path, "instanceType")...)
}

func (t *template) changeCluster() error {
	fields := infrav1.FooClusterSpec{
		Zones: t.Zones, AdditionalTags: t.AdditionalTags, LoadBalancer: infrav1.FooClusterLoadBalancer{Port: int32(t.LoadBalancerPort)},
		IdentityRef: infrav1.FooClusterIdentityReference{Name: t.Identity},
	}
	return t.setFields(&fields)
}

func (t *template) changeBootstrap() error {
	if err := t.addFiles(t.Files, "files"); err != nil {
		return err
	}
	return t.setArguments(t.KubeletExtraArgs, "joinConfiguration", "nodeRegistration", "kubeletExtraArgs")
}

// changeControlPlane changes the kubeadm configuration of the control plane.
func (t *template) changeControlPlane() error {
	const config, components = "kubeadmConfigSpec", "clusterConfiguration"
	if err := t.setList(t.CertificateSANs, config, components, "apiServer", "certSANs"); err != nil {
		return err
	}
	for _, one := range []struct {
		arguments []argument
		path      []string
	}{
		{t.APIServerExtraArgs, []string{config, components, "apiServer", "extraArgs"}},
		{t.ControllerManagerExtraArgs, []string{config, components, "controllerManager", "extraArgs"}},
		{t.SchedulerExtraArgs, []string{config, components, "scheduler", "extraArgs"}},
		{t.KubeletExtraArgs, []string{config, "initConfiguration", "nodeRegistration", "kubeletExtraArgs"}},
		{t.KubeletExtraArgs, []string{config, "joinConfiguration", "nodeRegistration", "kubeletExtraArgs"}},
		{t.etcdArguments(), []string{config, components, "etcd", "local", "extraArgs"}},
	} {
		if err := t.setArguments(one.arguments, one.path...); err != nil {
			return err
		}
	}
	for _, change := range []func() error{
		func() error { return t.setText(t.ImageRepository, config, components, "imageRepository") },
		func() error { return t.addFiles(t.Files, config, "files") },
		func() error { return t.changeFast(config) },
		t.changeReplacement,
	} {
		if err := change(); err != nil {
			return err
		}
	}
	if len(t.ExternalEtcdEndpoints) == 0 {
		return nil
	}
	// External etcd replaces the members on the machines and their configuration.
	unstructured.RemoveNestedField(t.object.Object, "spec", "template", "spec", config, components, "etcd", "local")
	external := bootstrapv1.ExternalEtcd{Endpoints: t.ExternalEtcdEndpoints, CAFile: etcdCAFile, CertFile: etcdCertFile, KeyFile: etcdKeyFile}
	return t.setFields(&external, config, components, "etcd", "external")
}

// changeReplacement changes how machines of the control plane are replaced.
func (t *template) changeReplacement() error {
	if t.Rollout == (rollout{}) && t.Remediation == (controlplanev1.FooControlPlaneRemediationSpec{}) {
		return nil
	}
	if t.version == v1beta1 {
		return fmt.Errorf("the variables rollout and remediation are for templates of %s, not of %s", v1beta2, v1beta1)
	}
	if t.Rollout.CertificatesExpiryDays != 0 {
		if err := t.set(t.Rollout.CertificatesExpiryDays, "rollout", "before", "certificatesExpiryDays"); err != nil {
			return err
		}
	}
	if t.Rollout.MaxSurge != nil {
		strategy := map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": *t.Rollout.MaxSurge}}
		if err := t.set(strategy, "rollout", "strategy"); err != nil {
			return err
		}
	}
	return t.setFields(&t.Remediation, "remediation")
}
