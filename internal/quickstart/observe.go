// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/internal/observer"
)

// newScheme returns a scheme with all kinds that the quickstart reads.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, clusterv1.AddToScheme, clusterctlv1.AddToScheme, controlplanev1.AddToScheme, infrav1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// observe starts to watch the kinds of the objects, in one namespace, or in all if it is empty. It
// ends with ctx.
func observe(ctx context.Context, config *rest.Config, namespace string, objects ...client.Object) (*observer.Observer, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	return observer.Start(ctx, config, observer.Options{Scheme: scheme, Namespace: namespace}, objects...)
}

// observeManagement watches the objects of a cluster in the management cluster.
func observeManagement(ctx context.Context, config *rest.Config, namespace string) (*observer.Observer, error) {
	return observe(ctx, config, namespace,
		&clusterv1.Cluster{}, &clusterv1.Machine{}, &clusterv1.MachinePool{}, &controlplanev1.FooControlPlane{},
		&infrav1.FooCluster{}, &infrav1.FooMachine{}, &infrav1.FooMachinePool{}, secretMetadata())
}

// secretMetadata represents Secrets without their content.
func secretMetadata() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}}
}

// objects are all objects of a cluster in the management cluster.
type objects struct {
	cluster      *clusterv1.Cluster
	infra        infrav1.FooClusterList
	controlPlane controlplanev1.FooControlPlaneList
	machines     clusterv1.MachineList
	fooMachines  infrav1.FooMachineList
	pools        clusterv1.MachinePoolList
	fooPools     infrav1.FooMachinePoolList
	secrets      sets.Set[string]
}

// readObjects reads all objects of a cluster. Missing objects are not an error.
func readObjects(ctx context.Context, reader client.Reader, key client.ObjectKey) (*objects, error) {
	all := &objects{cluster: &clusterv1.Cluster{}, secrets: sets.New[string]()}
	if err := client.IgnoreNotFound(reader.Get(ctx, key, all.cluster)); err != nil {
		return nil, err
	}
	secrets := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "SecretList"}}
	belongs := []client.ListOption{client.InNamespace(key.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: key.Name}}
	for _, list := range []client.ObjectList{&all.infra, &all.controlPlane, &all.machines, &all.fooMachines, &all.pools, &all.fooPools, secrets} {
		if err := reader.List(ctx, list, belongs...); err != nil {
			return nil, err
		}
	}
	for _, secret := range secrets.Items {
		all.secrets.Insert(secret.Name)
	}
	return all, nil
}

// workloadNodes reads the Nodes of the workload cluster; none while it is not watched yet.
func workloadNodes(ctx context.Context, workload *observer.Observer) ([]corev1.Node, error) {
	if workload == nil {
		return nil, nil
	}
	var nodes corev1.NodeList
	err := workload.List(ctx, &nodes)
	return nodes.Items, err
}
