//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	clusterctlcluster "sigs.k8s.io/cluster-api/cmd/clusterctl/client/cluster"
	"sigs.k8s.io/cluster-api/test/e2e"
	"sigs.k8s.io/cluster-api/test/framework"
	"sigs.k8s.io/cluster-api/test/framework/clusterctl"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Flavors and labels. Specs with the label kubeadm ask for a KubeadmControlPlane by its kind; all
// others have a FooControlPlane.
const (
	kubeadmFlavor = "kubeadm-"
	kubeadmLabel  = "kubeadm"
)

// slow is the priority of specs that take longest, so that they start first if several run at a time.
const slow = SpecPriority(1)

var _ = Describe("Quick start", func() {
	e2e.QuickStartSpec(ctx, func() e2e.QuickStartSpecInput {
		return e2e.QuickStartSpecInput{
			E2EConfig: config, ClusterctlConfigPath: clusterctlConfig, BootstrapClusterProxy: hub, ArtifactFolder: *artifacts,
			ControlPlaneWaiters: fooControlPlane, PostMachinesProvisioned: expectNoWrites("quick-start"),
		}
	})
})

// expectNoWrites expects that no controller keeps writing to objects once a cluster is up.
func expectNoWrites(spec string) func(management framework.ClusterProxy, namespace, cluster string) {
	return func(management framework.ClusterProxy, namespace, cluster string) {
		GinkgoHelper()
		framework.ValidateResourceVersionStable(ctx, framework.ValidateResourceVersionStableInput{
			ClusterProxy: management, Namespace: namespace, OwnerGraphFilterFunction: clusterctlcluster.FilterClusterObjectsWithNameFilter(cluster),
			WaitToBecomeStable: config.GetIntervals(spec, "wait-resource-versions-become-stable"),
			WaitToRemainStable: config.GetIntervals(spec, "wait-resource-versions-remain-stable"),
		})
	}
}

var _ = Describe("Quick start with a ClusterClass", func() {
	e2e.QuickStartSpec(ctx, func() e2e.QuickStartSpecInput {
		return e2e.QuickStartSpecInput{
			E2EConfig: config, ClusterctlConfigPath: clusterctlConfig, BootstrapClusterProxy: hub, ArtifactFolder: *artifacts,
			ControlPlaneWaiters: fooControlPlane, Flavor: ptr.To("topology"), PostMachinesProvisioned: expectNoWrites("quick-start"),
		}
	})
})

var _ = Describe("MachineDeployment scale", func() {
	e2e.MachineDeploymentScaleSpec(ctx, func() e2e.MachineDeploymentScaleSpecInput {
		return e2e.MachineDeploymentScaleSpecInput{
			E2EConfig: config, ClusterctlConfigPath: clusterctlConfig, BootstrapClusterProxy: hub, ArtifactFolder: *artifacts,
			ControlPlaneWaiters: fooControlPlane, Flavor: "machine-deployment",
		}
	})
})

var _ = Describe("MachinePool", func() {
	e2e.MachinePoolSpec(ctx, func() e2e.MachinePoolInput {
		return e2e.MachinePoolInput{
			E2EConfig: config, ClusterctlConfigPath: clusterctlConfig, BootstrapClusterProxy: hub, ArtifactFolder: *artifacts,
			ControlPlaneWaiters: fooControlPlane, Flavor: ptr.To(""),
		}
	})
})

var _ = Describe("Worker remediation", func() {
	e2e.MachineDeploymentRemediationSpec(ctx, func() e2e.MachineDeploymentRemediationSpecInput {
		return e2e.MachineDeploymentRemediationSpecInput{
			E2EConfig: config, ClusterctlConfigPath: clusterctlConfig, BootstrapClusterProxy: hub, ArtifactFolder: *artifacts,
			ControlPlaneWaiters: fooControlPlane,
		}
	})
})

var _ = Describe("Control plane remediation", slow, func() {
	e2e.KCPRemediationSpec(ctx, func() e2e.KCPRemediationSpecInput {
		return e2e.KCPRemediationSpecInput{
			E2EConfig: config, ClusterctlConfigPath: clusterctlConfig, BootstrapClusterProxy: hub, ArtifactFolder: *artifacts,
			Flavor: ptr.To("remediation"),
		}
	})
})

var _ = Describe("Control plane remediation of a KubeadmControlPlane", Label(kubeadmLabel), slow, func() {
	e2e.KCPRemediationSpec(ctx, func() e2e.KCPRemediationSpecInput {
		return e2e.KCPRemediationSpecInput{
			E2EConfig: config, ClusterctlConfigPath: clusterctlConfig, BootstrapClusterProxy: hub, ArtifactFolder: *artifacts,
			Flavor: ptr.To(kubeadmFlavor + "remediation"),
		}
	})
})

