// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"github.com/capfoo/cluster-api-provider-foo/extensions/topology"
)

// recorded returns the request that Cluster API sends to a handler for a Cluster that sets most of
// the variables.
func recorded[T any](t testing.TB, handler string, pools int) *T {
	t.Helper()
	g := NewWithT(t)
	external, err := loadClass(t.Context(), "foo-extension", nil)
	g.Expect(err).NotTo(HaveOccurred())
	wanted := small(
		variable("controlPlaneInstanceType", `"large"`), variable("workerInstanceType", `"medium"`), variable("certificateSANs", `["api.example.com"]`),
		variable("apiServerExtraArgs", `[{"name":"v","value":"1"}]`), variable("controllerManagerExtraArgs", `[{"name":"v","value":"2"}]`),
		variable("schedulerExtraArgs", `[{"name":"v","value":"3"}]`), variable("kubeletExtraArgs", `[{"name":"v","value":"4"}]`),
		variable("etcdExtraArgs", `[{"name":"v","value":"5"}]`), variable("poolStrategy", `{"maxSurge":"50%"}`))
	first := wanted.Workers.MachinePools[0]
	for i := 1; i < pools; i++ {
		first.Name = fmt.Sprintf("pool-%d", i)
		wanted.Workers.MachinePools = append(wanted.Workers.MachinePools, first)
	}
	wanted.Workers.MachinePools[0].Variables.Overrides = []clusterv1.ClusterVariable{variable("workerInstanceType", `"large"`)}
	_, err = external.compute(t.Context(), wanted)
	g.Expect(err).NotTo(HaveOccurred())
	request := new(T)
	g.Expect(json.Unmarshal(external.calls[handler], request)).To(Succeed())
	return request
}

func patchesOf(t testing.TB, request *runtimehooksv1.GeneratePatchesRequest) *runtimehooksv1.GeneratePatchesResponse {
	t.Helper()
	response := &runtimehooksv1.GeneratePatchesResponse{}
	topology.GeneratePatches(t.Context(), request, response)
	return response
}

// item is a template in a request.
func item(holder, path, template string, variables ...runtimehooksv1.Variable) runtimehooksv1.GeneratePatchesRequestItem {
	return runtimehooksv1.GeneratePatchesRequestItem{
		UID: "uid", HolderReference: runtimehooksv1.HolderReference{Kind: holder, FieldPath: path},
		Object: runtime.RawExtension{Raw: []byte(template)}, Variables: variables,
	}
}

// given is a variable as it appears in requests.
func given(name, value string) runtimehooksv1.Variable {
	return runtimehooksv1.Variable(variable(name, value))
}

// silent adds all variables with the value null. The given variables override them.
func silent(t testing.TB, variables ...runtimehooksv1.Variable) []runtimehooksv1.Variable {
	t.Helper()
	all := []runtimehooksv1.Variable{}
	for _, definition := range discovered(t, &runtimehooksv1.DiscoverVariablesRequest{}).Variables {
		all = append(all, given(definition.Name, "null"))
	}
	return append(all, variables...)
}

// patched returns a template after its patch was applied.
func patched(t testing.TB, item runtimehooksv1.GeneratePatchesRequestItem, variables ...runtimehooksv1.Variable) string {
	t.Helper()
	g := NewWithT(t)
	response := patchesOf(t, &runtimehooksv1.GeneratePatchesRequest{Variables: silent(t, variables...), Items: []runtimehooksv1.GeneratePatchesRequestItem{item}})
	g.Expect(response.Status).To(Equal(runtimehooksv1.ResponseStatusSuccess), response.Message)
	g.Expect(response.Items).To(HaveLen(1))
	g.Expect(response.Items[0].UID).To(Equal(item.UID))
	g.Expect(response.Items[0].PatchType).To(Equal(runtimehooksv1.JSONMergePatchType))
	changed, err := jsonpatch.MergePatch(item.Object.Raw, response.Items[0].Patch)
	g.Expect(err).NotTo(HaveOccurred())
	return string(changed)
}

