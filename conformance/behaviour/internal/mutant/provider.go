// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package mutant

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	finalizer = "mutant.example.com/finalizer"
	// done marks objects that were complete, and wasPaused those that were paused.
	done, wasPaused = "mutant.example.com/done", "mutant.example.com/was-paused"

	// V1Beta1 is the older version of the contract.
	V1Beta1 = "v1beta1"
)

// Provider reconciles the kinds of this package. It has no state, so that it can work for several
// namespaces at once.
type Provider struct {
	client.Client
	// Contract is the version of the contract.
	Contract string
	// Kinds are those to reconcile.
	Kinds []string
	// Violates is the ID of the rule to violate; empty for none.
	Violates string
	// NoEndpoint says that clusters have the endpoint of somebody else.
	NoEndpoint bool
	// AwaitsMembers says that pools are complete only when their machines are.
	AwaitsMembers bool
}

// object is an object with what a reconciliation needs.
type object struct {
	*unstructured.Unstructured

	provider *Provider
	role     string
	cluster  *clusterv1.Cluster
	// changed reports whether anything else was written.
	changed bool
}

// roles are the contracts of the kinds.
var roles = map[string]string{
	Cluster: "infrastructure-cluster", Machine: "infrastructure-machine", MachinePool: "infrastructure-machinepool", ControlPlane: "control-plane", Config: "bootstrap",
}

// violates reports whether to violate a rule of the object's contract.
func (o *object) violates(rule string) bool { return o.provider.Violates == o.role+"/"+rule }

// Step reconciles the objects in a namespace once, and reports whether it changed any.
func (p *Provider) Step(ctx context.Context, namespace string) (bool, error) {
	changed := false
	for _, kind := range p.Kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{Group: Group, Version: version, Kind: kind + "List"})
		if err := p.List(ctx, list, client.InNamespace(namespace)); err != nil {
			return false, err
		}
		for i := range list.Items {
			wrote, err := p.reconcile(ctx, kind, &list.Items[i])
			if err != nil {
				return false, fmt.Errorf("%s %s: %w", kind, list.Items[i].GetName(), err)
			}
			changed = changed || wrote
		}
	}
	return changed, nil
}

// reconcile changes an object in memory, and writes what changed.
func (p *Provider) reconcile(ctx context.Context, kind string, content *unstructured.Unstructured) (bool, error) {
	if strings.HasSuffix(kind, Template) {
		return p.reconcileTemplate(ctx, content)
	}
	base := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(kind, Loud), Unscaled), Rigid)
	o := &object{Unstructured: content, provider: p, role: roles[base]}
	before := content.DeepCopy()
	if err := o.reconcile(ctx); err != nil {
		return false, err
	}
	return o.write(ctx, before)
}

// write writes the metadata and spec, and then the status, if they changed.
func (o *object) write(ctx context.Context, before *unstructured.Unstructured) (bool, error) {
	status, statusBefore := o.Object["status"], before.Object["status"]
	delete(o.Object, "status")
	delete(before.Object, "status")
	if !reflect.DeepEqual(before.Object, o.Object) {
		o.changed = true
		if err := o.provider.Update(ctx, o.Unstructured); err != nil {
			return true, client.IgnoreNotFound(err)
		}
	}
	if reflect.DeepEqual(statusBefore, status) {
		return o.changed, nil
	}
	o.Object["status"] = status
	return true, client.IgnoreNotFound(o.provider.Status().Update(ctx, o.Unstructured))
}

// reconcile is what every kind has in common.
func (o *object) reconcile(ctx context.Context) error {
	if o.GetAnnotations()[clusterv1.ManagedByAnnotation] != "" && !o.violates("externally-managed") {
		return nil
	}
	owned := len(o.GetOwnerReferences()) > 0
	if !owned && o.unowned() {
		return nil
	}
	if err := o.findCluster(ctx); err != nil {
		return err
	}
	if o.cluster == nil {
		if !o.GetDeletionTimestamp().IsZero() && !o.violates("deletion-after-cluster") {
			return o.delete(ctx)
		}
		return nil
	}
	if o.paused() {
		return nil
	}
	if !o.GetDeletionTimestamp().IsZero() {
		return o.delete(ctx)
	}
	return o.work(ctx)
}

// work does the object's work, and reports it.
func (o *object) work(ctx context.Context) error {
	controllerutil.AddFinalizer(o, finalizer)
	if o.violates("lost-status") && o.GetAnnotations()[done] != "" && !o.hasCondition(clusterv1.ReadyCondition) {
		return nil
	}
	complete, err := o.act(ctx)
	if err != nil {
		return err
	}
	if complete {
		o.annotate(done)
	}
	o.setConditions(complete)
	return nil
}

// unowned handles an object that has no owner yet, and reports whether that is all.
func (o *object) unowned() bool {
	switch {
	case !o.GetDeletionTimestamp().IsZero():
		if !o.violates("deletion-unowned") {
			controllerutil.RemoveFinalizer(o, finalizer)
		}
		return true
	case o.violates("deletion-unowned"):
		controllerutil.AddFinalizer(o, finalizer)
	case o.violates("apply-idempotent"):
		o.set("changed", "spec", "knob")
	}
	return !o.violates("waits-for-owner")
}

func (o *object) findCluster(ctx context.Context) error {
	cluster := &clusterv1.Cluster{}
	err := o.provider.Get(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: o.GetLabels()[clusterv1.ClusterNameLabel]}, cluster)
	if apierrors.IsNotFound(err) {
		return nil
	}
	o.cluster = cluster
	return err
}