var _ = Describe("Node drain", func() {
	e2e.NodeDrainTimeoutSpec(ctx, func() e2e.NodeDrainTimeoutSpecInput {
		return e2e.NodeDrainTimeoutSpecInput{
			E2EConfig: config, ClusterctlConfigPath: clusterctlConfig, BootstrapClusterProxy: hub, ArtifactFolder: *artifacts,
			ControlPlaneWaiters: fooControlPlane,
		}
	})
})

var _ = Describe("Cluster upgrade", func() {
	e2e.ClusterUpgradeConformanceSpec(ctx, func() e2e.ClusterUpgradeConformanceSpecInput {
		return e2e.ClusterUpgradeConformanceSpecInput{
			E2EConfig: config, ClusterctlConfigPath: clusterctlConfig, BootstrapClusterProxy: hub, ArtifactFolder: *artifacts,
			ControlPlaneWaiters: fooControlPlane, Flavor: ptr.To("topology"), WorkerMachineCount: ptr.To[int64](1), SkipConformanceTests: true,
		}
	})
})

var _ = Describe("ClusterClass changes", func() {
	e2e.ClusterClassChangesSpec(ctx, func() e2e.ClusterClassChangesSpecInput {
		return e2e.ClusterClassChangesSpecInput{
			E2EConfig: config, ClusterctlConfigPath: clusterctlConfig, BootstrapClusterProxy: hub, ArtifactFolder: *artifacts,
			ControlPlaneWaiters: fooControlPlane, Flavor: "changes",
			ModifyControlPlaneFields:                                   map[string]any{"spec.kubeadmConfigSpec.verbosity": int64(4)},
			ModifyMachineDeploymentBootstrapConfigTemplateFields:       map[string]any{"spec.template.spec.verbosity": int64(4)},
			ModifyMachineDeploymentInfrastructureMachineTemplateFields: map[string]any{"spec.template.spec.additionalTags": map[string]any{"changed": "true"}},
			ModifyMachinePoolBootstrapConfigTemplateFields:             map[string]any{"spec.template.spec.verbosity": int64(4)},
		}
	})
})

var _ = Describe("ClusterClass rollout of a KubeadmControlPlane", Label(kubeadmLabel), slow, func() {
	e2e.ClusterClassRolloutSpec(ctx, func() e2e.ClusterClassRolloutSpecInput {
		return e2e.ClusterClassRolloutSpecInput{
			E2EConfig: config, ClusterctlConfigPath: clusterctlConfig, BootstrapClusterProxy: hub, ArtifactFolder: *artifacts,
			Flavor: kubeadmFlavor + "rollout", FilterMetadataBeforeValidation: withoutOwnAnnotations,
		}
	})
})

// withoutOwnAnnotations leaves out what Foo notes on its own objects. The spec expects no annotations but
// those of the topology.
func withoutOwnAnnotations(object client.Object) clusterv1.ObjectMeta {
	annotations := maps.Clone(object.GetAnnotations())
	maps.DeleteFunc(annotations, func(key, _ string) bool { return strings.HasPrefix(key, "infrastructure.cluster.x-k8s.io/") })
	return clusterv1.ObjectMeta{Labels: object.GetLabels(), Annotations: annotations}
}

var _ = Describe("Cluster deletion", func() {
	e2e.ClusterDeletionSpec(ctx, func() e2e.ClusterDeletionSpecInput {
		return e2e.ClusterDeletionSpecInput{
			E2EConfig: config, ClusterctlConfigPath: clusterctlConfig, BootstrapClusterProxy: hub, ArtifactFolder: *artifacts,
			ControlPlaneWaiters: fooControlPlane, Flavor: ptr.To("topology"), ControlPlaneMachineCount: ptr.To[int64](3),
			ClusterDeletionPhases: []e2e.ClusterDeletionPhase{
				phase("Machine", "MachineDeployment", "MachineSet"),
				phase("Machine", "FooControlPlane"),
				phase("FooCluster"),
			},
		}
	})
})

// phase is the deletion of the owners and of the objects of a kind that they own, or of all objects
// of the kind if there are no owners. Objects of the kind delay the next phase.
func phase(kind string, owners ...string) e2e.ClusterDeletionPhase {
	return e2e.ClusterDeletionPhase{
		ObjectFilter: func(object corev1.ObjectReference, references []metav1.OwnerReference) bool {
			if object.Kind != kind {
				return slices.Contains(owners, object.Kind)
			}
			return len(owners) == 0 || slices.ContainsFunc(references, func(owner metav1.OwnerReference) bool { return slices.Contains(owners, owner.Kind) })
		},
		BlockingObjectFilter: func(object corev1.ObjectReference, _ []metav1.OwnerReference) bool { return object.Kind == kind },
	}
}

