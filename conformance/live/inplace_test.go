// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// newUpdate returns a cluster whose control plane has begun to update its Machines in place.
func newUpdate() *view {
	v := newView("v1beta2")
	for i := range 3 {
		m := &v.machines[i]
		m.Annotations = map[string]string{clusterv1.UpdateInProgressAnnotation: "", runtimev1.PendingHooksAnnotation: "Other," + updateMachine}
		m.infra.SetAnnotations(map[string]string{clusterv1.UpdateInProgressAnnotation: "", clusterv1.TemplateClonedFromNameAnnotation: "copy"})
		m.bootstrap.SetAnnotations(map[string]string{clusterv1.UpdateInProgressAnnotation: ""})
	}
	return v
}

func TestUpdatesInPlace(t *testing.T) {
	asked := []string{"m0", "m2"} // m1 is a new one
	for name, test := range map[string]struct {
		asked, updated []string
		mutate         func(*view)
		want           string
	}{
		"an update":                          {asked, asked, nil, ""},
		"nobody asks":                        {nil, nil, nil, errNotClaimed.Error()},
		"Cluster API does not update":        {asked, nil, nil, errNoGate.Error()},
		"a Machine is replaced":              {asked, asked, func(v *view) { v.machines[0].Name = "n" }, "answered with yes, and the control plane has replaced the Machine m0"},
		"the template is not followed":       {asked, asked, func(v *view) { v.machines[1].infra.SetAnnotations(nil) }, `the infrastructure of the Machine m1 says that it was created from the template "", want "copy"`},
		"a Machine is not marked":            {asked, nil, func(v *view) { delete(v.machines[0].Annotations, clusterv1.UpdateInProgressAnnotation) }, "UpdateMachine was not called: m0 does not have the annotation"},
		"the infrastructure is not marked":   {asked, []string{"m0"}, func(v *view) { v.machines[2].infra.SetAnnotations(nil) }, "UpdateMachine was not called: m2 does not have the annotation"},
		"the bootstrap config is not marked": {asked, []string{"m0"}, func(v *view) { v.machines[2].bootstrap.SetAnnotations(nil) }, "UpdateMachine was not called: m2 does not have the annotation"},
		"the hook is not pending":            {asked, nil, func(v *view) { v.machines[0].Annotations[runtimev1.PendingHooksAnnotation] = "Other" }, `of m0 is "Other", want UpdateMachine`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			v := newUpdate()
			if test.mutate != nil {
				test.mutate(v)
			}
			g.Expect(broken(v)).To(BeEmpty(), "no other rule is broken")
			err := v.updatedInPlace("copy", test.asked, test.updated)
			if test.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(test.want)))
			}
		})
	}
}

func TestAnUpdateThatHasBegunIsAwaited(t *testing.T) {
	g := NewWithT(t)
	g.Expect(newView("v1beta2").allMarked()).To(Succeed(), "nothing has begun")
	v := newUpdate()
	g.Expect(v.allMarked()).To(Succeed())
	v.machines[0].infra.SetAnnotations(nil)
	g.Expect(v.allMarked()).NotTo(Succeed())
}

// A recommendation that is not followed must not end the story.
func TestControlPlaneThatBeginsAnUpdateOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		// Any kind will do as a template.
		reference := map[string]any{"apiGroup": demoCluster.Group, "kind": demoCluster.Kind, "name": clusterName}
		s := newControlPlaneStory(t, interceptor.Funcs{}, map[string]any{
			"replicas": int64(1), "machineTemplate": map[string]any{"spec": map[string]any{"infrastructureRef": reference}},
		}, "m0")
		unregistered := 0
		g.Expect(s.updateWith(t.Context(), &updater{called: map[string][]string{canUpdateMachine: {"m0"}}}, func() error {
			unregistered++
			return nil
		})).To(Succeed())
		g.Expect(unregistered).To(Equal(1))
		g.Expect(s.results).To(HaveKeyWithValue(inPlaceUpdates, And(HaveField("Status", conformance.Failed),
			HaveField("Findings", ConsistOf(HaveField("Message", ContainSubstring("UpdateMachine was not called")))))))
		g.Expect(fields.Text(s.now.controlPlane.Unstructured, templateReference+".name")).To(Equal(clusterName))
		left := &unstructured.Unstructured{}
		left.SetGroupVersionKind(demoCluster)
		g.Expect(s.Client.Get(t.Context(), s.key(clusterName+"-copy"), left)).To(MatchError(ContainSubstring("not found")))
	})
}

