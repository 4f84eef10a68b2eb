// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	apidiscovery "k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// view is what was read of a cluster at one time.
type view struct {
	cluster *clusterv1.Cluster
	infra   *object
	// controlPlane is nil if the cluster has none.
	controlPlane *object
	machines     []machine
	pools        []pool
	deployments  []clusterv1.MachineDeployment
	secrets      map[string]corev1.Secret
	nodes        map[string]corev1.Node
	// apiServer is the version of the cluster's API server.
	apiServer string
	// unreachable is why the nodes or that version could not be read.
	unreachable error
	// namespaced are all objects of the namespace that clusterctl move would look at.
	namespaced []metav1.PartialObjectMetadata
	// owns has the UIDs of those that belong to a provider that is checked.
	owns map[types.UID]bool
	// crds are of the kinds of the management cluster.
	crds       map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition
	extensions []runtimev1.ExtensionConfig
}

// object is an object of a provider, with the version of the contract that it is read with.
type object struct {
	*unstructured.Unstructured
	contract string
	// own says that it belongs to a provider that is checked.
	own bool
	// role is the contract of its kind.
	role string
}

type machine struct {
	clusterv1.Machine
	infra, bootstrap *object
}

func (m machine) controlPlane() bool {
	_, ok := m.Labels[clusterv1.MachineControlPlaneLabel]
	return ok
}

type pool struct {
	clusterv1.MachinePool
	infra *object
}

// controlPlanes returns the Machines of the control plane.
func (v *view) controlPlanes() []machine {
	return slices.DeleteFunc(slices.Clone(v.machines), func(m machine) bool { return !m.controlPlane() })
}

// keepsMachines reports whether Machines of the control plane are left, and all of them are being deleted.
func (v *view) keepsMachines() bool {
	left := false
	for i := range v.namespaced {
		one := &v.namespaced[i]
		_, controlPlane := one.Labels[clusterv1.MachineControlPlaneLabel]
		if !controlPlane || one.GroupVersionKind().GroupKind() != clusterv1.GroupVersion.WithKind("Machine").GroupKind() {
			continue
		}
		if one.DeletionTimestamp.IsZero() {
			return false
		}
		left = true
	}
	return left
}

// objects returns the objects of a provider with a role.
func (v *view) objects(role string) []*object {
	var all []*object
	add := func(o *object) {
		if o != nil && o.role == role && o.own {
			all = append(all, o)
		}
	}
	add(v.infra)
	add(v.controlPlane)
	for i := range v.machines {
		add(v.machines[i].infra)
		add(v.machines[i].bootstrap)
	}
	for i := range v.pools {
		add(v.pools[i].infra)
	}
	return all
}

// read reads the cluster. What is missing is nil, because it may not exist yet.
func (s *story) read(ctx context.Context) (*view, error) {
	v := &view{cluster: &clusterv1.Cluster{}, secrets: map[string]corev1.Secret{}, nodes: map[string]corev1.Node{}}
	if err := s.Client.Get(ctx, s.key(clusterName), v.cluster); err != nil {
		return nil, err
	}
	var err error
	if v.infra, err = s.follow(ctx, v.cluster.Spec.InfrastructureRef, "infrastructure-cluster"); err != nil {
		return nil, err
	}
	if v.controlPlane, err = s.follow(ctx, v.cluster.Spec.ControlPlaneRef, "control-plane"); err != nil {
		return nil, err
	}
	if err := errors.Join(s.readMachines(ctx, v), s.readPools(ctx, v), s.readSecrets(ctx, v), s.readExtensions(ctx, v), s.readNamespace(ctx, v)); err != nil {
		return nil, err
	}
	v.unreachable = s.readNodes(ctx, v)
	return v, nil
}

func (s *story) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: s.Namespace, Name: name}
}

// follow reads what a reference names; nil if it does not exist.
func (s *story) follow(ctx context.Context, reference clusterv1.ContractVersionedObjectReference, role string) (*object, error) {
	if reference.Name == "" {
		return nil, nil
	}
	kind := schema.GroupKind{Group: reference.APIGroup, Kind: reference.Kind}
	version, contract, err := s.version(kind)
	if err != nil {
		return nil, err
	}
	found := &object{Unstructured: &unstructured.Unstructured{}, contract: contract, own: s.own(kind), role: role}
	found.SetGroupVersionKind(version)
	if err := s.Client.Get(ctx, s.key(reference.Name), found.Unstructured); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return found, nil
}

func (s *story) readMachines(ctx context.Context, v *view) error {
	list := &clusterv1.MachineList{}
	if err := s.Client.List(ctx, list, client.InNamespace(s.Namespace)); err != nil {
		return err
	}
	for i := range list.Items {
		m := machine{Machine: list.Items[i]}
		var err error
		if m.infra, err = s.follow(ctx, m.Spec.InfrastructureRef, "infrastructure-machine"); err != nil {
			return err
		}
		if m.bootstrap, err = s.follow(ctx, m.Spec.Bootstrap.ConfigRef, "bootstrap"); err != nil {
			return err
		}
		v.machines = append(v.machines, m)
	}
	deployments := &clusterv1.MachineDeploymentList{}
	err := s.Client.List(ctx, deployments, client.InNamespace(s.Namespace))
	v.deployments = deployments.Items
	return err
}

