// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// This file changes the control plane.

const scaling = "control-plane/scaling-up-and-down"

// controlPlaneReplicas changes the size of the control plane, and waits.
func (s *story) controlPlaneReplicas(ctx context.Context, count int64) error {
	controlPlane := s.now.controlPlane
	if err := s.change(ctx, controlPlane.Unstructured, func() {
		_ = unstructured.SetNestedField(controlPlane.Object, count, "spec", "replicas") // it was there before
	}); err != nil {
		return err
	}
	return s.settle(ctx, func(v *view) error {
		if got := len(v.controlPlanes()); int64(got) != count {
			return fmt.Errorf("the control plane has %d Machines, want %d", got, count)
		}
		return nil
	})
}

// scalable reports whether the control plane has Machines and replicas, and records otherwise that
// the rules are not about it.
func (s *story) scalable(rules ...string) bool {
	if s.now.controlPlane == nil {
		return false
	}
	replicas := fields.Number(s.now.controlPlane.Unstructured, "spec.replicas") >= 0
	can := replicas && len(s.now.controlPlanes()) > 0
	for _, rule := range rules {
		switch {
		case can:
		case replicas && rule == scaling:
			s.missing(rule, conformance.NotRun, "the control plane has no Machines, by which the suite counts its instances")
		default:
			s.missing(rule, conformance.NotClaimed, "the control plane has no Machines or no replicas")
		}
	}
	return can && s.now.controlPlane.own
}

// onControlPlane records whether a rule about the control plane holds.
func (s *story) onControlPlane(rule string, problem error) {
	s.record(rule, s.now.controlPlane.contract, s.now.controlPlane.GetKind(), problem)
}

func (s *story) scaleUp(ctx context.Context) error {
	if !s.scalable(scaling, "control-plane/remediation") {
		return nil
	}
	err := s.controlPlaneReplicas(ctx, 3)
	if err != nil { // the rule holds only after scaleDown
		s.onControlPlane(scaling, err)
	}
	return err
}

func (s *story) scaleDown(ctx context.Context) error {
	if !s.scalable() {
		return nil
	}
	before := s.now
	err := s.controlPlaneReplicas(ctx, 1)
	if err == nil {
		err = remains(before, s.now)
	}
	s.onControlPlane(scaling, err)
	return err
}

// remains returns an error unless a Machine of a control plane is one of those before.
func remains(before, after *view) error {
	machines := after.controlPlanes()
	if len(machines) == 0 {
		return errors.New("the control plane has no Machine")
	}
	if !slices.Contains(uids(before.controlPlanes()), machines[0].UID) {
		return errors.New("the remaining Machine is a new one")
	}
	return nil
}

// remediate marks a Machine of the control plane as a MachineHealthCheck does.
func (s *story) remediate(ctx context.Context) error {
	if !s.scalable() {
		return nil
	}
	unhealthy := s.now.controlPlanes()[0].DeepCopy()
	kinds := []string{clusterv1.MachineHealthCheckSucceededCondition, clusterv1.MachineOwnerRemediatedCondition}
	if err := s.changeStatus(ctx, unhealthy, func() {
		for _, kind := range kinds {
			meta.SetStatusCondition(&unhealthy.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionFalse, Reason: "Conformance"})
		}
	}); err != nil {
		return err
	}
	err := s.settle(ctx, func(v *view) error {
		if slices.Contains(uids(v.controlPlanes()), unhealthy.UID) {
			return fmt.Errorf("the unhealthy Machine %s is still there", unhealthy.Name)
		}
		return nil
	})
	s.onControlPlane("control-plane/remediation", err)
	if err == nil || ctx.Err() != nil {
		return err
	}
	// The rule is a recommendation, and a control plane that does not follow it can still do the rest.
	if err := s.changeStatus(ctx, unhealthy, func() {
		for _, kind := range kinds {
			meta.RemoveStatusCondition(&unhealthy.Status.Conditions, kind)
		}
	}); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return s.settle(ctx, nil)
}

const changedLabel = "conformance.example.com/changed"

// changeInPlace changes a label of the control plane's Machines.
func (s *story) changeInPlace(ctx context.Context) error {
	if !s.scalable("control-plane/metadata-propagation", "control-plane/in-place-propagation") {
		return nil
	}
	before, controlPlane := s.now, s.now.controlPlane
	var wrong error
	if err := s.change(ctx, controlPlane.Unstructured, func() {
		wrong = unstructured.SetNestedField(controlPlane.Object, "yes", "spec", "machineTemplate", "metadata", "labels", changedLabel)
	}); err != nil || wrong != nil {
		return errors.Join(err, wrong)
	}
	changed := until(ctx, soon, func() error {
		v, err := s.read(ctx)
		if err != nil {
			return err
		}
		return v.labelled(changedLabel)
	})
	s.onControlPlane("control-plane/metadata-propagation", changed)
	if err := s.settle(ctx, nil); err != nil {
		return err
	}
	s.onControlPlane("control-plane/in-place-propagation", unchanged(before, s.now))
	return nil
}

