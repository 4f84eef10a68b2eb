// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/coredns/corefile-migration/migration"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	kubeadmcontrolplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/version"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/internal/controlplanerules"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/admission"
)

// changeControlPlane returns what is wrong with a change of a FooControlPlane, beyond what Validate
// finds. The status of before tells which versions the Machines have.
func changeControlPlane(_ context.Context, before, after *controlplanev1.FooControlPlane) field.ErrorList {
	path := field.NewPath("spec")
	errs := validateChanges(before.Spec, after.Spec, path)
	errs = append(errs, validateVersionChange(before, after, path.Child("version"))...)
	config := path.Child("kubeadmConfigSpec", "clusterConfiguration")
	was, becomes := before.Spec.KubeadmConfigSpec.ClusterConfiguration, after.Spec.KubeadmConfigSpec.ClusterConfiguration
	errs = append(errs, validateEtcdChange(was.Etcd, becomes.Etcd, config.Child("etcd"))...)
	if !skipsCoreDNS(after) {
		errs = append(errs, validateDNSChange(was.DNS, becomes.DNS, config.Child("dns", "imageTag"))...)
	}
	return errs
}

// changeable returns the paths, relative to spec, of the fields that may change, with everything
// below them. All other fields were applied when the existing machines were created, and a change
// could not reach them.
func changeable() []string {
	return []string{
		"replicas",
		"version",
		"machineTemplate",
		"rollout",
		"remediation",
		"machineNaming",
		"kubeadmConfigSpec.clusterConfiguration.etcd",
		"kubeadmConfigSpec.clusterConfiguration.apiServer",
		"kubeadmConfigSpec.clusterConfiguration.controllerManager",
		"kubeadmConfigSpec.clusterConfiguration.scheduler",
		"kubeadmConfigSpec.clusterConfiguration.dns",
		"kubeadmConfigSpec.clusterConfiguration.imageRepository",
		"kubeadmConfigSpec.clusterConfiguration.featureGates",
		"kubeadmConfigSpec.clusterConfiguration.certificateValidityPeriodDays",
		"kubeadmConfigSpec.clusterConfiguration.encryptionAlgorithm",
		"kubeadmConfigSpec.initConfiguration.bootstrapTokens",
		"kubeadmConfigSpec.initConfiguration.nodeRegistration",
		"kubeadmConfigSpec.initConfiguration.localAPIEndpoint",
		"kubeadmConfigSpec.initConfiguration.skipPhases",
		"kubeadmConfigSpec.initConfiguration.patches",
		"kubeadmConfigSpec.initConfiguration.timeouts",
		"kubeadmConfigSpec.joinConfiguration.nodeRegistration",
		"kubeadmConfigSpec.joinConfiguration.caCertPath",
		"kubeadmConfigSpec.joinConfiguration.controlPlane",
		"kubeadmConfigSpec.joinConfiguration.discovery",
		"kubeadmConfigSpec.joinConfiguration.skipPhases",
		"kubeadmConfigSpec.joinConfiguration.patches",
		"kubeadmConfigSpec.joinConfiguration.timeouts",
		"kubeadmConfigSpec.files",
		"kubeadmConfigSpec.diskSetup",
		"kubeadmConfigSpec.mounts",
		"kubeadmConfigSpec.bootCommands",
		"kubeadmConfigSpec.preKubeadmCommands",
		"kubeadmConfigSpec.postKubeadmCommands",
		"kubeadmConfigSpec.users",
		"kubeadmConfigSpec.ntp",
		"kubeadmConfigSpec.format",
		"kubeadmConfigSpec.verbosity",
		"kubeadmConfigSpec.ignition",
	}
}

func validateChanges(before, after controlplanev1.FooControlPlaneSpec, path *field.Path) field.ErrorList {
	return forbid(path, "existing machines were created with it", &before, &after, changeable()...)
}

// forbid returns a problem for each field that differs and is not in allowed. why explains it.
func forbid(path *field.Path, why string, before, after any, allowed ...string) field.ErrorList {
	changed, err := admission.Changed(path, before, after, allowed...)
	if err != nil {
		return field.ErrorList{field.InternalError(path, err)}
	}
	problems := make(field.ErrorList, 0, len(changed))
	for _, one := range changed {
		problems = append(problems, field.Forbidden(one.Path, problem(one)+": "+why))
	}
	return problems
}

