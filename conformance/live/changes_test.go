// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// newControlPlaneStory returns the story of a cluster at rest, with a control plane that has the fields and
// Machines.
func newControlPlaneStory(t *testing.T, functions interceptor.Funcs, spec map[string]any, machines ...string) *story {
	t.Helper()
	g := NewWithT(t)
	s := newStory(t, functions)
	controlPlane := newObject("control-plane", demoControlPlane.Kind, clusterName, "v1beta2", spec, map[string]any{"externalManagedControlPlane": true})
	controlPlane.SetGroupVersionKind(demoControlPlane)
	controlPlane.SetNamespace("live")
	objects := []client.Object{controlPlane.Unstructured}
	for _, name := range machines {
		m := &clusterv1.Machine{}
		m.Namespace, m.Name, m.UID = "live", name, types.UID("machine-"+name)
		m.Labels = map[string]string{clusterv1.MachineControlPlaneLabel: ""}
		objects = append(objects, m)
	}
	for _, object := range objects {
		g.Expect(s.Client.Create(t.Context(), object)).To(Succeed())
	}
	cluster := s.now.cluster.DeepCopy()
	cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: demoControlPlane.Group, Kind: demoControlPlane.Kind, Name: clusterName}
	cluster.Status.Conditions = newView("v1beta2").cluster.Status.Conditions
	g.Expect(s.Client.Update(t.Context(), cluster)).To(Succeed())
	var err error
	s.now, err = s.read(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	return s
}

// A later step may fail, so that nobody sees whether the control plane scales down.
func TestScalingUpAloneDoesNotPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := newControlPlaneStory(t, interceptor.Funcs{}, map[string]any{"replicas": int64(1)}, "m0", "m1", "m2")
		g.Expect(s.scaleUp(t.Context())).To(Succeed())
		g.Expect(s.results).NotTo(HaveKey(scaling))
		g.Expect(s.results).To(HaveKey("control-plane/machine-label"), "others are judged")
		s.Patience = time.Second
		g.Expect(s.scaleDown(t.Context())).NotTo(Succeed())
		g.Expect(s.results).To(HaveKeyWithValue(scaling, HaveField("Status", conformance.Failed)))
	})
}

// afterPatch makes a client that does more when the control plane is patched.
func afterPatch(more func(context.Context, client.Client, *unstructured.Unstructured) error) interceptor.Funcs {
	return interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			err := c.Patch(ctx, object, patch, options...)
			if one, ok := object.(*unstructured.Unstructured); err == nil && ok {
				return more(ctx, c, one)
			}
			return err
		},
	}
}

// spec.version is optional, and the API server drops a field that the kind does not have.
func TestControlPlaneWithoutAVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := newControlPlaneStory(t, afterPatch(func(ctx context.Context, c client.Client, one *unstructured.Unstructured) error {
			unstructured.RemoveNestedField(one.Object, "spec", "version")
			return c.Update(ctx, one)
		}), map[string]any{"replicas": int64(1)})
		s.UpgradeTo = testVersion
		start := time.Now()
		g.Expect(s.upgrade(t.Context())).To(Succeed())
		g.Expect(time.Since(start)).To(BeZero())
		for _, rule := range []string{"control-plane/upgrade", orderOfVersions} {
			g.Expect(s.results).To(HaveKeyWithValue(rule, HaveField("Status", conformance.NotClaimed)))
		}
	})
}

// A hosted control plane may report a version that its API server does not have.
func TestUpgradeOfAHostedControlPlane(t *testing.T) {
	for name, test := range map[string]struct {
		to   string
		want conformance.Status
	}{
		"upgraded":    {"v1.36.3", conformance.Passed}, // as serveNodes says
		"pretends to": {"v1.37.0", conformance.Failed},
	} {
		t.Run(name, func(t *testing.T) {
			kubeconfig := serveNodes(t, &atomic.Int32{})
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				s := newControlPlaneStory(t, afterPatch(func(ctx context.Context, c client.Client, one *unstructured.Unstructured) error {
					one.Object["status"] = map[string]any{"version": test.to, "externalManagedControlPlane": true}
					return c.Update(ctx, one)
				}), map[string]any{"version": "v1.35.0"})
				s.useKubeconfig(t, kubeconfig)
				s.UpgradeTo = test.to
				_ = s.upgrade(t.Context()) // the results say the same
				g.Expect(s.results).To(HaveKeyWithValue("control-plane/upgrade", HaveField("Status", test.want)))
			})
		})
	}
}

