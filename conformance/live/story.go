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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

const (
	// pollInterval is how often the cluster is read.
	pollInterval = 2 * time.Second
	// soon bounds what takes no time in a cluster that works: a request, and a status that follows.
	soon = time.Minute
)

// story is the life of one cluster.
type story struct {
	*Checker
	template []*unstructured.Unstructured
	// topology is a template with a managed topology; empty for none.
	topology []*unstructured.Unstructured
	// now is the cluster when nothing was left to do the last time.
	now *view
	// installed says that the providers are there because the story installed them.
	installed bool
}

// step changes one thing.
type step struct {
	name string
	// rules that only this step checks.
	rules []string
	run   func(*story, context.Context) error
	// always says that the step runs whatever happened before.
	always bool
}

var steps = []step{
	{"install the providers", []string{"clusterctl/install"}, (*story).install, false},
	{"generate clusters", []string{"clusterctl/generate"}, (*story).generate, false},
	{"upgrade the providers", []string{"clusterctl/upgrade"}, (*story).upgradeProviders, false},
	{"create", nil, (*story).create, false},
	{"change in place", []string{"control-plane/metadata-propagation", "control-plane/in-place-propagation"}, (*story).changeInPlace, false},
	{"rotate the kubeconfig", []string{"control-plane/kubeconfig-rotation"}, (*story).rotateKubeconfig, false},
	{"scale workers and drain them", []string{poolScale, poolDrain}, (*story).scaleWorkers, false},
	{"scale the control plane up", []string{scaling}, (*story).scaleUp, false},
	{"update in place", []string{inPlaceUpdates}, (*story).updateInPlace, false},
	{"replace an unhealthy machine", []string{"control-plane/remediation"}, (*story).remediate, false},
	{"scale the control plane down", nil, (*story).scaleDown, false},
	{"roll the control plane out", []string{"control-plane/rollout-after"}, (*story).rollOut, false},
	{"upgrade", []string{"control-plane/upgrade", orderOfVersions}, (*story).upgrade, false},
	{"move", []string{"clusterctl/move", "*/lost-status"}, (*story).move, false},
	{"delete", []string{"*/deletion"}, (*story).delete, true},
	{"call hooks", []string{hooksRun}, (*story).callHooks, false},
	{"remove the providers", []string{"clusterctl/uninstall"}, (*story).uninstall, true},
}

// tell runs steps, and says why rules were not checked.
func (s *story) tell(ctx context.Context, steps []step) {
	var failed error
	for _, step := range steps {
		if failed != nil && !step.always {
			continue
		}
		start := time.Now()
		s.interrupted = func() bool { return ctx.Err() != nil && !step.always }
		err := step.run(s, ctx)
		outcome := "done"
		if err != nil {
			outcome = err.Error()
			err = fmt.Errorf("the step %q ended early: %w", step.name, err)
		}
		s.log("%6.1f s  %s: %s", time.Since(start).Seconds(), step.name, outcome)
		failed = errors.Join(failed, err)
	}
	s.interrupted = nil
	for id, rule := range s.rules {
		switch reason := s.notHere(id); {
		case reason != "":
			s.missing(id, conformance.NotRun, reason)
		case failed != nil:
			s.missing(id, conformance.Unfinished, failed.Error())
		case rule.Contract != "clusterctl" && len(s.now.objects(rule.Contract)) == 0:
			s.missing(id, conformance.NotApplicable, errNotApplicable.Error())
		}
	}
	s.mindUnknown()
}

// mindUnknown leaves rules unfinished for which the Nodes were never seen, unless a broken rule fails the run for
// that reason already.
func (s *story) mindUnknown() {
	if works := s.results["control-plane/kubeconfig-works"]; works != nil && works.Status == conformance.Failed {
		return
	}
	for id, reason := range s.unseen {
		result := s.results[id] // it may say what another object does not have
		if slices.Contains([]conformance.Status{conformance.NotRun, conformance.NotClaimed, conformance.NotApplicable}, result.Status) {
			result.Status, result.Reason = conformance.Unfinished, reason
		}
	}
}

