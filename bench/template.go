// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/cloudinit"
	kubeadmtypes "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types/upstream"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
)

// workers of each cluster, next to one control plane.
const workers = 3

// render returns the objects of a cluster as clusterctl renders them.
func render(ctx context.Context, template []byte, variables map[string]string) ([]*unstructured.Unstructured, error) {
	rendered, err := flavors.Template{Content: template}.Render(ctx, benchNamespace, variables)
	objects := make([]*unstructured.Unstructured, 0, len(rendered))
	for i := range rendered {
		objects = append(objects, &rendered[i])
	}
	return objects, err
}

// fooCluster returns the objects of a cluster of Foo with one control plane.
func fooCluster(ctx context.Context, name, kubernetesVersion string) ([]*unstructured.Unstructured, error) {
	return fooClusterOf(ctx, name, kubernetesVersion, 1, workers)
}

// fooClusterOf returns the objects of a cluster of Foo with the given numbers of control planes and
// workers. It uses the flavor fast, and the alternatives are derived from its objects, so that they
// have the same settings.
func fooClusterOf(ctx context.Context, name, kubernetesVersion string, controlPlanes, workers int) ([]*unstructured.Unstructured, error) {
	template, err := flavors.Get(flavors.Fast)
	if err != nil {
		return nil, err
	}
	return render(ctx, template, map[string]string{
		"NAMESPACE": benchNamespace, "CLUSTER_NAME": name, "KUBERNETES_VERSION": kubernetesVersion,
		"CONTROL_PLANE_MACHINE_COUNT": fmt.Sprint(controlPlanes), "WORKER_MACHINE_COUNT": fmt.Sprint(workers),
	})
}

// bareUserData returns the user data that the kubeadm bootstrap provider generates for the first
// control plane of a cluster of Foo, except for the certificates and for the endpoint, because a
// bare kubeadm has no load balancer. The console shows when kubeadm started and ended.
func bareUserData(ctx context.Context, name, kubernetesVersion string) ([]byte, error) {
	objects, err := fooCluster(ctx, name, kubernetesVersion)
	if err != nil {
		return nil, err
	}
	version, err := semver.ParseTolerant(kubernetesVersion)
	if err != nil {
		return nil, err
	}
	var controlPlane controlplanev1.FooControlPlane
	data := upstream.AdditionalData{KubernetesVersion: &kubernetesVersion, ClusterName: &name}
	for _, object := range objects {
		switch object.GetKind() {
		case kindFooControlPlane:
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &controlPlane); err != nil {
				return nil, err
			}
		case "Cluster":
			data.PodSubnet = cidr(object, "pods")
			data.ServiceSubnet = cidr(object, "services")
			data.DNSDomain = ptr.To("cluster.local")
		}
	}
	spec := controlPlane.Spec.KubeadmConfigSpec
	forCluster, err := kubeadmtypes.MarshalClusterConfigurationForVersion(&spec.ClusterConfiguration, version, &data)
	if err != nil {
		return nil, err
	}
	forInit, err := kubeadmtypes.MarshalInitConfigurationForVersion(&spec.InitConfiguration, version)
	if err != nil {
		return nil, err
	}
	return cloudinit.NewInitControlPlane(&cloudinit.ControlPlaneInput{
		BaseUserData: cloudinit.BaseUserData{
			AdditionalFiles:     spec.Files,
			PreKubeadmCommands:  append(spec.PreKubeadmCommands, "echo "+kubeadmBegan+" $(date +%s%N)"),
			PostKubeadmCommands: append([]string{"echo " + kubeadmEnded + " $(date +%s%N)"}, spec.PostKubeadmCommands...),
		},
		ClusterConfiguration: forCluster,
		InitConfiguration:    forInit,
	})
}

// cidr returns the first block of one of a Cluster's networks; nil if it has none.
func cidr(cluster *unstructured.Unstructured, network string) *string {
	blocks, _, err := unstructured.NestedStringSlice(cluster.Object, "spec", "clusterNetwork", network, "cidrBlocks")
	if err != nil || len(blocks) == 0 {
		return nil
	}
	return &blocks[0]
}
