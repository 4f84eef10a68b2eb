// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package mutant

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func (o *object) actCluster() (bool, error) {
	if o.provider.NoEndpoint && !o.cluster.Spec.ControlPlaneEndpoint.IsValid() && !o.violates("waits-for-endpoint") {
		return false, nil
	}
	kept := o.provider.NoEndpoint || o.text("spec", "controlPlaneEndpoint", "host") != "" && !o.violates("endpoint-kept")
	if !kept && !o.violates("endpoint") {
		o.set(map[string]any{"host": "192.0.2.1", "port": int64(6443)}, "spec", "controlPlaneEndpoint")
	}
	list := []any{map[string]any{"name": "a", "controlPlane": true}, map[string]any{"name": "b", "controlPlane": false}}
	byName := map[string]any{"a": map[string]any{"controlPlane": true}, "b": map[string]any{"controlPlane": false}}
	// The wrong shape is the one of the other version.
	if (o.provider.Contract == V1Beta1) != o.violates("failure-domains") {
		o.set(byName, "status", "failureDomains")
	} else {
		o.set(list, "status", "failureDomains")
	}
	o.complete("provisioned")
	return true, nil
}

func (o *object) actMachine(ctx context.Context) (bool, error) {
	machine := &clusterv1.Machine{}
	if owner := metav1.GetControllerOf(o); owner != nil {
		if err := o.provider.Get(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: owner.Name}, machine); err != nil {
			return false, client.IgnoreNotFound(err)
		}
	} else if !o.violates("waits-for-owner") {
		return false, nil // a member of a pool without a Machine yet
	}
	unready := !ptr.Deref(o.cluster.Status.Initialization.InfrastructureProvisioned, false)
	if unready && !o.violates("waits-for-infrastructure") {
		return false, nil
	}
	if machine.Name != "" && machine.Spec.Bootstrap.DataSecretName == nil && !o.violates("waits-for-bootstrap") {
		return false, nil
	}
	o.setProviderID()
	o.setFailureDomain(machine.Spec.FailureDomain)
	address := map[string]any{"type": "InternalIP", "address": "192.0.2.2"}
	if o.violates("addresses") {
		address["type"] = "Mail"
	}
	o.set([]any{address}, "status", "addresses")
	o.complete("provisioned")
	return true, nil
}

func (o *object) setProviderID() {
	switch {
	case o.violates("provider-id"):
	case o.violates("provider-id-stable"):
		o.set("mutant:///same", "spec", "providerID")
	case o.violates("in-place-changes-ignored"):
		o.set("mutant:///"+o.GetNamespace()+"/"+o.GetName()+"/"+o.text("spec", "knob"), "spec", "providerID")
	default:
		o.set("mutant:///"+o.GetNamespace()+"/"+o.GetName(), "spec", "providerID")
	}
}

func (o *object) setFailureDomain(domain string) {
	if o.violates("failure-domain") {
		domain = "elsewhere"
	}
	if domain == "" {
		return
	}
	path := []string{"status", "failureDomain"}
	if o.provider.Contract == V1Beta1 {
		path[0] = "spec"
	}
	o.set(domain, path...)
}

// reconcileTemplate reports what machines of a template have.
func (p *Provider) reconcileTemplate(ctx context.Context, content *unstructured.Unstructured) (bool, error) {
	if content.GetKind() != Machine+Template && content.GetKind() != Machine+RigidTemplate {
		return false, nil
	}
	o := &object{Unstructured: content, provider: p, role: roles[Machine]}
	before := content.DeepCopy()
	if !o.violates("template-capacity") {
		o.set(map[string]any{"cpu": "2", "memory": "4Gi"}, "status", "capacity")
	}
	if !o.violates("template-node-info") {
		o.set(map[string]any{"architecture": "amd64", "operatingSystem": "linux"}, "status", "nodeInfo")
	}
	return o.write(ctx, before)
}

