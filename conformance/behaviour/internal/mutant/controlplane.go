// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package mutant

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	infraGroup = "infrastructure.cluster.x-k8s.io"
	secretType = corev1.SecretType("cluster.x-k8s.io/secret")
)

func (o *object) actControlPlane(ctx context.Context) (bool, error) {
	if !ptr.Deref(o.cluster.Status.Initialization.InfrastructureProvisioned, false) ||
		!o.cluster.Spec.ControlPlaneEndpoint.IsValid() && !o.violates("waits-for-endpoint") {
		return false, nil
	}
	for _, step := range []func(context.Context) error{o.keepSecrets, o.ownTemplate, o.keepMachine, o.remediate, o.propagate, o.count} {
		if err := step(ctx); err != nil {
			return false, err
		}
	}
	return true, nil
}

// keepSecrets writes the certificates, which are no real ones, and the kubeconfig.
func (o *object) keepSecrets(ctx context.Context) error {
	ca, err := o.secret(ctx, "ca", map[string][]byte{"tls.crt": []byte("certificate"), "tls.key": []byte("key")})
	if err != nil {
		return err
	}
	if o.violates("user-certificates") && string(ca.Data["tls.crt"]) != "certificate" {
		ca.Data["tls.crt"] = []byte("certificate")
		o.changed = true
		if err := o.provider.Update(ctx, ca); err != nil {
			return err
		}
	}
	for _, purpose := range []string{"etcd", "sa"} { // not every control plane has all
		if _, err := o.secret(ctx, purpose, map[string][]byte{"tls.crt": []byte("certificate"), "tls.key": []byte("key")}); err != nil {
			return err
		}
	}
	config := clientcmdapi.NewConfig()
	endpoint := o.cluster.Spec.ControlPlaneEndpoint
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: fmt.Sprintf("https://%s:%d", endpoint.Host, endpoint.Port), CertificateAuthorityData: ca.Data["tls.crt"]}
	config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c"}
	config.CurrentContext = "c"
	content, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	_, err = o.secret(ctx, "kubeconfig", map[string][]byte{"value": content})
	return err
}

// secret returns a Secret of the cluster, and creates it unless it exists.
func (o *object) secret(ctx context.Context, purpose string, data map[string][]byte) (*corev1.Secret, error) {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: o.GetNamespace(), Name: o.cluster.Name + "-" + purpose, OwnerReferences: []metav1.OwnerReference{o.owner(true)},
			Labels: map[string]string{clusterv1.ClusterNameLabel: o.cluster.Name},
		},
		Type: secretType, Data: data,
	}
	if o.violates("kubeconfig") && purpose == "kubeconfig" || o.violates("certificates") && purpose == "sa" {
		secret.Labels = nil
	}
	if err := o.create(ctx, secret); err != nil {
		return nil, err
	}
	return secret, o.provider.Get(ctx, client.ObjectKeyFromObject(secret), secret)
}

// templateReference is where the contract has the reference to the template.
func (o *object) machineTemplate(path ...string) []string {
	if o.provider.Contract == V1Beta1 {
		return append([]string{"spec", "machineTemplate"}, path...)
	}
	return append([]string{"spec", "machineTemplate", "spec"}, path...)
}

func (o *object) ownTemplate(ctx context.Context) error {
	if o.violates("template-owner") {
		return nil
	}
	template, err := o.infraTemplate(ctx)
	if err != nil {
		return err
	}
	if len(template.GetOwnerReferences()) > 0 {
		return nil
	}
	template.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: o.cluster.Name, UID: o.cluster.UID}})
	o.changed = true
	return o.provider.Update(ctx, template)
}

// infraTemplate reads the template that infrastructure machines are made from.
func (o *object) infraTemplate(ctx context.Context) (*unstructured.Unstructured, error) {
	template := o.infra(o.text(o.machineTemplate("infrastructureRef", "kind")...), o.text(o.machineTemplate("infrastructureRef", "name")...))
	return template, o.provider.Get(ctx, client.ObjectKeyFromObject(template), template)
}

func (o *object) infra(kind, name string) *unstructured.Unstructured {
	infra := &unstructured.Unstructured{Object: map[string]any{}}
	infra.SetAPIVersion(infraGroup + "/v1")
	infra.SetKind(kind)
	infra.SetNamespace(o.GetNamespace())
	infra.SetName(name)
	return infra
}

