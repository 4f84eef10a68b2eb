// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/secret"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/certs"
	"github.com/capfoo/cluster-api-provider-foo/internal/controlplanerules"
	"github.com/capfoo/cluster-api-provider-foo/internal/kubeconfig"
)

const (
	// reasonKubeconfigNotAvailable: there is no kubeconfig, or none for this cluster.
	reasonKubeconfigNotAvailable = "KubeconfigNotAvailable"
	// reasonKubeconfigUnknown: the kubeconfig could not be read or renewed.
	reasonKubeconfigUnknown = "KubeconfigUnknown"
	reasonSpecRefused       = "SpecRefused"
	// authorityExpiryNotice is how long before its expiry the condition mentions a certificate
	// authority. Replacing one takes time, since it affects every machine and every client that
	// trusts it.
	authorityExpiryNotice = 90 * 24 * time.Hour
)

// ensurePrerequisites writes the certificates immediately and the kubeconfig as soon as the endpoint
// is known. Neither waits for the infrastructure to be provisioned, because Cluster API's
// ClusterCache connects at that moment.
//
// It returns an error only for problems that may pass. Problems that the user has to fix are in the
// scope. Once the control plane is initialized, missing certificates block only the creation of
// Machines. The existing Machines are still looked after with the existing kubeconfig.
func (r *Reconciler) ensurePrerequisites(ctx context.Context, s *scope) error {
	if s.deleting() {
		return nil
	}
	s.prerequisites.spec = r.specProblem(s)
	if len(s.foreign) > 0 {
		// A deletion in the foreground would delete them first.
		if err := r.leaveSecrets(ctx, s); err != nil {
			return err
		}
	}
	authority, err := r.ensureCertificates(ctx, s)
	if s.prerequisites.certificates != nil && !s.initialized {
		return err
	}
	return errors.Join(err, r.ensureKubeconfig(ctx, s, authority), r.ensureTemplateOwner(ctx, s))
}

func (r *Reconciler) ensureKubeconfig(ctx context.Context, s *scope, authority certs.Authority) error {
	if !s.endpoint().IsValid() {
		s.prerequisites.kubeconfig = &plan.Problem{
			Reason:  plan.ReasonWaitingForInfrastructure,
			Message: "waiting for the infrastructure cluster to name the control plane's endpoint",
		}
		return nil
	}
	configuration := s.controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration
	expires, err := r.kubeconfigs.Ensure(ctx, kubeconfig.Request{
		Cluster:   s.key(),
		Endpoint:  s.endpoint(),
		Authority: authority,
		Algorithm: configuration.EncryptionAlgorithm,
		Owner:     s.secretOwner(),
		Now:       s.now,
	})
	if _, unusable := errors.AsType[*certs.UnusableError](err); unusable {
		s.prerequisites.kubeconfig = &plan.Problem{Reason: reasonKubeconfigNotAvailable, Message: err.Error()}
		return nil
	}
	if err != nil {
		s.prerequisites.kubeconfig = &plan.Problem{Reason: reasonKubeconfigUnknown, Message: "the kubeconfig Secret could not be read or written; see the manager's logs"}
		return err
	}
	s.prerequisites.kubeconfig = nil
	if !expires.IsZero() {
		s.prerequisites.notices = append(s.prerequisites.notices, fmt.Sprintf("Secret %s: its client certificate expires at %s, and Secret %s has no key to renew it with",
			secret.Name(s.cluster.Name, secret.Kubeconfig), expires.UTC().Format(time.RFC3339), secret.Name(s.cluster.Name, secret.ClusterCA)))
	}
	return nil
}

// ensureCertificates returns the cluster's certificate authority, even if another certificate is
// missing or unusable.
func (r *Reconciler) ensureCertificates(ctx context.Context, s *scope) (certs.Authority, error) {
	request := certs.Request{
		Cluster: s.key(),
		Config:  s.controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration,
		Owner:   s.secretOwner(),
		Now:     s.now,
	}
	ensure := r.certificates.LookupOrGenerate
	if s.certificatesUsed() {
		ensure = r.certificates.Lookup
	}
	found, err := ensure(ctx, request)
	if err == nil {
		s.prerequisites.certificates = nil
		s.prerequisites.notices = expiryNotices(found.Expiries, s.now)
		return found.Authority, nil
	}
	if _, unusable := errors.AsType[*certs.UnusableError](err); unusable {
		s.prerequisites.certificates = &plan.Problem{Reason: controlplanev1.CertificatesNotAvailableReason, Message: err.Error()}
		ctrl.LoggerFrom(ctx).Info("Certificates cannot be used", "problem", err.Error())
		return found.Authority, nil
	}
	s.prerequisites.certificates = &plan.Problem{
		Reason:  controlplanev1.CertificatesInternalErrorReason,
		Message: "certificate Secrets could not be read or written; see the manager's logs",
	}
	return certs.Authority{}, err
}

