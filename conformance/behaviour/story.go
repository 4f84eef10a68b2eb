// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	fieldOwner = client.FieldOwner("capi-conformance")
	// pollInterval is how often a check looks.
	pollInterval = 200 * time.Millisecond
)

// Stepper is a provider in the same process, for tests of the suite. It works only when it is told
// to, so a check knows when nothing more will happen.
type Stepper interface {
	// Step reconciles the objects in a namespace once, and reports whether it changed any.
	Step(ctx context.Context, namespace string) (bool, error)
}

// scenario is a story about one kind.
type scenario struct {
	name string
	role Role
	// stage is how far objects must get.
	stage Stage
	// rules that the scenario checks, without the contract. If it ends early, the rest is not run.
	rules []string
	run   func(*story) error
}

// lifeOf begins the names of the scenarios that check whether a kind works at all.
const lifeOf = "life of "

// story is one run of a scenario, in a namespace of its own.
type story struct {
	scenario
	client.Client

	ctx       context.Context
	checker   *Checker
	contract  string
	namespace string
	results   *results
	// pace measures how long the provider takes; nil unless the story is a baseline.
	pace *pace
	// checked has the names of the rules that the story has checked.
	checked map[string]bool

	cluster *clusterv1.Cluster
	infra   *unstructured.Unstructured
	// machine or pool is the owner of the object of infrastructure and bootstrap kinds.
	machine *clusterv1.Machine
	pool    *clusterv1.MachinePool
}

// tell runs the scenario.
func (s *story) tell() {
	start := time.Now()
	err := s.begin()
	if err == nil {
		err = s.prerequisite()
	}
	if err == nil {
		err = s.run(s)
	}
	s.finish(err)
	if s.checker.Log != nil {
		s.checker.Log(fmt.Sprintf("%5.1f s  %s %s: %s", time.Since(start).Seconds(), s.contract, s.role, s.name))
	}
}

// finish records what the scenario did not check; err is why it ended early, if it did.
func (s *story) finish(err error) {
	for _, name := range s.rules {
		switch {
		case !s.wants(name) || s.checked[name]:
		case err != nil:
			s.results.unfinished(s.rule(name), s.contract, fmt.Sprintf("the scenario %q ended early: %v", s.name, err))
		default:
			s.results.notRun(s.rule(name), s.contract, fmt.Sprintf("the scenario %q did not get there", s.name))
		}
	}
}

// prerequisite returns an error if objects of the kind do not work at all: what never works says
// nothing about pauses, owners and deletions. It also measures the provider's pace.
func (s *story) prerequisite() error {
	if s.role == RuntimeExtension || strings.HasPrefix(s.name, lifeOf) || !s.checker.Config.reaches(s.role, acting(s.role)) {
		return nil
	}
	works := s.checker.works(s)
	if s.stage == Waiting {
		return nil
	}
	return works
}