func (s *story) readPools(ctx context.Context, v *view) error {
	list := &clusterv1.MachinePoolList{}
	if err := s.Client.List(ctx, list, client.InNamespace(s.Namespace)); meta.IsNoMatchError(err) {
		return nil
	} else if err != nil {
		return err
	}
	for i := range list.Items {
		p := pool{MachinePool: list.Items[i]}
		var err error
		if p.infra, err = s.follow(ctx, p.Spec.Template.Spec.InfrastructureRef, "infrastructure-machinepool"); err != nil {
			return err
		}
		v.pools = append(v.pools, p)
	}
	return nil
}

func (s *story) readSecrets(ctx context.Context, v *view) error {
	list := &corev1.SecretList{}
	if err := s.Client.List(ctx, list, client.InNamespace(s.Namespace)); err != nil {
		return err
	}
	for _, secret := range list.Items {
		v.secrets[secret.Name] = secret
	}
	return nil
}

// readExtensions reads the extensions of the providers.
func (s *story) readExtensions(ctx context.Context, v *view) error {
	list := &runtimev1.ExtensionConfigList{}
	if err := s.Client.List(ctx, list); meta.IsNoMatchError(err) {
		return nil
	} else if err != nil {
		return err
	}
	for i := range list.Items {
		if own, err := s.ownExtension(ctx, &list.Items[i]); err != nil {
			return err
		} else if own {
			v.extensions = append(v.extensions, list.Items[i])
		}
	}
	return nil
}

// ownExtension reports whether an extension belongs to a provider that is checked. If a user has
// registered it, it has no label of a provider, but its Service does.
func (s *story) ownExtension(ctx context.Context, extension *runtimev1.ExtensionConfig) (bool, error) {
	if len(s.Providers) == 0 || slices.Contains(s.Providers, extension.Labels[clusterv1.ProviderNameLabel]) {
		return true, nil
	}
	named := extension.Spec.ClientConfig.Service
	if !named.IsDefined() {
		return false, nil
	}
	service := &corev1.Service{}
	err := s.Client.Get(ctx, client.ObjectKey{Namespace: named.Namespace, Name: named.Name}, service)
	return slices.Contains(s.Providers, service.Labels[clusterv1.ProviderNameLabel]), client.IgnoreNotFound(err)
}

var secretKind = corev1.SchemeGroupVersion.WithKind("Secret")

// movable returns the kinds that clusterctl move looks at. The kinds of a provider that clusterctl has not
// installed may lack its label, but not the label of a contract.
func (s *story) movable() []schema.GroupVersionKind {
	kinds := []schema.GroupVersionKind{secretKind, corev1.SchemeGroupVersion.WithKind("ConfigMap")}
	for kind, crd := range s.crds {
		_, _, err := s.version(kind)
		provider := crd.Labels[clusterv1.ProviderNameLabel] != "" || strings.HasSuffix(kind.Group, "cluster.x-k8s.io") || err == nil
		if !provider || crd.Spec.Scope != "Namespaced" {
			continue
		}
		for _, version := range crd.Spec.Versions {
			if version.Storage {
				kinds = append(kinds, kind.WithVersion(version.Name))
			}
		}
	}
	return kinds
}

func (s *story) readNamespace(ctx context.Context, v *view) error {
	v.owns, v.crds = map[types.UID]bool{}, s.crds
	for _, kind := range s.movable() {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		if err := s.Client.List(ctx, list, client.InNamespace(s.Namespace)); err != nil {
			return fmt.Errorf("list %s: %w", kind, err)
		}
		for i := range list.Items {
			list.Items[i].SetGroupVersionKind(kind)
			v.owns[list.Items[i].UID] = s.own(kind.GroupKind())
		}
		v.namespaced = append(v.namespaced, list.Items...)
	}
	return nil
}

// readNodes connects to the cluster as Cluster API does, and reads its Nodes and version.
func (s *story) readNodes(ctx context.Context, v *view) error {
	workload, err := v.connect()
	if err != nil {
		return err
	}
	config, err := v.kubeconfig()
	if err != nil {
		return err
	}
	server, err := apidiscovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	list := &corev1.NodeList{}
	if err := workload.List(ctx, list); err != nil {
		return err
	}
	for _, node := range list.Items {
		v.nodes[node.Name] = node
	}
	version, err := server.ServerVersion()
	if err != nil {
		return err
	}
	v.apiServer = version.GitVersion
	return nil
}

// kubeconfig returns how Cluster API connects to the cluster.
func (v *view) kubeconfig() (*rest.Config, error) {
	secret, ok := v.secrets[clusterName+"-kubeconfig"]
	if !ok {
		return nil, fmt.Errorf("there is no Secret %s-kubeconfig", clusterName)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["value"])
	if err != nil {
		return nil, fmt.Errorf("secret %s: value is no kubeconfig: %w", secret.Name, err)
	}
	config.Timeout = soon
	return config, nil
}

func (v *view) connect() (client.Client, error) {
	config, err := v.kubeconfig()
	if err != nil {
		return nil, err
	}
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}

// uids returns the UIDs of Machines.
func uids(machines []machine) []types.UID {
	all := make([]types.UID, 0, len(machines))
	for _, m := range machines {
		all = append(all, m.UID)
	}
	slices.Sort(all)
	return all
}

// names returns the names of Machines.
func names(machines []machine) []string {
	all := make([]string, 0, len(machines))
	for _, m := range machines {
		all = append(all, m.Name)
	}
	slices.Sort(all)
	return all
}
