// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

const (
	changedLabel = "conformance.example.com/changed"
	drainSeconds = 77
	readySeconds = 7
)

// changedFields look, for each rule, at what a Machine has once changeMachineTemplate has reached it.
var changedFields = map[string]func(*clusterv1.Machine) error{
	"deletion-timeouts": func(machine *clusterv1.Machine) error {
		if got := ptr.Deref(machine.Spec.Deletion.NodeDrainTimeoutSeconds, -1); got != drainSeconds {
			return fmt.Errorf("spec.deletion.nodeDrainTimeoutSeconds of the Machine is %d, want %d", got, drainSeconds)
		}
		return nil
	},
	"readiness-gates": func(machine *clusterv1.Machine) error {
		if !slices.ContainsFunc(machine.Spec.ReadinessGates, func(g clusterv1.MachineReadinessGate) bool { return g.ConditionType == "Conformance" }) {
			return fmt.Errorf("spec.readinessGates of the Machine is %s, want Conformance among them", fields.Show(machine.Spec.ReadinessGates))
		}
		return nil
	},
	"min-ready-seconds-in-place": func(machine *clusterv1.Machine) error {
		if got := ptr.Deref(machine.Spec.MinReadySeconds, -1); got != readySeconds {
			return fmt.Errorf("spec.minReadySeconds of the Machine is %d, want %d", got, readySeconds)
		}
		return nil
	},
	"taints": func(machine *clusterv1.Machine) error {
		if !slices.ContainsFunc(machine.Spec.Taints, func(t clusterv1.MachineTaint) bool { return t.Key == changedLabel }) {
			return fmt.Errorf("spec.taints of the Machine is %s, want %s among them", fields.Show(machine.Spec.Taints), changedLabel)
		}
		return nil
	},
}

// changesInPlace changes what control planes must pass on to existing Machines.
func changesInPlace(s *story) error {
	object, err := s.ready()
	if err != nil {
		return err
	}
	if err := s.settle(); err != nil {
		return err
	}
	machine, err := s.firstMachine()
	if err != nil {
		return err
	}
	if err := s.change(object, func() { s.changeMachineTemplate(object) }); err != nil {
		return err
	}
	infra := s.standIn(standInMachine)
	infra.SetName(machine.Spec.InfrastructureRef.Name)
	for rule, changed := range map[string]client.Object{"metadata-propagation": machine, "infrastructure-metadata": infra} {
		s.check(rule, s.until("after spec.machineTemplate.metadata was changed", func() error { return s.hasChangedMetadata(changed) }))
	}
	for rule, look := range changedFields {
		if s.wants(rule) {
			s.check(rule, s.until("after spec.machineTemplate was changed", func() error { return errors.Join(s.read(machine), look(machine)) }))
		}
	}
	if err := s.settle(); err != nil {
		return err
	}
	now, err := s.machines()
	if err != nil {
		return err
	}
	s.check("in-place-propagation", notReplaced(machine, now))
	return nil
}

// notReplaced returns an error unless a Machine is still the only one.
func notReplaced(machine *clusterv1.Machine, now []clusterv1.Machine) error {
	if len(now) != 1 || now[0].UID != machine.UID || !now[0].DeletionTimestamp.IsZero() {
		return fmt.Errorf("changing metadata and timeouts in spec.machineTemplate replaced the Machine %s: there are %s now", machine.Name, names(now))
	}
	return nil
}

// changeMachineTemplate changes the fields that must not lead to a rollout.
func (s *story) changeMachineTemplate(object *unstructured.Unstructured) {
	template, ok := fields.At(object, "spec.machineTemplate").(map[string]any)
	if !ok {
		return
	}
	template["metadata"] = map[string]any{"labels": map[string]any{changedLabel: "yes"}, "annotations": map[string]any{changedLabel: "yes"}}
	spec := template
	if s.contract == fields.V1Beta1 {
		spec["nodeDrainTimeout"] = (drainSeconds * time.Second).String()
	} else {
		spec = specIn(template)
		spec["deletion"] = map[string]any{"nodeDrainTimeoutSeconds": int64(drainSeconds)}
	}
	if s.wants("min-ready-seconds-in-place") {
		spec["minReadySeconds"] = int64(readySeconds)
	}
	if s.wants("readiness-gates") {
		spec["readinessGates"] = []any{map[string]any{"conditionType": "Conformance"}}
	}
	if s.wants("taints") {
		spec["taints"] = []any{map[string]any{"key": changedLabel, "value": "yes", "effect": "NoSchedule", "propagation": "Always"}}
	}
}

