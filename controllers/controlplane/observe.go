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

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/report"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// scope is everything that one reconcile observes. It is complete before the state is made from it
// and read-only afterwards, except for what effects find out.
type scope struct {
	now time.Time
	// unseenGrace is how long to show the last known state; zero means the default.
	unseenGrace  time.Duration
	controlPlane *controlplanev1.FooControlPlane
	report       *report.Report
	cluster      *clusterv1.Cluster

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

	prerequisites prerequisites

	// madeFrom is what a new Machine would be made from. differences maps each Machine's name to how
	// it differs from a new one.
	madeFrom    madeFrom
	differences map[string][]plan.Difference

	// initialized says that the control plane has been initialized: something proves it, or its API
	// server says so.
	initialized bool
	// observation of the workload cluster; nil if there is none, and then workloadProblem says why.
	observation     *workload.Observation
	workloadProblem string
	// workloadLooked says that this reconcile tried to observe the workload cluster.
	workloadLooked bool
	// watching says that the Nodes and Pods of the workload cluster are watched.
	watching bool
	// newlyInitialized says that this reconcile found the control plane initialized and did not look
	// further.
	newlyInitialized bool
	memory           *memory
}

// prerequisites are what Machines need before they can be created. They count as missing until they
// were seen.
type prerequisites struct {
	// certificates says why certificates are missing; nil if they are not.
	certificates *plan.Problem
	// kubeconfig says why the kubeconfig is missing; nil if it is not.
	kubeconfig *plan.Problem
	// spec says what is wrong with the spec; nil if it is valid, or if Machines already exist.
	spec *plan.Problem
	// notices list the certificates that expire soon.
	notices []string
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

// endpoint prefers the Cluster's own endpoint, which Cluster API copies from the infrastructure
// cluster a little later.
func (s *scope) endpoint() clusterv1.APIEndpoint {
	if s.cluster.Spec.ControlPlaneEndpoint.IsValid() {
		return s.cluster.Spec.ControlPlaneEndpoint
	}
	return s.infra.Endpoint
}

// failureDomains prefers the Cluster's own list, which Cluster API copies from the infrastructure
// cluster a little later.
func (s *scope) failureDomains() []clusterv1.FailureDomain {
	if len(s.cluster.Status.FailureDomains) > 0 {
		return forControlPlane(s.cluster.Status.FailureDomains)
	}
	return forControlPlane(s.infra.FailureDomains)
}

// placementKnown reports whether the first Machine's failure domain can be chosen. If the
// infrastructure cluster lists failure domains before it is provisioned, there is no need to wait:
// the Machine itself waits for the infrastructure.
func (s *scope) placementKnown() bool {
	done := s.infra.Provisioned || ptr.Deref(s.cluster.Status.Initialization.InfrastructureProvisioned, false)
	return s.endpoint().IsValid() && (done || len(s.infra.FailureDomains) > 0)
}

func (s *scope) machineCollection() collections.Machines {
	return collections.FromMachines(s.machines...)
}

// observe reads the scope's objects in the management cluster.
func (r *Reconciler) observe(ctx context.Context, controlPlane *controlplanev1.FooControlPlane, cluster *clusterv1.Cluster) (*scope, error) {
	s := &scope{
		now:          r.clock.Now(),
		unseenGrace:  r.unseenGrace,
		memory:       r.memories.of(controlPlane.UID),
		controlPlane: controlPlane,
		cluster:      cluster,
		prerequisites: prerequisites{
			certificates: &plan.Problem{Reason: controlplanev1.CertificatesInternalErrorReason, Message: "not checked yet"},
			kubeconfig:   &plan.Problem{Reason: reasonKubeconfigUnknown, Message: "not checked yet"},
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
		// A missing or malformed template must not keep everything else from being observed.
		s.templateProblem = fmt.Sprintf("spec.machineTemplate.spec.infrastructureRef: %s %s cannot be read: %v",
			reference.Kind, reference.Name, err)
		return nil
	}
	s.template = object
	return nil
}

// cloneKind is the kind of the objects that are made from a template.
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

// observeWorkers lists what must be deleted before the control plane.
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

// kubeconfigUnusable reports whether there is no kubeconfig, or none for this cluster.
func (s *scope) kubeconfigUnusable() bool {
	kubeconfig := s.prerequisites.kubeconfig
	return kubeconfig != nil && kubeconfig.Reason == reasonKubeconfigNotAvailable
}

// unobservable says why the workload cluster cannot be observed; empty if it can. After
// initialization, only a kubeconfig that is known to be unusable and the deletion of the Machines
// prevent it.
func (s *scope) unobservable() string {
	kubeconfig := s.prerequisites.kubeconfig
	switch {
	case s.deleting() && len(s.workers) == 0:
		return "the control plane is being deleted"
	case s.kubeconfigUnusable():
		return kubeconfig.Message
	case len(s.machines) == 0, kubeconfig != nil && (!s.initialized || kubeconfig.Reason != reasonKubeconfigUnknown):
		return "the workload cluster does not exist yet"
	}
	return ""
}

// observeWorkload first only asks whether the control plane is initialized. Once it is, it observes
// the cluster's health, but not in the same reconcile, so that initialization is reported without
// delay. It returns true if the answer is pending. Until then nothing is known, not even a failure,
// and the last known state stays.
func (r *Reconciler) observeWorkload(ctx context.Context, s *scope) (pending bool) {
	if s.workloadProblem = s.unobservable(); s.workloadProblem != "" {
		s.noAnswer()
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

// observeInitialized asks whether kubeadm has initialized the control plane. A Machine that is
// being deleted does not count: its replacement would have to join a control plane that is about to
// be lost.
func (r *Reconciler) observeInitialized(ctx context.Context, s *scope) (pending bool) {
	first := awaited(s)
	if first == nil {
		s.noAnswer()
		return false
	}
	done, err := r.workload.Initialized(ctx, s.key(), s.milestone())
	if errors.Is(err, workload.ErrPending) {
		return true
	}
	if err != nil && !errors.Is(err, workload.ErrNoAnswer) {
		s.workloadProblem = "the workload cluster cannot be reached: " + steady(err.Error())
	}
	s.initialized = done
	if err != nil {
		s.noAnswer()
	}
	if s.initialized {
		ctrl.LoggerFrom(ctx).Info("The control plane is initialized", "Machine", klog.KObj(first))
	}
	return false
}

// noAnswer lets a Node prove that the control plane is initialized, because its API server does not
// say whether it is.
func (s *scope) noAnswer() {
	evidence := s.evidence()
	evidence.Node = slices.ContainsFunc(s.machines, s.hasOldNode)
	s.initialized = s.initialized || evidence.Initialized()
}

// milestone returns what kubeadm init must have reached for the control plane to be initialized.
// Workers get their bootstrap data from then on, so they must be able to join. Whoever chooses the
// bootstrap tokens, or has none, may let machines join in another way.
func (s *scope) milestone() workload.Milestone {
	init := s.controlPlane.Spec.KubeadmConfigSpec.InitConfiguration
	if len(init.BootstrapTokens) > 0 || slices.Contains(init.SkipPhases, "bootstrap-token") {
		return workload.ConfigUploaded
	}
	return workload.TokensSigned
}

// awaited returns a Machine that runs, so that its API server may answer at any moment; nil if
// there is none to wait for.
func awaited(s *scope) *clusterv1.Machine {
	up := func(machine *clusterv1.Machine) bool {
		return machine.DeletionTimestamp.IsZero() && s.provisioned(machine)
	}
	if index := slices.IndexFunc(s.machines, up); index >= 0 && !s.initialized {
		return s.machines[index]
	}
	return nil
}

// provisioned also reads the infrastructure machine, which is provisioned before its Machine is.
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