const infraKind = "StandInMachine"

// keepMachine creates the first Machine with its infrastructure.
func (o *object) keepMachine(ctx context.Context) error {
	machines, err := o.machines(ctx)
	if err != nil || len(machines) > 0 {
		return err
	}
	return o.createMachine(ctx, o.GetName()+"-0")
}

func (o *object) createMachine(ctx context.Context, name string) error {
	template, err := o.infraTemplate(ctx)
	if err != nil {
		return err
	}
	infra := o.infra(infraKind, name)
	if spec, found, _ := unstructured.NestedMap(template.Object, "spec", "template", "spec"); found && !o.violates("infrastructure-ref") {
		infra.Object["spec"] = spec
	}
	infra.SetLabels(map[string]string{clusterv1.ClusterNameLabel: o.cluster.Name})
	machine := &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: o.GetNamespace(), Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: o.cluster.Name, clusterv1.MachineControlPlaneLabel: ""},
			OwnerReferences: []metav1.OwnerReference{o.owner(!o.violates("machine-owner"))},
		},
		Spec: clusterv1.MachineSpec{
			ClusterName: o.cluster.Name, Version: o.version(), FailureDomain: o.domain(),
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infraGroup, Kind: infraKind, Name: name},
			Bootstrap:         clusterv1.Bootstrap{DataSecretName: ptr.To("none")},
		},
	}
	if o.violates("machine-label") {
		machine.Labels[clusterv1.MachineControlPlaneLabel] = "true"
	}
	if err := o.create(ctx, infra); err != nil {
		return err
	}
	return o.create(ctx, machine)
}

// version is the version of Machines.
func (o *object) version() string {
	version := o.text("spec", "version")
	switch {
	case o.violates("version"):
		return "v1.0.0"
	case o.violates("version-prefix"), strings.HasPrefix(version, "v"):
		return version
	default:
		return "v" + version
	}
}

// domain is the first failure domain for control planes.
func (o *object) domain() string {
	for _, domain := range o.cluster.Status.FailureDomains {
		if ptr.Deref(domain.ControlPlane, false) != o.violates("machine-placement") {
			return domain.Name
		}
	}
	return ""
}

// machines returns the control plane's Machines.
func (o *object) machines(ctx context.Context) ([]clusterv1.Machine, error) {
	list := &clusterv1.MachineList{}
	err := o.provider.List(ctx, list, client.InNamespace(o.GetNamespace()), client.HasLabels{clusterv1.MachineControlPlaneLabel})
	return list.Items, err
}

// remediate deletes Machines that a MachineHealthCheck marked.
func (o *object) remediate(ctx context.Context) error {
	machines, err := o.machines(ctx)
	if err != nil || o.violates("remediation") {
		return err
	}
	for i := range machines {
		marked := slices.ContainsFunc(machines[i].Status.Conditions, func(c metav1.Condition) bool {
			return c.Type == clusterv1.MachineOwnerRemediatedCondition && c.Status == metav1.ConditionFalse
		})
		if marked && machines[i].DeletionTimestamp.IsZero() {
			return o.remove(ctx, &machines[i])
		}
	}
	return nil
}

// propagate takes metadata and other fields to existing Machines.
func (o *object) propagate(ctx context.Context) error {
	machines, err := o.machines(ctx)
	if err != nil {
		return err
	}
	labels, _, err := unstructured.NestedStringMap(o.Object, "spec", "machineTemplate", "metadata", "labels")
	if err != nil || len(labels) == 0 || len(machines) == 0 {
		return err
	}
	if o.violates("in-place-propagation") {
		if err := o.createMachine(ctx, o.GetName()+"-1"); err != nil {
			return err
		}
	}
	for i := range machines {
		if err := o.propagateTo(ctx, &machines[i], labels); err != nil {
			return err
		}
	}
	return nil
}

// propagateTo updates a Machine and its infrastructure.
func (o *object) propagateTo(ctx context.Context, machine *clusterv1.Machine, labels map[string]string) error {
	infra := o.infra(infraKind, machine.Name)
	if err := o.provider.Get(ctx, client.ObjectKeyFromObject(infra), infra); err != nil {
		return client.IgnoreNotFound(err)
	}
	before, infraBefore := machine.DeepCopy(), infra.DeepCopy()
	if !o.violates("metadata-propagation") {
		mark(machine, labels)
	}
	if !o.violates("infrastructure-metadata") {
		mark(infra, labels)
	}
	o.propagateSpec(machine)
	if err := o.update(ctx, infraBefore, infra); err != nil {
		return err
	}
	return o.update(ctx, before, machine)
}