// notHere returns why this story cannot show whether a rule holds; empty if it can.
func (s *story) notHere(rule string) string {
	switch {
	case rule == "clusterctl/upgrade" && s.Releases != nil && len(s.Releases.Previous) == 0:
		return "no previous release was given"
	case s.Releases == nil && slices.Contains([]string{"clusterctl/install", "clusterctl/upgrade", "clusterctl/uninstall", "clusterctl/generate"}, rule):
		return "no release was given that clusterctl could install"
	case rule == inPlaceUpdates && s.HooksAddress == "":
		return "no address was given at which Cluster API reaches the suite as an extension"
	case rule == hooksRun:
		return s.noHooks()
	default:
		return ""
	}
}

// noHooks returns why Cluster API calls no lifecycle hook, or not all of them; empty if it does.
func (s *story) noHooks() string {
	switch {
	case len(s.topology) == 0:
		return "no template with a topology was given"
	case s.UpgradeTo == "":
		return "no version was given to upgrade to"
	default:
		return ""
	}
}

// until waits until holds returns nil. The error says what was seen last.
func until(ctx context.Context, patience time.Duration, holds func() error) error {
	deadline := time.Now().Add(patience)
	ticks := time.NewTicker(pollInterval)
	defer ticks.Stop()
	for {
		seen := holds()
		if seen == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("after %s: %w", patience, seen)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticks.C:
		}
	}
}

// change reads an object, and patches what mutate changes.
func (s *story) change(ctx context.Context, object client.Object, mutate func()) error {
	if err := s.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return err
	}
	before, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T cannot be copied", object)
	}
	mutate()
	return s.Client.Patch(ctx, object, client.MergeFrom(before), fieldOwner)
}

// changeStatus is like change, but for the status of a Machine.
func (s *story) changeStatus(ctx context.Context, machine *clusterv1.Machine, mutate func()) error {
	if err := s.Client.Get(ctx, client.ObjectKeyFromObject(machine), machine); err != nil {
		return err
	}
	before := machine.DeepCopy()
	mutate()
	return s.Client.Status().Patch(ctx, machine, client.MergeFrom(before), fieldOwner)
}

// create creates the cluster.
func (s *story) create(ctx context.Context) error {
	if err := s.createAll(ctx, s.template); err != nil {
		return err
	}
	return s.settle(ctx, nil)
}