func TestUpdater(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "localhost:0"} {
		t.Run(address, func(t *testing.T) { testUpdater(t, address) })
	}
}

// testUpdater calls the extension as Cluster API does.
func testUpdater(t *testing.T, address string) {
	t.Helper()
	g := NewWithT(t)
	u, err := serveUpdates(t.Context(), address)
	g.Expect(err).NotTo(HaveOccurred())
	defer u.close()
	config := u.config("demo")
	g.Expect(config.Spec.NamespaceSelector.MatchLabels).To(Equal(map[string]string{"kubernetes.io/metadata.name": "demo"}))
	roots := x509.NewCertPool()
	g.Expect(roots.AppendCertsFromPEM(config.Spec.ClientConfig.CABundle)).To(BeTrue())
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
	call := func(path string, request, response any) int {
		content, err := json.Marshal(request)
		g.Expect(err).NotTo(HaveOccurred())
		answer, err := client.Post(config.Spec.ClientConfig.URL+"/"+runtimehooksv1.GroupVersion.String()+path, "application/json", bytes.NewReader(content))
		g.Expect(err).NotTo(HaveOccurred())
		defer func() { _ = answer.Body.Close() }()
		body, err := io.ReadAll(answer.Body)
		g.Expect(err).NotTo(HaveOccurred())
		if answer.StatusCode == http.StatusOK {
			g.Expect(json.Unmarshal(body, response)).To(Succeed())
		}
		return answer.StatusCode
	}

	found := &runtimehooksv1.DiscoveryResponse{}
	g.Expect(call("/discovery", &runtimehooksv1.DiscoveryRequest{}, found)).To(Equal(http.StatusOK))
	g.Expect(found.Status).To(Equal(runtimehooksv1.ResponseStatusSuccess))
	g.Expect(found.Handlers).To(HaveLen(2))
	g.Expect(found.Kind).To(Equal("DiscoveryResponse"))

	wanted := clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: "m0"}, Spec: clusterv1.MachineSpec{ClusterName: "demo", Version: testVersion}}
	request := &runtimehooksv1.CanUpdateMachineRequest{Desired: runtimehooksv1.CanUpdateMachineRequestObjects{Machine: wanted}}
	can := &runtimehooksv1.CanUpdateMachineResponse{}
	g.Expect(call("/canupdatemachine/canupdatemachine", request, can)).To(Equal(http.StatusOK))
	g.Expect(can.Status).To(Equal(runtimehooksv1.ResponseStatusSuccess))
	g.Expect(can.MachinePatch.PatchType).To(Equal(runtimehooksv1.JSONMergePatchType))
	patched := clusterv1.Machine{}
	g.Expect(json.Unmarshal(can.MachinePatch.Patch, &patched)).To(Succeed())
	g.Expect(patched).To(Equal(clusterv1.Machine{Spec: wanted.Spec}), "only the spec is patched")
	g.Expect(can.BootstrapConfigPatch.IsDefined()).To(BeFalse(), "there is none")

	done := &runtimehooksv1.UpdateMachineResponse{}
	g.Expect(u.machines(updateMachine)).To(BeEmpty())
	g.Expect(call("/updatemachine/updatemachine", request, done)).To(Equal(http.StatusOK))
	g.Expect(done.Status).To(Equal(runtimehooksv1.ResponseStatusSuccess))
	g.Expect(u.machines(canUpdateMachine)).To(Equal([]string{"m0"}))
	g.Expect(u.machines(updateMachine)).To(Equal([]string{"m0"}))

	g.Expect(call("/updatemachine", request, nil)).To(Equal(http.StatusNotFound))
	g.Expect(call("/canupdatemachine/canupdatemachine", "x", nil)).To(Equal(http.StatusBadRequest))
}
