// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"time"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// tokenInterval is how often a token is kept for a Machine that has yet to join. A token lives for three times as long.
const tokenInterval = 5 * time.Minute

// giveToken gives a Machine what it joins with, unless the user has said how it does. The bootstrap
// provider would do so too, but only once Cluster API's own connection to the workload cluster is
// there, which may take half a minute longer than ours.
func (r *Reconciler) giveToken(ctx context.Context, s *scope, config *bootstrapv1.KubeadmConfig) error {
	discovery := &config.Spec.JoinConfiguration.Discovery
	if discovery.File.IsDefined() || discovery.BootstrapToken.Token != "" {
		return nil
	}
	var err error
	discovery.BootstrapToken.Token, err = r.workload.CreateToken(ctx, s.key())
	return err
}

// keepTokens keeps the tokens of Machines that have yet to join. The bootstrap provider extends a
// token only once it has made bootstrap data with it, and makes no other one for a Machine whose
// token is gone. A control plane may be paused for longer than a token lives before that.
func (r *Reconciler) keepTokens(ctx context.Context, s *scope) error {
	if s.observation == nil || s.deleting() {
		return nil
	}
	kept := map[string]time.Time{}
	var failed []error
	for _, machine := range s.machines {
		token := s.tokenOf(machine)
		if token == "" {
			continue
		}
		last, ok := s.memory.tokens[machine.Name]
		if !ok { // The token was made with the Machine.
			last = machine.CreationTimestamp.Time
		}
		if s.now.Sub(last) >= tokenInterval {
			if err := r.workload.KeepToken(ctx, s.key(), token); err != nil {
				failed = append(failed, err)
				continue
			}
			last = s.now
		}
		kept[machine.Name] = last
	}
	s.memory.tokens = kept
	return errors.Join(failed...)
}

// tokenOf returns what a Machine has yet to join with; empty if it has joined, or the user has said how Machines join.
func (s *scope) tokenOf(machine *clusterv1.Machine) string {
	config, ok := s.configs[machine.Name]
	users := s.controlPlane.Spec.KubeadmConfigSpec.JoinConfiguration.Discovery.BootstrapToken.Token != ""
	if !ok || users || !machine.DeletionTimestamp.IsZero() || s.nodeName(machine) != "" {
		return ""
	}
	return config.Spec.JoinConfiguration.Discovery.BootstrapToken.Token
}
