// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	clusterctlv1 "sigs.k8s.io/cluster-api/cmd/clusterctl/api/v1alpha3"
	"sigs.k8s.io/cluster-api/cmd/clusterctl/client/yamlprocessor"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/internal/kustomize"
)

// values are the values of variables without a default.
var values = map[string]string{
	"FOO_CLOUD_ENDPOINT": "https://cloud.example:7443", "FOO_CLOUD_TOKEN_B64": "dG9rZW4=", "FOO_CLOUD_CA_B64": "Y2E=",
}

// installed returns the components of a provider as clusterctl applies them, by kind.
func installed(g *WithT, provider provider) map[string][]unstructured.Unstructured {
	content, err := components(sources, provider, version)
	g.Expect(err).NotTo(HaveOccurred())
	content, err = yamlprocessor.NewSimpleProcessor().Process(content, func(name string) (string, error) { return values[name], nil })
	g.Expect(err).NotTo(HaveOccurred())
	kinds := map[string][]unstructured.Unstructured{}
	for _, object := range decode(g, content) {
		kinds[object.GetKind()] = append(kinds[object.GetKind()], object)
	}
	return kinds
}

// as returns the only object of a kind as its type.
func as[T any](g *WithT, kinds map[string][]unstructured.Unstructured, kind string) *T {
	g.Expect(kinds[kind]).To(HaveLen(1), kind)
	typed := new(T)
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(kinds[kind][0].Object, typed, true)).To(Succeed())
	return typed
}

func TestManagerRunsInRestrictedNamespaces(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, provider := range providers {
		t.Run(provider.title, func(t *testing.T) {
			g := NewWithT(t)
			kinds := installed(g, provider)
			namespace := as[corev1.Namespace](g, kinds, "Namespace")
			g.Expect(namespace.Labels).To(HaveKeyWithValue(api.EnforceLevelLabel, string(api.LevelRestricted)))
			pod := as[appsv1.Deployment](g, kinds, "Deployment").Spec.Template
			for _, result := range evaluator.EvaluatePod(api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}, &pod.ObjectMeta, &pod.Spec) {
				g.Expect(result.Allowed).To(BeTrue(), result.ForbiddenReason+": "+result.ForbiddenDetail)
			}
			g.Expect(pod.Spec.Containers).To(HaveLen(1))
			container := pod.Spec.Containers[0]
			g.Expect(container.Name).To(Equal("manager"), "clusterctl looks for this name")
			g.Expect(container.Image).To(Equal("ghcr.io/capfoo/cluster-api-provider-foo/" + provider.program + ":" + version))
			g.Expect(container.Command).To(Equal([]string{"/" + provider.program}))
			g.Expect(container.SecurityContext.ReadOnlyRootFilesystem).To(HaveValue(BeTrue()))
			g.Expect(container.LivenessProbe).NotTo(BeNil())
			g.Expect(container.ReadinessProbe).NotTo(BeNil())
			g.Expect(container.Resources.Requests).To(HaveKey(corev1.ResourceMemory))
			g.Expect(container.Resources.Limits).To(BeEmpty(), "clusterctl cannot read a Deployment with a variable as a quantity")
			limits := as[corev1.LimitRange](g, kinds, "LimitRange")
			g.Expect(limits.Namespace).To(Equal(namespace.Name))
			g.Expect(limits.Spec.Limits).To(ConsistOf(And(HaveField("Type", corev1.LimitTypeContainer),
				HaveField("Default", HaveKeyWithValue(corev1.ResourceMemory, resource.MustParse("1Gi"))))))
			g.Expect(container.Args).To(ContainElements("--leader-elect", "--providers="+strings.TrimSuffix(strings.ToLower(strings.ReplaceAll(provider.title, " ", "-")), "-provider")))
		})
	}
}