const (
	controlPlaneTemplate = `{"apiVersion":"controlplane.cluster.x-k8s.io/%s","kind":"FooControlPlaneTemplate","spec":{"template":{"spec":{%s}}}}`
	bootstrapTemplate    = `{"apiVersion":"bootstrap.cluster.x-k8s.io/%s","kind":"KubeadmConfigTemplate","spec":{"template":{"spec":{%s}}}}`
	machineTemplate      = `{"apiVersion":"infrastructure.cluster.x-k8s.io/%s","kind":"FooMachineTemplate","spec":{"template":{"spec":{%s}}}}`
	poolTemplate         = `{"apiVersion":"infrastructure.cluster.x-k8s.io/%s","kind":"FooMachinePoolTemplate","spec":{"template":{"spec":{%s}}}}`
	controlPlanePath     = "spec.controlPlaneRef"
	machinesPath         = "spec.machineTemplate.spec.infrastructureRef"
	infrastructurePath   = "spec.template.spec.infrastructureRef"
	bootstrapPath        = "spec.template.spec.bootstrap.configRef"
)

var (
	inPool       = given("builtin", `{"machinePool":{"class":"default-worker","topologyName":"pool"}}`)
	inDeployment = given("builtin", `{"machineDeployment":{"class":"default-worker","topologyName":"deployment"}}`)
)

func TestPatchesAreTheSameBytesInWhateverOrder(t *testing.T) {
	request := recorded[runtimehooksv1.GeneratePatchesRequest](t, "generate-patches.foo", 3)
	want := jsonOf(patchesOf(t, request))
	NewWithT(t).Expect(want).To(ContainSubstring(`"status":"Success"`))
	rapid.Check(t, func(rt *rapid.T) {
		shuffled := request.DeepCopy()
		shuffled.Items = rapid.Permutation(shuffled.Items).Draw(rt, "items")
		shuffled.Variables = rapid.Permutation(shuffled.Variables).Draw(rt, "variables")
		NewWithT(rt).Expect(jsonOf(patchesOf(t, shuffled))).To(Equal(want))
	})
}

func TestPatchedTemplatesAreNotPatchedAgain(t *testing.T) {
	g := NewWithT(t)
	request := recorded[runtimehooksv1.GeneratePatchesRequest](t, "generate-patches.foo", 1)
	before := request.DeepCopy()
	response := patchesOf(t, request)
	g.Expect(request).To(Equal(before), "the request is only read")
	g.Expect(response.Items).To(HaveLen(6), "templates of the control plane, its machines, and two of a deployment and of a pool")
	for i := range request.Items {
		for _, patch := range response.Items {
			if patch.UID != request.Items[i].UID {
				continue
			}
			content, err := jsonpatch.MergePatch(request.Items[i].Object.Raw, patch.Patch)
			g.Expect(err).NotTo(HaveOccurred())
			request.Items[i].Object.Raw = content
		}
	}
	response = patchesOf(t, request)
	g.Expect(response.Status).To(Equal(runtimehooksv1.ResponseStatusSuccess))
	g.Expect(response.Items).To(BeEmpty())
}

// After an upgrade of the extension, Cluster API discovers new variables only some minutes later, and
// nobody can set them before.
func TestVariablesThatAreNotGivenHaveTheirDefaults(t *testing.T) {
	g := NewWithT(t)
	request := recorded[runtimehooksv1.GeneratePatchesRequest](t, "generate-patches.foo", 1)
	want := patchesOf(t, request)
	defaults := map[string]string{}
	for _, variable := range discovered(t, &runtimehooksv1.DiscoverVariablesRequest{}).Variables {
		defaults[variable.Name] = string(variable.Schema.OpenAPIV3Schema.Default.Raw)
	}
	request.Variables = slices.DeleteFunc(request.Variables, func(variable runtimehooksv1.Variable) bool {
		return string(variable.Value.Raw) == defaults[variable.Name]
	})
	g.Expect(request.Variables).To(HaveLen(10), "the builtin variables, and those with another value")
	response := patchesOf(t, request)
	g.Expect(response.Status).To(Equal(runtimehooksv1.ResponseStatusSuccess), response.Message)
	g.Expect(response).To(Equal(want))
}

func TestAClassWithoutVariablesIsRefused(t *testing.T) {
	g := NewWithT(t)
	request := recorded[runtimehooksv1.GeneratePatchesRequest](t, "generate-patches.foo", 1)
	request.Variables = slices.DeleteFunc(request.Variables, func(variable runtimehooksv1.Variable) bool {
		return variable.Name != runtimehooksv1.BuiltinsName
	})
	response := patchesOf(t, request)
	g.Expect(response.Status).To(Equal(runtimehooksv1.ResponseStatusFailure))
	g.Expect(response.Message).To(Equal(
		"spec.topology.variables: there are none: the patch of the ClusterClass must name this extension as its discoverVariablesExtension too"))
}