// update writes an object if it changed.
func (o *object) update(ctx context.Context, before, after client.Object) error {
	if reflect.DeepEqual(before, after) {
		return nil
	}
	o.changed = true
	return o.provider.Update(ctx, after)
}

func mark(object client.Object, added map[string]string) {
	labels, annotations := map[string]string{}, map[string]string{}
	for key, value := range object.GetLabels() {
		labels[key] = value
	}
	for key, value := range object.GetAnnotations() {
		annotations[key] = value
	}
	for key, value := range added {
		labels[key], annotations[key] = value, value
	}
	object.SetLabels(labels)
	object.SetAnnotations(annotations)
}

func (o *object) propagateSpec(machine *clusterv1.Machine) {
	seconds := o.number(o.machineTemplate("deletion", "nodeDrainTimeoutSeconds")...)
	if o.provider.Contract == V1Beta1 {
		if duration, err := time.ParseDuration(o.text(o.machineTemplate("nodeDrainTimeout")...)); err == nil {
			seconds = int64(duration.Seconds())
		}
	}
	if !o.violates("deletion-timeouts") {
		machine.Spec.Deletion.NodeDrainTimeoutSeconds = ptr.To(int32(seconds))
	}
	if seconds := o.number(o.machineTemplate("minReadySeconds")...); seconds > 0 && !o.violates("min-ready-seconds-in-place") {
		machine.Spec.MinReadySeconds = ptr.To(int32(seconds))
	}
	if gates, _ := o.get(o.machineTemplate("readinessGates")...).([]any); len(gates) > 0 && !o.violates("readiness-gates") {
		machine.Spec.ReadinessGates = []clusterv1.MachineReadinessGate{{ConditionType: "Conformance"}}
	}
	if taints, _ := o.get(o.machineTemplate("taints")...).([]any); len(taints) > 0 && !o.violates("taints") {
		machine.Spec.Taints = []clusterv1.MachineTaint{{
			Key: "conformance.example.com/changed", Value: "yes", Effect: corev1.TaintEffectNoSchedule, Propagation: clusterv1.MachineTaintPropagationAlways,
		}}
	}
}

// counter is a field of the status that counts Machines, and the rule about it.
type counter struct {
	rule, field string
	value       int64
}

// countTrue counts the Machines of which a condition is true.
func countTrue(machines []clusterv1.Machine, kind string) int64 {
	count := int64(0)
	for i := range machines {
		if slices.ContainsFunc(machines[i].Status.Conditions, func(c metav1.Condition) bool { return c.Type == kind && c.Status == metav1.ConditionTrue }) {
			count++
		}
	}
	return count
}

// count reports the Machines in the status.
func (o *object) count(ctx context.Context) error {
	machines, err := o.machines(ctx)
	if err != nil {
		return err
	}
	all := int64(len(machines))
	counters := []counter{
		{"replicas", "replicas", all}, {"ready-replicas", "readyReplicas", countTrue(machines, clusterv1.ReadyCondition)},
		{"available-replicas", "availableReplicas", countTrue(machines, clusterv1.AvailableCondition)}, {"up-to-date-replicas", "upToDateReplicas", all},
	}
	if o.provider.Contract == V1Beta1 {
		counters = []counter{
			{"replicas", "replicas", all}, {"ready-replicas", "readyReplicas", 0},
			{"available-replicas", "unavailableReplicas", all}, {"up-to-date-replicas", "updatedReplicas", all},
		}
	}
	for _, c := range counters {
		if o.violates(c.rule) {
			c.value += 4
		}
		o.set(c.value, "status", c.field)
	}
	selector := clusterv1.ClusterNameLabel + "=" + o.cluster.Name
	if o.violates("selector") {
		selector = "a=b"
	}
	o.set(selector, "status", "selector")
	version := o.text("spec", "version")
	if !o.violates("status-version") {
		o.set(version, "status", "version")
	}
	if !o.violates("status-versions") && !o.violates("status-version") {
		entry := map[string]any{"version": version, "replicas": all}
		if o.violates("status-versions-entries") {
			delete(entry, "replicas")
		}
		o.set([]any{entry}, "status", "versions")
	}
	return nil
}
