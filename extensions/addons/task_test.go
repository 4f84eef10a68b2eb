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
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

const version = "v1.36.3"

// world is a Cluster in a namespace of its own.
type world struct {
	namespace string
	cluster   *clusterv1.Cluster
}

func newWorld(ctx context.Context) world {
	GinkgoHelper()
	namespace, err := environment.CreateNamespace(ctx, "addons")
	Expect(err).NotTo(HaveOccurred())
	cluster := &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c", Labels: map[string]string{"cni": "calico"}},
		Spec:       clusterv1.ClusterSpec{Topology: clusterv1.Topology{ClassRef: clusterv1.ClusterClassRef{Name: "class"}, Version: version}},
	}
	Expect(environment.Client.Create(ctx, cluster)).To(Succeed())
	return world{namespace: namespace, cluster: cluster}
}

// configMap creates an add-on with annotations in key-value pairs.
func (w world) configMap(ctx context.Context, addon, name, text string, annotations ...string) *corev1.ConfigMap {
	GinkgoHelper()
	made := &corev1.ConfigMap{ObjectMeta: w.meta(addon, name, annotations), Data: map[string]string{"all.yaml": text}}
	Expect(environment.Client.Create(ctx, made)).To(Succeed())
	return made
}

func (w world) secret(ctx context.Context, addon, name, text string, annotations ...string) {
	GinkgoHelper()
	made := &corev1.Secret{ObjectMeta: w.meta(addon, name, annotations), Data: map[string][]byte{"all.yaml": []byte(text)}}
	Expect(environment.Client.Create(ctx, made)).To(Succeed())
}

func (w world) meta(addon, name string, annotations []string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: w.namespace, Name: name, Labels: map[string]string{AddonLabel: addon},
		Annotations: variant(addon, name, annotations...).annotations,
	}
}

// run runs a task once.
func (w world) run(ctx context.Context, task *Task, to string) hooks.Outcome {
	GinkgoHelper()
	outcome, err := task.Run(ctx, hooks.Job{Cluster: w.cluster, To: to})
	Expect(err).NotTo(HaveOccurred())
	return outcome
}

// done runs a task until it is done.
func (w world) done(ctx context.Context, task *Task, to string) hooks.Outcome {
	GinkgoHelper()
	var outcome hooks.Outcome
	Eventually(func() bool {
		outcome = w.run(ctx, task, to)
		return outcome.Done
	}).Should(BeTrue(), "the definition of a kind is served soon after it was applied")
	return outcome
}

func options() Options {
	return Options{
		Client:   environment.Client,
		Workload: func(context.Context, client.ObjectKey) (client.Client, error) { return environment.Client, nil },
	}
}

// in returns the manifest of a ConfigMap in a namespace.
func in(namespace, name, value string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\ndata: {value: %q}\n", name, namespace, value)
}

func get(ctx context.Context, kind schema.GroupVersionKind, namespace, name string) *unstructured.Unstructured {
	GinkgoHelper()
	found := &unstructured.Unstructured{}
	found.SetGroupVersionKind(kind)
	Expect(environment.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, found)).To(Succeed())
	return found
}

func valueOf(ctx context.Context, namespace, name string) string {
	GinkgoHelper()
	found := &corev1.ConfigMap{}
	Expect(environment.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, found)).To(Succeed())
	return found.Data["value"]
}