func TestTemplatesThatAreNotOfThisClassAreLeftAlone(t *testing.T) {
	g := NewWithT(t)
	other := given("builtin", `{"machinePool":{"class":"other"}}`)
	request := &runtimehooksv1.GeneratePatchesRequest{
		Variables: silent(t, given("workerInstanceType", `"medium"`), given("controlPlaneInstanceType", `"medium"`), given("kubeletExtraArgs", `[{"name":"v","value":"4"}]`)),
		Items: []runtimehooksv1.GeneratePatchesRequestItem{
			item("Cluster", "spec.infrastructureRef", `{"apiVersion":"infrastructure.cluster.x-k8s.io/v1beta2","kind":"FooClusterTemplate"}`),
			item("Cluster", controlPlanePath, `{"apiVersion":"controlplane.cluster.x-k8s.io/v1beta2","kind":"KubeadmControlPlaneTemplate"}`),
			item("Cluster", controlPlanePath, `{"apiVersion":"example.com/v1beta2","kind":"FooControlPlaneTemplate"}`),
			item("Cluster", controlPlanePath, fmt.Sprintf(controlPlaneTemplate, "v1", "")),
			item("MachinePool", infrastructurePath, fmt.Sprintf(poolTemplate, "v1beta2", ""), other),
			item("MachinePool", infrastructurePath, fmt.Sprintf(poolTemplate, "v1beta2", "")),
			item("MachinePool", bootstrapPath, fmt.Sprintf(bootstrapTemplate, "v1beta2", ""), other),
			item("MachineDeployment", infrastructurePath, fmt.Sprintf(machineTemplate, "v1beta2", ""), inPool),
			item("Somebody", "spec.somewhere", fmt.Sprintf(machineTemplate, "v1beta2", "")),
		},
	}
	request.SetSettings(map[string]string{"instanceTypes": "", "etcdSnapshots": "of another hook"})
	response := patchesOf(t, request)
	g.Expect(response.Status).To(Equal(runtimehooksv1.ResponseStatusSuccess), response.Message)
	g.Expect(response.Items).To(BeEmpty())
}

func TestUnknownFieldsAndVariablesAreLeftAlone(t *testing.T) {
	g := NewWithT(t)
	template := item("MachineDeployment", infrastructurePath, fmt.Sprintf(machineTemplate, "v1beta2", `"instanceType":"small","future":{"a":[1]}`),
		inDeployment, given("unknown", `{"a":1}`))
	g.Expect(patched(t, template, given("workerInstanceType", `"medium"`), given("future", `[]`))).
		To(MatchJSON(fmt.Sprintf(machineTemplate, "v1beta2", `"instanceType":"medium","future":{"a":[1]}`)))
}

// Inline patches would fail here: they cannot add a field whose parent is missing.
func TestPatchesNeedNothingOfATemplate(t *testing.T) {
	g := NewWithT(t)
	template := item("Cluster", controlPlanePath, `{"apiVersion":"controlplane.cluster.x-k8s.io/v1beta2","kind":"FooControlPlaneTemplate"}`)
	g.Expect(patched(t, template, given("externalEtcdEndpoints", `["https://192.0.2.1:2379"]`), given("etcdExtraArgs", `[{"name":"v","value":"1"}]`))).
		To(MatchJSON(fmt.Sprintf(controlPlaneTemplate, "v1beta2", `"kubeadmConfigSpec":{"clusterConfiguration":{"etcd":{"external":{
			"endpoints":["https://192.0.2.1:2379"],"caFile":"/etc/kubernetes/pki/etcd/ca.crt",
			"certFile":"/etc/kubernetes/pki/apiserver-etcd-client.crt","keyFile":"/etc/kubernetes/pki/apiserver-etcd-client.key"}}}}`)))
}