// statuses are the statuses of conditions that hold or do not.
var statuses = map[bool]string{true: "True", false: "False"}

// paused reports whether the object is paused, and says so in a condition.
func (o *object) paused() bool {
	_, annotated := o.GetAnnotations()[clusterv1.PausedAnnotation]
	paused := annotated || ptr.Deref(o.cluster.Spec.Paused, false)
	if !o.violates("paused-condition") {
		o.setCondition(clusterv1.PausedCondition, statuses[paused])
	}
	if o.violates("pause-resumes") {
		if paused {
			o.annotate(wasPaused)
		}
		return o.GetAnnotations()[wasPaused] != ""
	}
	return paused && !o.violates("pausing")
}

// delete removes the finalizer once everything is gone that belongs to the object.
func (o *object) delete(ctx context.Context) error {
	if o.violates("deletion") {
		return nil
	}
	left, err := o.deleteOwned(ctx)
	if err == nil && !left {
		controllerutil.RemoveFinalizer(o, finalizer)
	}
	return err
}

// act makes what the object stands for, and reports whether it is complete.
func (o *object) act(ctx context.Context) (bool, error) {
	switch o.role {
	case roles[Cluster]:
		return o.actCluster()
	case roles[Machine]:
		return o.actMachine(ctx)
	case roles[MachinePool]:
		return o.actPool(ctx)
	case roles[ControlPlane]:
		return o.actControlPlane(ctx)
	default:
		return o.actConfig(ctx)
	}
}

// setConditions sets the conditions that the contract names.
func (o *object) setConditions(complete bool) {
	if o.role != roles[ControlPlane] || !o.violates("ready-condition") {
		o.setCondition(clusterv1.ReadyCondition, statuses[complete && !o.violates("ready-condition")])
	}
	if o.violates("conditions") {
		o.setCondition("Broken", "Yes")
	}
	if o.role != roles[ControlPlane] {
		return
	}
	if !o.violates("available-condition") {
		o.setCondition(clusterv1.AvailableCondition, "False")
	}
	if !o.violates("scaling-conditions") {
		for _, kind := range []string{clusterv1.RollingOutCondition, clusterv1.ScalingUpCondition, clusterv1.ScalingDownCondition} {
			o.setCondition(kind, "False")
		}
	}
}

// setCondition sets a condition where Cluster API reads it. A provider that does not implement
// conditions still shows its pause elsewhere.
func (o *object) setCondition(kind, status string) {
	path := []string{"status", "conditions"}
	if o.violates("conditions-implemented") {
		path = []string{"status", "v1beta2", "conditions"}
	}
	list, _ := o.get(path...).([]any)
	for _, item := range list {
		if fields, ok := item.(map[string]any); ok && fields["type"] == kind {
			fields["status"] = status
			return
		}
	}
	o.set(append(list, map[string]any{
		"type": kind, "status": status, "reason": "Mutant", "lastTransitionTime": "2026-01-01T00:00:00Z",
	}), path...)
}

func (o *object) hasCondition(kind string) bool {
	list, _ := o.get("status", "conditions").([]any)
	return slices.ContainsFunc(list, func(item any) bool {
		fields, ok := item.(map[string]any)
		return ok && fields["type"] == kind
	})
}

func (o *object) annotate(key string) {
	annotations := maps.Clone(o.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = "true"
	o.SetAnnotations(annotations)
}

// get returns what is at a path; nil if there is nothing.
func (o *object) get(path ...string) any {
	value, _, err := unstructured.NestedFieldNoCopy(o.Object, path...)
	if err != nil {
		return nil
	}
	return value
}

func (o *object) text(path ...string) string {
	value, _ := o.get(path...).(string)
	return value
}

func (o *object) number(path ...string) int64 {
	value, _ := o.get(path...).(int64)
	return value
}

// set sets what is at a path.
func (o *object) set(value any, path ...string) {
	fields := o.Object
	for _, name := range path[:len(path)-1] {
		child, ok := fields[name].(map[string]any)
		if !ok {
			child = map[string]any{}
			fields[name] = child
		}
		fields = child
	}
	fields[path[len(path)-1]] = value
}

// complete reports that the object did its work, where the contract says.
func (o *object) complete(names ...string) {
	// Cluster API reads status.ready of a pool, so without the other field a pool works all the same.
	if o.role == roles[MachinePool] || o.provider.Contract == V1Beta1 && !o.violates("initialization") {
		o.set(true, "status", "ready")
	}
	if o.provider.Contract != V1Beta1 && !o.violates("initialization") {
		o.set(true, append([]string{"status", "initialization"}, names...)...)
	}
}

// owner returns an owner reference to the object.
func (o *object) owner(controller bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: o.GetAPIVersion(), Kind: o.GetKind(), Name: o.GetName(), UID: o.GetUID(), Controller: ptr.To(controller)}
}

// create creates an object unless it exists.
func (o *object) create(ctx context.Context, created client.Object) error {
	existing := &metav1.PartialObjectMetadata{}
	kind, err := o.provider.GroupVersionKindFor(created)
	if err != nil {
		return err
	}
	existing.SetGroupVersionKind(kind)
	if err := o.provider.Get(ctx, client.ObjectKeyFromObject(created), existing); !apierrors.IsNotFound(err) {
		return err
	}
	o.changed = true
	return o.provider.Create(ctx, created)
}
