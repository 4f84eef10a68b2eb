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

// tokenInterval is how often to extend the token of a Machine that has yet to join. A token lives
// three times as long.
const tokenInterval = 5 * time.Minute

// giveToken creates a bootstrap token for a Machine, unless the user has configured discovery. The
// bootstrap provider would create one too, but only after Cluster API has connected to the workload
// cluster, which may take half a minute longer than our connection.
func (r *Reconciler) giveToken(ctx context.Context, s *scope, config *bootstrapv1.KubeadmConfig) error {
	discovery := &config.Spec.JoinConfiguration.Discovery
	if discovery.File.IsDefined() || discovery.BootstrapToken.Token != "" {
		return nil
	}
	var err error
	discovery.BootstrapToken.Token, err = r.workload.CreateToken(ctx, s.key())
	return err
}

// keepTokens extends the tokens of Machines that have yet to join. The bootstrap provider extends a
// token only after it has made the bootstrap data, and never replaces a lost one. Before that, a
// control plane may be paused for longer than a token lives.
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
		if !ok { // the token was made with the Machine
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

// tokenOf returns the token that a Machine has yet to join with; empty if it has joined, or if the
// user has configured the token.
func (s *scope) tokenOf(machine *clusterv1.Machine) string {
	config, ok := s.configs[machine.Name]
	users := s.controlPlane.Spec.KubeadmConfigSpec.JoinConfiguration.Discovery.BootstrapToken.Token != ""
	if !ok || users || !machine.DeletionTimestamp.IsZero() || s.nodeName(machine) != "" {
		return ""
	}
	return config.Spec.JoinConfiguration.Discovery.BootstrapToken.Token
}