// Cluster API waits for the extension in each change of a cluster, and does not start without it.
func TestTheExtensionIsUpdatedWithoutAGap(t *testing.T) {
	g := NewWithT(t)
	extension := providers[2]
	g.Expect(extension.kind).To(Equal(clusterctlv1.RuntimeExtensionProviderType))
	kinds := installed(g, extension)
	deployment := as[appsv1.Deployment](g, kinds, "Deployment")
	g.Expect(deployment.Spec.Replicas).To(HaveValue(BeNumerically(">=", 2)))
	g.Expect(deployment.Spec.Strategy.RollingUpdate.MaxUnavailable.String()).To(Equal("0"))
	pod := deployment.Spec.Template
	container := pod.Spec.Containers[0]
	g.Expect(container.ReadinessProbe.HTTPGet.Path).To(Equal("/readyz"), "it fails until the server answers with its certificate")
	pause := container.Lifecycle.PreStop.Sleep.Seconds
	g.Expect(pause).To(BeNumerically(">", 0), "callers may still have the address of a Pod that is stopped")
	g.Expect(pod.Spec.TerminationGracePeriodSeconds).To(HaveValue(BeNumerically(">", pause)))
	budget := as[policyv1.PodDisruptionBudget](g, kinds, "PodDisruptionBudget")
	g.Expect(budget.Spec.MaxUnavailable.String()).To(Equal("1"))
	for key, value := range budget.Spec.Selector.MatchLabels {
		g.Expect(pod.Labels).To(HaveKeyWithValue(key, value))
	}
	g.Expect(container.Args).To(ContainElement("--etcd-snapshot-image=ghcr.io/capfoo/cluster-api-provider-foo/etcd-snapshot:" + version))
}

// Only Cluster API's manager calls hooks, as far as a NetworkPolicy can tell.
func TestOnlyClusterAPICallsHooks(t *testing.T) {
	g := NewWithT(t)
	policy := as[networkingv1.NetworkPolicy](g, installed(g, providers[2]), "NetworkPolicy")
	for _, rule := range policy.Spec.Ingress {
		for _, port := range rule.Ports {
			if port.Port.StrVal == "webhook-server" {
				g.Expect(rule.From).To(ConsistOf(networkingv1.NetworkPolicyPeer{
					NamespaceSelector: &metav1.LabelSelector{}, PodSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
						{Key: "cluster.x-k8s.io/provider", Operator: metav1.LabelSelectorOpIn, Values: []string{"cluster-api"}},
					}},
				}))
			}
		}
	}
}

// cert-manager and the API server find each other by name, and nothing else checks the names before
// a user installs them.
func TestWebhooksAreReached(t *testing.T) {
	for _, provider := range providers {
		t.Run(provider.title, func(t *testing.T) {
			g := NewWithT(t)
			kinds := installed(g, provider)
			service := service(g, kinds, "-webhook-service")
			pod := as[appsv1.Deployment](g, kinds, "Deployment").Spec.Template
			for key, value := range service.Spec.Selector {
				g.Expect(pod.Labels).To(HaveKeyWithValue(key, value))
			}
			certificate := kinds["Certificate"][0]
			names, _, err := unstructured.NestedStringSlice(certificate.Object, "spec", "dnsNames")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(names).To(ContainElement(service.Name + "." + service.Namespace + ".svc"))
			secret, _, err := unstructured.NestedString(certificate.Object, "spec", "secretName")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(pod.Spec.Volumes).To(ContainElement(HaveField("VolumeSource.Secret.SecretName", secret)))
			issuer, _, err := unstructured.NestedString(certificate.Object, "spec", "issuerRef", "name")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(kinds["Issuer"][0].GetName()).To(Equal(issuer))

			called := regexp.MustCompile(`(?m)service:\n +name: (.*)\n +namespace: (.*)\n`)
			for _, kind := range []string{"CustomResourceDefinition", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"} {
				for _, object := range kinds[kind] {
					if strings.HasSuffix(object.GetName(), ".foo.cluster.x-k8s.io") {
						continue // it has one version, so nothing converts it
					}
					g.Expect(object.GetAnnotations()).To(HaveKeyWithValue("cert-manager.io/inject-ca-from", certificate.GetNamespace()+"/"+certificate.GetName()))
					text, err := yaml.Marshal(object.Object)
					g.Expect(err).NotTo(HaveOccurred())
					calls := called.FindAllStringSubmatch(string(text), -1)
					g.Expect(calls).NotTo(BeEmpty(), object.GetName())
					for _, call := range calls {
						g.Expect(call[1:]).To(Equal([]string{service.Name, service.Namespace}), object.GetName())
					}
				}
			}
		})
	}
}