// hasChangedMetadata reads an object, and returns nil once it has the label and the annotation.
func (s *story) hasChangedMetadata(object client.Object) error {
	if err := s.read(object); err != nil {
		return err
	}
	if object.GetLabels()[changedLabel] != "yes" || object.GetAnnotations()[changedLabel] != "yes" {
		return fmt.Errorf("%s has the labels %s and the annotations %s, want %s=yes in both",
			object.GetName(), fields.Show(object.GetLabels()), fields.Show(object.GetAnnotations()), changedLabel)
	}
	return nil
}

// endpointLate creates a control plane before its Cluster has an endpoint.
func endpointLate(s *story) error {
	if err := s.createCluster(s.standIn(standInCluster)); err != nil {
		return err
	}
	if err := errors.Join(s.createInfra(), s.surfaceInfra()); err != nil {
		return err
	}
	object, err := s.prepareControlPlane()
	if err != nil {
		return err
	}
	if err := errors.Join(s.Create(s.ctx, object), s.settle()); err != nil {
		return err
	}
	problem, err := s.notActed(object, "the Cluster has no endpoint")
	if err != nil {
		return err
	}
	if problem == nil {
		endpoint := map[string]any{"host": standInHost, "port": int64(standInPort)}
		if err := s.change(s.infra, func() { s.infra.Object["spec"] = map[string]any{"controlPlaneEndpoint": endpoint} }); err != nil {
			return err
		}
		if err := s.surfaceInfra(); err != nil {
			return err
		}
		problem = s.until("after the Cluster got an endpoint", func() error { return s.acted(object) })
	}
	s.check("waits-for-endpoint", problem)
	return nil
}

// certificatesOfUser provides the certificate authority before the control plane exists.
func certificatesOfUser(s *story) error {
	certificate, key, err := newAuthority()
	if err != nil {
		return err
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: s.namespace + "-ca", Labels: map[string]string{clusterv1.ClusterNameLabel: s.namespace}},
		Type:       clusterv1.ClusterSecretType,
		Data:       map[string][]byte{"tls.crt": certificate, "tls.key": key},
	}
	if err := s.Create(s.ctx, secret); err != nil {
		return err
	}
	object, err := s.ready()
	if err != nil {
		return err
	}
	if err := s.until("the kubeconfig", func() error { return s.checkKubeconfig(object) }); err != nil {
		return err
	}
	if err := s.read(secret); err != nil {
		return err
	}
	kubeconfig, err := s.clusterSecret("kubeconfig", "value")
	if err != nil {
		return err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig.Data["value"])
	if err != nil {
		return err
	}
	var problem error
	if string(secret.Data["tls.crt"]) != string(certificate) || string(secret.Data["tls.key"]) != string(key) {
		problem = fmt.Errorf("the user provided the secret %s, and the provider changed it", secret.Name)
	} else if string(config.CAData) != string(certificate) {
		problem = fmt.Errorf("the user provided the secret %s, and the kubeconfig has another certificate authority", secret.Name)
	}
	s.check("user-certificates", problem)
	return nil
}

// newAuthority returns a certificate authority as kubeadm makes it, in PEM format.
func newAuthority() (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	authority, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "kubernetes"}, private)
	if err != nil {
		return nil, nil, err
	}
	if key, err = keyutil.MarshalPrivateKeyToPEM(private); err != nil {
		return nil, nil, err
	}
	certificate, err = cert.EncodeCertificates(authority)
	return certificate, key, err
}

// unhealthyMachine marks a Machine as a MachineHealthCheck does.
func unhealthyMachine(s *story) error {
	if _, err := s.ready(); err != nil {
		return err
	}
	if err := s.settle(); err != nil {
		return err
	}
	machine, err := s.firstMachine()
	if err != nil {
		return err
	}
	if err := s.changeStatus(machine, func() {
		for _, kind := range []string{clusterv1.MachineHealthCheckSucceededCondition, clusterv1.MachineOwnerRemediatedCondition} {
			meta.SetStatusCondition(&machine.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: "Conformance"})
		}
	}); err != nil {
		return err
	}
	s.check("remediation", s.until("after a MachineHealthCheck found its Machine unhealthy", func() error {
		if exists, err := s.exists(machine); err != nil || !exists || !machine.DeletionTimestamp.IsZero() {
			return err
		}
		return fmt.Errorf("the Machine %s is not deleted; its conditions are %s", machine.Name, fields.Show(machine.Status.Conditions))
	}))
	return nil
}