// problem shows the old and the new value, unless the field is in a part of the kubeadm configuration
// that may hold a token or a password.
func problem(change admission.Change) string {
	path := change.Path.String()
	if strings.Contains(path, ".kubeadmConfigSpec.") && !strings.Contains(path, ".kubeadmConfigSpec.clusterConfiguration.") {
		return admission.IsImmutable
	}
	return change.Problem()
}

// changeTemplate returns what is wrong with a change of a FooControlPlaneTemplate: its
// spec.template.spec is immutable. The caller must exempt the dry run that Cluster API's topology
// controller uses to find out what would change.
func changeTemplate(before, after *controlplanev1.FooControlPlaneTemplate) field.ErrorList {
	path := field.NewPath("spec", "template", "spec")
	return forbid(path, "clusters are created from the template; create another template and refer to it",
		&before.Spec.Template.Spec, &after.Spec.Template.Spec)
}

// validateEtcdChange rejects a switch between stacked and external etcd, because the data would not
// move.
func validateEtcdChange(before, after bootstrapv1.Etcd, path *field.Path) field.ErrorList {
	if before.External.IsDefined() == after.External.IsDefined() {
		return nil
	}
	return field.ErrorList{field.Forbidden(path.Child("external"), "etcd cannot be moved between the control plane's own machines and an external cluster")}
}

func skipsCoreDNS(controlPlane *controlplanev1.FooControlPlane) bool {
	_, skips := controlPlane.Annotations[kubeadmcontrolplanev1.SkipCoreDNSAnnotation]
	return skips
}

// validateDNSChange rejects CoreDNS versions to which the Corefile cannot be migrated.
func validateDNSChange(before, after bootstrapv1.DNS, path *field.Path) field.ErrorList {
	from, errFrom := version.ParseTolerantImageTag(before.ImageTag)
	to, errTo := version.ParseTolerantImageTag(after.ImageTag)
	if before.ImageTag == "" || after.ImageTag == "" || errFrom != nil || errTo != nil {
		return nil
	}
	if version.Compare(from, to, version.WithoutPreReleases()) == 0 {
		return nil
	}
	if err := migration.ValidUpMigration(version.MajorMinorPatch(from).String(), version.MajorMinorPatch(to).String()); err != nil {
		return field.ErrorList{field.Invalid(path, after.ImageTag, fmt.Sprintf("CoreDNS cannot be migrated to it from %s: %v; annotate the FooControlPlane with %s to manage CoreDNS yourself",
			before.ImageTag, err, kubeadmcontrolplanev1.SkipCoreDNSAnnotation))}
	}
	return nil
}

// validateVersionChange compares the wanted version with the oldest version of any Machine. The
// status does not tell which of the newer Machines have joined, so the controller decides whether a
// rollout may still be reverted. Before a control plane is initialized, any version is allowed.
func validateVersionChange(before, after *controlplanev1.FooControlPlane, path *field.Path) field.ErrorList {
	wanted, err := controlplanerules.ParseVersion(after.Spec.Version)
	if err != nil || before.Spec.Version == after.Spec.Version {
		return nil
	}
	oldest, known := oldestVersion(before)
	if !known {
		return nil
	}
	var errs field.ErrorList
	if controlplanerules.SkipsMinor(wanted, oldest) {
		errs = append(errs, field.Invalid(path, after.Spec.Version,
			fmt.Sprintf("must be at most one minor version above v%s, the oldest version in the control plane: upgrade to v%d.%d first", oldest, oldest.Major, oldest.Minor+1)))
	}
	if wanted.LT(oldest) {
		errs = append(errs, field.Invalid(path, after.Spec.Version,
			fmt.Sprintf("must not be below v%s, the oldest version in the control plane: Kubernetes cannot be downgraded", oldest)))
	}
	return errs
}

// oldestVersion returns the oldest version of the Machines of an initialized control plane. If the
// status does not list the versions, it uses the spec's.
func oldestVersion(controlPlane *controlplanev1.FooControlPlane) (oldest semver.Version, known bool) {
	if !ptr.Deref(controlPlane.Status.Initialization.ControlPlaneInitialized, false) {
		return oldest, false
	}
	running := controlPlane.Status.Versions
	if len(running) == 0 {
		running = []clusterv1.StatusVersion{{Version: controlPlane.Spec.Version}}
	}
	for _, one := range running {
		parsed, err := controlplanerules.ParseVersion(one.Version)
		if err == nil && (!known || parsed.LT(oldest)) {
			oldest, known = parsed, true
		}
	}
	return oldest, known
}
