// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"github.com/capfoo/cluster-api-provider-foo/extensions/topology"
)

const (
	inControlPlane = "spec.topology.controlPlane: FooControlPlaneTemplate spec.template.spec.kubeadmConfigSpec."
	inDeploymentOf = "spec.topology.workers.machineDeployments[deployment]: "
	inPoolOf       = "spec.topology.workers.machinePools[pool]: "
)

// Cluster API itself computes these topologies and calls the checks.
func TestTopologiesAreChecked(t *testing.T) {
	for name, test := range map[string]struct {
		change   func(*clusterv1.Topology)
		settings map[string]string
		want     []string
	}{
		"nothing is wrong": {change: func(*clusterv1.Topology) {}},
		"an even number of members": {
			change: func(t *clusterv1.Topology) { t.ControlPlane.Replicas = ptr.To[int32](2) },
			want: []string{"spec.topology.controlPlane: replicas: Invalid value: 2: must be odd: an even number of etcd members tolerates no more failures than one member fewer",
				"even numbers are allowed with external etcd only"},
		},
		"an even number with an external etcd": {
			change: func(t *clusterv1.Topology) {
				t.ControlPlane.Replicas = ptr.To[int32](2)
				t.Variables = append(t.Variables, variable("externalEtcdEndpoints", `["https://192.0.2.1:2379"]`))
			},
		},
		"budgets that let nothing be replaced": {
			change: func(t *clusterv1.Topology) {
				t.Workers.MachinePools[0].Variables.Overrides = []clusterv1.ClusterVariable{variable("poolStrategy", `{"maxSurge":"0%","maxUnavailable":0}`)}
			},
			want: []string{inPoolOf + `FooMachinePoolTemplate spec.template.spec.strategy.maxSurge: Invalid value: "0%": maxSurge and maxUnavailable must not both be zero, and maxUnavailable is 0 by default: nothing could ever be replaced`},
		},
		"a budget that is none": {
			change: func(t *clusterv1.Topology) {
				t.Variables = append(t.Variables, variable("poolStrategy", `{"maxSurge":"many"}`))
			},
			want: []string{inPoolOf + `FooMachinePoolTemplate spec.template.spec.strategy.maxSurge: Invalid value: "many": must be a number of at least 0, or a percentage from 0% to 100%`},
		},
		"a pool that is too large": {
			change: func(t *clusterv1.Topology) { t.Workers.MachinePools[0].Replicas = ptr.To[int32](10001) },
			want:   []string{inPoolOf + "the replicas are 10001, but must be at most 10000"},
		},
		"instance types that the setting does not name": {
			change: func(t *clusterv1.Topology) {
				t.Variables = append(t.Variables, variable("workerInstanceType", `"huge"`), variable("controlPlaneInstanceType", `"tiny"`))
			},
			settings: map[string]string{"instanceTypes": "small, medium"},
			want: []string{
				`spec.topology.controlPlane: the instance type is "tiny", but must be one of small, medium (setting instanceTypes)`,
				inDeploymentOf + `the instance type is "huge", but must be one of small, medium (setting instanceTypes)`,
				inPoolOf + `the instance type is "huge", but must be one of small, medium (setting instanceTypes)`,
			},
		},
		"instance types that the setting names": {
			change:   func(*clusterv1.Topology) {},
			settings: map[string]string{"instanceTypes": "small", "addons": "Enabled"},
		},
		"a setting that is none": {
			change:   func(*clusterv1.Topology) {},
			settings: map[string]string{"instanceTypes": "small,,medium"},
			want:     []string{`setting instanceTypes of the ExtensionConfig is "small,,medium", but must be a comma-separated list of names of instance types of the cloud, each of 1 to 63 characters`},
		},
		"names that no certificate has": {
			change: func(t *clusterv1.Topology) {
				t.Variables = append(t.Variables, variable("certificateSANs", `["fine.example.com","*.example.com","192.0.2.1","2001:db8::1","https://api.example.com","a_b"]`))
			},
			want: []string{
				inControlPlane + `clusterConfiguration.apiServer.certSANs[4]: Invalid value: "https://api.example.com": must be a DNS name, which may start with *., or an IP address`,
				inControlPlane + `clusterConfiguration.apiServer.certSANs[5]: Invalid value: "a_b": must be a DNS name, which may start with *., or an IP address`,
			},
		},
		"members of an etcd that are not there or twice": {
			change: func(t *clusterv1.Topology) {
				t.Variables = append(t.Variables, variable("externalEtcdEndpoints", `["https://a:2379","https://","https://a:2379","https://user:secret@b"]`))
			},
			want: []string{
				inControlPlane + `clusterConfiguration.etcd.external.endpoints[1]: Invalid value: must be an https:// URL with a host, a port unless it is 443, and no password`,
				inControlPlane + `clusterConfiguration.etcd.external.endpoints[2]: Duplicate value: "https://a:2379"`,
				inControlPlane + `clusterConfiguration.etcd.external.endpoints[3]: Invalid value: must be an https:// URL with a host, a port unless it is 443, and no password`,
			},
		},
		"arguments with dashes": {
			change: func(t *clusterv1.Topology) {
				t.Variables = append(t.Variables, variable("schedulerExtraArgs", `[{"name":"--v","value":"4"}]`), variable("kubeletExtraArgs", `[{"name":"fine","value":"4"},{"name":"-v","value":"4"}]`))
			},
			want: []string{
				inControlPlane + `clusterConfiguration.scheduler.extraArgs[0].name: Invalid value: "--v": must not begin with a dash`,
				inControlPlane + `initConfiguration.nodeRegistration.kubeletExtraArgs[1].name: Invalid value: "-v": must not begin with a dash`,
				inControlPlane + `joinConfiguration.nodeRegistration.kubeletExtraArgs[1].name: Invalid value: "-v": must not begin with a dash`,
				inDeploymentOf + `KubeadmConfigTemplate spec.template.spec.joinConfiguration.nodeRegistration.kubeletExtraArgs[1].name: Invalid value: "-v": must not begin with a dash`,
				inPoolOf + `KubeadmConfigTemplate spec.template.spec.joinConfiguration.nodeRegistration.kubeletExtraArgs[1].name: Invalid value: "-v": must not begin with a dash`,
			},
		},
		"all that is wrong at once": {
			change: func(t *clusterv1.Topology) {
				t.ControlPlane.Replicas = ptr.To[int32](0)
				t.Workers.MachinePools[0].Replicas = ptr.To[int32](20000)
				t.Variables = append(t.Variables, variable("certificateSANs", `["a b"]`))
			},
			want: []string{
				inControlPlane + `clusterConfiguration.apiServer.certSANs[0]: Invalid value: "a b": must be a DNS name, which may start with *., or an IP address`,
				"spec.topology.controlPlane: replicas: Invalid value: 0: must be at least 1: to remove the control plane, delete the FooControlPlane",
				inPoolOf + "the replicas are 20000, but must be at most 10000",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			external, err := loadClass(t.Context(), "foo-extension", test.settings)
			g.Expect(err).NotTo(HaveOccurred())
			wanted := small()
			test.change(&wanted)
			_, err = external.compute(t.Context(), wanted)
			g.Expect(lines(err)).To(Equal(test.want))
		})
	}
}