func TestTemplatesOfV1Beta1ArePatched(t *testing.T) {
	arguments := given("controllerManagerExtraArgs", `[{"name":"v","value":"2"},{"name":"kube-api-burst","value":"9"}]`)
	for name, test := range map[string]struct {
		item     runtimehooksv1.GeneratePatchesRequestItem
		variable runtimehooksv1.Variable
		want     string
	}{
		"the arguments of a component, in place of those before": {
			item("Cluster", controlPlanePath, fmt.Sprintf(controlPlaneTemplate, "v1beta1",
				`"kubeadmConfigSpec":{"clusterConfiguration":{"controllerManager":{"extraArgs":{"kube-api-qps":"500","kube-api-burst":"1000"}}}}`)),
			arguments,
			fmt.Sprintf(controlPlaneTemplate, "v1beta1", `"kubeadmConfigSpec":{"clusterConfiguration":{"controllerManager":{"extraArgs":{"v":"2","kube-api-burst":"9"}}}}`),
		},
		"the arguments of the kubelet": {
			item("MachinePool", bootstrapPath, fmt.Sprintf(bootstrapTemplate, "v1beta1", ""), inPool),
			given("kubeletExtraArgs", `[{"name":"v","value":""}]`),
			fmt.Sprintf(bootstrapTemplate, "v1beta1", `"joinConfiguration":{"nodeRegistration":{"kubeletExtraArgs":{"v":""}}}`),
		},
		"what makes a cluster fast, after the files that are there": {
			item("Cluster", controlPlanePath, fmt.Sprintf(controlPlaneTemplate, "v1beta1", `"kubeadmConfigSpec":{"files":[{"path":"/a"},
				{"path":"/etc/kubernetes/patches/etcd+json.yaml"},{"path":"/etc/kubernetes/patches/kube-apiserver+json.yaml"},
				{"path":"/etc/kubernetes/patches/kube-controller-manager+json.yaml"},{"path":"/etc/kubernetes/patches/kube-scheduler+json.yaml"},
				{"path":"/etc/kubernetes/patches/etcd+strategic.yaml"},{"path":"/etc/kubernetes/patches/kube-apiserver+strategic.yaml"},{"path":"/etc/kubernetes/patches/kube-controller-manager+strategic.yaml"},{"path":"/etc/kubernetes/patches/kube-scheduler+strategic.yaml"},
				{"path":"/etc/kubernetes/patches/corednsdeployment+json.yaml"}]}`)),
			given("fast", `true`),
			fmt.Sprintf(controlPlaneTemplate, "v1beta1", `"kubeadmConfigSpec":{
				"clusterConfiguration":{"etcd":{"local":{"extraArgs":{"unsafe-no-fsync":"true"}}}},
				"initConfiguration":{"patches":{"directory":"/etc/kubernetes/patches"},"skipPhases":["preflight"]},
				"joinConfiguration":{"patches":{"directory":"/etc/kubernetes/patches"}},
				"files":[{"path":"/a"},
				{"path":"/etc/kubernetes/patches/etcd+json.yaml"},{"path":"/etc/kubernetes/patches/kube-apiserver+json.yaml"},
				{"path":"/etc/kubernetes/patches/kube-controller-manager+json.yaml"},{"path":"/etc/kubernetes/patches/kube-scheduler+json.yaml"},
				{"path":"/etc/kubernetes/patches/etcd+strategic.yaml"},{"path":"/etc/kubernetes/patches/kube-apiserver+strategic.yaml"},{"path":"/etc/kubernetes/patches/kube-controller-manager+strategic.yaml"},{"path":"/etc/kubernetes/patches/kube-scheduler+strategic.yaml"},
				{"path":"/etc/kubernetes/patches/corednsdeployment+json.yaml"}]}`),
		},
		"instance types": {
			item("FooControlPlane", "spec.machineTemplate.infrastructureRef", fmt.Sprintf(machineTemplate, "v1beta1", "")),
			given("controlPlaneInstanceType", `"large"`),
			fmt.Sprintf(machineTemplate, "v1beta1", `"instanceType":"large"`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(patched(t, test.item, test.variable)).To(MatchJSON(test.want))
		})
	}
}

