// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// addPool adds a pool with one Machine to the story's cluster.
func (s *story) addPool(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	infra := newObject("infrastructure-machinepool", demoPool.Kind, "pool", "v1beta2", map[string]any{}, map[string]any{})
	infra.SetGroupVersionKind(demoPool)
	infra.SetNamespace("live")
	g.Expect(s.Client.Create(t.Context(), infra.Unstructured)).To(Succeed())
	p := &clusterv1.MachinePool{}
	p.Namespace, p.Name, p.Spec.Replicas = "live", "pool", ptr.To[int32](1)
	p.Spec.Template.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: demoPool.Group, Kind: demoPool.Kind, Name: "pool"}
	g.Expect(s.Client.Create(t.Context(), p)).To(Succeed())
	g.Expect(haveInstances(t.Context(), s.Client, p, 0, 1)).To(Succeed())
	var err error
	s.now, err = s.read(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
}

// haveInstances gives a pool another number of Machines with Nodes.
func haveInstances(ctx context.Context, c client.Client, p *clusterv1.MachinePool, had, count int32) error {
	var errs []error
	p.Status.NodeRefs, p.Status.ReadyReplicas = nil, ptr.To(count)
	for i := range max(had, count) {
		m := &clusterv1.Machine{}
		m.Namespace, m.Name = "live", fmt.Sprint("m", i)
		m.UID, m.Labels = types.UID(m.Name), map[string]string{clusterv1.MachinePoolNameLabel: p.Name}
		m.Status.NodeRef.Name = m.Name
		switch {
		case i >= count:
			errs = append(errs, c.Delete(ctx, m))
		case i >= had:
			errs = append(errs, c.Create(ctx, m.DeepCopy()), c.Get(ctx, client.ObjectKeyFromObject(m), m))
			m.Status.NodeRef.Name = m.Name
			errs = append(errs, c.Status().Update(ctx, m))
		}
		if i < count {
			p.Status.NodeRefs = append(p.Status.NodeRefs, corev1.ObjectReference{Name: m.Name})
		}
	}
	return errors.Join(append(errs, c.Update(ctx, p))...)
}

func TestScaleOfAPool(t *testing.T) {
	const anything = 9
	for name, test := range map[string]struct {
		providers []string
		// most and least Machines that the provider can have.
		least, most int32
		want        map[string]conformance.Status
	}{
		// The cluster refuses the Pods that show whether the machine is drained. The provider cannot help that.
		"scales":               {nil, 1, anything, map[string]conformance.Status{poolScale: conformance.Passed, poolDrain: conformance.NotRun}},
		"does not grow":        {nil, 1, 1, map[string]conformance.Status{poolScale: conformance.Failed}},
		"does not shrink":      {nil, 2, anything, map[string]conformance.Status{poolScale: conformance.Failed, poolDrain: conformance.NotRun}},
		"belongs to others":    {[]string{"control-plane-demo"}, 1, anything, nil},
		"others do not shrink": {[]string{"control-plane-demo"}, 2, anything, nil},
	} {
		t.Run(name, func(t *testing.T) {
			kubeconfig := serveNodes(t, &atomic.Int32{})
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				has := int32(1)
				s := newControlPlaneStory(t, interceptor.Funcs{
					Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
						err := c.Patch(ctx, object, patch, options...)
						if p, ok := object.(*clusterv1.MachinePool); err == nil && ok {
							had := has
							has = min(max(*p.Spec.Replicas, test.least), test.most)
							return haveInstances(ctx, c, p.DeepCopy(), had, has)
						}
						return err
					},
				}, map[string]any{})
				s.Providers = test.providers
				s.useKubeconfig(t, kubeconfig)
				s.addPool(t)
				err := s.scaleWorkers(t.Context())
				g.Expect(err == nil).To(Equal(test.least == 1 && test.most == anything), "%v", err)
				for _, rule := range []string{poolScale, poolDrain} {
					if want, ok := test.want[rule]; ok {
						g.Expect(s.results).To(HaveKeyWithValue(rule, HaveField("Status", want)))
					} else {
						g.Expect(s.results).NotTo(HaveKey(rule))
					}
				}
				if s.results[poolDrain] != nil {
					g.Expect(s.results[poolDrain].Reason).To(ContainSubstring("create a Pod on the Node m0: violates PodSecurity"))
				}
			})
		})
	}
}

// The Pod Security Standard "restricted" says what a Pod needs.
func TestHoldingPodIsRestricted(t *testing.T) {
	g := NewWithT(t)
	spec := holdingPod("m0").Spec
	g.Expect(spec.SecurityContext).To(And(
		HaveField("RunAsNonRoot", HaveValue(BeTrue())), HaveField("RunAsUser", HaveValue(BeNumerically(">", 0))), HaveField("SeccompProfile.Type", corev1.SeccompProfileTypeRuntimeDefault)))
	g.Expect(spec.Containers).To(HaveExactElements(HaveField("SecurityContext", And(
		HaveField("AllowPrivilegeEscalation", HaveValue(BeFalse())), HaveField("Capabilities.Drop", ConsistOf(corev1.Capability("ALL")))))))
	g.Expect(spec.Volumes).To(BeEmpty())
}
