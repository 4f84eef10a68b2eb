//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package addons

import (
	"context"
	"fmt"
	"net"
	"strings"
	"syscall"

	"github.com/go-logr/logr/funcr"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// serverVersion is the version of the workload API server.
const serverVersion = "v1.36.3"

// world is a Cluster in a namespace of its own. The workload cluster has a namespace with the same
// name.
type world struct {
	namespace string
	cluster   *clusterv1.Cluster
}

func newWorld(ctx context.Context) world {
	GinkgoHelper()
	namespace, err := management.CreateNamespace(ctx, "addons")
	Expect(err).NotTo(HaveOccurred())
	Expect(workload.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})).To(Succeed())
	cluster := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c", Labels: map[string]string{"cni": "calico"}},
		// The version is the end of an upgrade that has not begun.
		Spec: clusterv1.ClusterSpec{Topology: clusterv1.Topology{ClassRef: clusterv1.ClusterClassRef{Name: "class"}, Version: "v1.38.0"}},
	}
	Expect(management.Client.Create(ctx, cluster)).To(Succeed())
	// Each test has the workload cluster for itself.
	Expect(client.IgnoreNotFound(workload.Client.Delete(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: inventoryKey.Namespace, Name: inventoryKey.Name},
	}))).To(Succeed())
	return world{namespace: namespace, cluster: cluster}
}

// addon creates an add-on for the Cluster with variants in pairs of a range of versions and a
// template.
func (w world) addon(ctx context.Context, name string, order int32, variants ...string) *extensionv1.Addon {
	GinkgoHelper()
	made := addonOf(name, variants...)
	made.Namespace, made.Spec.Order = w.namespace, order
	made.Spec.ClusterSelector.MatchLabels = map[string]string{"cni": "calico"}
	Expect(management.Client.Create(ctx, made)).To(Succeed())
	return made
}

// change changes an add-on.
func (w world) change(ctx context.Context, addon *extensionv1.Addon, edit func(*extensionv1.AddonSpec)) {
	GinkgoHelper()
	Expect(management.Client.Get(ctx, client.ObjectKeyFromObject(addon), addon)).To(Succeed())
	patch := client.MergeFrom(addon.DeepCopy())
	edit(&addon.Spec)
	Expect(management.Client.Patch(ctx, addon, patch)).To(Succeed())
}

// entry returns what an add-on records about the Cluster. It is empty if that is nothing.
func (w world) entry(ctx context.Context, name string) extensionv1.AddonCluster {
	GinkgoHelper()
	addon := &extensionv1.Addon{}
	Expect(management.Client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, addon)).To(Succeed())
	if !mentions(addon, w.cluster.Name) {
		return extensionv1.AddonCluster{}
	}
	return entryOf(addon, w.cluster)
}

// run runs a task once.
func (w world) run(ctx context.Context, task Task, to string) hooks.Outcome {
	GinkgoHelper()
	hook := hooks.AfterControlPlaneInitialized
	if to != "" {
		hook = hooks.AfterControlPlaneUpgrade
	}
	outcome, err := task.Run(ctx, hooks.Job{Cluster: w.cluster, Hook: hook, To: to})
	Expect(err).NotTo(HaveOccurred())
	return outcome
}

// beforeStep runs the task before a step to a version.
func (w world) beforeStep(ctx context.Context, to string) hooks.Outcome {
	GinkgoHelper()
	outcome, err := Task{options()}.Run(ctx, hooks.Job{Cluster: w.cluster, Hook: hooks.BeforeControlPlaneUpgrade, To: to})
	Expect(err).NotTo(HaveOccurred())
	return outcome
}

// done runs a task until it is done. The definition of a kind is served soon after it was applied.
func (w world) done(ctx context.Context, task Task, to string) hooks.Outcome {
	GinkgoHelper()
	var outcome hooks.Outcome
	Eventually(func(g Gomega) {
		outcome = w.run(ctx, task, to)
		g.Expect(outcome.Done).To(BeTrue(), outcome.Message)
	}).WithContext(ctx).Should(Succeed())
	return outcome
}

// interrupted is a client after whose first read of the inventory something happens.
type interrupted struct {
	client.Client
	event func()
}

