// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
)

// An endpoint that a stale cache does not show yet must not be replaced by another load balancer's.
func TestACacheThatIsBehindLosesNoEndpoint(t *testing.T) {
	g := NewWithT(t)
	scheme, err := manager.NewScheme()
	g.Expect(err).NotTo(HaveOccurred())
	owner := infratest.NewCluster("ns", "one")
	behind := infratest.NewFooCluster(owner)
	now := newState(ownEndpoint).fooCluster
	now.Name, now.OwnerReferences = behind.Name, behind.OwnerReferences
	kube := clientfake.NewClientBuilder().WithScheme(scheme).WithObjects(owner, now).Build()
	r := &reconciler{client: kube, live: kube, now: time.Now}
	s, err := r.observe(t.Context(), behind)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(client.ObjectKeyFromObject(s.cluster)).To(Equal(client.ObjectKeyFromObject(owner)))
	g.Expect(behind.Spec.ControlPlaneEndpoint).To(Equal(now.Spec.ControlPlaneEndpoint))
	g.Expect(behind.Annotations).To(HaveKey(loadBalancerAnnotation))
}
