// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/external"
	"sigs.k8s.io/cluster-api/util/collections"
	"sigs.k8s.io/cluster-api/util/conditions"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// scope is everything that one reconcile observes. It is filled before the state is made of it, and only read afterwards, but
// for what effects find out.
type scope struct {
	now time.Time
	// unseenGrace is how long what was last known is shown; zero is the default.
	unseenGrace  time.Duration
	controlPlane *controlplanev1.FooControlPlane
	// report writes the FooControlPlane.
	report  *report.Report
	cluster *clusterv1.Cluster

	infra           infraCluster
	infraObject     *unstructured.Unstructured
	infraMissing    bool
	template        *unstructured.Unstructured
	templateProblem string

	machines      []*clusterv1.Machine
	foreign       []string
	adoptable     []*clusterv1.Machine
	configs       map[string]*bootstrapv1.KubeadmConfig
	infraMachines map[string]*unstructured.Unstructured
	workers       []string

	foundation foundation

	// madeFrom is what Machines would be made from now, and differences in what each Machine, by name, is not so.
	madeFrom    madeFrom
	differences map[string][]plan.Difference

	// initialized says that the control plane has been initialized: something proves it, or its API server says so.
	initialized bool
	// observation of the workload cluster; nil if there is none, and then workloadProblem says why.
	observation     *workload.Observation
	workloadProblem string
	// workloadLooked says that it was tried to observe the workload cluster.
	workloadLooked bool
	// watching says that the Nodes and Pods of the workload cluster are watched.
	watching bool
	// newlyInitialized says that the control plane was found initialized by this reconcile, and not looked at further.
	newlyInitialized bool
	// memory is what is remembered from one reconcile to the next.
	memory *memory
}

// foundation is what must stand before Machines are made. It counts as missing until it was seen.
type foundation struct {
	// certificates says why certificates are not there; nil if they are.
	certificates *plan.Problem
	// kubeconfig says why the kubeconfig is not there; nil if it is.
	kubeconfig *plan.Problem
	// spec says what is wrong with the spec; nil if nothing is, or if Machines have been made from it already.
	spec *plan.Problem
	// notice says which certificates expire soon; empty if none does.
	notice string
}

func (s *scope) key() client.ObjectKey { return client.ObjectKeyFromObject(s.cluster) }

func (s *scope) etcdMode() workload.EtcdMode {
	if s.controlPlane.Spec.KubeadmConfigSpec.ClusterConfiguration.Etcd.External.IsDefined() {
		return workload.EtcdExternal
	}
	return workload.EtcdStacked
}

func (s *scope) deleting() bool { return !s.controlPlane.DeletionTimestamp.IsZero() }

func (s *scope) desired() int { return int(ptr.Deref(s.controlPlane.Spec.Replicas, 1)) }

// endpoint prefers the Cluster's own, which Cluster API copies from the infrastructure cluster a little later.
func (s *scope) endpoint() clusterv1.APIEndpoint {
	if s.cluster.Spec.ControlPlaneEndpoint.IsValid() {
		return s.cluster.Spec.ControlPlaneEndpoint
	}
	return s.infra.Endpoint
}

// failureDomains prefers the Cluster's own, which Cluster API copies from the infrastructure cluster a little later.
func (s *scope) failureDomains() []clusterv1.FailureDomain {
	if len(s.cluster.Status.FailureDomains) > 0 {
		return forControlPlane(s.cluster.Status.FailureDomains)
	}
	return forControlPlane(s.infra.FailureDomains)
}

// placementKnown says whether the first Machine's place can be chosen. An infrastructure cluster that names failure
// domains before it is provisioned need not be waited for: the Machine waits for it by itself.
func (s *scope) placementKnown() bool {
	done := s.infra.Provisioned || ptr.Deref(s.cluster.Status.Initialization.InfrastructureProvisioned, false)
	return s.endpoint().IsValid() && (done || len(s.infra.FailureDomains) > 0)
}

func (s *scope) machineCollection() collections.Machines {
	return collections.FromMachines(s.machines...)
}

