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
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	"sigs.k8s.io/cluster-api/exp/runtime/topologymutation"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// argument is an argument of a component.
type argument = bootstrapv1.Arg

// Paths in the template of a control plane.
const (
	kubeadmPath    = "spec.template.spec.kubeadmConfigSpec"
	componentsPath = kubeadmPath + ".clusterConfiguration"
)

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
	{machineKind, controlPlane}:      (*template).changeControlPlaneMachines,
	{machineKind, deployment}:        (*template).changeWorkers,
	{poolKind, pool}:                 (*template).changePool,
	{bootstrapKind, deployment}:      (*template).changeBootstrap,
	{bootstrapKind, pool}:            (*template).changeBootstrap,
}

// change is what to set at a path of a template: the arguments of a component, files of a machine, or
// the fields of a struct, of which value is a pointer. What is empty leaves the template as it is.
// Objects that are missing on the path are created.
type change struct {
	path  string
	value any
}

// set makes changes in their order.
func (t *template) set(changes ...change) error {
	for _, one := range changes {
		path := strings.Split(one.path, ".")
		var err error
		switch value := one.value.(type) {
		case []argument:
			err = t.setArguments(value, path)
		case []file:
			err = t.addFiles(value, path)
		default:
			err = t.setFields(value, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setFields sets the fields of a struct that are not empty.
func (t *template) setFields(fields any, path []string) error {
	converted, err := runtime.DefaultUnstructuredConverter.ToUnstructured(fields)
	if err != nil {
		return err
	}
	for field, value := range converted {
		if err := unstructured.SetNestedField(t.object.Object, value, append(slices.Clone(path), field)...); err != nil {
			return err
		}
	}
	return nil
}

// setArguments replaces all arguments at a path, unless the list is empty. In v1beta2 arguments are
// a list. In v1beta1 they are the keys of an object, so none can be given twice.
func (t *template) setArguments(arguments []argument, path []string) error {
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
		return unstructured.SetNestedField(t.object.Object, named, path...)
	}
	return unstructured.SetNestedField(t.object.Object, listed, path...)
}

// addFiles adds files to those of the template that have other paths.
func (t *template) addFiles(added []file, path []string) error {
	if len(added) == 0 {
		return nil
	}
	files, _, _ := unstructured.NestedSlice(t.object.Object, path...)
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
	return unstructured.SetNestedField(t.object.Object, files, path...)
}

func (t *template) changeCluster() error {
	return t.set(change{"spec.template.spec", &infrav1.FooClusterSpec{
		Zones: t.Zones, AdditionalTags: t.AdditionalTags, LoadBalancer: infrav1.FooClusterLoadBalancer{Port: t.LoadBalancerPort},
		IdentityRef: infrav1.FooClusterIdentityReference{Name: t.Identity},
	}})
}

func (t *template) changeControlPlaneMachines() error {
	return t.set(change{"spec.template.spec", &infrav1.FooMachineSpec{
		InstanceType: t.ControlPlaneInstanceType, Image: t.ControlPlaneImage, RootDisk: infrav1.RootDisk{SizeGiB: t.ControlPlaneRootDiskGiB},
	}})
}

// worker returns what workers have variables for. In the template of a pool, the fields have the same
// names as in a machine.
func (v *values) worker() *infrav1.FooMachineSpec {
	spec := &infrav1.FooMachineSpec{InstanceType: v.WorkerInstanceType, Image: v.WorkerImage, RootDisk: infrav1.RootDisk{SizeGiB: v.WorkerRootDiskGiB}}
	if v.WorkerInterruptible {
		spec.Interruptible = &v.WorkerInterruptible
	}
	return spec
}

func (t *template) changeWorkers() error { return t.set(change{"spec.template.spec", t.worker()}) }

func (t *template) changePool() error {
	return t.set(change{"spec.template.spec.template", t.worker()}, change{"spec.template.spec.strategy", &t.PoolStrategy})
}

func (t *template) changeBootstrap() error {
	return t.set(change{"spec.template.spec.files", t.Files}, change{"spec.template.spec.joinConfiguration.nodeRegistration.kubeletExtraArgs", t.KubeletExtraArgs})
}

func (t *template) changeControlPlane() error {
	err := t.set(
		change{componentsPath + ".apiServer", &bootstrapv1.APIServer{CertSANs: t.CertificateSANs}},
		change{componentsPath + ".apiServer.extraArgs", t.APIServerExtraArgs},
		change{componentsPath + ".controllerManager.extraArgs", t.ControllerManagerExtraArgs},
		change{componentsPath + ".scheduler.extraArgs", t.SchedulerExtraArgs},
		change{kubeadmPath + ".initConfiguration.nodeRegistration.kubeletExtraArgs", t.KubeletExtraArgs},
		change{kubeadmPath + ".joinConfiguration.nodeRegistration.kubeletExtraArgs", t.KubeletExtraArgs},
		change{componentsPath + ".etcd.local.extraArgs", t.etcdArguments()},
		change{componentsPath, &bootstrapv1.ClusterConfiguration{ImageRepository: t.ImageRepository}},
		change{kubeadmPath + ".files", t.Files},
	)
	if err != nil {
		return err
	}
	if err := t.changeFast(); err != nil {
		return err
	}
	if err := t.changeReplacement(); err != nil {
		return err
	}
	return t.changeEtcd()
}

// changeReplacement changes how machines of the control plane are replaced.
func (t *template) changeReplacement() error {
	if t.Rollout == (rollout{}) && t.Remediation == (controlplanev1.FooControlPlaneRemediationSpec{}) {
		return nil
	}
	if t.version == v1beta1 {
		return fmt.Errorf("the variables rollout and remediation are for templates of %s, not of %s", v1beta2, v1beta1)
	}
	var strategy controlplanev1.FooControlPlaneRolloutStrategy
	if t.Rollout.MaxSurge != nil {
		strategy.Type = controlplanev1.RollingUpdateStrategyType
		strategy.RollingUpdate.MaxSurge = ptr.To(intstr.FromInt32(*t.Rollout.MaxSurge))
	}
	return t.set(
		change{"spec.template.spec.rollout.before", &controlplanev1.FooControlPlaneRolloutBeforeSpec{CertificatesExpiryDays: t.Rollout.CertificatesExpiryDays}},
		change{"spec.template.spec.rollout", &controlplanev1.FooControlPlaneRolloutSpec{Strategy: strategy}},
		change{"spec.template.spec.remediation", &t.Remediation},
	)
}

// changeEtcd replaces the members on the machines and their configuration by external etcd.
func (t *template) changeEtcd() error {
	if len(t.ExternalEtcdEndpoints) == 0 {
		return nil
	}
	unstructured.RemoveNestedField(t.object.Object, strings.Split(componentsPath+".etcd.local", ".")...)
	return t.set(change{componentsPath + ".etcd", &bootstrapv1.Etcd{External: bootstrapv1.ExternalEtcd{
		Endpoints: t.ExternalEtcdEndpoints, CAFile: etcdCAFile, CertFile: etcdCertFile, KeyFile: etcdKeyFile,
	}}})
}
