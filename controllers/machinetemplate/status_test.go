// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machinetemplate

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
)

// clouds maps the names of Clusters to their clouds; the manager's has the empty name.
type clouds map[string]cloud.Cloud

func (c clouds) OfFooCluster(context.Context, *infrav1.FooCluster) cloud.Cloud { return c[""] }

func (c clouds) OfCluster(_ context.Context, cluster client.ObjectKey) cloud.Cloud {
	return c[cluster.Name]
}

// A node's capacity is what the clouds of the template's clusters report, not the manager's cloud.
func TestCapacityIsThatOfTheClustersClouds(t *testing.T) {
	with := func(cpus int32) cloud.Cloud {
		return fake.New(fake.Options{InstanceTypes: []cloud.InstanceType{{Name: "small", CPUs: int(cpus), MemoryBytes: 1 << 30, Architecture: "amd64"}}})
	}
	r := &reconciler{clouds: clouds{"": with(2), "red": with(4), "also-red": with(4), "blue": with(8), "none": fake.New(fake.Options{InstanceTypes: []cloud.InstanceType{{Name: "x"}}})}}
	for name, test := range map[string]struct {
		owners []string
		want   string
	}{
		"of no cluster":                  {nil, "2"},
		"of a tenant's cluster":          {[]string{"red"}, "4"},
		"of several of the same size":    {[]string{"red", "also-red"}, "4"},
		"of several of different size":   {[]string{"red", "blue"}, "0"},
		"of a cloud without the type":    {[]string{"none"}, "0"},
		"of several, one without it":     {[]string{"red", "none"}, "0"},
		"of several, the first has none": {[]string{"none", "red"}, "0"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			template := &infrav1.FooMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "ns"}}
			for _, owner := range test.owners {
				template.OwnerReferences = append(template.OwnerReferences, metav1.OwnerReference{
					APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: owner,
				})
			}
			sizes, err := r.observe(t.Context(), template)
			g.Expect(err).NotTo(HaveOccurred())
			setStatus(template, sizes)
			g.Expect(template.Status.Capacity.Cpu().String()).To(Equal(test.want))
		})
	}
}