func (o *object) actPool(ctx context.Context) (bool, error) {
	pool := &clusterv1.MachinePool{}
	if owner := metav1.GetControllerOf(o); owner != nil {
		if err := o.provider.Get(ctx, client.ObjectKey{Namespace: o.GetNamespace(), Name: owner.Name}, pool); err != nil {
			return false, client.IgnoreNotFound(err)
		}
	}
	replicas := o.replicasOf(pool)
	var ids, instances []any
	for i := range replicas {
		id := fmt.Sprintf("mutant:///%s/%s-%d", o.GetNamespace(), o.GetName(), i)
		if o.violates("provider-id-list") {
			// The wrong list has the right length, so that nothing else depends on it.
			id = "mutant:///same"
		}
		ids = append(ids, id)
		instances = append(instances, map[string]any{"instanceName": fmt.Sprint(o.GetName(), "-", i), "providerID": id})
	}
	o.set(ids, "spec", "providerIDList")
	count := int64(replicas)
	if o.violates("replicas") {
		count++
	}
	o.set(count, "status", "replicas")
	if !o.violates("instances") {
		o.set(instances, "status", "instances")
	}
	if !o.violates("infrastructure-machine-kind") {
		o.set(Machine, "status", "infrastructureMachineKind")
	}
	if err := o.keepMembers(ctx, replicas); err != nil {
		return false, err
	}
	if complete, err := o.membersComplete(ctx); err != nil || !complete {
		return false, err
	}
	o.complete("provisioned")
	return true, nil
}

// membersComplete reports whether the pool need not wait for its machines.
func (o *object) membersComplete(ctx context.Context) (bool, error) {
	if !o.provider.AwaitsMembers {
		return true, nil
	}
	members, err := o.members(ctx)
	return !slices.ContainsFunc(members, lacksProviderID), err
}

func lacksProviderID(member unstructured.Unstructured) bool {
	return (&object{Unstructured: &member}).text("spec", "providerID") == ""
}

// replicasOf returns how many instances to keep.
func (o *object) replicasOf(pool *clusterv1.MachinePool) int {
	list, _ := o.get("spec", "providerIDList").([]any)
	_, external := pool.Annotations[clusterv1.ReplicasManagedByAnnotation]
	keep := external && !o.violates("externally-managed-replicas") || o.violates("scale")
	if keep && len(list) > 0 {
		return len(list)
	}
	return int(ptr.Deref(pool.Spec.Replicas, 1))
}

// keepMembers makes an infrastructure machine for each instance, and deletes the others.
func (o *object) keepMembers(ctx context.Context, replicas int) error {
	members, err := o.members(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for i := range replicas {
		name := fmt.Sprintf("%s-%d", o.GetName(), i)
		known[name] = true
		member := &unstructured.Unstructured{Object: map[string]any{}}
		member.SetAPIVersion(o.GetAPIVersion())
		member.SetKind(Machine)
		member.SetNamespace(o.GetNamespace())
		member.SetName(name)
		member.SetLabels(map[string]string{clusterv1.ClusterNameLabel: o.cluster.Name, clusterv1.MachinePoolNameLabel: o.GetName()})
		member.SetOwnerReferences([]metav1.OwnerReference{o.owner(false)})
		if err := o.create(ctx, member); err != nil {
			return err
		}
	}
	for i := range members {
		if known[members[i].GetName()] || o.violates("machine-deletion") || !members[i].GetDeletionTimestamp().IsZero() {
			continue
		}
		if err := o.remove(ctx, &members[i]); err != nil {
			return err
		}
	}
	return nil
}

func (o *object) members(ctx context.Context) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(o.GetAPIVersion())
	list.SetKind(Machine + "List")
	err := o.provider.List(ctx, list, client.InNamespace(o.GetNamespace()), client.MatchingLabels{clusterv1.MachinePoolNameLabel: o.GetName()})
	return list.Items, err
}

func (o *object) remove(ctx context.Context, removed client.Object) error {
	o.changed = true
	return client.IgnoreNotFound(o.provider.Delete(ctx, removed))
}

// deleteOwned deletes what belongs to the object, and reports whether something is left.
func (o *object) deleteOwned(ctx context.Context) (bool, error) {
	switch o.role {
	case roles[MachinePool]:
		members, err := o.members(ctx)
		return len(members) > 0, errors.Join(err, o.removeAll(ctx, pointers(members)))
	case roles[ControlPlane]:
		machines, err := o.machines(ctx)
		return len(machines) > 0, errors.Join(err, o.removeAll(ctx, pointers(machines)))
	case roles[Machine]:
		return o.violates("deletion-waiting") && o.text("spec", "providerID") == "", nil
	default:
		return false, nil
	}
}

// removeAll deletes the objects that are not being deleted yet.
func (o *object) removeAll(ctx context.Context, objects []client.Object) error {
	for _, object := range objects {
		if !object.GetDeletionTimestamp().IsZero() {
			continue
		}
		if err := o.remove(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// pointers returns the items of a list as objects.
func pointers[T any, P interface {
	*T
	client.Object
}](items []T) []client.Object {
	objects := make([]client.Object, 0, len(items))
	for i := range items {
		objects = append(objects, P(&items[i]))
	}
	return objects
}
