// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// judgement says what is wrong with an object of a cluster in which nothing is left to do.
type judgement struct {
	rule string
	// of is the role of the objects that are judged; empty to judge the cluster as a whole.
	of    string
	judge func(v *view, o *object) error
}

// judgements are what must hold whenever nothing is left to do.
var judgements = slices.Concat([]judgement{
	{"infrastructure-cluster/initialization", "infrastructure-cluster", isInitialized},
	{"infrastructure-cluster/endpoint", "infrastructure-cluster", hasEndpoint},
	{"infrastructure-cluster/failure-domains", "infrastructure-cluster", hasFailureDomains},
	{"infrastructure-machine/initialization", "infrastructure-machine", isInitialized},
	{"infrastructure-machine/provider-id", "infrastructure-machine", hasProviderID},
	{"infrastructure-machine/failure-domain", "infrastructure-machine", isInFailureDomain},
	{"infrastructure-machine/addresses", "infrastructure-machine", hasAddresses},
	{"bootstrap/initialization", "bootstrap", isInitialized},
	{"bootstrap/data-secret", "bootstrap", hasDataSecret},
	{"infrastructure-machinepool/initialization", "infrastructure-machinepool", isInitialized},
	{"infrastructure-machinepool/provider-id-list", "infrastructure-machinepool", listsProviderIDs},
	{"infrastructure-machinepool/replicas", "infrastructure-machinepool", countsInstances},
	{"infrastructure-machinepool/infrastructure-machine-kind", "infrastructure-machinepool", hasMachines},
	{"clusterctl/owner-references", "", isOwned},
	{"runtime-extension/discovery", "", isDiscovered},
}, controlPlaneJudgements)

var controlPlaneJudgements = []judgement{
	{"control-plane/initialization", "control-plane", isInitialized},
	{"control-plane/endpoint", "control-plane", hasEndpoint},
	{"control-plane/replicas", "control-plane", countsReplicas},
	{"control-plane/version", "control-plane", hasVersion},
	{"control-plane/status-version", "control-plane", reportsVersion},
	{"control-plane/machine-label", "control-plane", labelsMachines},
	{"control-plane/machine-placement", "control-plane", spreadsMachines},
	{"control-plane/min-ready-seconds", "control-plane", saysUpToDate},
	{"control-plane/kubeconfig", "control-plane", hasKubeconfig},
	{"control-plane/kubeconfig-works", "control-plane", reachesCluster},
	{"control-plane/certificates", "control-plane", hasCertificates},
}

func isInitialized(_ *view, o *object) error {
	if err := fields.IsTrue(o.Unstructured, fields.CompletedPath(o.role, o.contract)); err != nil {
		return err
	}
	if path := "status.initialization.provisioned"; o.role == "infrastructure-machinepool" && o.contract != fields.V1Beta1 {
		return fields.IsTrue(o.Unstructured, path)
	}
	return nil
}

func hasEndpoint(v *view, o *object) error {
	host, port := fields.Text(o.Unstructured, "spec.controlPlaneEndpoint.host"), fields.Number(o.Unstructured, "spec.controlPlaneEndpoint.port")
	if host == "" {
		return errNotClaimed
	}
	if got := v.cluster.Spec.ControlPlaneEndpoint; got.Host != host || int64(got.Port) != port {
		return fmt.Errorf("spec.controlPlaneEndpoint is %s:%d, and the Cluster has %s", host, port, got)
	}
	return nil
}

func hasFailureDomains(v *view, o *object) error {
	var found []string
	switch domains := fields.At(o.Unstructured, "status.failureDomains").(type) {
	case nil:
		return errNotClaimed
	case map[string]any:
		if o.contract != fields.V1Beta1 {
			return errors.New("status.failureDomains is a map, want a list")
		}
		for name := range domains {
			found = append(found, name)
		}
	case []any:
		for _, domain := range domains {
			name, _ := fields.Get(domain, "name").(string)
			found = append(found, name)
		}
	}
	var known []string
	for _, domain := range v.cluster.Status.FailureDomains {
		known = append(known, domain.Name)
	}
	slices.Sort(found)
	slices.Sort(known)
	if !slices.Equal(found, known) {
		return fmt.Errorf("status.failureDomains has %v, and the Cluster has %v", found, known)
	}
	return nil
}