// observe reads the management cluster's side of the scope.
func (r *Reconciler) observe(ctx context.Context, controlPlane *controlplanev1.FooControlPlane, cluster *clusterv1.Cluster) (*scope, error) {
	s := &scope{
		now:          r.clock.Now(),
		unseenGrace:  r.unseenGrace,
		memory:       r.memories.of(controlPlane.UID),
		controlPlane: controlPlane,
		cluster:      cluster,
		foundation: foundation{
			certificates: &plan.Problem{Reason: controlplanev1.CertificatesInternalErrorReason, Message: "not looked at yet"},
			kubeconfig:   &plan.Problem{Reason: reasonKubeconfigUnknown, Message: "not looked at yet"},
		},
	}
	for _, read := range []func(context.Context, *scope) error{
		r.observeMachines,
		r.observeInfraCluster,
		r.observeTemplate,
		r.observeMachineObjects,
		r.observeWorkers,
	} {
		if err := read(ctx, s); err != nil {
			return nil, err
		}
	}
	s.initialized = s.evidence().Initialized()
	return s, s.compare()
}

func (r *Reconciler) observeInfraCluster(ctx context.Context, s *scope) error {
	if !s.cluster.Spec.InfrastructureRef.IsDefined() {
		return nil
	}
	object, err := external.GetObjectFromContractVersionedRef(ctx, r.infraReader, s.cluster.Spec.InfrastructureRef, s.cluster.Namespace)
	if apierrors.IsNotFound(err) {
		s.infraMissing = true
		return nil
	}
	if err != nil {
		return fmt.Errorf("getting the infrastructure cluster: %w", err)
	}
	s.infra, s.infraObject = readInfraCluster(object), object
	return nil
}

func (r *Reconciler) observeTemplate(ctx context.Context, s *scope) error {
	reference := s.controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef
	object, err := external.GetObjectFromContractVersionedRef(ctx, r.infraReader, reference, s.controlPlane.Namespace)
	if err != nil {
		// A template that is missing or not understood must not keep anything else from being looked at.
		s.templateProblem = fmt.Sprintf("spec.machineTemplate.spec.infrastructureRef: %s %s cannot be read: %v",
			reference.Kind, reference.Name, err)
		return nil
	}
	s.template = object
	return nil
}

// cloneKind is the kind of what a template is a template of.
func cloneKind(template schema.GroupVersionKind) schema.GroupVersionKind {
	template.Kind = strings.TrimSuffix(template.Kind, clusterv1.TemplateSuffix)
	return template
}

func (r *Reconciler) observeMachines(ctx context.Context, s *scope) error {
	found, err := collections.GetControlPlaneMachinesForCluster(ctx, r.client, s.cluster)
	if err != nil {
		return fmt.Errorf("listing the control plane's Machines: %w", err)
	}
	owned := found.Filter(collections.OwnedMachines(s.controlPlane, controlPlaneGroupKind))
	s.machines = owned.SortedByCreationTimestamp()
	s.sortOut(found.Difference(owned))
	return nil
}

func (r *Reconciler) observeMachineObjects(ctx context.Context, s *scope) error {
	s.configs = map[string]*bootstrapv1.KubeadmConfig{}
	s.infraMachines = map[string]*unstructured.Unstructured{}
	for _, machine := range s.machines {
		config := &bootstrapv1.KubeadmConfig{}
		key := client.ObjectKey{Namespace: machine.Namespace, Name: machine.Spec.Bootstrap.ConfigRef.Name}
		if err := r.client.Get(ctx, key, config); err == nil {
			s.configs[machine.Name] = config
		} else if !apierrors.IsNotFound(err) {
			return fmt.Errorf("getting KubeadmConfig %s: %w", key.Name, err)
		}
		if err := r.observeInfraMachine(ctx, s, machine); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reconciler) observeInfraMachine(ctx context.Context, s *scope, machine *clusterv1.Machine) error {
	object, err := external.GetObjectFromContractVersionedRef(ctx, r.infraReader, machine.Spec.InfrastructureRef, machine.Namespace)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("getting the infrastructure machine of Machine %s: %w", machine.Name, err)
	}
	s.infraMachines[machine.Name] = object
	return nil
}

// observeWorkers lists what must be gone before the control plane may go.
func (r *Reconciler) observeWorkers(ctx context.Context, s *scope) error {
	if !s.deleting() {
		return nil
	}
	isWorker := collections.Not(collections.ControlPlaneMachines(s.cluster.Name))
	workers, err := collections.GetFilteredMachinesForCluster(ctx, r.client, s.cluster, isWorker)
	if err != nil {
		return fmt.Errorf("listing Machines: %w", err)
	}
	for name := range workers {
		s.workers = append(s.workers, "Machine "+name)
	}
	pools := &clusterv1.MachinePoolList{}
	err = r.client.List(ctx, pools, client.InNamespace(s.cluster.Namespace), client.MatchingLabels{clusterv1.ClusterNameLabel: s.cluster.Name})
	if err != nil {
		return fmt.Errorf("listing MachinePools: %w", err)
	}
	for i := range pools.Items {
		s.workers = append(s.workers, "MachinePool "+pools.Items[i].Name)
	}
	slices.Sort(s.workers)
	return nil
}

