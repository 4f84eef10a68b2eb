// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"

	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// showExpiries annotates each Machine's KubeadmConfig with the expiry of the Machine's
// certificates. Cluster API copies it into the Machine's status.certificatesExpiryDate. kubeadm
// makes the certificates when the Machine starts, so they are read only once. After a renewal on
// the machine, remove the annotation to have the expiry read again.
func (r *Reconciler) showExpiries(ctx context.Context, s *scope) error {
	var failed []error
	for _, machine := range s.machines {
		config, ok := s.configs[machine.Name]
		if ok && machine.DeletionTimestamp.IsZero() && !hasExpiry(machine) && !hasExpiry(config) && s.serves(machine) {
			failed = append(failed, r.showExpiry(ctx, s, machine, config))
		}
	}
	return errors.Join(failed...)
}

// serves reports whether the Machine's API server can be asked. Its static pod appears only shortly
// after it serves.
func (s *scope) serves(machine *clusterv1.Machine) bool {
	node, ok := s.observation.Node(machine.Status.NodeRef.Name)
	return ok && node.Pods[workload.APIServer].State == workload.PodRunning
}

func hasExpiry(object client.Object) bool {
	_, ok := object.GetAnnotations()[clusterv1.MachineCertificatesExpiryDateAnnotation]
	return ok
}

func (r *Reconciler) showExpiry(ctx context.Context, s *scope, machine *clusterv1.Machine, config *bootstrapv1.KubeadmConfig) error {
	expiry, err := r.workload.CertificateExpiry(ctx, workload.APIServerEndpoint{
		Cluster: s.key(), Node: machine.Status.NodeRef.Name, Port: apiServerPort(config.Spec),
	})
	if err != nil {
		return fmt.Errorf("reading the expiry of the certificates of Machine %s: %w", machine.Name, err)
	}
	before := config.DeepCopy()
	annotations.AddAnnotations(config, map[string]string{clusterv1.MachineCertificatesExpiryDateAnnotation: expiry.UTC().Format(time.RFC3339)})
	if err := r.client.Patch(ctx, config, client.MergeFrom(before)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("annotating KubeadmConfig %s: %w", config.Name, err)
	}
	ctrl.LoggerFrom(ctx).V(2).Info("Recorded the expiry of certificates", "Machine", klog.KObj(machine), "expiry", expiry)
	return nil
}

// apiServerPort is the port that a Machine's API server binds; zero means the default.
func apiServerPort(spec bootstrapv1.KubeadmConfigSpec) int32 {
	if port := spec.InitConfiguration.LocalAPIEndpoint.BindPort; port != 0 {
		return port
	}
	if controlPlane := spec.JoinConfiguration.ControlPlane; controlPlane != nil {
		return controlPlane.LocalAPIEndpoint.BindPort
	}
	return 0
}