// definition returns the manifest of a CRD with its own group.
func definition(group string) string {
	text, err := yaml.Marshal(&apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: apiextensionsv1.SchemeGroupVersion.String(), Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: "pools." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.ClusterScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Pool", ListKind: "PoolList", Plural: "pools", Singular: "pool"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	})
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

var _ = Describe("Add-ons", func() {
	It("are applied in order, kinds that they define included, and 1000 more times without a change", func(ctx SpecContext) {
		w := newWorld(ctx)
		group := w.namespace + ".example.com"
		w.configMap(ctx, "cni", "cni", strings.Join([]string{
			manifest(group+"/v1", "Pool", w.namespace), in(w.namespace+"-made", "one", "1"),
			"apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(manifest("v1", "Namespace", w.namespace+"-made")), "\n", "\n  "),
			manifest("v1", "ServiceAccount", w.namespace),
		}, "\n---\n"))
		w.secret(ctx, "definitions", "definitions", definition(group))

		task := NewInstallation(options())
		outcome := w.done(ctx, task, "")
		Expect(outcome.Message).To(Equal("applied 5 objects of the add-ons cni, definitions"))
		Expect(strings.Split(strings.TrimSpace(outcome.Report), "\n")).To(Equal([]string{
			"cni (ConfigMap cni, key all.yaml): Namespace " + w.namespace + "-made: applied",
			"definitions (Secret definitions, key all.yaml): CustomResourceDefinition pools." + group + ": applied",
			"cni (ConfigMap cni, key all.yaml): ServiceAccount " + w.namespace + ": applied",
			"cni (ConfigMap cni, key all.yaml): ConfigMap " + w.namespace + "-made/one: applied",
			"cni (ConfigMap cni, key all.yaml): Pool " + w.namespace + ": applied",
		}))

		all := func() []string {
			var versions []string
			for _, one := range []*unstructured.Unstructured{
				get(ctx, corev1.SchemeGroupVersion.WithKind("Namespace"), "", w.namespace+"-made"),
				get(ctx, apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"), "", "pools."+group),
				get(ctx, corev1.SchemeGroupVersion.WithKind("ServiceAccount"), metav1.NamespaceDefault, w.namespace),
				get(ctx, corev1.SchemeGroupVersion.WithKind("ConfigMap"), w.namespace+"-made", "one"),
				get(ctx, schema.GroupVersionKind{Group: group, Version: "v1", Kind: "Pool"}, "", w.namespace),
			} {
				versions = append(versions, one.GetResourceVersion())
			}
			return versions
		}
		before := all()
		for range 1000 {
			Expect(w.run(ctx, task, "")).To(Equal(outcome))
		}
		Expect(all()).To(Equal(before))
	})

	It("take over what a manifest says, and leave the rest to others", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.configMap(ctx, "cni", "cni", in(w.namespace, "one", "wanted"))
		Expect(environment.Client.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "one"}, Data: map[string]string{"value": "old", "other": "kept"},
		})).To(Succeed())
		Expect(w.run(ctx, NewInstallation(options()), "").Done).To(BeTrue())
		found := &corev1.ConfigMap{}
		Expect(environment.Client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: "one"}, found)).To(Succeed())
		Expect(found.Data).To(Equal(map[string]string{"value": "wanted", "other": "kept"}))
		Expect(found.Labels).To(Equal(map[string]string{FromAddonLabel: "cni"}))
		var managers []string
		for _, one := range found.ManagedFields {
			managers = append(managers, one.Manager)
		}
		Expect(managers).To(ContainElement(string(FieldOwner)))
	})

	It("are applied in the variant for the version, before an upgrade too", func(ctx SpecContext) {
		w := newWorld(ctx)
		both := []string{ApplyAnnotation, "after-initialization,before-upgrade", ClusterSelectorAnnotation, "cni=calico"}
		w.configMap(ctx, "cni", "cni-1.36", in(w.namespace, "cni", "1.36"), append(both, VersionsAnnotation, "1.36.x")...)
		w.configMap(ctx, "cni", "cni-1.37", in(w.namespace, "cni", "1.37"), append(both, VersionsAnnotation, "1.37.x")...)
		w.configMap(ctx, "late", "late", in(w.namespace, "late-made", "1"), ApplyAnnotation, "before-upgrade")
		w.configMap(ctx, "early", "early", in(w.namespace, "early-made", "1"))

		Expect(w.run(ctx, NewInstallation(options()), "").Message).To(Equal("applied 2 objects of the add-ons cni, early"))
		Expect(valueOf(ctx, w.namespace, "cni")).To(Equal("1.36"))
		Expect(apierrors.IsNotFound(environment.Client.Get(ctx, client.ObjectKey{Namespace: w.namespace, Name: "late-made"}, &corev1.ConfigMap{}))).To(BeTrue())

		Expect(w.run(ctx, NewPreUpgrade(options()), "v1.37.0").Message).To(Equal("applied 2 objects of the add-ons cni, late"))
		Expect(valueOf(ctx, w.namespace, "cni")).To(Equal("1.37"))
		Expect(valueOf(ctx, w.namespace, "late-made")).To(Equal("1"))
	})

	It("are waited for, with words that stay the same, until what is wrong is mended", func(ctx SpecContext) {
		w := newWorld(ctx)
		refusedSource := w.configMap(ctx, "cni", "cni", "apiVersion: v1\nkind: Service\nmetadata: {name: "+w.namespace+"}\nspec: {ports: [{port: 70000}]}\n")
		w.configMap(ctx, "fine", "fine", in(w.namespace, "fine-made", "1"))
		unparsed := w.configMap(ctx, "words", "words", "just words")
		waiting := w.configMap(ctx, "pools", "pools", manifest(w.namespace+".example.com/v1", "Pool", "p"))

		typo := w.configMap(ctx, "typo", "typo", manifest("apps/v1", "Deployment", "typo")+"spec: {replica: 3}\n")

		task := NewPreUpgrade(options())
		Expect(w.run(ctx, task, version).Message).To(Equal("no add-on applies to this Cluster now"))
		task = NewInstallation(options())
		outcome := w.run(ctx, task, "")
		Expect(outcome.Done).To(BeFalse())
		Expect(outcome.Message).To(Equal("add-ons are not applied yet: ConfigMap cni, key all.yaml: Service " + w.namespace + ": Invalid: Service \"" + w.namespace + "\" is invalid: " +
			"[spec.ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive, " +
			"spec.ports[0].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive]; " +
			"ConfigMap pools, key all.yaml: Pool p: the cluster does not know the kind in " + w.namespace + ".example.com/v1 yet; " +
			"ConfigMap typo, key all.yaml: Deployment typo: does not match the schema of its kind: failed to create typed patch object (default/typo; apps/v1, Kind=Deployment): .spec.replica: field not declared in schema; " +
			"ConfigMap words, key all.yaml: document 1 is not an object"))
		Expect(outcome.Report).To(ContainSubstring("ConfigMap " + w.namespace + "/fine-made: applied\n"))
		for range 5 {
			Expect(w.run(ctx, task, "")).To(Equal(outcome))
		}

		unparsed.Data["all.yaml"] = in(w.namespace, "words-made", "1")
		refusedSource.Data["all.yaml"] = strings.Replace(refusedSource.Data["all.yaml"], "70000", "80", 1)
		Expect(environment.Client.Delete(ctx, typo)).To(Succeed())
		Expect(environment.Client.Update(ctx, unparsed)).To(Succeed())
		Expect(environment.Client.Update(ctx, refusedSource)).To(Succeed())
		outcome = w.run(ctx, task, "")
		Expect(outcome.Message).To(HavePrefix("add-ons are not applied yet: ConfigMap pools"))
		Expect(outcome.RetryAfter).To(Equal(kindWait))
		waiting.Data["all.yaml"] += "---\n" + definition(w.namespace+".example.com")
		Expect(environment.Client.Update(ctx, waiting)).To(Succeed())
		w.done(ctx, task, "")
	})

	It("show nothing of a Secret, whatever is wrong with it", func(ctx SpecContext) {
		const hidden = "hunter2"
		var logged strings.Builder
		logging := ctrl.LoggerInto(ctx, funcr.New(func(_, text string) { logged.WriteString(text) }, funcr.Options{}))
		texts := []string{
			hidden + ": [", "{" + hidden, "- " + hidden,
			"apiVersion: v1\nkind: Secret\nmetadata: {name: one}\ndata: {password: " + hidden + "%}\n",
			"apiVersion: v1\nkind: Secret\nmetadata: {name: two}\ndata: {password: [" + hidden + "]}\n",
			"apiVersion: v1\nkind: Service\nmetadata: {name: three}\nspec: {ports: [{port: 70000, name: " + hidden + "}], type: " + hidden + "}\n",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: four}\ndata: [" + hidden + "]\n",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: five, labels: {a: \"" + hidden + "!\"}}\n",
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: six, labels: " + hidden + "}\n",
		}
		for _, text := range texts {
			w := newWorld(ctx)
			w.secret(ctx, "cni", "one", text)
			outcome := w.run(logging, NewInstallation(options()), "")
			Expect(outcome.Message).To(HavePrefix("add-ons are not applied yet: Secret one, key all.yaml: "))
			Expect(outcome.Message+outcome.Report).NotTo(ContainSubstring(hidden), "given %s", text)
		}
		Expect(logged.String()).NotTo(ContainSubstring(hidden))
	})

	It("wait for a workload cluster that cannot be reached", func(ctx SpecContext) {
		w := newWorld(ctx)
		w.configMap(ctx, "cni", "cni", in(w.namespace, "one", "1"))
		unreachable := options()
		unreachable.Workload = func(context.Context, client.ObjectKey) (client.Client, error) {
			return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "c-kubeconfig")
		}
		Expect(w.run(ctx, NewInstallation(unreachable), "").Message).
			To(Equal("add-ons are not applied yet: the workload cluster cannot be reached: the API server answered NotFound for secrets \"c-kubeconfig\""))
		unreachable.Workload = func(context.Context, client.ObjectKey) (client.Client, error) {
			return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		}
		Expect(w.run(ctx, NewInstallation(unreachable), "").Message).
			To(Equal("add-ons are not applied yet: the workload cluster cannot be reached: connection refused"))
	})

	It("are off unless a setting turns them on", func() {
		Expect(NewInstallation(options()).Wanted(hooks.Settings{PreUpgradeAddons: true})).To(BeFalse())
		Expect(NewInstallation(options()).Wanted(hooks.Settings{Addons: true})).To(BeTrue())
		Expect(NewPreUpgrade(options()).Wanted(hooks.Settings{Addons: true})).To(BeFalse())
		Expect(NewPreUpgrade(options()).Wanted(hooks.Settings{PreUpgradeAddons: true})).To(BeTrue())
	})
})
