// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubeadmcontrolplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/collections"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
)

// sortOut splits control plane Machines that the FooControlPlane does not own into those that it
// can adopt and those that it cannot, with the reason.
func (s *scope) sortOut(found collections.Machines) {
	for _, machine := range found.SortedByCreationTimestamp() {
		if obstacle := s.adoptionObstacle(machine); obstacle != "" {
			s.foreign = append(s.foreign, fmt.Sprintf("%s (%s)", machine.Name, obstacle))
		} else {
			s.adoptable = append(s.adoptable, machine)
		}
	}
	slices.Sort(s.foreign)
}

// adopt takes over the cluster's control plane Machines that have no controller. Their certificates
// follow once the FooControlPlane owns all of them; see secretOwner. Until then, the Cluster owns them: if the
// FooControlPlane or the first Machine were deleted, Machines that could not be adopted would lose them.
func (r *Reconciler) adopt(ctx context.Context, s *scope) error {
	if err := r.checkStillWanted(ctx, s); err != nil {
		return err
	}
	for _, machine := range s.adoptable {
		if err := r.adoptMachine(ctx, s, machine.DeepCopy()); err != nil {
			return fmt.Errorf("adopting Machine %s: %w", machine.Name, err)
		}
	}
	return nil
}

// adoptionObstacle says why a Machine cannot be adopted; empty if it can.
func (s *scope) adoptionObstacle(machine *clusterv1.Machine) string {
	if controller := metav1.GetControllerOf(machine); controller != nil {
		return "controlled by " + controller.Kind + " " + controller.Name
	}
	if !machine.DeletionTimestamp.IsZero() {
		return "being deleted"
	}
	if kind := machine.Spec.Bootstrap.ConfigRef.Kind; kind != configKind.Kind {
		return fmt.Sprintf("spec.bootstrap.configRef.kind is %q, not KubeadmConfig", kind)
	}
	if machine.Spec.Version == "" {
		return ""
	}
	wanted, err := semver.ParseTolerant(s.controlPlane.Spec.Version)
	if err != nil {
		return "spec.version of the FooControlPlane is not a version"
	}
	has, err := semver.ParseTolerant(machine.Spec.Version)
	if err != nil {
		return fmt.Sprintf("spec.version %q is not a version", machine.Spec.Version)
	}
	if !util.IsSupportedVersionSkew(wanted, has) {
		return fmt.Sprintf("version %s is more than one minor version away from %s", machine.Spec.Version, s.controlPlane.Spec.Version)
	}
	return ""
}

// checkStillWanted reads the FooControlPlane live. If it is being deleted, the garbage collector
// may just have orphaned its Machines, and they must not be adopted again.
func (r *Reconciler) checkStillWanted(ctx context.Context, s *scope) error {
	live := &controlplanev1.FooControlPlane{}
	err := r.apiReader.Get(ctx, client.ObjectKeyFromObject(s.controlPlane), live)
	if apierrors.IsNotFound(err) {
		return errStale
	}
	if err != nil {
		return fmt.Errorf("reading the FooControlPlane before adopting Machines: %w", err)
	}
	if live.UID != s.controlPlane.UID || !live.DeletionTimestamp.IsZero() {
		return errStale
	}
	return nil
}

func (r *Reconciler) adoptMachine(ctx context.Context, s *scope, machine *clusterv1.Machine) error {
	config := metav1.OwnerReference{APIVersion: configKind.GroupVersion().String(), Kind: configKind.Kind, Name: machine.Spec.Bootstrap.ConfigRef.Name}
	if err := r.giveToCluster(ctx, s, config, ptr.Deref(machine.Spec.Bootstrap.DataSecretName, "")); err != nil {
		return err
	}
	before := machine.DeepCopy()
	machine.SetOwnerReferences(util.EnsureOwnerRef(machine.GetOwnerReferences(), controllerReference(s.controlPlane)))
	// The previous control plane's hook would block the Machine's deletion forever.
	delete(machine.Annotations, kubeadmcontrolplanev1.PreTerminateHookCleanupAnnotation)
	annotations.AddAnnotations(machine, map[string]string{controlplanev1.PreTerminateHookCleanupAnnotation: ""})
	// With the lock, adoption fails if somebody else adopts the Machine at the same time.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.client.Patch(ctx, machine, patch, client.FieldOwner(creatorManager)); apierrors.IsConflict(err) {
		return errStale
	} else if err != nil {
		return err
	}
	ctrl.LoggerFrom(ctx).Info("Adopted Machine", "Machine", klog.KObj(machine))
	r.recorder.Eventf(s.controlPlane, machine, corev1.EventTypeNormal, "MachineAdopted", "Adopt", "took over Machine %s", machine.Name)
	return nil
}