// begin creates the namespace with the configuration's objects.
func (s *story) begin() error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "conformance-"}}
	if err := s.Create(s.ctx, namespace); err != nil {
		return err
	}
	s.namespace = namespace.Name
	for _, content := range s.checker.Config.Objects {
		copied, err := s.substitute(content)
		if err != nil {
			return err
		}
		object := &unstructured.Unstructured{Object: copied}
		object.SetNamespace(s.namespace)
		if err := s.Create(s.ctx, object); err != nil {
			return fmt.Errorf("create %s %s of the configuration: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

func (s *story) rule(name string) string { return string(s.role) + "/" + name }

// wants reports whether a rule is checked, so that the story can leave out what only serves it.
func (s *story) wants(name string) bool { return s.checker.wanted(s.rule(name), s.contract) == "" }

// check records whether a rule holds; the problem says what was seen.
func (s *story) check(name string, problem error) {
	if !slices.Contains(s.rules, name) {
		problem = errors.Join(fmt.Errorf("the scenario %q does not list this rule", s.name), problem)
	}
	if s.checked == nil {
		s.checked = map[string]bool{}
	}
	s.checked[name] = true
	switch {
	case !s.wants(name):
	case s.checker.unanswered(problem):
		s.results.unfinished(s.rule(name), s.contract, fmt.Sprintf("the kube-apiserver did not answer: %v", problem))
	default:
		s.results.checked(s.rule(name), s.contract, s.about(), problem)
	}
}

// notRun records why the story cannot check a rule.
func (s *story) notRun(name, reason string) {
	if s.wants(name) {
		s.results.notRun(s.rule(name), s.contract, reason)
	}
}

// noneRun records why the story cannot check any of its rules.
func (s *story) noneRun(reason string) {
	for _, name := range s.rules {
		s.notRun(name, reason)
	}
}

// unanswered reports whether the kube-apiserver is the problem, as on a machine that is much too busy:
// that says nothing about the provider.
func (c *Checker) unanswered(problem error) bool {
	var failed *url.Error
	if errors.As(problem, &failed) && c.Environment != nil && strings.HasPrefix(failed.URL, c.Environment.Config.Host) {
		return true
	}
	return apierrors.IsTimeout(problem) || apierrors.IsServerTimeout(problem) || apierrors.IsTooManyRequests(problem)
}

// about names the kind that the story is about.
func (s *story) about() string {
	if kind := s.checker.Config.Kinds[s.role]; kind.Kind != "" {
		return kind.Kind
	}
	return string(s.role)
}

// until waits until holds returns nil. The error says what was seen last.
func (s *story) until(what string, holds func() error) error {
	deadline := time.Now().Add(s.checker.Config.Patience.Duration)
	for {
		seen := holds()
		if err := s.measure(); err != nil {
			return err
		}
		if seen == nil {
			return nil
		}
		more, err := s.progress()
		if err != nil {
			return err
		}
		if !more || time.Now().After(deadline) {
			return fmt.Errorf("%s: %w", what, seen)
		}
	}
}

// progress lets the provider work, and reports whether it may have done something.
func (s *story) progress() (bool, error) {
	if s.checker.Stepper != nil {
		return s.checker.Stepper.Step(s.ctx, s.namespace)
	}
	if !pause(s.ctx, pollInterval) {
		return false, s.ctx.Err()
	}
	return true, s.checker.programs.check()
}

// pace is how slowly a provider works.
type pace struct {
	seen    string
	since   time.Time
	longest time.Duration
}

// see notes what objects look like at a time. Longest becomes the longest time without a change.
func (p *pace) see(fingerprint string, now time.Time) {
	if !p.since.IsZero() && fingerprint != p.seen {
		p.longest = max(p.longest, now.Sub(p.since))
	}
	if p.since.IsZero() || fingerprint != p.seen {
		p.seen, p.since = fingerprint, now
	}
}

// measure notes the pace of the provider if the story is a baseline.
func (s *story) measure() error {
	if s.pace == nil || s.checker.Stepper != nil {
		return nil
	}
	now, err := s.fingerprint()
	s.pace.see(now, time.Now())
	return err
}

// settle waits until nothing changes any more. Then what a provider must not do has not happened.
// How long that takes depends on the provider: see Checker.quiet.
func (s *story) settle() error {
	if s.checker.Stepper != nil {
		for {
			if more, err := s.progress(); err != nil || !more {
				return err
			}
		}
	}
	quiet := s.checker.quiet(s)
	deadline := time.Now().Add(s.checker.Config.Patience.Duration + quiet)
	last, since := "", time.Now()
	for {
		now, err := s.fingerprint()
		if err != nil {
			return err
		}
		if now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) >= quiet {
			return nil
		}
		if time.Now().After(deadline) {
			return errors.New("objects keep changing although nothing is left to do")
		}
		if _, err := s.progress(); err != nil {
			return err
		}
	}
}

// fingerprint changes whenever an object changes that the provider writes.
func (s *story) fingerprint() (string, error) {
	kinds := []schema.GroupVersionKind{
		clusterv1.GroupVersion.WithKind("Machine"), corev1.SchemeGroupVersion.WithKind("Secret"),
	}
	for role, kind := range s.checker.Config.Kinds {
		if role == RuntimeExtension {
			continue
		}
		version, err := s.checker.Environment.version(schema.GroupKind{Group: kind.Group, Kind: kind.Kind}, s.contract)
		if err != nil {
			return "", err
		}
		kinds = append(kinds, version)
	}
	var versions []string
	for _, kind := range kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		if err := s.List(s.ctx, list, client.InNamespace(s.namespace)); err != nil {
			return "", err
		}
		for _, item := range list.Items {
			versions = append(versions, string(item.UID)+item.ResourceVersion)
		}
	}
	slices.Sort(versions)
	return strings.Join(versions, " "), nil
}

// read reads an object again.
func (s *story) read(object client.Object) error {
	return s.Get(s.ctx, client.ObjectKeyFromObject(object), object)
}

// change patches an object, as Cluster API does: only with what it changes.
func (s *story) change(object client.Object, mutate func()) error {
	if err := s.read(object); err != nil {
		return err
	}
	before, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T cannot be copied", object)
	}
	mutate()
	return s.Patch(s.ctx, object, client.MergeFrom(before), fieldOwner)
}

// changeStatus is like change, but for the status.
func (s *story) changeStatus(object client.Object, mutate func()) error {
	if err := s.read(object); err != nil {
		return err
	}
	before, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T cannot be copied", object)
	}
	mutate()
	return s.Status().Patch(s.ctx, object, client.MergeFrom(before), fieldOwner)
}

// exists reads an object again, and reports whether there still is one.
func (s *story) exists(object client.Object) (bool, error) {
	err := s.read(object)
	return err == nil, client.IgnoreNotFound(err)
}

// gone returns nil once an object does not exist any more.
func (s *story) gone(object client.Object) error {
	if exists, err := s.exists(object); err != nil || !exists {
		return err
	}
	return fmt.Errorf("it still exists, with the finalizers %v", object.GetFinalizers())
}

// remove deletes an object, and waits until it is gone.
func (s *story) remove(object client.Object) error {
	if err := client.IgnoreNotFound(s.Delete(s.ctx, object)); err != nil {
		return err
	}
	return s.until("deletion", func() error { return s.gone(object) })
}