// secretOwner is the owner of the certificates and the kubeconfig. While the cluster has Machines that
// are not the FooControlPlane's, or not yet, it is empty: these Machines need the Secrets even if the
// FooControlPlane is deleted.
func (s *scope) secretOwner() metav1.OwnerReference {
	if len(s.foreign)+len(s.adoptable) > 0 {
		return metav1.OwnerReference{}
	}
	return controllerReference(s.controlPlane)
}

// leaveSecrets gives the FooControlPlane's Secrets to the Cluster. Otherwise they would be deleted with
// the FooControlPlane, although Machines of another owner need them. It may own them because such a
// Machine came later, or because v0.1.0 took them over from other owners.
func (r *Reconciler) leaveSecrets(ctx context.Context, s *scope) error {
	return r.giveToCluster(ctx, s, controllerReference(s.controlPlane), "")
}

// giveToCluster makes the Cluster the owner of its Secrets that have another owner, except for one. A Cluster
// that is gone cannot own them.
func (r *Reconciler) giveToCluster(ctx context.Context, s *scope, owner metav1.OwnerReference, except string) error {
	if s.cluster.UID == "" {
		return nil
	}
	secrets := &corev1.SecretList{}
	err := r.client.List(ctx, secrets, client.InNamespace(s.cluster.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: s.cluster.Name})
	if err != nil {
		return fmt.Errorf("listing the Secrets of the cluster: %w", err)
	}
	for i := range secrets.Items {
		existing := &secrets.Items[i]
		if existing.Name == except || !util.HasOwnerRef(existing.OwnerReferences, owner) {
			continue
		}
		given := existing.DeepCopy()
		given.SetOwnerReferences(util.EnsureOwnerRef(util.RemoveOwnerRef(given.GetOwnerReferences(), owner), clusterReference(s.cluster)))
		patch := client.MergeFromWithOptions(existing, client.MergeFromWithOptimisticLock{})
		if err := r.client.Patch(ctx, given, patch); err != nil {
			return fmt.Errorf("giving Secret %s to the Cluster: %w", given.Name, err)
		}
	}
	return nil
}

// certificatesUsed reports whether a Machine may have used the certificates, after which none may
// be generated. The status alone does not tell: it is lost when the FooControlPlane is restored
// from a backup or its Machines are adopted.
func (s *scope) certificatesUsed() bool {
	return s.initialized || len(s.machines)+len(s.foreign)+len(s.adoptable) > 0
}

// expiryNotices lists the certificates that expire soon. It names times, not durations, so that the
// text does not change.
func expiryNotices(expiries []certs.Expiry, now time.Time) []string {
	var soon []string
	for _, expiry := range expiries {
		if expiry.At.Sub(now) < authorityExpiryNotice {
			soon = append(soon, fmt.Sprintf("Secret %s: its certificate expires at %s", expiry.Secret, expiry.At.UTC().Format(time.RFC3339)))
		}
	}
	return soon
}

// specProblem says what is invalid in the spec. A webhook rejects that too, if there is one. It
// blocks only the first Machine: existing Machines are looked after in any case. The plan refuses
// on its own what it cannot do with the spec, and a rule newer than the control plane must not
// prevent its repair.
func (r *Reconciler) specProblem(s *scope) *plan.Problem {
	errs := controlplanerules.Validate(s.controlPlane)
	if len(errs) == 0 {
		return nil
	}
	refused := &plan.Problem{Reason: reasonSpecRefused, Message: errs.ToAggregate().Error()}
	if len(s.machines) == 0 {
		return refused
	}
	if s.memory.refused != refused.Message {
		s.memory.refused = refused.Message
		r.recorder.Eventf(s.controlPlane, nil, corev1.EventTypeWarning, reasonSpecRefused, "Validate", "%s", report.Note(refused.Message))
	}
	return nil
}

// ensureTemplateOwner makes the Cluster own the template, so that clusterctl moves both together.
func (r *Reconciler) ensureTemplateOwner(ctx context.Context, s *scope) error {
	if s.template == nil {
		return nil
	}
	owner := clusterReference(s.cluster)
	if util.HasExactOwnerRef(s.template.GetOwnerReferences(), owner) {
		return nil
	}
	owned := s.template.DeepCopy()
	owned.SetOwnerReferences(util.EnsureOwnerRef(owned.GetOwnerReferences(), owner))
	if err := r.client.Patch(ctx, owned, client.MergeFrom(s.template)); err != nil {
		return fmt.Errorf("setting the owner of %s %s: %w", owned.GetKind(), owned.GetName(), err)
	}
	return nil
}

func clusterReference(cluster *clusterv1.Cluster) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: cluster.Name, UID: cluster.UID}
}

func controllerReference(controlPlane *controlplanev1.FooControlPlane) metav1.OwnerReference {
	return ptr.Deref(metav1.NewControllerRef(controlPlane, controlPlaneKind), metav1.OwnerReference{})
}
