// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubeadmcontrolplanev1 "sigs.k8s.io/cluster-api/api/controlplane/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/internal/workload"

	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
)

const (
	// addonsInterval is how long add-ons count as up to date after a check, so that the many
	// reconciles of one change query the workload cluster once. It is shorter than the resync, so
	// each resync reverts changes that somebody else made.
	addonsInterval = time.Minute

	reasonAddonsNotUpdated = "AddonsNotUpdated"
)

// addonsSeen is the hash of the add-ons that were last up to date, and when that was seen.
type addonsSeen struct {
	wanted string
	at     time.Time
}

func (a addonsSeen) inStep(wanted string, now time.Time) bool {
	return a.wanted == wanted && now.Sub(a.at) < addonsInterval
}

// settle updates kube-proxy and CoreDNS and then reads the certificates' expiry, which needs every
// API server to answer. It runs only while all Machines are healthy and nothing is left to do
// except what waits for the user, such as a held rollout. Nothing waits for it.
func (r *Reconciler) settle(ctx context.Context, s *scope, next plan.Decision) error {
	if !next.Stable || s.observation == nil {
		return nil
	}
	return errors.Join(r.updateAddons(ctx, s), r.showExpiries(ctx, s))
}

// updateAddons updates kube-proxy and CoreDNS once all Machines have the version of the spec.
func (r *Reconciler) updateAddons(ctx context.Context, s *scope) error {
	if slices.ContainsFunc(s.machines, func(m *clusterv1.Machine) bool { return m.Spec.Version != s.controlPlane.Spec.Version }) {
		return nil
	}
	wanted := s.addons()
	digest, err := hash(wanted)
	if err != nil || s.memory.addons.inStep(digest, s.now) {
		return err
	}
	if err := r.workload.UpdateAddons(ctx, wanted); err != nil {
		r.recorder.Eventf(s.controlPlane, nil, corev1.EventTypeWarning, reasonAddonsNotUpdated, "UpdateAddons", "%s", report.Note(err.Error()))
		return errors.Join(err, s.showAddons(ctx, err))
	}
	if err := s.showAddons(ctx, nil); err != nil {
		return err
	}
	s.memory.addons = addonsSeen{wanted: digest, at: s.now}
	return nil
}

// showAddons writes the condition of the add-ons.
func (s *scope) showAddons(ctx context.Context, failure error) error {
	s.setAddonsCondition(failure)
	if err := s.report.Write(ctx); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("writing the condition of the add-ons: %w", err)
	}
	return nil
}

// addons returns kube-proxy and CoreDNS as the spec wants them. The annotations that exclude one of
// them are KubeadmControlPlane's. Others are left out, because a change of them changes no add-on.
func (s *scope) addons() workload.Addons {
	excluding := map[string]string{}
	for _, name := range []string{kubeadmcontrolplanev1.SkipKubeProxyAnnotation, kubeadmcontrolplanev1.SkipCoreDNSAnnotation} {
		if _, ok := s.controlPlane.Annotations[name]; ok {
			excluding[name] = "" // its value means nothing
		}
	}
	return workload.Addons{
		Cluster:     s.key(),
		Version:     s.controlPlane.Spec.Version,
		Config:      s.controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration,
		Annotations: excluding,
	}
}