func (i *interrupted) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := i.Client.Get(ctx, key, object, options...)
	if event := i.event; event != nil && key == inventoryKey {
		i.event = nil
		event()
	}
	return err
}

func options() hooks.Clusters {
	return hooks.Clusters{
		Client:   management.Client,
		Workload: func(context.Context, client.ObjectKey) (client.Client, error) { return workload.Client, nil },
		Config:   func(context.Context, client.ObjectKey) (*rest.Config, error) { return workload.Config, nil },
	}
}

// in returns the manifest of a ConfigMap in the namespace of the Cluster.
func in(name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: '{{ .Cluster.metadata.namespace }}'}\ndata: {value: %q}\n", name, value)
}

// value returns the value in a ConfigMap of the workload cluster. It is empty if there is none.
func (w world) value(ctx context.Context, name string) string {
	GinkgoHelper()
	found := &corev1.ConfigMap{}
	Expect(client.IgnoreNotFound(workload.Client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: name}, found))).To(Succeed())
	return found.Data["value"]
}

// deployment returns the manifest of a Deployment, which is not ready unless the test says so.
func deployment(name string) string {
	return manifest("apps/v1", "Deployment", name) + `spec:
  selector: {matchLabels: {app: a}}
  template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: a}]}}
`
}

// definition returns the manifest of a CRD with its own group.
func definition(group string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pools.%[1]s}
spec:
  group: %[1]s
  scope: Cluster
  names: {kind: Pool, listKind: PoolList, plural: pools, singular: pool}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`, group)
}

var _ = Describe("Add-ons", func() {
	It("are applied in order, each once the previous ones are ready, and then not changed", func(ctx SpecContext) {
		w := newWorld(ctx)
		group := w.namespace + ".example.com"
		w.addon(ctx, "cni", 0, "", strings.Join([]string{deployment(w.namespace), manifest(group+"/v1", "Pool", w.namespace), definition(group)}, "---\n"))
		w.addon(ctx, "early", 0, "", in("early", "{{ .KubernetesVersion }}"))
		w.addon(ctx, "late", 1, "", in("late", "{{ .Cluster.metadata.name }}"))

		task := Task{options()}
		var outcome hooks.Outcome
		Eventually(func() string {
			outcome = w.run(ctx, task, "")
			return outcome.Message
		}).Should(Equal("add-ons are not applied yet: cni: Deployment " + w.namespace + ": InProgress: Replicas: 0/1; late: waiting for the add-ons with a lower order: cni"))
		Expect(w.run(ctx, task, "")).To(Equal(outcome))
		Expect(w.value(ctx, "early")).To(Equal(serverVersion))
		Expect(w.value(ctx, "late")).To(BeEmpty())
		Expect(w.entry(ctx, "late")).To(And(
			HaveField("State", extensionv1.AddonWaiting), HaveField("Message", "waiting for the add-ons with a lower order: cni")))

		found := &appsv1.Deployment{}
		Expect(workload.Client.Get(ctx, client.ObjectKey{Namespace: "default", Name: w.namespace}, found)).To(Succeed())
		Expect(found.Labels).To(Equal(map[string]string{addonLabel: "cni"}))
		found.Status = appsv1.DeploymentStatus{
			ObservedGeneration: found.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}, {Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
			},
		}
		Expect(workload.Client.Status().Update(ctx, found)).To(Succeed())
		outcome = w.done(ctx, task, "")
		Expect(outcome.Message).To(Equal("applied 5 objects of the add-ons cni, early, late"))
		Expect(strings.Split(strings.TrimSpace(outcome.Report), "\n")).To(Equal([]string{
			"cni: CustomResourceDefinition pools." + group + ": ready", "cni: Deployment " + w.namespace + ": ready", "cni: Pool " + w.namespace + ": ready",
			"early: ConfigMap " + w.namespace + "/early: ready", "late: ConfigMap " + w.namespace + "/late: ready",
		}))
		Expect(w.value(ctx, "late")).To(Equal("c"))
		Expect(w.entry(ctx, "late")).To(And(HaveField("State", extensionv1.AddonApplied), HaveField("KubernetesVersion", serverVersion)))

		versions := func() []string {
			var all []string
			for _, object := range []client.Object{&appsv1.Deployment{}, &corev1.ConfigMap{}, &extensionv1.Addon{}} {
				key, from := client.ObjectKey{Namespace: "default", Name: w.namespace}, workload.Client
				switch object.(type) {
				case *corev1.ConfigMap:
					key = inventoryKey
				case *extensionv1.Addon:
					key, from = client.ObjectKey{Namespace: w.namespace, Name: "cni"}, management.Client
				}
				Expect(from.Get(ctx, key, object)).To(Succeed())
				all = append(all, object.GetResourceVersion())
			}
			return all
		}
		before := versions()
		for range 100 {
			Expect(w.run(ctx, task, "")).To(Equal(outcome))
		}
		Expect(versions()).To(Equal(before))
	})

	It("take over what a manifest says, and leave the rest to others", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.addon(ctx, "cni", 0, "", in("one", "wanted"))
		Expect(workload.Client.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "one"}, Data: map[string]string{"value": "old", "other": "kept"},
		})).To(Succeed())
		Expect(w.run(ctx, Task{options()}, "").Done).To(BeTrue())
		found := &corev1.ConfigMap{}
		Expect(workload.Client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: "one"}, found)).To(Succeed())
		Expect(found.Data).To(Equal(map[string]string{"value": "wanted", "other": "kept"}))
		Expect(found.ManagedFields).To(ContainElement(HaveField("Manager", string(fieldOwner))))
	})

	It("lose what they no longer contain, once everything else is ready", func(ctx SpecContext) {
		w := newWorld(ctx)
		addon := w.addon(ctx, "cni", 0, "", strings.Join([]string{in("kept", "1"), in("dropped", "1"), in("taken", "1"), in("moved", "1"), manifest("v1", "ServiceAccount", w.namespace)}, "---\n"))
		other := w.addon(ctx, "other", 1, "", "just words")
		task := Task{options()}
		Expect(w.run(ctx, task, "").Message).To(Equal("add-ons are not applied yet: other: document 1 is not an object"))
		taken := &corev1.ConfigMap{}
		Expect(workload.Client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: "taken"}, taken)).To(Succeed())
		delete(taken.Labels, addonLabel)
		Expect(workload.Client.Update(ctx, taken)).To(Succeed())

		w.change(ctx, addon, func(spec *extensionv1.AddonSpec) { spec.Variants[0].Template = in("kept", "2") })
		Expect(w.run(ctx, task, "").Done).To(BeFalse())
		Expect(w.value(ctx, "kept")).To(Equal("2"))
		Expect(w.value(ctx, "dropped")).To(Equal("1"), "the broken add-on may contain it")

		w.change(ctx, other, func(spec *extensionv1.AddonSpec) { spec.Variants[0].Template = in("moved", "2") })
		Expect(w.run(ctx, task, "").Message).To(Equal("applied 2 objects of the add-ons cni, other"))
		Expect(w.value(ctx, "dropped")).To(BeEmpty())
		Expect(w.value(ctx, "taken")).To(Equal("1"), "it no longer has the label of the add-on")
		Expect(w.value(ctx, "moved")).To(Equal("2"), "another add-on contains it")
		err := workload.Client.Get(ctx, client.ObjectKey{Namespace: "default", Name: w.namespace}, &corev1.ServiceAccount{})
		Expect(apierrors.IsNotFound(err)).To(BeTrue())

		w.change(ctx, addon, func(spec *extensionv1.AddonSpec) { spec.Variants[0].Template = "{{/* nothing */}}" })
		Expect(w.run(ctx, task, "").Done).To(BeTrue())
		Expect(w.value(ctx, "kept")).To(BeEmpty())

		Expect(management.Client.Delete(ctx, other)).To(Succeed())
		Expect(w.run(ctx, task, "").Done).To(BeTrue())
		Expect(w.value(ctx, "moved")).To(Equal("2"), "the objects of a deleted add-on stay")
	})

	// Charts often give a namespace to objects that have none.
	It("keep an object that a manifest names in another way", func(ctx SpecContext) {
		w := newWorld(ctx)
		role := func(namespace string) string {
			return fmt.Sprintf("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: %s%s}\nrules: []\n", w.namespace, namespace)
		}
		addon := w.addon(ctx, "cni", 0, "", role(", namespace: kube-system"))
		Expect(w.run(ctx, Task{options()}, "").Done).To(BeTrue())
		w.change(ctx, addon, func(spec *extensionv1.AddonSpec) { spec.Variants[0].Template = role("") })
		Expect(w.run(ctx, Task{options()}, "").Done).To(BeTrue())
		found := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
		Expect(workload.Client.Get(ctx, client.ObjectKeyFromObject(found), found)).To(Succeed())
	})

	// A former leader may still be at work.
	It("are all in the inventory, even if two processes write it at the same time", func(ctx SpecContext) {
		w := newWorld(ctx)
		for _, name := range []string{"new", "stored"} {
			contain := func(addon *extensionv1.Addon, object string) {
				w.change(ctx, addon, func(spec *extensionv1.AddonSpec) { spec.Variants[0].Template = in(object, "1") })
			}
			addon := w.addon(ctx, name, 0, "", in(name+"-slow", "1"))
			slow := options()
			slow.Workload = func(context.Context, client.ObjectKey) (client.Client, error) {
				return &interrupted{Client: workload.Client, event: func() {
					contain(addon, name+"-fast")
					// A pass before a step applies, but deletes nothing.
					w.change(ctx, addon, func(spec *extensionv1.AddonSpec) { spec.Upgrade = extensionv1.BeforeControlPlane })
					Expect(w.beforeStep(ctx, serverVersion).Done).To(BeTrue())
				}}, nil
			}
			Expect(w.run(ctx, Task{slow}, "").Done).To(BeFalse())
			Expect(w.run(ctx, Task{options()}, "").Done).To(BeTrue())
			contain(addon, name+"-last")
			Expect(w.run(ctx, Task{options()}, "").Done).To(BeTrue())
			Expect(w.value(ctx, name+"-slow")).To(BeEmpty())
			Expect(w.value(ctx, name+"-fast")).To(BeEmpty())
			Expect(w.value(ctx, name+"-last")).To(Equal("1"))
		}
	})

	It("follow an upgrade step by step", func(ctx SpecContext) {
		w := newWorld(ctx)
		variants := func(name string) []string {
			return []string{"1.36.x", in(name, "old {{ .KubernetesVersion }}") + "---\n" + in(name+"-old", "1"), "1.37.x", in(name, "new {{ .KubernetesVersion }}") + "---\n" + manifest(w.namespace+".example.com/v1", "Pool", name)}
		}
		w.change(ctx, w.addon(ctx, "before", 0, variants("before")...), func(spec *extensionv1.AddonSpec) { spec.Upgrade = extensionv1.BeforeControlPlane })
		w.addon(ctx, "after", 0, variants("after")...)
		values := func() []string { return []string{w.value(ctx, "before"), w.value(ctx, "after")} }

		installed := w.run(ctx, Task{options()}, "")
		Expect(installed.Message).To(Equal("applied 4 objects of the add-ons after, before"))
		Expect(values()).To(Equal([]string{"old v1.36.3", "old v1.36.3"}), "not the variant for the end of the upgrade")

		outcome := w.beforeStep(ctx, "v1.37.0")
		Expect(outcome.Done).To(BeTrue(), "the kind may be one of the new version: %s", outcome.Message)
		Expect(outcome.Message).To(Equal("applied 2 objects of the add-ons before; after the step: Pool before"))
		Expect(values()).To(Equal([]string{"new v1.37.0", "old v1.36.3"}))
		Expect(w.entry(ctx, "before").Message).To(Equal("applied after the step: Pool before"))

		outcome = w.run(ctx, Task{options()}, "")
		Expect(outcome.Done).To(BeTrue(), "an update in the middle of the step: %s", outcome.Message)
		Expect(values()).To(Equal([]string{"new v1.37.0", "old v1.36.3"}), "an add-on that is ahead stays ahead")
		Expect(w.value(ctx, "before-old")).To(Equal("1"), "the control plane may still need it")

		outcome = w.run(ctx, Task{options()}, "v1.37.0")
		Expect(outcome.Message).To(ContainSubstring("after: Pool after: the cluster does not know the kind"))
		w.addon(ctx, "pools", 0, "", definition(w.namespace+".example.com"))
		Expect(w.done(ctx, Task{options()}, "v1.37.0").RestartsTimeouts).To(BeTrue(), "the time of the smoke checks counts from now")
		Expect(values()).To(Equal([]string{"new v1.37.0", "new v1.37.0"}))
		Expect([]string{w.value(ctx, "before-old"), w.value(ctx, "after-old")}).To(Equal([]string{"", ""}))

		outcome = w.run(ctx, Task{options()}, "v1.38.0")
		Expect(outcome.Message).To(Equal("applied 1 objects of the add-ons pools; after has no variant for v1.38.0; before has no variant for v1.38.0"))
		Expect(values()).To(Equal([]string{"new v1.37.0", "new v1.37.0"}), "they stay as they are")
		Expect(w.entry(ctx, "after").State).To(Equal(extensionv1.AddonNoVariant))
	})

	It("stay as they are while some API servers are old, whichever of them answers", func(ctx SpecContext) {
		w := newWorld(ctx)
		variants := func(name string) []string {
			return []string{"1.35.x", in(name, "old") + "---\n" + in(name+"-old", "1"), "1.36.x", in(name, "new")}
		}
		w.change(ctx, w.addon(ctx, "before", 0, variants("before")...), func(spec *extensionv1.AddonSpec) { spec.Upgrade = extensionv1.BeforeControlPlane })
		w.addon(ctx, "after", 0, variants("after")...)
		values := func() []string {
			return []string{w.value(ctx, "before"), w.value(ctx, "before-old"), w.value(ctx, "after"), w.value(ctx, "after-old")}
		}
		Expect(w.run(ctx, Task{options()}, "v1.35.4").Done).To(BeTrue())
		Expect(w.beforeStep(ctx, serverVersion).Done).To(BeTrue())
		Expect(values()).To(Equal([]string{"new", "1", "old", "1"}))

		w.cluster.Status.ControlPlane = reporting("v1.35.4", serverVersion)
		Expect(w.run(ctx, Task{options()}, "").Done).To(BeTrue())
		Expect(values()).To(Equal([]string{"new", "1", "old", "1"}))

		w.cluster.Status.ControlPlane = reporting(serverVersion)
		Expect(w.run(ctx, Task{options()}, "").Done).To(BeTrue())
		Expect(values()).To(Equal([]string{"new", "", "new", ""}))
	})

	It("take nothing that is recorded about an earlier Cluster with the same name for true", func(ctx SpecContext) {
		w := newWorld(ctx)
		addon := w.addon(ctx, "cni", 0, "1.36.x", in("one", "old"), "1.37.x", in("one", "new"))
		addon.Status.Clusters = []extensionv1.AddonCluster{{Name: w.cluster.Name, State: extensionv1.AddonApplied, KubernetesVersion: "v1.37.0"}}
		Expect(management.Client.Status().Update(ctx, addon)).To(Succeed())
		Expect(w.run(ctx, Task{options()}, "").Done).To(BeTrue())
		Expect(w.value(ctx, "one")).To(Equal("old"))
	})

	It("are waited for, with words that stay the same, until what is wrong is corrected", func(ctx SpecContext) {
		w := newWorld(ctx)
		service := w.addon(ctx, "service", 0, "", manifest("v1", "Service", w.namespace)+"spec: {ports: [{port: 70000}]}\n")
		typo := w.addon(ctx, "typo", 0, "", manifest("apps/v1", "Deployment", "typo")+"spec: {replica: 3}\n")
		pools := w.addon(ctx, "pools", 0, "", manifest(w.namespace+".example.com/v1", "Pool", "p"))
		w.addon(ctx, "fine", 0, "", in("fine", "1"))
		task := Task{options()}
		outcome := w.run(ctx, task, "")
		Expect(outcome.Done).To(BeFalse())
		Expect(outcome.Message).To(Equal("add-ons are not applied yet: " +
			"pools: Pool p: the cluster does not know the kind in " + w.namespace + ".example.com/v1 yet; " +
			"service: Service " + w.namespace + ": Invalid: Service \"" + w.namespace + "\" is invalid: " +
			"[spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive, " +
			"spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive]; " +
			"typo: Deployment typo: does not match the schema of its kind: failed to create typed patch object (default/typo; apps/v1, Kind=Deployment): .spec.replica: field not declared in schema"))
		Expect(w.value(ctx, "fine")).To(Equal("1"))
		for range 5 {
			Expect(w.run(ctx, task, "")).To(Equal(outcome))
		}
		addon := &extensionv1.Addon{}
		Expect(management.Client.Get(ctx, client.ObjectKeyFromObject(typo), addon)).To(Succeed())
		Expect(meta.FindStatusCondition(addon.Status.Conditions, extensionv1.AddonAppliedCondition)).To(And(
			HaveField("Status", metav1.ConditionFalse), HaveField("Message", HavePrefix("0 of 1 Clusters; c: Deployment typo: does not match"))))

		w.change(ctx, service, func(spec *extensionv1.AddonSpec) {
			spec.Variants[0].Template = strings.Replace(spec.Variants[0].Template, "70000", "80", 1)
		})
		Expect(management.Client.Delete(ctx, typo)).To(Succeed())
		Expect(w.run(ctx, task, "").Message).To(HavePrefix("add-ons are not applied yet: pools"))
		w.change(ctx, pools, func(spec *extensionv1.AddonSpec) {
			spec.Variants[0].Template += "---\n" + definition(w.namespace+".example.com")
		})
		w.done(ctx, task, "")
	})

	It("show nothing of a Secret, whatever is wrong with it", func(ctx SpecContext) {
		const hidden = "hunter2"
		var logged strings.Builder
		logging := ctrl.LoggerInto(ctx, funcr.New(func(_, text string) { logged.WriteString(text) }, funcr.Options{}))
		for _, text := range []string{
			"{{ .Secret.x }}: [", "{ {{ .Secret.x }}", "- {{ .Secret.x }}", "{{ slice 1 .Secret.x }}", "{{ .Secret.x.y }}",
			"apiVersion: v1\nkind: Secret\nmetadata: {name: one}\ndata: {password: {{ .Secret.x }}%}\n",
			"apiVersion: v1\nkind: Secret\nmetadata: {name: two}\ndata: {password: [{{ .Secret.x }}]}\n",
			"apiVersion: v1\nkind: Service\nmetadata: {name: three}\nspec: {ports: [{port: 70000, name: {{ .Secret.x }}}], type: {{ .Secret.x }}}\n",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: four}\ndata: [{{ .Secret.x }}]\n",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: five, labels: {a: \"{{ .Secret.x }}!\"}}\n",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: six, labels: {{ .Secret.x }}}\n",
		} {
			w := newWorld(ctx)
			Expect(management.Client.Create(ctx, &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "s"}, Type: extensionv1.AddonValuesType, StringData: map[string]string{"x": hidden},
			})).To(Succeed())
			w.change(ctx, w.addon(ctx, "cni", 0, "", text), func(spec *extensionv1.AddonSpec) { spec.SecretName = "s" })
			outcome := w.run(logging, Task{options()}, "")
			Expect(outcome.Message).To(HavePrefix("add-ons are not applied yet: cni: "), "given %s", text)
			Expect(outcome.Message+outcome.Report+w.entry(ctx, "cni").Message).NotTo(ContainSubstring(hidden), "given %s", text)
		}
		Expect(logged.String()).NotTo(ContainSubstring(hidden))
	})

	It("wait for a workload cluster that cannot be reached", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.addon(ctx, "cni", 0, "", in("one", "1"))
		for want, err := range map[string]error{
			`the API server answered NotFound for secrets "c-kubeconfig"`: apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "c-kubeconfig"),
			"connection refused": &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED},
		} {
			unreachable := options()
			unreachable.Workload = func(context.Context, client.ObjectKey) (client.Client, error) { return nil, err }
			Expect(w.run(ctx, Task{unreachable}, "").Message).To(Equal("add-ons are not applied yet: the workload cluster cannot be reached: " + want))
			Expect(w.entry(ctx, "cni").Message).To(Equal("the workload cluster cannot be reached: " + want))
		}
	})

	It("apply only if they select the Cluster", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.change(ctx, w.addon(ctx, "cni", 0, "", in("one", "1")), func(spec *extensionv1.AddonSpec) {
			spec.ClusterSelector.MatchLabels = map[string]string{"cni": "cilium"}
		})
		Expect(w.run(ctx, Task{options()}, "")).To(Equal(hooks.Outcome{Done: true, Message: "no add-on selects this Cluster"}))
	})
})
