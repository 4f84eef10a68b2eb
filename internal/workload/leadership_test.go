// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"sigs.k8s.io/cluster-api/util/secret"
)

func TestTakeLeadership(t *testing.T) {
	for name, test := range map[string]struct {
		holder string
		gone   []string
		want   string
	}{
		"the holder's machine is gone":      {"cp-a_1", []string{"cp-b", "cp-a"}, ""},
		"the holder's machine exists":       {"cp-c_1", []string{"cp-a"}, "cp-c_1"},
		"a name starts with another's":      {"cp-ab_1", []string{"cp-a"}, "cp-ab_1"},
		"no holder":                         {"", []string{"cp-a"}, ""},
		"the holder's identity has no host": {"_1", []string{"cp-a"}, "_1"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			ctx := context.Background()
			lease := &coordinationv1.Lease{
				ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "kube-controller-manager"},
				Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To(test.holder), LeaseDurationSeconds: ptr.To[int32](15)},
			}
			c := fake.NewClientBuilder().WithObjects(lease).Build()
			g.Expect(takeLeadership(ctx, c, test.gone)).To(Succeed())
			g.Expect(c.Get(ctx, client.ObjectKeyFromObject(lease), lease)).To(Succeed())
			g.Expect(ptr.Deref(lease.Spec.HolderIdentity, "")).To(Equal(test.want))
		})
	}
	NewWithT(t).Expect(takeLeadership(context.Background(), fake.NewClientBuilder().Build(), []string{"a"})).To(Succeed(), "there is no lease")
}

// The client has a mapping for leases, and writes only the holder.
func TestTakeLeadershipOfACluster(t *testing.T) {
	g := NewWithT(t)
	var patched string
	const lease = `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1",
		"metadata":{"name":"kube-controller-manager","namespace":"kube-system","resourceVersion":"7"},"spec":{"holderIdentity":"cp-a_1"}}`
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		g.Expect(request.URL.Path).To(Equal("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager"))
		if request.Method == http.MethodPatch {
			body, err := io.ReadAll(request.Body)
			g.Expect(err).NotTo(HaveOccurred())
			patched = string(body)
		}
		response.Header().Set("Content-Type", "application/json")
		_, err := response.Write([]byte(lease))
		g.Expect(err).NotTo(HaveOccurred())
	}))
	t.Cleanup(server.Close)
	secrets := fake.NewClientBuilder().WithObjects(testSecret(secret.Kubeconfig, kubeconfigFor(g, server.URL))).Build()
	connections := NewConnections(nil, secrets, secrets, 0)
	g.Expect(connections.TakeLeadership(context.Background(), testCluster, []string{"cp-b"})).To(Succeed())
	g.Expect(patched).To(BeEmpty())
	g.Expect(connections.TakeLeadership(context.Background(), testCluster, []string{"cp-a"})).To(Succeed())
	g.Expect(patched).To(MatchJSON(`{"metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":""}}`))
}