func TestWhatCannotBePatchedIsAFailure(t *testing.T) {
	template := fmt.Sprintf(machineTemplate, "v1beta2", "")
	for name, test := range map[string]struct {
		variables []runtimehooksv1.Variable
		items     []runtimehooksv1.GeneratePatchesRequestItem
		want      string
	}{
		"variables of other types": {
			[]runtimehooksv1.Variable{given("workerInstanceType", `5`), given("certificateSANs", `"secret"`), given("poolStrategy", `{"deletePolicy":["secret"]}`)}, nil,
			"spec.topology.variables: the variable certificateSANs is of the JSON type string, but must match its schema in the ClusterClass; " +
				"spec.topology.variables: the variable poolStrategy has the JSON type array at deletePolicy, but must match its schema in the ClusterClass; " +
				"spec.topology.variables: the variable workerInstanceType is of the JSON type number, but must match its schema in the ClusterClass",
		},
		"a variable that is no JSON": {
			[]runtimehooksv1.Variable{{Name: "workerInstanceType"}}, nil,
			"spec.topology.variables: the variable workerInstanceType cannot be read, but must match its schema in the ClusterClass",
		},
		"overrides and builtins of other types": {nil, []runtimehooksv1.GeneratePatchesRequestItem{
			item("MachinePool", infrastructurePath, template, inPool, given("workerInstanceType", `{}`)),
			item("MachineDeployment", infrastructurePath, template, given("builtin", `{"machineDeployment":[]}`)),
		},
			"spec.topology.workers.machineDeployments[]: the variable builtin has the JSON type array at machineDeployment, but must match its schema in the ClusterClass; " +
				"spec.topology.workers.machinePools[pool]: the variable workerInstanceType is of the JSON type object, but must match its schema in the ClusterClass",
		},
		"templates that are none": {nil, []runtimehooksv1.GeneratePatchesRequestItem{
			item("Cluster", controlPlanePath, `[]`), item("Cluster", "spec.infrastructureRef", `{"kind":"FooClusterTemplate"}`), item("FooControlPlane", machinesPath, ``),
		},
			"spec.topology.controlPlane: the template of spec.controlPlaneRef is not an object with an apiVersion and a kind; " +
				"spec.topology.controlPlane: the template of spec.machineTemplate.spec.infrastructureRef is not an object with an apiVersion and a kind; " +
				"spec.topology: the template of spec.infrastructureRef is not an object with an apiVersion and a kind",
		},
		"how machines are replaced, in v1beta1": {nil, []runtimehooksv1.GeneratePatchesRequestItem{
			item("Cluster", controlPlanePath, fmt.Sprintf(controlPlaneTemplate, "v1beta1", ""), given("rollout", `{"maxSurge":0}`)),
		},
			"spec.topology.controlPlane: the variables rollout and remediation are for templates of v1beta2, not of v1beta1",
		},
		"what v1beta1 cannot say": {nil, []runtimehooksv1.GeneratePatchesRequestItem{
			item("Cluster", controlPlanePath, fmt.Sprintf(controlPlaneTemplate, "v1beta1", ""), given("etcdExtraArgs", `[{"name":"v","value":"1"},{"name":"v","value":"2"}]`)),
		},
			"spec.topology.controlPlane: the argument v is given twice, but must be given once: a v1beta1 template cannot hold it twice, a v1beta2 template can",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			good := item("FooControlPlane", machinesPath, template, given("controlPlaneInstanceType", `"large"`))
			request := &runtimehooksv1.GeneratePatchesRequest{Variables: silent(t, test.variables...), Items: append(test.items, good)}
			response := patchesOf(t, request)
			g.Expect(response.Status).To(Equal(runtimehooksv1.ResponseStatusFailure))
			g.Expect(response.Message).To(Equal(test.want))
			g.Expect(response.Items).To(BeEmpty(), "all or nothing")
		})
	}
}

func TestAMessageFitsIntoACondition(t *testing.T) {
	g := NewWithT(t)
	request := &runtimehooksv1.GeneratePatchesRequest{Variables: silent(t)}
	for i := range 1000 {
		builtin := given("builtin", fmt.Sprintf(`{"machinePool":{"topologyName":"%s%04d"}}`, strings.Repeat("p", 59), i))
		request.Items = append(request.Items, item("MachinePool", infrastructurePath, `{}`, builtin))
	}
	response := patchesOf(t, request)
	g.Expect(response.Message).To(HaveSuffix("; and 950 more"))
	g.Expect(len(response.Message)).To(BeNumerically("<", 32768))
}

// The work for one template must not depend on how many others there are.
func TestTheWorkGrowsAsTheTemplates(t *testing.T) {
	allocations := func(pools int) float64 {
		request := recorded[runtimehooksv1.GeneratePatchesRequest](t, "generate-patches.foo", pools)
		return testing.AllocsPerRun(10, func() { patchesOf(t, request) })
	}
	few, many := allocations(10), allocations(100)
	NewWithT(t).Expect(many/few).To(BeNumerically("<", 10), "%.0f allocations for 10 pools, %.0f for 100", few, many)
}

func BenchmarkGeneratePatches(b *testing.B) {
	for _, pools := range []int{1, 100} {
		request := recorded[runtimehooksv1.GeneratePatchesRequest](b, "generate-patches.foo", pools)
		b.Run(fmt.Sprintf("%d pools", pools), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				patchesOf(b, request)
			}
		})
	}
}
