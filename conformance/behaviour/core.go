// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// This file does what Cluster API's core does.

const (
	infraGroup = "infrastructure.cluster.x-k8s.io"
	// The failure domains of stand-in infrastructure.
	domainOfControlPlanes, domainOfWorkers = "domain-a", "domain-b"
	// The endpoint of stand-in infrastructure. Nothing listens on this port, so that connections
	// fail at once.
	standInHost, standInPort = "127.0.0.1", 1
)

// substitute copies content with the variables of a configuration replaced.
func (s *story) substitute(content map[string]any) (map[string]any, error) {
	encoded, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	variables := map[string]string{
		"NAMESPACE": s.namespace, "CLUSTER": s.namespace, "KUBERNETES_VERSION": s.checker.Config.KubernetesVersion,
	}
	copied := map[string]any{}
	return copied, json.Unmarshal([]byte(expand(string(encoded), variables)), &copied)
}

// object returns an object of the provider with the configuration's spec, as Cluster API would
// create it: in the version of the contract, with the Cluster's label, but without owners.
func (s *story) object(role Role, name string) (*unstructured.Unstructured, error) {
	kind := s.checker.Config.Kinds[role]
	version, err := s.checker.Environment.version(schema.GroupKind{Group: kind.Group, Kind: kind.Kind}, s.contract)
	if err != nil {
		return nil, err
	}
	spec := kind.Spec
	if own, ok := kind.Specs[s.contract]; ok {
		spec = own
	}
	copied, err := s.substitute(spec)
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetGroupVersionKind(version)
	object.SetNamespace(s.namespace)
	object.SetName(name)
	object.SetLabels(map[string]string{clusterv1.ClusterNameLabel: s.namespace})
	if len(kind.Annotations) > 0 {
		object.SetAnnotations(maps.Clone(kind.Annotations))
	}
	if len(copied) > 0 {
		object.Object["spec"] = copied
	}
	return object, nil
}

// reference refers to an object as Cluster API does.
func reference(object *unstructured.Unstructured) clusterv1.ContractVersionedObjectReference {
	kind := object.GroupVersionKind()
	return clusterv1.ContractVersionedObjectReference{APIGroup: kind.Group, Kind: kind.Kind, Name: object.GetName()}
}

// owner makes an object the controller of another one, before it is created.
func setOwner(object client.Object, owner client.Object, kind string) {
	object.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: clusterv1.GroupVersion.String(), Kind: kind, Name: owner.GetName(), UID: owner.GetUID(), Controller: ptr.To(true),
	}})
}

// createCluster creates the Cluster for an infrastructure cluster, which need not exist yet.
func (s *story) createCluster(infra *unstructured.Unstructured, mutate ...func(*clusterv1.Cluster)) error {
	s.infra = infra
	s.cluster = &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.namespace, Name: s.namespace, Finalizers: []string{clusterv1.ClusterFinalizer},
			Labels: map[string]string{clusterv1.ClusterNameLabel: s.namespace},
		},
		Spec: clusterv1.ClusterSpec{
			InfrastructureRef: reference(infra),
			ClusterNetwork: clusterv1.ClusterNetwork{
				Pods: clusterv1.NetworkRanges{CIDRBlocks: []string{"10.244.0.0/16"}}, Services: clusterv1.NetworkRanges{CIDRBlocks: []string{"10.128.0.0/12"}},
			},
		},
	}
	if infra.GetKind() != standInCluster && !s.checker.Config.has(InfraCluster, endpointFeature) {
		s.cluster.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: standInHost, Port: standInPort}
	}
	for _, f := range mutate {
		f(s.cluster)
	}
	return s.Create(s.ctx, s.cluster)
}

// endpointFeature is the feature of whoever provides the control plane's endpoint.
const endpointFeature = "endpoint"

// The kinds that the suite plays itself.
const standInCluster, standInMachine = "StandInCluster", "StandInMachine"

// templateMark is the field of a stand-in machine that shows which template it was made from.
const templateMark = "madeFrom"

func (s *story) standIn(kind string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: infraGroup, Version: "v1", Kind: kind})
	object.SetNamespace(s.namespace)
	object.SetName(s.namespace)
	object.SetLabels(map[string]string{clusterv1.ClusterNameLabel: s.namespace})
	return object
}

// infraCluster returns the infrastructure cluster for a story that is not about it: the provider's
// own for its machines, unless it is not provisioned here, and a stand-in otherwise.
func (s *story) infraCluster() (*unstructured.Unstructured, error) {
	own := s.checker.Config.Kinds[InfraCluster] != nil && s.checker.Config.reaches(InfraCluster, Provisioned) && (s.role == InfraMachine || s.role == InfraMachinePool)
	if own {
		return s.object(InfraCluster, s.namespace)
	}
	infra := s.standIn(standInCluster)
	infra.Object["spec"] = map[string]any{"controlPlaneEndpoint": map[string]any{"host": standInHost, "port": int64(standInPort)}}
	return infra, nil
}

// createInfra creates the infrastructure cluster of the Cluster, and waits until it is provisioned.
func (s *story) createInfra() error {
	setOwner(s.infra, s.cluster, "Cluster")
	if err := s.Create(s.ctx, s.infra); err != nil {
		return err
	}
	if s.infra.GetKind() == standInCluster {
		return s.changeStatus(s.infra, func() {
			s.infra.Object["status"] = map[string]any{
				"ready": true, "initialization": map[string]any{"provisioned": true},
			}
		})
	}
	return s.until("the infrastructure cluster", func() error { return s.completed(s.infra, InfraCluster) })
}

