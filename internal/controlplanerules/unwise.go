// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplanerules

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

// sensibleReplicas is the largest number of replicas that makes sense: more only slow etcd down.
const sensibleReplicas = 7

// Unwise returns what is allowed in a FooControlPlane but risky, and why.
func Unwise(controlPlane *controlplanev1.FooControlPlane) field.ErrorList {
	path := field.NewPath("spec")
	spec := controlPlane.Spec
	var unwise field.ErrorList
	unwise = append(unwise, unwiseReplicas(ptr.Deref(spec.Replicas, 1), path.Child("replicas"))...)
	if version, err := ParseVersion(spec.Version); err == nil && len(version.Pre) > 0 {
		unwise = append(unwise, field.Invalid(path.Child("version"), spec.Version, "Kubernetes does not support upgrades from a pre-release"))
	}
	return append(unwise, unwiseCommon(spec, path)...)
}

func unwiseReplicas(replicas int32, path *field.Path) field.ErrorList {
	switch {
	case replicas > sensibleReplicas:
		return field.ErrorList{field.Invalid(path, replicas, fmt.Sprintf("etcd gets slower with each member; more than %d bring no benefit", sensibleReplicas))}
	case replicas == 2:
		return field.ErrorList{field.Invalid(path, replicas, "if one Machine is lost, the other one serves alone until it is replaced; use 3")}
	}
	return nil
}

// UnwiseTemplate is Unwise for a FooControlPlaneTemplate.
func UnwiseTemplate(template *controlplanev1.FooControlPlaneTemplate) field.ErrorList {
	return unwiseCommon(commonOf(template), field.NewPath("spec", "template", "spec"))
}

func unwiseCommon(spec controlplanev1.FooControlPlaneSpec, path *field.Path) field.ErrorList {
	unwise := unwiseRollout(spec, path.Child("rollout"))
	unwise = append(unwise, unwiseSecrets(spec.KubeadmConfigSpec, path.Child("kubeadmConfigSpec"))...)
	provider := spec.KubeadmConfigSpec.JoinConfiguration.Discovery.File.KubeConfig.User.AuthProvider
	if provider.Name != "" {
		unwise = append(unwise, field.Invalid(path.Child("kubeadmConfigSpec", "joinConfiguration", "discovery", "file", "kubeConfig", "user", "authProvider", "name"),
			provider.Name, "Kubernetes has not supported auth providers since 1.26; use exec"))
	}
	return unwise
}

func unwiseRollout(spec controlplanev1.FooControlPlaneSpec, path *field.Path) field.ErrorList {
	var unwise field.ErrorList
	surge := spec.Rollout.Strategy.RollingUpdate.MaxSurge
	small := spec.Replicas == nil || *spec.Replicas == minReplicasWithoutSurge
	if surge != nil && *surge == intstr.FromInt32(0) && small && !spec.KubeadmConfigSpec.ClusterConfiguration.Etcd.External.IsDefined() {
		unwise = append(unwise, field.Invalid(path.Child("strategy", "rollingUpdate", "maxSurge"), surge.String(),
			fmt.Sprintf("a control plane of %d cannot tolerate the loss of a Machine while another one is being replaced", minReplicasWithoutSurge)))
	}
	days := spec.KubeadmConfigSpec.ClusterConfiguration.CertificateValidityPeriodDays
	if days > 0 && days < defaultCertificateDays && spec.Rollout.Before.CertificatesExpiryDays == 0 {
		unwise = append(unwise, field.Invalid(path.Child("before", "certificatesExpiryDays"), 0,
			fmt.Sprintf("certificates are valid for %d days, and nothing replaces the Machines before they expire", days)))
	}
	return unwise
}

// unwiseSecrets finds secrets that everybody who may read the object can read. It does not repeat
// their values.
func unwiseSecrets(config bootstrapv1.KubeadmConfigSpec, path *field.Path) field.ErrorList {
	var unwise field.ErrorList
	for i, user := range config.Users {
		if user.Passwd != "" {
			unwise = append(unwise, field.Invalid(path.Child("users").Index(i).Child("passwd"), field.OmitValueType{},
				"anyone who may read the object can read it; use passwdFrom"))
		}
	}
	for i, file := range config.Files {
		if strings.Contains(file.Content, "PRIVATE KEY-----") {
			unwise = append(unwise, field.Invalid(path.Child("files").Index(i).Child("content"), field.OmitValueType{},
				"contains a private key that anyone who may read the object can read; use contentFrom"))
		}
	}
	return unwise
}
