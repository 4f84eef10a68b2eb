// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/blang/semver/v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/annotations"
	"sigs.k8s.io/cluster-api/util/collections"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// errStale says that the cache lacks earlier writes, so a decision made from it must not be carried
// out.
var errStale = errors.New("the cache is behind")

// apply carries out a decision. It does nothing if the decision is to wait.
func (r *Reconciler) apply(ctx context.Context, s *scope, next plan.Decision) error {
	log := ctrl.LoggerFrom(ctx).WithValues("action", next.Action, "reason", next.Reason, "message", next.Message)
	if next.Acts() {
		log.Info("Acting")
	}
	switch next.Action {
	case plan.ActionAdopt:
		return r.adopt(ctx, s)
	case plan.ActionInitialize, plan.ActionCreate:
		return r.createMachine(ctx, s, next)
	case plan.ActionDelete, plan.ActionRemediate:
		return r.deleteMachine(ctx, s, next)
	case plan.ActionRemoveMember:
		return r.removeMember(ctx, s, next)
	case plan.ActionRelease:
		return r.releaseMachine(ctx, s, next)
	case plan.ActionDeleteMachines:
		return r.deleteMachines(ctx, s)
	case plan.ActionFinish:
		return r.finish(ctx, s)
	case plan.ActionWait, plan.ActionNone:
		log.V(4).Info("Nothing to do")
	}
	return nil
}

// createMachine creates the infrastructure machine, the KubeadmConfig and then the Machine that
// refers to both.
func (r *Reconciler) createMachine(ctx context.Context, s *scope, next plan.Decision) error {
	as := roleJoin
	if next.Action == plan.ActionInitialize {
		as = roleInit
	}
	if err := r.checkFresh(ctx, s, next); err != nil {
		return err
	}
	desired, err := s.nextMachine(as, next)
	if err != nil {
		return err
	}
	settings, err := s.settings()
	if err != nil {
		return err
	}
	if err := r.createDesired(ctx, s, as, desired); err != nil {
		if apierrors.IsAlreadyExists(err) {
			s.memory.random = ""
		}
		return err
	}
	s.memory.random = ""
	s.memory.made = &made{machine: desired.machine.Name, settings: settings, metadata: s.metadata()}
	ctrl.LoggerFrom(ctx).Info("Created Machine", "Machine", klog.KObj(desired.machine), "role", as, "failureDomain", next.FailureDomain)
	// From here on the Machine itself records what it replaces.
	delete(s.controlPlane.Annotations, controlplanev1.RemediationInProgressAnnotation)
	return nil
}

// nextMachine returns the Machine to create. It reuses the name of one that could not be created.
func (s *scope) nextMachine(as role, next plan.Decision) (newMachine, error) {
	random, again := s.memory.nextRandom()
	desired, err := s.desiredMachine(as, random, next)
	if err != nil {
		return newMachine{}, err
	}
	if _, exists := s.machineCollection()[desired.machine.Name]; exists && again {
		// It was created after all, but the response was lost. The next one needs another name.
		s.memory.random = ""
		return s.nextMachine(as, next)
	}
	desired.again = again
	return desired, nil
}

// createDesired creates a Machine and the objects it refers to. If an earlier attempt with this
// name failed, a dry run first checks whether the API server still rejects the Machine, in which
// case there is nothing to clean up or create.
func (r *Reconciler) createDesired(ctx context.Context, s *scope, as role, desired newMachine) error {
	if desired.again {
		if err := r.create(ctx, desired.machine.DeepCopy(), client.DryRunAll); err != nil {
			return err
		}
	}
	if err := r.deleteLeftovers(ctx, s); err != nil {
		return err
	}
	if err := r.prepareJoin(ctx, s, as, desired.config); err != nil {
		return err
	}
	return r.createAll(ctx, desired.infra, desired.config, desired.machine)
}

func (r *Reconciler) create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	if err := r.client.Create(ctx, object, append(options, client.FieldOwner(creatorManager))...); err != nil {
		kind, _ := r.client.GroupVersionKindFor(object)
		return fmt.Errorf("creating %s %s: %w", kind.Kind, object.GetName(), err)
	}
	return nil
}

// createAll creates the objects in order. If the API server rejects one, createAll deletes those
// before it. If there is no response, the object may exist, and a Machine must keep the objects it
// refers to, so createAll leaves everything to the next attempt, which reads what exists.
func (r *Reconciler) createAll(ctx context.Context, objects ...client.Object) error {
	for i, object := range objects {
		err := r.create(ctx, object)
		switch {
		case err == nil:
		case refused(err):
			return errors.Join(err, r.deleteAll(ctx, objects[:i]...))
		default:
			return err
		}
	}
	return nil
}

// refused reports whether an error means that the API server has rejected the request.
func refused(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || apierrors.IsTimeout(err) {
		return false
	}
	code := status.Status().Code
	return code >= http.StatusBadRequest && code < http.StatusInternalServerError
}

