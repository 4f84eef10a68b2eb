// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"

	"github.com/blang/semver/v4"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	kubeadmcontrolplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg"
)

// PrepareUpgrade implements Access with the code of Cluster API's own kubeadm control plane
// provider, so that machines join both kinds of control plane in the same way.
func (c *Connections) PrepareUpgrade(ctx context.Context, cluster client.ObjectKey, spec *bootstrapv1.KubeadmConfigSpec, version semver.Version) error {
	err := c.withKubeadm(ctx, cluster, func(ctx context.Context, kubeadm *pkg.Workload) error {
		if err := c.permit(ctx, cluster, kubeadm, version); err != nil {
			return err
		}
		return kubeadm.UpdateClusterConfiguration(ctx, version, configurationChanges(kubeadm, spec, version)...)
	})
	if err != nil {
		return fmt.Errorf("preparing the workload cluster for version %s: %w", version, err)
	}
	return nil
}

// permit creates the cluster role bindings, unless it has already done so for the version.
func (c *Connections) permit(ctx context.Context, cluster client.ObjectKey, kubeadm *pkg.Workload, version semver.Version) error {
	if last, ok := c.permitted.Load(cluster); ok && last == version.String() {
		return nil
	}
	if err := kubeadm.EnsureKubeadmPermissions(ctx, version); err != nil {
		return err
	}
	c.permitted.Store(cluster, version.String())
	return nil
}

func configurationChanges(kubeadm *pkg.Workload, spec *bootstrapv1.KubeadmConfigSpec, version semver.Version) []func(*bootstrapv1.ClusterConfiguration) {
	wanted := spec.ClusterConfiguration
	etcd := kubeadm.UpdateEtcdLocalInKubeadmConfigMap(wanted.Etcd.Local)
	if wanted.Etcd.External.IsDefined() {
		etcd = kubeadm.UpdateEtcdExternalInKubeadmConfigMap(wanted.Etcd.External)
	}
	return []func(*bootstrapv1.ClusterConfiguration){
		// Cluster API's own change would keep the old registry if the spec names none.
		func(config *bootstrapv1.ClusterConfiguration) { config.ImageRepository = wanted.ImageRepository },
		kubeadm.UpdateFeatureGatesInKubeadmConfigMap(*spec, version),
		kubeadm.UpdateAPIServerInKubeadmConfigMap(wanted.APIServer),
		kubeadm.UpdateControllerManagerInKubeadmConfigMap(wanted.ControllerManager),
		kubeadm.UpdateSchedulerInKubeadmConfigMap(wanted.Scheduler),
		kubeadm.UpdateCertificateValidityPeriodDays(wanted.CertificateValidityPeriodDays),
		kubeadm.UpdateEncryptionAlgorithm(wanted.EncryptionAlgorithm),
		etcd,
	}
}

// UpdateAddons implements Access.
func (c *Connections) UpdateAddons(ctx context.Context, addons Addons) error {
	err := c.withKubeadm(ctx, addons.Cluster, func(ctx context.Context, kubeadm *pkg.Workload) error {
		wanted := addons.asKubeadmControlPlane()
		if err := kubeadm.UpdateKubeProxyImageInfo(ctx, wanted); err != nil {
			return fmt.Errorf("updating DaemonSet kube-proxy: %w", err)
		}
		if err := kubeadm.UpdateCoreDNS(ctx, wanted); err != nil {
			return fmt.Errorf("updating Deployment coredns: %w", err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("updating the add-ons of the workload cluster: %w", err)
	}
	return nil
}

// asKubeadmControlPlane converts the add-ons to the type that Cluster API's code reads.
func (a Addons) asKubeadmControlPlane() *kubeadmcontrolplanev1.KubeadmControlPlane {
	result := &kubeadmcontrolplanev1.KubeadmControlPlane{}
	result.Annotations = a.Annotations
	result.Spec.Version = a.Version
	result.Spec.KubeadmConfigSpec.ClusterConfiguration = a.Config
	return result
}

// withKubeadm runs do with Cluster API's code for clusters that kubeadm created.
func (c *Connections) withKubeadm(ctx context.Context, cluster client.ObjectKey, do func(context.Context, *pkg.Workload) error) error {
	return c.write(ctx, cluster, func(ctx context.Context, direct client.Client) error {
		return do(ctx, &pkg.Workload{Client: direct, CoreDNSMigrator: &pkg.CoreDNSMigrator{}})
	})
}