// Kamaji's control planes have replicas and no Machines.
func TestScalingWithoutMachines(t *testing.T) {
	for name, test := range map[string]struct {
		spec map[string]any
		want conformance.Status
	}{
		"replicas":    {map[string]any{"replicas": int64(1)}, conformance.NotRun},
		"no replicas": {map[string]any{}, conformance.NotClaimed},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := newControlPlaneStory(t, interceptor.Funcs{}, test.spec)
			g.Expect(s.scaleUp(t.Context())).To(Succeed())
			g.Expect(s.results).To(HaveKeyWithValue(scaling, HaveField("Status", test.want)))
			g.Expect(s.results).To(HaveKeyWithValue("control-plane/remediation", HaveField("Status", conformance.NotClaimed)))
		})
	}
}

// A recommendation that is not followed must not end the story.
func TestControlPlaneThatDoesNotRemediate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := newControlPlaneStory(t, interceptor.Funcs{}, map[string]any{"replicas": int64(1)}, "m0")
		g.Expect(s.remediate(t.Context())).To(Succeed())
		g.Expect(s.results).To(HaveKeyWithValue("control-plane/remediation", HaveField("Status", conformance.Failed)))
		m := &clusterv1.Machine{}
		g.Expect(s.Client.Get(t.Context(), s.key("m0"), m)).To(Succeed())
		g.Expect(m.Status.Conditions).To(BeEmpty())
	})
}

// The replacement of the Machine never becomes ready.
func TestRemediationThatDoesNotEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := newControlPlaneStory(t, interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, c client.Client, name string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
				return errors.Join(c.SubResource(name).Patch(ctx, object, patch, options...), c.Delete(ctx, object))
			},
		}, map[string]any{"replicas": int64(2)}, "m0", "m1")
		g.Expect(s.remediate(t.Context())).To(MatchError(ContainSubstring("the control plane has the Machines [m1], want 2")))
		g.Expect(s.results).To(HaveKeyWithValue("control-plane/remediation", HaveField("Status", conformance.Failed)))
	})
}

// The last read of a settled cluster may not find the Machine that was there before.
func TestScalingDownToNoMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		seen := false
		s := newControlPlaneStory(t, interceptor.Funcs{
			List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				if _, ok := list.(*clusterv1.MachineList); ok && seen {
					return nil
				}
				return c.List(ctx, list, options...)
			},
			Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
				time.AfterFunc(time.Second, func() { seen = true })
				return c.Patch(ctx, object, patch, options...)
			},
		}, map[string]any{"replicas": int64(1)}, "m0")
		g.Expect(s.scaleDown(t.Context())).To(MatchError("the control plane has no Machine"))
		g.Expect(s.results).To(HaveKeyWithValue(scaling, HaveField("Status", conformance.Failed)))
	})
}

// Each control plane breaks one rule when it is changed.
func TestChangesThatAControlPlaneDoesNotFollow(t *testing.T) {
	newVersion := func(ctx context.Context, c client.Client, one *unstructured.Unstructured) error {
		one.Object["status"] = map[string]any{"version": testVersion, "externalManagedControlPlane": true}
		return c.Update(ctx, one)
	}
	replace := func(ctx context.Context, c client.Client, _ *unstructured.Unstructured) error {
		old, replacement := &clusterv1.Machine{}, &clusterv1.Machine{}
		old.Namespace, old.Name = "live", "m0"
		replacement.Namespace, replacement.Name, replacement.UID = "live", "m1", "machine-m1"
		replacement.Labels = map[string]string{clusterv1.MachineControlPlaneLabel: "", changedLabel: "yes"}
		return errors.Join(c.Delete(ctx, old), c.Create(ctx, replacement))
	}
	for rule, test := range map[string]struct {
		step func(*story, context.Context) error
		more func(context.Context, client.Client, *unstructured.Unstructured) error
		want string
	}{
		"control-plane/metadata-propagation": {(*story).changeInPlace, nil, "m0 has the labels"},
		"control-plane/in-place-propagation": {(*story).changeInPlace, replace, "the Machines of the control plane were [m0], and are [m1]"},
		"control-plane/rollout-after":        {(*story).rollOut, nil, "the Machine m0 is still there"},
		"control-plane/upgrade":              {(*story).upgrade, newVersion, "spec.version is v1.36.3, the Machine m0 has"},
	} {
		t.Run(rule, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				functions := interceptor.Funcs{}
				if test.more != nil {
					functions = afterPatch(test.more)
				}
				s := newControlPlaneStory(t, functions, map[string]any{"replicas": int64(1), "version": "v1.35.0"}, "m0")
				s.UpgradeTo = testVersion
				_ = test.step(s, t.Context()) // the results say the same
				for _, step := range steps {
					for _, other := range step.rules {
						if result := s.results[other]; result != nil && other != rule {
							g.Expect(result.Status).NotTo(Equal(conformance.Failed), other)
						}
					}
				}
				g.Expect(s.results).To(HaveKeyWithValue(rule, And(HaveField("Status", conformance.Failed),
					HaveField("Findings", HaveExactElements(HaveField("Message", ContainSubstring(test.want)))))))
			})
		})
	}
}