// createAll creates the objects of a template.
func (s *story) createAll(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if err := s.createOne(ctx, object.DeepCopy()); err != nil {
			return fmt.Errorf("create %s %s of the template: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// createOne creates an object. It tries again if the API server cannot be reached, or a webhook: shortly
// after an installation, its Service may not lead to the new Pod on every node.
func (s *story) createOne(ctx context.Context, object *unstructured.Unstructured) error {
	var refused error
	unreachable := until(ctx, soon, func() error {
		refused = s.Client.Create(ctx, object, fieldOwner)
		if reason := apierrors.ReasonForError(refused); reason == metav1.StatusReasonInternalError || reason == metav1.StatusReasonUnknown {
			return refused
		}
		return nil
	})
	return cmp.Or(unreachable, refused)
}

// settle waits until nothing is left to do and the cluster is as wanted, and judges it. What lags
// behind gets a moment more.
func (s *story) settle(ctx context.Context, wanted func(*view) error) error {
	err := until(ctx, s.Patience, func() error {
		v, err := s.read(ctx)
		if err == nil {
			s.checkOrder(v)
			err = v.atRest()
		}
		if err == nil && wanted != nil {
			err = wanted(v)
		}
		if v != nil {
			s.now = v
		}
		return err
	})
	if err != nil {
		return err
	}
	_ = until(ctx, soon, func() error {
		v, err := s.read(ctx)
		if err != nil {
			return err
		}
		s.now = v
		if s.quiet {
			return v.unreachable
		}
		return errors.Join(v.unreachable, problems(v.judge(func(string, *object, error) {})...))
	})
	s.now.judge(s.recordJudgement) // unless it is quiet
	return nil
}

// recordJudgement records what was seen of an object; nil if it is the cluster as a whole.
func (s *story) recordJudgement(rule string, o *object, problem error) {
	if o == nil {
		s.record(rule, "", "", problem)
	} else {
		s.record(rule, o.contract, o.GetKind(), problem)
	}
}

// judge applies all judgements, and returns what they say.
func (v *view) judge(record func(rule string, o *object, problem error)) []error {
	var all []error
	for _, j := range judgements {
		objects := v.objects(j.of)
		if j.of == "" {
			objects = []*object{nil}
		}
		for _, o := range objects {
			problem := j.judge(v, o)
			record(j.rule, o, problem)
			all = append(all, problem)
		}
	}
	return all
}

// restConditions are what the Cluster says when nothing is left to do.
var restConditions = map[string]metav1.ConditionStatus{
	clusterv1.ClusterAvailableCondition: metav1.ConditionTrue, clusterv1.ClusterRollingOutCondition: metav1.ConditionFalse,
	clusterv1.ClusterScalingUpCondition: metav1.ConditionFalse, clusterv1.ClusterScalingDownCondition: metav1.ConditionFalse,
}

// atRest returns an error if Cluster API or a provider still has something to do.
func (v *view) atRest() error {
	var waiting []string
	for kind, want := range restConditions {
		if got := statusOf(v.cluster.Status.Conditions, kind); got != want {
			waiting = append(waiting, fmt.Sprintf("condition %s is %q", kind, got))
		}
	}
	for _, m := range v.machines {
		if !m.DeletionTimestamp.IsZero() || v.hasNode(&m) && m.Status.NodeRef.Name == "" {
			waiting = append(waiting, fmt.Sprintf("Machine %s has the Node %q and is in the phase %s", m.Name, m.Status.NodeRef.Name, m.Status.Phase))
		}
	}
	if waiting = append(waiting, v.uncounted()...); len(waiting) == 0 {
		return nil
	}
	slices.Sort(waiting)
	return errors.New("the cluster is not at rest: " + strings.Join(waiting, "; "))
}

// uncounted says which sets of machines do not have the wanted size.
func (v *view) uncounted() []string {
	var waiting []string
	if v.controlPlane != nil {
		want := fields.Number(v.controlPlane.Unstructured, "spec.replicas")
		if machines := v.controlPlanes(); want >= 0 && len(machines) > 0 && int64(len(machines)) != want {
			waiting = append(waiting, fmt.Sprintf("the control plane has the Machines %v, want %d", names(machines), want))
		}
	}
	for i := range v.pools {
		p := &v.pools[i]
		if want := int(ptr.Deref(p.Spec.Replicas, 1)); len(p.Status.NodeRefs) != want || int(ptr.Deref(p.Status.ReadyReplicas, 0)) != want {
			waiting = append(waiting, fmt.Sprintf("MachinePool %s has %d Nodes, want %d", p.Name, len(p.Status.NodeRefs), want))
		}
	}
	for i := range v.deployments {
		d := &v.deployments[i]
		if want := ptr.Deref(d.Spec.Replicas, 1); ptr.Deref(d.Status.ReadyReplicas, 0) != want || ptr.Deref(d.Status.Replicas, 0) != want {
			waiting = append(waiting, fmt.Sprintf("MachineDeployment %s has %d of %d replicas", d.Name, ptr.Deref(d.Status.ReadyReplicas, 0), want))
		}
	}
	return waiting
}

// roles are the contracts of the kinds of providers.
var roles = []string{"control-plane", "infrastructure-cluster", "infrastructure-machine", "infrastructure-machinepool", "bootstrap"}