// A NetworkPolicy and a Service refer to the port by name, and could point to a port that nobody
// listens on.
func TestMetricsAreServedAtTheirPort(t *testing.T) {
	const flag = "--diagnostics-address="
	values["FOO_DIAGNOSTICS_ADDRESS"] = ":9000" // as in the configuration of an earlier release
	defer delete(values, "FOO_DIAGNOSTICS_ADDRESS")
	for _, provider := range providers {
		g := NewWithT(t)
		container := as[appsv1.Deployment](g, installed(g, provider), "Deployment").Spec.Template.Spec.Containers[0]
		at := slices.IndexFunc(container.Args, func(arg string) bool { return strings.HasPrefix(arg, flag) })
		g.Expect(at).NotTo(Equal(-1), flag)
		_, text, err := net.SplitHostPort(strings.TrimPrefix(container.Args[at], flag))
		g.Expect(err).NotTo(HaveOccurred())
		port, err := strconv.Atoi(text)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(container.Ports).To(ContainElement(And(HaveField("Name", "metrics"), HaveField("ContainerPort", BeEquivalentTo(port)))))
	}
}

// Only the control plane provider has permissions for all kinds of a group, because no release can
// name the kinds of every infrastructure provider.
func TestNoRoleGrantsEverything(t *testing.T) {
	for _, provider := range providers {
		g := NewWithT(t)
		kinds := installed(g, provider)
		var wide []rbacv1.PolicyRule
		for _, object := range append(kinds["ClusterRole"], kinds["Role"]...) {
			for _, rule := range rulesOf(g, object) {
				if slices.Contains(slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs), "*") {
					wide = append(wide, rule)
				}
			}
		}
		if provider.title != "control plane provider" {
			g.Expect(wide).To(BeEmpty(), provider.title)
			continue
		}
		g.Expect(wide).To(ConsistOf(rbacv1.PolicyRule{
			APIGroups: []string{"infrastructure.cluster.x-k8s.io"}, Resources: []string{"*"},
			Verbs: []string{"get", "list", "watch", "create", "patch", "delete"},
		}))
		role, account := "control-plane-foo-infrastructures", kinds["ServiceAccount"][0]
		g.Expect(kinds["ClusterRoleBinding"]).To(ContainElement(And(
			WithTransform(func(binding unstructured.Unstructured) any { return binding.Object["roleRef"] }, HaveKeyWithValue("name", role)),
			WithTransform(func(binding unstructured.Unstructured) any { return binding.Object["subjects"] }, ConsistOf(And(
				HaveKeyWithValue("name", account.GetName()), HaveKeyWithValue("namespace", account.GetNamespace())))))))
	}
}

// An administrator's own kustomization removes the control plane provider's permissions for kinds
// that it does not name.
func TestRightsOnInfrastructureCanBeNarrowed(t *testing.T) {
	g := NewWithT(t)
	content, err := kustomize.Build("testdata/narrow-rights")
	g.Expect(err).NotTo(HaveOccurred())
	granted := map[string][]string{}
	for _, object := range decode(g, content) {
		if object.GetKind() != "ClusterRole" || object.GetName() != "control-plane-foo-infrastructures" {
			continue
		}
		for _, rule := range rulesOf(g, object) {
			g.Expect(rule.APIGroups).To(Equal([]string{"infrastructure.cluster.x-k8s.io"}))
			for _, resource := range rule.Resources {
				granted[resource] = rule.Verbs
			}
		}
	}
	g.Expect(granted).To(Equal(map[string][]string{
		"fooclusters":         {"get", "list", "watch"},
		"foomachinetemplates": {"get", "list", "watch", "patch"},
		"foomachines":         {"get", "list", "watch", "create", "patch", "delete"},
	}))
}