// machineOf returns the Machine of an infrastructure machine or bootstrap configuration.
func (v *view) machineOf(o *object) *machine {
	for i := range v.machines {
		if v.machines[i].infra == o || v.machines[i].bootstrap == o {
			return &v.machines[i]
		}
	}
	return &machine{}
}

// hasNode reports whether a Machine has a Node. Those of a control plane may have none if it says so.
func (v *view) hasNode(m *machine) bool {
	return !m.controlPlane() || v.controlPlane == nil || fields.At(v.controlPlane.Unstructured, "status.externalManagedControlPlane") != true
}

// unknownNodes returns an error if the Nodes could not be read.
func (v *view) unknownNodes() error {
	if v.unreachable == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errUnknown, v.unreachable)
}

func hasProviderID(v *view, o *object) error {
	m := v.machineOf(o)
	id, node := fields.Text(o.Unstructured, "spec.providerID"), v.nodes[m.Status.NodeRef.Name]
	unknown := v.unknownNodes()
	if id == "" || v.hasNode(m) && unknown == nil && node.Spec.ProviderID != id {
		return fmt.Errorf("spec.providerID is %q, and the Node %q has %q", id, node.Name, node.Spec.ProviderID)
	}
	for _, other := range v.objects(o.role) {
		if other != o && fields.Text(other.Unstructured, "spec.providerID") == id {
			return fmt.Errorf("spec.providerID is %q, like that of %s", id, other.GetName())
		}
	}
	if v.hasNode(m) {
		return unknown
	}
	return nil
}

func isInFailureDomain(v *view, o *object) error {
	wanted := v.machineOf(o).Spec.FailureDomain
	path := "status.failureDomain"
	if o.contract == fields.V1Beta1 {
		path = "spec.failureDomain"
	}
	got := fields.Text(o.Unstructured, path)
	switch {
	case wanted == "" || got == "":
		return errNotClaimed
	case got != wanted:
		return fmt.Errorf("%s is %q, and the Machine wants %q", path, got, wanted)
	default:
		return nil
	}
}

func hasAddresses(v *view, o *object) error {
	list, _ := fields.At(o.Unstructured, "status.addresses").([]any)
	if len(list) == 0 {
		return errNotClaimed
	}
	var known []string
	for _, address := range v.machineOf(o).Status.Addresses {
		known = append(known, string(address.Type)+" "+address.Address)
	}
	for _, item := range list {
		address, _ := fields.Get(item, "address").(string)
		kind, _ := fields.Get(item, "type").(string)
		if !slices.Contains(known, kind+" "+address) {
			return fmt.Errorf("status.addresses has %s, and the Machine has only %v", fields.Show(item), known)
		}
	}
	return nil
}

func hasDataSecret(v *view, o *object) error {
	name := fields.Text(o.Unstructured, "status.dataSecretName")
	if len(v.secrets[name].Data["value"]) == 0 {
		return fmt.Errorf("status.dataSecretName is %q, and there is no such Secret with the key value", name)
	}
	if got := v.machineOf(o).Spec.Bootstrap.DataSecretName; ptr.Deref(got, "") != name {
		return fmt.Errorf("status.dataSecretName is %q, and the Machine has %q", name, ptr.Deref(got, ""))
	}
	return nil
}

func (v *view) poolOf(o *object) *pool {
	for i := range v.pools {
		if v.pools[i].infra == o {
			return &v.pools[i]
		}
	}
	return &pool{}
}

func listsProviderIDs(v *view, o *object) error {
	references := v.poolOf(o).Status.NodeRefs
	got := fields.Texts(o.Unstructured, "spec.providerIDList")
	slices.Sort(got)
	if len(got) != len(references) || len(slices.Compact(slices.Clone(got))) != len(got) {
		return fmt.Errorf("spec.providerIDList is %v, and the MachinePool has %d Nodes", got, len(references))
	}
	if err := v.unknownNodes(); err != nil {
		return err
	}
	want := make([]string, 0, len(references))
	for _, reference := range references {
		want = append(want, v.nodes[reference.Name].Spec.ProviderID)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("spec.providerIDList is %v, and the Nodes have %v", got, want)
	}
	return nil
}

func countsInstances(v *view, o *object) error {
	if got, want := fields.Number(o.Unstructured, "status.replicas"), int64(ptr.Deref(v.poolOf(o).Spec.Replicas, 1)); got != want {
		return fmt.Errorf("status.replicas is %d, want %d", got, want)
	}
	return nil
}