// prepareJoin updates what kubeadm reads from the cluster to match the KubeadmConfig of a joining
// Machine, and gives the KubeadmConfig a bootstrap token.
func (r *Reconciler) prepareJoin(ctx context.Context, s *scope, as role, config *bootstrapv1.KubeadmConfig) error {
	if as != roleJoin {
		return nil
	}
	version, err := semver.ParseTolerant(s.controlPlane.Spec.Version)
	if err != nil {
		return fmt.Errorf("spec.version %q: %w", s.controlPlane.Spec.Version, err)
	}
	if err := r.workload.PrepareUpgrade(ctx, s.key(), s.controlPlane.Spec.KubeadmConfigSpec.DeepCopy(), version); err != nil {
		return err
	}
	return r.giveToken(ctx, s, config)
}

// finish removes the finalizer. A Machine that the cache does not show yet would be left behind,
// and nobody would remove its hook, so finish reads the Machines live. Machines of another owner stay,
// with the Secrets that they need.
func (r *Reconciler) finish(ctx context.Context, s *scope) error {
	live, err := r.liveMachines(ctx, s)
	if err != nil {
		return err
	}
	if len(live.Filter(collections.OwnedMachines(s.controlPlane, controlPlaneGroupKind))) > 0 {
		return errStale
	}
	if len(live) > 0 {
		if err := r.leaveSecrets(ctx, s); err != nil {
			return err
		}
	}
	r.workload.Forget(s.key())
	controllerutil.RemoveFinalizer(s.controlPlane, controlplanev1.FooControlPlaneFinalizer)
	return nil
}

// liveMachines lists the control plane's Machines live.
func (r *Reconciler) liveMachines(ctx context.Context, s *scope) (collections.Machines, error) {
	live, err := collections.GetControlPlaneMachinesForCluster(ctx, r.apiReader, s.cluster)
	if err != nil {
		return nil, fmt.Errorf("listing the control plane's Machines: %w", err)
	}
	return live, nil
}

// checkFresh returns errStale if the live Machines are not those that were observed. Otherwise a
// Machine that the cache does not show yet could be created twice, its etcd member could be removed
// as an orphan, and a Machine that is already being deleted could still count as a healthy one. The
// Machine that the decision is about must be unchanged: it may have started, joined or recovered
// since.
func (r *Reconciler) checkFresh(ctx context.Context, s *scope, next plan.Decision) error {
	live, err := r.liveMachines(ctx, s)
	if err != nil {
		return err
	}
	observed := s.machineCollection()
	if len(live) != len(observed) || len(live.Difference(observed)) > 0 {
		return errStale
	}
	for name, machine := range live {
		seen := observed[name]
		if machine.DeletionTimestamp.IsZero() != seen.DeletionTimestamp.IsZero() || hooked(machine) != hooked(seen) ||
			name == next.Machine && machine.ResourceVersion != seen.ResourceVersion {
			return errStale
		}
	}
	return nil
}

func (r *Reconciler) deleteAll(ctx context.Context, objects ...client.Object) error {
	var failed []error
	for _, object := range objects {
		if err := r.client.Delete(ctx, object); client.IgnoreNotFound(err) != nil {
			kind, _ := r.client.GroupVersionKindFor(object)
			failed = append(failed, fmt.Errorf("deleting %s %s: %w", kind.Kind, object.GetName(), err))
		}
	}
	return errors.Join(failed...)
}

// deleteMachine deletes one Machine, after another one leads etcd. It records a remediation before
// the deletion: without the record, retries would not be counted and would never end. Moving the
// leadership takes time, in which a Machine may recover, so only an unchanged one is deleted.
func (r *Reconciler) deleteMachine(ctx context.Context, s *scope, next plan.Decision) error {
	if err := r.checkFresh(ctx, s, next); err != nil {
		return err
	}
	machine, ok := s.machineCollection()[next.Machine]
	if !ok {
		return fmt.Errorf("deleting: there is no Machine %q", next.Machine)
	}
	if err := r.moveLeader(ctx, s, next); err != nil {
		return err
	}
	if next.Action == plan.ActionRemediate {
		if err := r.recordRemediation(ctx, s, next.Remediation); err != nil {
			return err
		}
	}
	unchanged := client.Preconditions{UID: &machine.UID, ResourceVersion: &machine.ResourceVersion}
	switch err := r.client.Delete(ctx, machine, unchanged); {
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		return errStale
	case err != nil:
		return fmt.Errorf("deleting Machine %s: %w", machine.Name, err)
	}
	return nil
}

func (r *Reconciler) recordRemediation(ctx context.Context, s *scope, record *plan.Remediation) error {
	value, err := json.Marshal(record)
	if err != nil {
		return fmt.Errorf("encoding a remediation: %w", err)
	}
	before := s.controlPlane.DeepCopy()
	annotations.AddAnnotations(s.controlPlane, map[string]string{controlplanev1.RemediationInProgressAnnotation: string(value)})
	if err := r.client.Patch(ctx, s.controlPlane.DeepCopy(), client.MergeFrom(before)); err != nil {
		return fmt.Errorf("recording the remediation of Machine %s: %w", record.Machine, err)
	}
	return nil
}