func checked(t testing.TB, request *runtimehooksv1.ValidateTopologyRequest) *runtimehooksv1.ValidateTopologyResponse {
	t.Helper()
	response := &runtimehooksv1.ValidateTopologyResponse{}
	topology.ValidateTopology(t.Context(), request, response)
	return response
}

// withoutSpecs replaces the spec that each template gives to its objects with a number.
func withoutSpecs(t *testing.T, request *runtimehooksv1.ValidateTopologyRequest) {
	t.Helper()
	for _, item := range request.Items {
		var object map[string]any
		NewWithT(t).Expect(json.Unmarshal(item.Object.Raw, &object)).To(Succeed())
		NewWithT(t).Expect(unstructured.SetNestedField(object, int64(7), "spec", "template", "spec")).To(Succeed())
		item.Object.Raw = []byte(jsonOf(object))
	}
}

// Cluster API does not send such requests, but somebody else's patch or a future version of Cluster
// API might.
func TestRequestsAreChecked(t *testing.T) {
	wrongTemplate := func(request *runtimehooksv1.ValidateTopologyRequest, from, to string) {
		for _, item := range request.Items {
			item.Object.Raw = []byte(strings.ReplaceAll(string(item.Object.Raw), from, to))
			for i := range item.Variables {
				item.Variables[i].Value.Raw = []byte(strings.ReplaceAll(string(item.Variables[i].Value.Raw), from, to))
			}
		}
	}
	for name, test := range map[string]struct {
		change func(*runtimehooksv1.ValidateTopologyRequest)
		want   string
	}{
		"as it is": {func(*runtimehooksv1.ValidateTopologyRequest) {}, ""},
		// Cluster API creates them once the control plane has their version.
		"workers that are added during an upgrade over several versions": {
			func(request *runtimehooksv1.ValidateTopologyRequest) {
				wrongTemplate(request, `"machinePool":{"version":"v1.36.3"`, `"machinePool":{"version":"v1.38.0"`)
			},
			"",
		},
		"networks that overlap": {
			func(request *runtimehooksv1.ValidateTopologyRequest) {
				for i := range request.Variables {
					value := &request.Variables[i].Value
					value.Raw = []byte(strings.Replace(string(value.Raw), "10.244.0.0/16", "10.130.0.0/16", 1))
				}
			},
			"spec.clusterNetwork: pods have 10.130.0.0/16 and services have 10.128.0.0/12, but the networks must not overlap",
		},
		"templates of other types": {
			func(request *runtimehooksv1.ValidateTopologyRequest) { withoutSpecs(t, request) },
			"spec.topology.controlPlane: the FooControlPlaneTemplate has the JSON type number at spec.template.spec, but must match its kind; " +
				inDeploymentOf + "the KubeadmConfigTemplate has the JSON type number at spec.template.spec, but must match its kind; " +
				inPoolOf + "the FooMachinePoolTemplate has the JSON type number at spec.template.spec, but must match its kind; " +
				inPoolOf + "the KubeadmConfigTemplate has the JSON type number at spec.template.spec, but must match its kind",
		},
		"an item that is null": {
			func(request *runtimehooksv1.ValidateTopologyRequest) { request.Items[0] = nil },
			"spec.topology: a template of the request is null",
		},
		"versions of templates that are not checked": {
			func(request *runtimehooksv1.ValidateTopologyRequest) {
				wrongTemplate(request, "v1beta2", "v1")
				withoutSpecs(t, request)
			},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			request := recorded[runtimehooksv1.ValidateTopologyRequest](t, "validate-topology.foo", 1)
			test.change(request)
			response := checked(t, request)
			NewWithT(t).Expect(strings.Split(response.Message, "; ")).To(Equal(strings.Split(test.want, "; ")))
		})
	}
}

func TestFindingsAreTheSameInWhateverOrder(t *testing.T) {
	request := recorded[runtimehooksv1.ValidateTopologyRequest](t, "validate-topology.foo", 3)
	request.SetSettings(map[string]string{"instanceTypes": "none"})
	want := checked(t, request)
	NewWithT(t).Expect(strings.Split(want.Message, "; ")).To(HaveLen(5), "the control plane, a deployment and three pools")
	rapid.Check(t, func(rt *rapid.T) {
		shuffled := request.DeepCopy()
		shuffled.Items = rapid.Permutation(shuffled.Items).Draw(rt, "items")
		NewWithT(rt).Expect(jsonOf(checked(t, shuffled))).To(Equal(jsonOf(want)))
	})
}

func BenchmarkValidateTopology(b *testing.B) {
	for _, pools := range []int{1, 100} {
		request := recorded[runtimehooksv1.ValidateTopologyRequest](b, "validate-topology.foo", pools)
		b.Run(fmt.Sprintf("%d pools", pools), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				checked(b, request)
			}
		})
	}
}
