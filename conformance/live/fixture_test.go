// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

const testVersion = "v1.36.3"

func ownerOf(kind string, owner metav1.Object) []metav1.OwnerReference {
	return []metav1.OwnerReference{{Kind: kind, Name: owner.GetName(), UID: owner.GetUID(), Controller: ptr.To(true)}}
}

func newObject(role, kind, name, contract string, spec, status map[string]any) *object {
	o := &object{Unstructured: &unstructured.Unstructured{Object: map[string]any{"spec": spec, "status": status}}, contract: contract, own: true, role: role}
	o.SetKind(kind)
	o.SetName(name)
	o.SetUID(types.UID(kind + "-" + name))
	done := map[string]string{
		"control-plane": "controlPlaneInitialized", "bootstrap": "dataSecretCreated",
		"infrastructure-cluster": "provisioned", "infrastructure-machine": "provisioned", "infrastructure-machinepool": "provisioned",
	}
	if contract != fields.V1Beta1 {
		status["initialization"] = map[string]any{done[role]: true}
	}
	if role == "control-plane" {
		status["initialized"] = true
	}
	status["ready"] = true
	return o
}

// newView returns a cluster in which nothing is left to do: a control plane with 3 Machines, and a pool
// with 2.
func newView(contract string) *view {
	v := &view{
		cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: clusterName, UID: "cluster"}},
		secrets: map[string]corev1.Secret{}, nodes: map[string]corev1.Node{}, owns: map[types.UID]bool{}, apiServer: testVersion,
	}
	v.cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: "192.0.2.1", Port: 6443}
	v.cluster.Status.Conditions = []metav1.Condition{
		{Type: clusterv1.ClusterAvailableCondition, Status: metav1.ConditionTrue}, {Type: clusterv1.ClusterRollingOutCondition, Status: metav1.ConditionFalse},
		{Type: clusterv1.ClusterScalingUpCondition, Status: metav1.ConditionFalse}, {Type: clusterv1.ClusterScalingDownCondition, Status: metav1.ConditionFalse},
	}
	var domains any = []any{map[string]any{"name": "a", "controlPlane": true}, map[string]any{"name": "b", "controlPlane": true}, map[string]any{"name": "c", "controlPlane": false}}
	if contract == fields.V1Beta1 {
		domains = map[string]any{"a": map[string]any{"controlPlane": true}, "b": map[string]any{"controlPlane": true}, "c": map[string]any{}}
	}
	for _, name := range []string{"a", "b", "c"} {
		v.cluster.Status.FailureDomains = append(v.cluster.Status.FailureDomains, clusterv1.FailureDomain{Name: name, ControlPlane: ptr.To(name != "c")})
	}
	endpoint := func() map[string]any { return map[string]any{"host": "192.0.2.1", "port": int64(6443)} }
	v.infra = newObject("infrastructure-cluster", "DemoCluster", clusterName, contract,
		map[string]any{"controlPlaneEndpoint": endpoint()}, map[string]any{"failureDomains": domains})
	v.controlPlane = newObject("control-plane", "DemoControlPlane", clusterName, contract,
		map[string]any{"replicas": int64(3), "version": testVersion, "controlPlaneEndpoint": endpoint()}, map[string]any{"replicas": int64(3), "version": testVersion})
	for i := range 3 {
		m := v.addMachine(i, contract)
		m.Labels[clusterv1.MachineControlPlaneLabel] = ""
		m.OwnerReferences = ownerOf("DemoControlPlane", v.controlPlane)
	}
	v.addPool(contract)
	for _, purpose := range []string{"kubeconfig", "ca", "etcd", "proxy", "sa"} {
		name := clusterName + "-" + purpose
		v.secrets[name] = corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: clusterName}},
			Type:       clusterv1.ClusterSecretType, Data: map[string][]byte{"value": []byte("x"), "tls.crt": []byte("x")},
		}
	}
	v.extensions = []runtimev1.ExtensionConfig{{ObjectMeta: metav1.ObjectMeta{Name: "demo"}}}
	v.extensions[0].Status.Conditions = []metav1.Condition{{Type: runtimev1.ExtensionConfigDiscoveredCondition, Status: metav1.ConditionTrue}}
	v.addNamespaced("Cluster", v.cluster, nil)
	v.addNamespaced("DemoControlPlane", v.controlPlane, ownerOf("Cluster", v.cluster))
	v.addNamespaced("DemoMachine", v.machines[0].infra, ownerOf("DemoControlPlane", v.controlPlane))
	return v
}

func (v *view) addNamespaced(kind string, object metav1.Object, owners []metav1.OwnerReference) {
	one := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: object.GetName(), UID: object.GetUID(), OwnerReferences: owners}}
	one.Kind = kind
	v.namespaced = append(v.namespaced, one)
	v.owns[one.UID] = true
}

// addMachine adds a Machine with its Node.
func (v *view) addMachine(number int, contract string) *machine {
	name := fmt.Sprint("m", number)
	node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("node-" + name)}}
	node.Spec.ProviderID = "demo://" + name
	node.Status.NodeInfo.KubeletVersion = testVersion
	address := fmt.Sprint("192.0.2.1", number)
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}}
	v.nodes[name] = node
	domain := []string{"a", "b"}[number%2]
	m := machine{Machine: clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID("machine-" + name), Labels: map[string]string{clusterv1.ClusterNameLabel: clusterName},
	}}}
	m.Spec.Version, m.Spec.FailureDomain = testVersion, domain
	m.Spec.Bootstrap.DataSecretName = ptr.To(name)
	m.Status.NodeRef.Name = name
	m.Status.Addresses = clusterv1.MachineAddresses{{Type: clusterv1.MachineInternalIP, Address: address}}
	m.Status.Conditions = []metav1.Condition{{Type: clusterv1.MachineUpToDateCondition, Status: metav1.ConditionTrue}}
	m.infra = newObject("infrastructure-machine", "DemoMachine", name, contract, map[string]any{"providerID": "demo://" + name, "failureDomain": domain},
		map[string]any{"failureDomain": domain, "addresses": []any{map[string]any{"type": "InternalIP", "address": address}}})
	m.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{Kind: "DemoMachine", Name: name}
	m.bootstrap = newObject("bootstrap", "DemoConfig", name, contract, map[string]any{}, map[string]any{"dataSecretName": name})
	v.secrets[name] = corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string][]byte{"value": []byte("x")}}
	v.machines = append(v.machines, m)
	return &v.machines[len(v.machines)-1]
}

func (v *view) addPool(contract string) {
	p := pool{MachinePool: clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}}
	p.Spec.Replicas, p.Status.ReadyReplicas = ptr.To[int32](2), ptr.To[int32](2)
	var ids []any
	for i := range 2 {
		m := v.addMachine(3+i, contract)
		m.Labels[clusterv1.MachinePoolNameLabel] = "pool"
		m.bootstrap = nil
		p.Status.NodeRefs = append(p.Status.NodeRefs, corev1.ObjectReference{Name: m.Name})
		ids = append(ids, "demo://"+m.Name)
	}
	p.infra = newObject("infrastructure-machinepool", "DemoMachinePool", "pool", contract,
		map[string]any{"providerIDList": ids}, map[string]any{"replicas": int64(2), "infrastructureMachineKind": "DemoMachine"})
	v.pools = append(v.pools, p)
}