// moveLeader moves etcd's leadership to another member before the leader leaves. If the leader's
// Machine is broken, it may be unable to hand over; etcd then elects a new leader when it is gone.
func (r *Reconciler) moveLeader(ctx context.Context, s *scope, next plan.Decision) error {
	change := next.Etcd
	if !change.MoveLeader {
		return nil
	}
	err := r.workload.MoveEtcdLeader(ctx, s.key(), workload.Member(change.Leaving), workload.Member(change.Via))
	machine, ok := s.machineCollection()[next.Machine]
	if err != nil && (!ok || len(s.unhealthy(machine)) > 0) {
		ctrl.LoggerFrom(ctx).Error(err, "The etcd leader leaves without handing over leadership", "member", change.Leaving.Name)
		return nil
	}
	return err
}

// removeMember removes a member from etcd, after another one leads.
func (r *Reconciler) removeMember(ctx context.Context, s *scope, next plan.Decision) error {
	if err := r.checkFresh(ctx, s, next); err != nil {
		return err
	}
	if next.Etcd.Leaving.ID == 0 {
		return nil
	}
	if err := r.moveLeader(ctx, s, next); err != nil {
		return err
	}
	return r.workload.RemoveEtcdMember(ctx, s.key(), workload.Member(next.Etcd.Leaving), workload.Member(next.Etcd.Via))
}

// releaseMachine removes the Machine's member from etcd and then our hook from the Machine, so that
// Cluster API deletes its infrastructure. Each step may be repeated.
func (r *Reconciler) releaseMachine(ctx context.Context, s *scope, next plan.Decision) error {
	if err := r.removeMember(ctx, s, next); err != nil {
		return err
	}
	machine, ok := s.machineCollection()[next.Machine]
	if !ok {
		return fmt.Errorf("releasing: there is no Machine %q", next.Machine)
	}
	if err := r.unhook(ctx, machine); err != nil {
		return err
	}
	if node := s.nodeName(machine); node != "" {
		s.memory.leaving = s.memory.leaving.Union(sets.New(node))
	}
	return nil
}

// takeLeadership releases the controller manager's lease if a released Machine that is gone holds
// it. Otherwise the cluster has no active controller manager for 15 s, until the lease expires, and
// no Machine joins: the controller manager signs the data that a Machine joins with.
func (r *Reconciler) takeLeadership(ctx context.Context, s *scope) error {
	gone := s.memory.leaving.Clone()
	for _, machine := range s.machines {
		gone.Delete(s.nodeName(machine))
	}
	if gone.Len() == 0 || s.observation == nil {
		return nil
	}
	if err := r.workload.TakeLeadership(ctx, s.key(), sets.List(gone)); err != nil {
		return err
	}
	s.memory.leaving = s.memory.leaving.Difference(gone)
	return nil
}

// hooked reports whether our hook blocks the Machine's termination.
var hooked = collections.HasAnnotationKey(controlplanev1.PreTerminateHookCleanupAnnotation)

// hook restores our hook on a Machine that has lost it, for example after a restore. Without it,
// two Machines that are deleted at once would take two votes out of etcd.
func (r *Reconciler) hook(ctx context.Context, machine *clusterv1.Machine) error {
	if hooked(machine) {
		return nil
	}
	before := machine.DeepCopy()
	annotations.AddAnnotations(machine, map[string]string{controlplanev1.PreTerminateHookCleanupAnnotation: ""})
	// With the lock, this fails on a Machine that is deleted, and perhaps released, in the meantime.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := r.client.Patch(ctx, machine, patch, client.FieldOwner(creatorManager)); err != nil {
		return fmt.Errorf("restoring the pre-terminate hook of Machine %s: %w", machine.Name, err)
	}
	return nil
}

func (r *Reconciler) unhook(ctx context.Context, machine *clusterv1.Machine) error {
	if !hooked(machine) {
		return nil
	}
	released := machine.DeepCopy()
	delete(released.Annotations, controlplanev1.PreTerminateHookCleanupAnnotation)
	if err := r.client.Patch(ctx, released, client.MergeFrom(machine)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the pre-terminate hook of Machine %s: %w", machine.Name, err)
	}
	return nil
}

// deleteMachines deletes every Machine of a control plane that is being deleted. Their members need
// not leave etcd one by one.
func (r *Reconciler) deleteMachines(ctx context.Context, s *scope) error {
	failed := make([]error, 0, len(s.machines))
	for _, machine := range s.machines {
		err := r.unhook(ctx, machine)
		if err == nil && machine.DeletionTimestamp.IsZero() {
			err = r.deleteAll(ctx, machine)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}