// kubeconfigUnusable says whether there is no kubeconfig, or none for this cluster.
func (s *scope) kubeconfigUnusable() bool {
	kubeconfig := s.foundation.kubeconfig
	return kubeconfig != nil && kubeconfig.Reason == reasonKubeconfigNotAvailable
}

// unobservable says why the workload cluster cannot be looked at; empty if it can. Once it is initialized only a kubeconfig
// that is known not to be its own keeps from it, and the end of its Machines.
func (s *scope) unobservable() string {
	kubeconfig := s.foundation.kubeconfig
	switch {
	case s.deleting() && len(s.workers) == 0:
		return "the control plane is being deleted"
	case s.kubeconfigUnusable():
		return kubeconfig.Message
	case len(s.machines) == 0, kubeconfig != nil && (!s.initialized || kubeconfig.Reason != reasonKubeconfigUnknown):
		return "the workload cluster is not there yet"
	}
	return ""
}

// observeWorkload looks at the workload cluster: first only whether it is there, and once it is, at its health. A
// control plane that has just been initialized is not looked at further, so that the news is not held up. It reports whether
// the cluster has yet to answer. Until then nothing is known, not even that it fails, and what was known before stays.
func (r *Reconciler) observeWorkload(ctx context.Context, s *scope) (pending bool) {
	if s.workloadProblem = s.unobservable(); s.workloadProblem != "" {
		if s.initialized {
			s.memory.noteLook(s.now, errors.New(s.workloadProblem))
		}
		return false
	}
	if !s.initialized {
		s.workloadProblem = "the control plane is not initialized yet"
		pending = r.observeInitialized(ctx, s)
		s.newlyInitialized = s.initialized
		return pending
	}
	observation, err := r.workload.Observe(ctx, workload.Query{Cluster: s.key(), Etcd: s.etcdMode()})
	if errors.Is(err, workload.ErrPending) {
		return true
	}
	s.memory.noteLook(s.now, err)
	s.workloadLooked = true
	if err != nil {
		s.workloadProblem = "the workload cluster cannot be observed: " + steady(err.Error())
		return false
	}
	s.observation = &observation
	return false
}

// observeInitialized finds out whether kubeadm has initialized the control plane. The Machine must not be going: its
// replacement would have to join a control plane that is about to be lost.
//
//contract:control-plane/initialization-completed
func (r *Reconciler) observeInitialized(ctx context.Context, s *scope) (pending bool) {
	first := awaited(s)
	if first == nil {
		return false
	}
	done, err := r.workload.Initialized(ctx, s.key())
	if errors.Is(err, workload.ErrPending) {
		return true
	}
	if err != nil {
		s.workloadProblem = "the workload cluster cannot be reached: " + steady(err.Error())
	}
	if done {
		ctrl.LoggerFrom(ctx).Info("The control plane is initialized", "Machine", klog.KObj(first))
	}
	s.initialized = done
	return false
}

// awaited returns a Machine that runs, so that its API server may answer at any moment; nil if there is none to wait for.
func awaited(s *scope) *clusterv1.Machine {
	up := func(machine *clusterv1.Machine) bool {
		return machine.DeletionTimestamp.IsZero() && s.provisioned(machine)
	}
	if index := slices.IndexFunc(s.machines, up); index >= 0 && !s.initialized {
		return s.machines[index]
	}
	return nil
}

// provisioned asks the infrastructure machine too, which knows it before its Machine.
func (s *scope) provisioned(machine *clusterv1.Machine) bool {
	if ptr.Deref(machine.Status.Initialization.InfrastructureProvisioned, false) {
		return true
	}
	object, ok := s.infraMachines[machine.Name]
	return ok && provisioned(object)
}

func clusterInitialized(cluster *clusterv1.Cluster) bool {
	return conditions.IsTrue(cluster, clusterv1.ClusterControlPlaneInitializedCondition)
}