// labelled returns an error unless all Machines of the control plane have a label.
func (v *view) labelled(label string) error {
	for _, m := range v.controlPlanes() {
		if m.GetLabels()[label] != "yes" {
			return fmt.Errorf("%s has the labels %s, want %s=yes", m.GetName(), fields.Show(m.GetLabels()), label)
		}
	}
	return nil
}

// rollOut asks for new Machines without any other change.
func (s *story) rollOut(ctx context.Context) error {
	const rule = "control-plane/rollout-after"
	if !s.scalable(rule) {
		return nil
	}
	before, controlPlane := s.now, s.now.controlPlane
	path := []string{"spec", "rollout", "after"}
	if controlPlane.contract == fields.V1Beta1 {
		path = []string{"spec", "rolloutAfter"}
	}
	if err := s.change(ctx, controlPlane.Unstructured, func() {
		_ = unstructured.SetNestedField(controlPlane.Object, time.Now().UTC().Format(time.RFC3339), path...) // the API server refuses what is wrong
	}); err != nil {
		return err
	}
	if fields.At(controlPlane.Unstructured, strings.Join(path, ".")) == nil { // the API server dropped it
		s.missing(rule, conformance.NotClaimed, "the control plane has no field "+strings.Join(path, "."))
		return nil
	}
	err := s.settle(ctx, func(v *view) error { return replaced(before, v) })
	s.onControlPlane(rule, err)
	return err
}

// upgrade changes the version of the whole cluster, the control plane first.
func (s *story) upgrade(ctx context.Context) error {
	if s.now.controlPlane == nil || !s.now.controlPlane.own {
		return nil
	}
	if s.UpgradeTo == "" {
		s.missingUpgrade(conformance.NotRun, "no version was given to upgrade to")
		return nil
	}
	controlPlane := s.now.controlPlane
	if fields.SameVersion(fields.Text(controlPlane.Unstructured, "spec.version"), s.UpgradeTo) {
		s.missingUpgrade(conformance.NotRun, "the control plane was created with the version "+s.UpgradeTo+" already")
		return nil
	}
	if err := s.change(ctx, controlPlane.Unstructured, func() {
		_ = unstructured.SetNestedField(controlPlane.Object, s.UpgradeTo, "spec", "version") // the API server refuses what is wrong
	}); err != nil {
		return err
	}
	if fields.Text(controlPlane.Unstructured, "spec.version") == "" { // the API server dropped it
		s.missingUpgrade(conformance.NotClaimed, "the control plane has no field spec.version")
		return nil
	}
	err := s.settle(ctx, func(v *view) error {
		return problems(hasVersion(v, v.controlPlane), reportsVersion(v, v.controlPlane))
	})
	s.onControlPlane("control-plane/upgrade", cmp.Or(err, hasVersion(s.now, s.now.controlPlane)))
	if err == nil && fields.At(s.now.controlPlane.Unstructured, "status.versions") == nil {
		s.missing(orderOfVersions, conformance.NotClaimed, "the control plane has no status.versions")
	} else if err == nil {
		s.missing(orderOfVersions, conformance.NotRun, "status.versions never had more than one entry when it was read")
	}
	return err
}

func (s *story) missingUpgrade(status conformance.Status, reason string) {
	for _, rule := range []string{"control-plane/upgrade", orderOfVersions} {
		s.missing(rule, status, reason)
	}
}

const orderOfVersions = "control-plane/status-versions-order"

// checkOrder checks the order of the versions that the control plane reports. Only a control plane that
// changes reports more than one, and only for a while.
func (s *story) checkOrder(v *view) {
	if v.controlPlane == nil || !v.controlPlane.own {
		return
	}
	list, _ := fields.At(v.controlPlane.Unstructured, "status.versions").([]any)
	if len(list) > 1 {
		s.record(orderOfVersions, v.controlPlane.contract, v.controlPlane.GetKind(), inOrder(list))
	}
}

// inOrder returns an error if a version comes before an older one, or is unreadable for Cluster API.
func inOrder(list []any) error {
	versions := make([]string, 0, len(list))
	for _, entry := range list {
		name, _ := fields.Get(entry, "version").(string)
		versions = append(versions, name)
	}
	if err := fields.CheckOrder(versions); err != nil {
		return fmt.Errorf("status.versions is %s: %w", fields.Show(list), err)
	}
	return nil
}