// The workload cluster of a second management cluster must outlive the upgrade of Foo in that.
var _ = Describe("clusterctl upgrade", slow, func() {
	e2e.ClusterctlUpgradeSpec(ctx, func() e2e.ClusterctlUpgradeSpecInput {
		// The spec downloads clusterctl.
		programs := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(*bin, "tools"))))
		DeferCleanup(programs.Close)
		return e2e.ClusterctlUpgradeSpecInput{
			E2EConfig: config, ClusterctlConfigPath: clusterctlConfig, BootstrapClusterProxy: hub, ArtifactFolder: *artifacts,
			ControlPlaneWaiters: fooControlPlane, WorkloadFlavor: "machine-deployment",
			InitWithBinary: programs.URL + "/clusterctl", InitWithKubernetesVersion: config.MustGetVariable(e2e.KubernetesVersion),
			InitWithControlPlaneProviders: []string{"foo:v0.1.0"}, InitWithInfrastructureProviders: []string{"foo:v0.1.0"},
			Upgrades: []e2e.ClusterctlUpgradeSpecInputUpgrade{{
				ControlPlaneProviders: []string{"foo:v0.2.0"}, InfrastructureProviders: []string{"foo:v0.2.0"},
			}},
		}
	})
})

var _ = Describe("Self-hosted with a KubeadmControlPlane", Label(kubeadmLabel), slow, func() {
	e2e.SelfHostedSpec(ctx, func() e2e.SelfHostedSpecInput {
		return e2e.SelfHostedSpecInput{
			E2EConfig: config, ClusterctlConfigPath: clusterctlConfig, BootstrapClusterProxy: hub, ArtifactFolder: *artifacts,
			Flavor: kubeadmFlavor + "machine-deployment", PostNamespaceCreated: installProviders,
		}
	})
})

// installProviders installs the providers of the management cluster in another cluster. The spec would
// install only one control plane provider, but clusterctl moves objects only between clusters with the
// same providers.
func installProviders(cluster framework.ClusterProxy, _ string) {
	GinkgoHelper()
	if cluster.GetName() == hubName {
		return
	}
	clusterctl.Init(ctx, clusterctl.InitInput{
		KubeconfigPath: cluster.GetKubeconfigPath(), ClusterctlConfigPath: clusterctlConfig,
		LogFolder:    filepath.Join(*artifacts, "clusters", cluster.GetName()),
		CoreProvider: "cluster-api", BootstrapProviders: []string{"kubeadm"}, ControlPlaneProviders: controlPlaneProviders,
		InfrastructureProviders: config.InfrastructureProviders(), RuntimeExtensionProviders: config.RuntimeExtensionProviders(),
	})
}

// Service of Cluster API's test extension.
const (
	extensionNamespace = "test-extension-system"
	extensionService   = "test-extension-webhook-service"
)

var _ = Describe("Cluster upgrade of a KubeadmControlPlane with lifecycle hooks", Label(kubeadmLabel), slow, func() {
	e2e.ClusterUpgradeWithRuntimeSDKSpec(ctx, func() e2e.ClusterUpgradeWithRuntimeSDKSpecInput {
		return e2e.ClusterUpgradeWithRuntimeSDKSpecInput{
			E2EConfig: config, ClusterctlConfigPath: clusterctlConfig, BootstrapClusterProxy: hub, ArtifactFolder: *artifacts,
			Flavor: ptr.To(kubeadmFlavor + "topology"), ExtensionServiceNamespace: extensionNamespace, ExtensionServiceName: extensionService,
		}
	})
})

var _ = Describe("Scale with KubeadmControlPlanes", Label(kubeadmLabel), slow, func() {
	e2e.ScaleSpec(ctx, func() e2e.ScaleSpecInput {
		return e2e.ScaleSpecInput{
			E2EConfig: config, ClusterctlConfigPath: clusterctlConfig, BootstrapClusterProxy: hub, ArtifactFolder: *artifacts,
			Flavor: ptr.To(kubeadmFlavor + "scale"), ClusterClassName: "kubeadm",
			ClusterCount: ptr.To[int64](3), Concurrency: ptr.To[int64](3), WorkerPerMachineDeploymentCount: ptr.To[int64](1),
		}
	})
})
