// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// secretive has one API server that cannot be asked for the expiry of its certificates.
type secretive struct {
	*fakeWorkload

	node string
}

func (s secretive) CertificateExpiry(ctx context.Context, endpoint workload.APIServerEndpoint) (time.Time, error) {
	if endpoint.Node == s.node {
		return time.Time{}, errors.New("no answer")
	}
	return s.fakeWorkload.CertificateExpiry(ctx, endpoint)
}

func TestOneExpiryThatCannotBeReadHidesNoOther(t *testing.T) {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(bootstrapv1.AddToScheme(scheme)).To(Succeed())
	s := &scope{cluster: &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c1"}}, observation: &workload.Observation{}, configs: map[string]*bootstrapv1.KubeadmConfig{}}
	r := &Reconciler{workload: secretive{newFakeWorkload(), "a"}, client: fake.NewClientBuilder().WithScheme(scheme).Build()}
	for _, name := range []string{"a", "b"} {
		meta := metav1.ObjectMeta{Namespace: "default", Name: name}
		machine := &clusterv1.Machine{ObjectMeta: meta}
		machine.Status.NodeRef.Name = name
		s.machines = append(s.machines, machine)
		s.configs[name] = &bootstrapv1.KubeadmConfig{ObjectMeta: meta}
		g.Expect(r.client.Create(t.Context(), s.configs[name])).To(Succeed())
		s.observation.Nodes = append(s.observation.Nodes, workload.Node{Name: name, Pods: map[workload.Component]workload.Pod{workload.APIServer: {State: workload.PodRunning}}})
	}
	g.Expect(r.showExpiries(t.Context(), s)).To(MatchError("reading the expiry of the certificates of Machine a: no answer"))
	config := &bootstrapv1.KubeadmConfig{}
	g.Expect(r.client.Get(t.Context(), client.ObjectKeyFromObject(s.configs["b"]), config)).To(Succeed())
	g.Expect(config.Annotations).To(HaveKeyWithValue(clusterv1.MachineCertificatesExpiryDateAnnotation, fakeExpiry.Format(time.RFC3339)))
}