func rulesOf(g *WithT, object unstructured.Unstructured) []rbacv1.PolicyRule {
	role := &rbacv1.ClusterRole{}
	g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, role, true)).To(Succeed())
	return role.Rules
}

func TestVariables(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join(sources, "docs/getting-started.md"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, provider := range providers {
		g := NewWithT(t)
		content, err := components(sources, provider, version)
		g.Expect(err).NotTo(HaveOccurred())
		variables, err := yamlprocessor.NewSimpleProcessor().GetVariableMap(content)
		g.Expect(err).NotTo(HaveOccurred())
		for name, fallback := range variables {
			g.Expect(name).To(HavePrefix(variablePrefix))
			g.Expect(string(guide)).To(ContainSubstring("| `"+name+"` | "), "docs/getting-started.md lists all variables")
			_, required := values[name]
			if provider.kind == clusterctlv1.RuntimeExtensionProviderType {
				required = false // it works without a cloud
			}
			g.Expect(fallback == nil).To(Equal(required), "%s has a default, or is documented as required", name)
		}
	}
}

// A user's own kustomization adds them to an installed release.
func TestMonitoringIsOptional(t *testing.T) {
	g := NewWithT(t)
	content, err := kustomize.Build("testdata/monitoring")
	g.Expect(err).NotTo(HaveOccurred())
	kinds := map[string]unstructured.Unstructured{}
	for _, object := range decode(g, content) {
		g.Expect(object.GetNamespace()).To(Equal("monitoring"))
		kinds[object.GetKind()] = object
	}
	g.Expect(kinds).To(And(HaveLen(2), HaveKey("ConfigMap"), HaveKey("ServiceMonitor")))
	spec := struct {
		NamespaceSelector struct{ MatchNames []string }
		Selector          metav1.LabelSelector
		Endpoints         []struct{ Port string }
	}{}
	text, err := yaml.Marshal(kinds["ServiceMonitor"].Object["spec"])
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(yaml.Unmarshal(text, &spec)).To(Succeed())
	selector, err := metav1.LabelSelectorAsSelector(&spec.Selector)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(spec.Endpoints).To(HaveLen(1))

	for _, provider := range providers {
		kinds := installed(g, provider)
		g.Expect(kinds).NotTo(HaveKey("ServiceMonitor"), "it needs a CRD that may not be installed")
		metrics := service(g, kinds, "-foo-metrics")
		g.Expect(spec.NamespaceSelector.MatchNames).To(ContainElement(metrics.Namespace))
		g.Expect(selector.Matches(labels.Set(metrics.Labels))).To(BeTrue(), provider.title)
		g.Expect(selector.Matches(labels.Set(service(g, kinds, "-webhook-service").Labels))).To(BeFalse(), provider.title)
		g.Expect(metrics.Spec.Ports).To(ConsistOf(And(HaveField("Name", spec.Endpoints[0].Port), HaveField("TargetPort.StrVal", "metrics"))))
		manager := as[appsv1.Deployment](g, kinds, "Deployment")
		g.Expect(manager.Namespace).To(Equal(metrics.Namespace))
		g.Expect(labels.SelectorFromSet(metrics.Spec.Selector).Matches(labels.Set(manager.Spec.Template.Labels))).To(BeTrue(), provider.title)
	}
}

// service returns the only Service whose name has the suffix.
func service(g *WithT, kinds map[string][]unstructured.Unstructured, suffix string) *corev1.Service {
	named := slices.DeleteFunc(slices.Clone(kinds["Service"]), func(object unstructured.Unstructured) bool {
		return !strings.HasSuffix(object.GetName(), suffix)
	})
	return as[corev1.Service](g, map[string][]unstructured.Unstructured{"Service": named}, "Service")
}
