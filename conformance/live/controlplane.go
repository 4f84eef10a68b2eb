// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

func countsReplicas(v *view, o *object) error {
	want := fields.Number(o.Unstructured, "spec.replicas")
	if want < 0 {
		return errNotClaimed
	}
	if got := fields.Number(o.Unstructured, "status.replicas"); got != want {
		return fmt.Errorf("spec.replicas is %d, and status.replicas is %d", want, got)
	}
	if machines := v.controlPlanes(); len(machines) > 0 && int64(len(machines)) != want {
		return fmt.Errorf("spec.replicas is %d, and there are the Machines %v", want, names(machines))
	}
	return nil
}

func hasVersion(v *view, o *object) error {
	want := fields.Text(o.Unstructured, "spec.version")
	if want == "" {
		return errNotClaimed
	}
	onNode := false
	for _, m := range v.controlPlanes() {
		kubelet, hasNode := v.nodes[m.Status.NodeRef.Name].Status.NodeInfo.KubeletVersion, v.hasNode(&m)
		// A kubelet may leave out the end of the build metadata: the one of k0s v1.31.4+k0s.0 is v1.31.4+k0s.
		other := hasNode && v.unreachable == nil && !fields.SameRelease(kubelet, want)
		if other || !fields.SameVersion(m.Spec.Version, want) {
			return fmt.Errorf("spec.version is %s, the Machine %s has %q, and its Node runs %q", want, m.Name, m.Spec.Version, kubelet)
		}
		onNode = onNode || hasNode
	}
	if err := v.unknownNodes(); err != nil {
		return err
	}
	// Without Nodes, only the API server shows the version. Services such as EKS choose the patch.
	if !onNode && !fields.SameMinor(v.apiServer, want) {
		return fmt.Errorf("spec.version is %s, and the API server has the version %q", want, v.apiServer)
	}
	return nil
}

func reportsVersion(_ *view, o *object) error {
	want := fields.Text(o.Unstructured, "spec.version")
	if want == "" {
		return errNotClaimed
	}
	list, _ := fields.At(o.Unstructured, "status.versions").([]any)
	reported := fields.Text(o.Unstructured, "status.version")
	if len(list) > 0 {
		reported, _ = fields.Get(list[0], "version").(string)
	}
	if len(list) <= 1 && fields.SameVersion(reported, want) {
		return nil
	}
	return fmt.Errorf("spec.version is %s, status.version is %s and status.versions is %s", want, fields.Show(fields.At(o.Unstructured, "status.version")), fields.Show(list))
}

// labelsMachines finds the Machines by their owner: without the label they look like workers.
func labelsMachines(v *view, o *object) error {
	owned := 0
	for _, m := range v.machines {
		if owner := metav1.GetControllerOf(&m.Machine); owner == nil || owner.UID != o.GetUID() {
			continue
		}
		owned++
		if value, ok := m.Labels[clusterv1.MachineControlPlaneLabel]; !ok || value != "" || m.Labels[clusterv1.ClusterNameLabel] != clusterName {
			return fmt.Errorf("the Machine %s has the labels %s", m.Name, fields.Show(m.Labels))
		}
	}
	if owned == 0 {
		return errNotClaimed
	}
	return nil
}

// spreadsMachines demands that no failure domain has two Machines more than another one.
func spreadsMachines(v *view, _ *object) error {
	counts := map[string]int{}
	for _, domain := range v.cluster.Status.FailureDomains {
		if ptr.Deref(domain.ControlPlane, false) {
			counts[domain.Name] = 0
		}
	}
	if machines := v.controlPlanes(); len(counts) == 0 || len(machines) == 0 {
		return errNotClaimed
	}
	for _, m := range v.controlPlanes() {
		if _, ok := counts[m.Spec.FailureDomain]; !ok {
			return fmt.Errorf("the Machine %s is in the failure domain %q, which is not for control planes", m.Name, m.Spec.FailureDomain)
		}
		counts[m.Spec.FailureDomain]++
	}
	fewest, most := len(v.machines), 0
	for _, count := range counts {
		fewest, most = min(fewest, count), max(most, count)
	}
	if most > fewest+1 {
		return fmt.Errorf("the failure domains have %v Machines of the control plane", counts)
	}
	return nil
}

func saysUpToDate(v *view, _ *object) error {
	machines := v.controlPlanes()
	if len(machines) == 0 {
		return errNotClaimed
	}
	for _, m := range machines {
		if got := statusOf(m.Status.Conditions, clusterv1.MachineUpToDateCondition); got != metav1.ConditionTrue {
			return fmt.Errorf("the condition UpToDate of the Machine %s is %q, want True", m.Name, got)
		}
	}
	return nil
}

func checkSecret(v *view, purpose, key string) error {
	name := clusterName + "-" + purpose
	secret, ok := v.secrets[name]
	switch {
	case !ok:
		return fmt.Errorf("there is no Secret %s", name)
	case secret.Type != clusterv1.ClusterSecretType:
		return fmt.Errorf("the Secret %s has the type %q, want %q", name, secret.Type, clusterv1.ClusterSecretType)
	case secret.Labels[clusterv1.ClusterNameLabel] != clusterName:
		return fmt.Errorf("the Secret %s has the label %s=%q, want %q", name, clusterv1.ClusterNameLabel, secret.Labels[clusterv1.ClusterNameLabel], clusterName)
	case len(secret.Data[key]) == 0:
		return fmt.Errorf("the Secret %s has no key %s", name, key)
	default:
		return nil
	}
}

func hasKubeconfig(v *view, _ *object) error { return checkSecret(v, "kubeconfig", "value") }

func reachesCluster(v *view, _ *object) error {
	if v.unreachable != nil {
		return fmt.Errorf("with the kubeconfig of the Secret, the cluster cannot be read: %w", v.unreachable)
	}
	return nil
}

func hasCertificates(v *view, _ *object) error {
	if _, ok := v.secrets[clusterName+"-ca"]; !ok {
		return errNotClaimed
	}
	var errs []error
	for _, purpose := range []string{"ca", "etcd", "proxy", "sa"} {
		if _, ok := v.secrets[clusterName+"-"+purpose]; ok || purpose == "ca" {
			errs = append(errs, checkSecret(v, purpose, "tls.crt"))
		}
	}
	return errors.Join(errs...)
}

// replaced returns an error unless all Machines of a control plane are others than before.
func replaced(before, after *view) error {
	old := uids(before.controlPlanes())
	for _, m := range after.controlPlanes() {
		if slices.Contains(old, m.UID) {
			return fmt.Errorf("the Machine %s is still there", m.Name)
		}
	}
	return nil
}

// unchanged returns an error if Machines of a control plane were replaced.
func unchanged(before, after *view) error {
	if was, is := uids(before.controlPlanes()), uids(after.controlPlanes()); !slices.Equal(was, is) {
		return fmt.Errorf("the Machines of the control plane were %v, and are %v", names(before.controlPlanes()), names(after.controlPlanes()))
	}
	return nil
}