func (v *view) machinesOf(p *pool) []machine {
	return slices.DeleteFunc(slices.Clone(v.machines), func(m machine) bool { return m.Labels[clusterv1.MachinePoolNameLabel] != p.Name })
}

func hasMachines(v *view, o *object) error {
	kind := fields.Text(o.Unstructured, "status.infrastructureMachineKind")
	if kind == "" {
		return errNotClaimed
	}
	members := v.machinesOf(v.poolOf(o))
	if want := int(ptr.Deref(v.poolOf(o).Spec.Replicas, 1)); len(members) != want {
		return fmt.Errorf("the pool has the Machines %v, want %d", names(members), want)
	}
	for _, member := range members {
		if member.infra == nil || member.infra.GetKind() != kind {
			return fmt.Errorf("status.infrastructureMachineKind is %s, and the Machine %s is of %s", kind, member.Name, member.Spec.InfrastructureRef.Kind)
		}
	}
	return nil
}

// The labels of objects, or of CRDs for all objects of their kinds, that clusterctl moves although no
// Cluster owns them: alone, or with what they own.
const moveLabel, moveHierarchyLabel = "clusterctl.cluster.x-k8s.io/move", "clusterctl.cluster.x-k8s.io/move-hierarchy"

// movedHierarchies are kinds that clusterctl moves with what they own, even without a label.
var movedHierarchies = []schema.GroupKind{
	{Group: clusterv1.GroupVersion.Group, Kind: "Cluster"}, {Group: clusterv1.GroupVersion.Group, Kind: "ClusterClass"},
	{Group: "addons.cluster.x-k8s.io", Kind: "ClusterResourceSet"},
}

// linked reports which objects clusterctl move takes along.
func (v *view) linked() map[types.UID]bool {
	found := map[types.UID]bool{v.cluster.UID: true}
	for more := true; more; {
		more = false
		for i := range v.namespaced {
			one := &v.namespaced[i]
			owned := slices.ContainsFunc(one.OwnerReferences, func(r metav1.OwnerReference) bool { return found[r.UID] })
			root := slices.Contains(movedHierarchies, one.GroupVersionKind().GroupKind()) || v.labels(one, moveHierarchyLabel)
			if !found[one.UID] && (owned || root || isClusterSecret(one)) {
				found[one.UID], more = true, true
			}
		}
	}
	for i := range v.namespaced {
		if one := &v.namespaced[i]; v.labels(one, moveLabel) {
			found[one.UID] = true
		}
	}
	return found
}

// clusterSecrets are the ends of the names of Secrets that belong to the cluster although it does not own
// them, since its users have made them.
var clusterSecrets = []string{"kubeconfig", "ca", "etcd", "sa", "proxy", "apiserver-etcd-client"}

func isClusterSecret(one *metav1.PartialObjectMetadata) bool {
	name, ours := strings.CutPrefix(one.Name, clusterName+"-")
	return ours && one.GroupVersionKind() == secretKind && len(one.OwnerReferences) == 0 && slices.Contains(clusterSecrets, name)
}

// labels reports whether an object or its kind has a label.
func (v *view) labels(one *metav1.PartialObjectMetadata, label string) bool {
	_, object := one.Labels[label]
	kind := false
	if crd := v.crds[one.GroupVersionKind().GroupKind()]; crd != nil {
		_, kind = crd.Labels[label]
	}
	return object || kind
}

func isOwned(v *view, _ *object) error {
	linked := v.linked()
	var left []string
	for i := range v.namespaced {
		if one := &v.namespaced[i]; v.owns[one.UID] && !linked[one.UID] {
			left = append(left, one.Kind+" "+one.Name)
		}
	}
	if len(left) > 0 {
		slices.Sort(left)
		return fmt.Errorf("clusterctl move would leave behind: %s", strings.Join(left, ", "))
	}
	return nil
}

func isDiscovered(v *view, _ *object) error {
	if len(v.extensions) == 0 {
		return errNotApplicable
	}
	for i := range v.extensions {
		if statusOf(v.extensions[i].Status.Conditions, runtimev1.ExtensionConfigDiscoveredCondition) != metav1.ConditionTrue {
			return fmt.Errorf("the ExtensionConfig %s is not discovered", v.extensions[i].Name)
		}
	}
	return nil
}

func statusOf(conditions []metav1.Condition, kind string) metav1.ConditionStatus {
	for _, condition := range conditions {
		if condition.Type == kind {
			return condition.Status
		}
	}
	return ""
}