// completed reads an object, and returns nil once it reports that it did its work.
func (s *story) completed(object *unstructured.Unstructured, role Role) error {
	if err := s.read(object); err != nil {
		return err
	}
	return fields.IsTrue(object, fields.CompletedPath(string(role), s.contract))
}

// surfaceInfra copies what the infrastructure cluster reports to the Cluster.
func (s *story) surfaceInfra() error {
	domains := failureDomains(s.infra, s.contract)
	if s.infra.GetKind() == standInCluster {
		domains = []clusterv1.FailureDomain{
			{Name: domainOfControlPlanes, ControlPlane: ptr.To(true)}, {Name: domainOfWorkers, ControlPlane: ptr.To(false)},
		}
	}
	endpoint := endpointOf(s.infra)
	return errors.Join(
		s.change(s.cluster, func() {
			if endpoint.IsValid() {
				s.cluster.Spec.ControlPlaneEndpoint = endpoint
			}
		}),
		s.changeStatus(s.cluster, func() {
			s.cluster.Status.FailureDomains = domains
			s.cluster.Status.Initialization.InfrastructureProvisioned = ptr.To(true)
		}),
	)
}

// endpointOf reads the endpoint on an infrastructure cluster or a control plane.
func endpointOf(object *unstructured.Unstructured) clusterv1.APIEndpoint {
	return clusterv1.APIEndpoint{
		Host: fields.Text(object, "spec.controlPlaneEndpoint.host"), Port: int32(max(0, fields.Number(object, "spec.controlPlaneEndpoint.port"))),
	}
}

// failureDomains reads the failure domains of an infrastructure cluster.
func failureDomains(infra *unstructured.Unstructured, contract string) []clusterv1.FailureDomain {
	var domains []clusterv1.FailureDomain
	add := func(name string, content any) {
		controlPlane, _ := fields.Get(content, "controlPlane").(bool)
		domains = append(domains, clusterv1.FailureDomain{Name: name, ControlPlane: ptr.To(controlPlane)})
	}
	if contract == fields.V1Beta1 {
		byName, _ := fields.At(infra, "status.failureDomains").(map[string]any)
		for name, content := range byName {
			add(name, content)
		}
		return domains
	}
	list, _ := fields.At(infra, "status.failureDomains").([]any)
	for _, content := range list {
		name, _ := fields.Get(content, "name").(string)
		add(name, content)
	}
	return domains
}

// bringUpCluster creates a Cluster whose infrastructure is provisioned, unless the story has one.
func (s *story) bringUpCluster() error {
	if s.cluster != nil {
		return nil
	}
	infra, err := s.infraCluster()
	if err != nil {
		return err
	}
	if err := s.createCluster(infra); err != nil {
		return err
	}
	if err := s.createInfra(); err != nil {
		return err
	}
	return s.surfaceInfra()
}

// newMachine returns a Machine with references to objects that need not exist yet; nil for a
// stand-in or for no reference.
func (s *story) newMachine(name string, infra, bootstrap *unstructured.Unstructured) *clusterv1.Machine {
	machine := &clusterv1.Machine{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.namespace, Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: s.namespace}, Finalizers: []string{clusterv1.MachineFinalizer},
		},
		Spec: clusterv1.MachineSpec{ClusterName: s.namespace, Version: s.checker.Config.prefixedVersion()},
	}
	if infra == nil {
		infra = s.standIn(standInMachine)
		infra.SetName(name)
	}
	machine.Spec.InfrastructureRef = reference(infra)
	if bootstrap == nil {
		bootstrap = s.standIn("StandInConfig")
		bootstrap.SetGroupVersionKind(schema.GroupVersionKind{Group: "bootstrap.cluster.x-k8s.io", Version: "v1", Kind: "StandInConfig"})
	}
	machine.Spec.Bootstrap.ConfigRef = reference(bootstrap)
	if s.cluster != nil {
		setOwner(machine, s.cluster, "Cluster")
	}
	return machine
}

const dataSecret = "bootstrap-data"

// createBootstrapData creates the Secret with which a bootstrap provider would hand over data.
func (s *story) createBootstrapData() error {
	err := s.Create(s.ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: dataSecret, Labels: map[string]string{clusterv1.ClusterNameLabel: s.namespace}},
		Type:       clusterv1.ClusterSecretType,
		StringData: map[string]string{"value": "#cloud-config\nruncmd: [mkdir -p /run/cluster-api, touch /run/cluster-api/bootstrap-success.complete]\n", "format": "cloud-config"},
	})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// pauseCluster pauses or resumes everything in the Cluster.
func (s *story) pauseCluster(paused bool) error {
	return s.change(s.cluster, func() { s.cluster.Spec.Paused = ptr.To(paused) })
}

// machines returns the Machines in the namespace.
func (s *story) machines() ([]clusterv1.Machine, error) {
	list := &clusterv1.MachineList{}
	err := s.List(s.ctx, list, client.InNamespace(s.namespace))
	return list.Items, err
}

var errNoMachine = errors.New("it has created no Machine")

// firstMachine returns a Machine of the control plane. The last one may have gone since somebody looked.
func (s *story) firstMachine() (*clusterv1.Machine, error) {
	machines, err := s.machines()
	if err == nil && len(machines) == 0 {
		err = errNoMachine
	}
	if err != nil {
		return nil, err
	}
	return &machines[0], nil
}

// names joins the names of Machines for a message.
func names(machines []clusterv1.Machine) string {
	all := make([]string, 0, len(machines))
	for i := range machines {
		all = append(all, machines[i].Name)
	}
	return fmt.Sprintf("[%s]", strings.Join(all, " "))
}
