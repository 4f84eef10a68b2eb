//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	sigsyaml "sigs.k8s.io/yaml"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/test/builder"
	"sigs.k8s.io/cluster-api/util/yaml"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/ownertags"
	"github.com/capfoo/cluster-api-provider-foo/templates/flavors"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

const (
	className = "foo"
	gib       = 1 << 30
)

var (
	env *envtestenv.Environment
	// program reads the management cluster with exactly the permissions that a release gives
	// the runtime extension.
	program     client.Client
	programRole rbacv1.RoleRef
)

func TestQuota(t *testing.T) {
	envtestenv.Run(t, "Quota", &env, envtestenv.Start, func(ctx context.Context) {
		program = asProgram(ctx)
		installOtherProviders()
	})
}

// asProgram returns a client for a user with the role of config/runtime-extension.
func asProgram(ctx context.Context) client.Client {
	GinkgoHelper()
	content, err := os.ReadFile("../../config/runtime-extension/role.yaml")
	Expect(err).NotTo(HaveOccurred())
	role := &rbacv1.ClusterRole{}
	Expect(sigsyaml.UnmarshalStrict(content, role)).To(Succeed())
	Expect(env.Client.Create(ctx, role)).To(Succeed())
	programRole = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name}
	const user = "runtime-extension"
	Expect(env.Client.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name}, Subjects: subjects(user), RoleRef: programRole,
	})).To(Succeed())
	return asUser(ctx, user, "")
}

// asProgramOf returns a client for a user with that role in one namespace only.
func asProgramOf(ctx context.Context, namespace string) client.Client {
	GinkgoHelper()
	user := "runtime-extension-of-" + namespace
	Expect(env.Client.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: user}, Subjects: subjects(user), RoleRef: programRole,
	})).To(Succeed())
	return asUser(ctx, user, namespace)
}

func subjects(user string) []rbacv1.Subject {
	return []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
}

// asUser returns a client for a user that may list Clusters of a namespace, or of all.
func asUser(ctx context.Context, user, namespace string) client.Client {
	GinkgoHelper()
	config := rest.CopyConfig(env.Config)
	config.Impersonate.UserName = user
	limited, err := client.New(config, client.Options{Scheme: env.Scheme})
	Expect(err).NotTo(HaveOccurred())
	Eventually(func(ctx context.Context) error {
		return limited.List(ctx, &clusterv1.ClusterList{}, client.InNamespace(namespace))
	}).WithContext(ctx).Should(Succeed(), "the API server learns of a new role a moment later")
	return limited
}

// installOtherProviders installs kinds of providers that the runtime extension does not know and
// has no permissions for.
func installOtherProviders() {
	GinkgoHelper()
	_, err := envtest.InstallCRDs(env.Config, envtest.CRDInstallOptions{MaxTime: envtestenv.Patience, CRDs: []*apiextensionsv1.CustomResourceDefinition{
		builder.GenericInfrastructureClusterTemplateCRD.DeepCopy(), builder.GenericInfrastructureMachineTemplateCRD.DeepCopy(),
		builder.GenericBootstrapConfigTemplateCRD.DeepCopy(), builder.GenericControlPlaneTemplateCRD.DeepCopy(),
		builder.GenericControlPlaneCRD.DeepCopy(),
	}})
	Expect(err).NotTo(HaveOccurred())
}

// ofOther returns a reference to a template of another provider, for a ClusterClass.
func ofOther(group schema.GroupVersion, kind string) map[string]any {
	return map[string]any{"apiVersion": group.String(), "kind": kind, "name": "other"}
}

// clouds are the clouds of tenants. The empty tenant has the one of clusters without an identity.
type clouds map[string]cloud.Cloud

// resolver returns what the program finds these clouds with.
func (c clouds) resolver() cloudidentity.Clouds {
	return cloudidentity.NewResolver(cloudidentity.Options{
		Client: program, Secrets: program, Default: c[""],
		Connect: func(account cloudidentity.Account) (cloudidentity.Connection, error) {
			return connection{c[account.Tenant]}, nil
		},
		Follow: func(cloudevents.Watcher, cloudevents.Scope) func() { return func() {} },
	})
}

// connection is a connection to a fake cloud, which accepts all credentials.
type connection struct{ cloud.Cloud }

func (connection) Check(context.Context) error { return nil }

func (connection) Close() {}

func limited(instances int) *fake.Cloud {
	return fake.New(fake.Options{Limits: cloud.Resources{Instances: instances}})
}

// class installs the ClusterClass of a release and its templates, in the state in which Cluster
// API's controller leaves it.
func class(ctx context.Context, change func(object *unstructured.Unstructured)) string {
	GinkgoHelper()
	namespace, err := env.CreateNamespace(ctx, "quota")
	Expect(err).NotTo(HaveOccurred())
	all, err := flavors.Build()
	Expect(err).NotTo(HaveOccurred())
	Expect(all.Classes).To(ContainElement(HaveField("Name", className)))
	for _, template := range all.Classes {
		if template.Name != className {
			continue
		}
		objects, err := yaml.ToUnstructured(template.Content)
		Expect(err).NotTo(HaveOccurred())
		for i := range objects {
			objects[i].SetNamespace(namespace)
			if change != nil {
				change(&objects[i])
			}
			Expect(env.Client.Create(ctx, &objects[i])).To(Succeed(), objects[i].GetKind())
		}
	}
	installed := readClass(ctx, namespace)
	for _, variable := range installed.Spec.Variables {
		installed.Status.Variables = append(installed.Status.Variables, clusterv1.ClusterClassStatusVariable{
			Name: variable.Name, DefinitionsConflict: ptr.To(false), Definitions: []clusterv1.ClusterClassStatusVariableDefinition{{
				From: clusterv1.VariableDefinitionFromInline, Required: variable.Required, Schema: variable.Schema,
			}},
		})
	}
	Expect(env.Client.Status().Update(ctx, installed)).To(Succeed())
	return namespace
}

func readClass(ctx context.Context, namespace string) *clusterv1.ClusterClass {
	GinkgoHelper()
	installed := &clusterv1.ClusterClass{}
	Expect(env.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: className}, installed)).To(Succeed())
	return installed
}

// newCluster creates a Cluster with the given numbers of machines. Its variables have the defaults
// that Cluster API's webhook would set.
func newCluster(ctx context.Context, namespace, name string, controlPlanes, deployed, pooled int32, variables map[string]string) *clusterv1.Cluster {
	GinkgoHelper()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	topology := &cluster.Spec.Topology
	topology.ClassRef.Name, topology.Version = className, "v1.36.3"
	topology.ControlPlane.Replicas = &controlPlanes
	topology.Workers.MachineDeployments = []clusterv1.MachineDeploymentTopology{{Class: "default-worker", Name: "md", Replicas: &deployed}}
	topology.Workers.MachinePools = []clusterv1.MachinePoolTopology{{Class: "default-worker", Name: "mp", Replicas: &pooled}}
	for _, variable := range readClass(ctx, namespace).Spec.Variables {
		value := variable.Schema.OpenAPIV3Schema.Default.Raw
		if given, ok := variables[variable.Name]; ok {
			encoded, err := json.Marshal(given)
			Expect(err).NotTo(HaveOccurred())
			value = encoded
		}
		topology.Variables = append(topology.Variables, clusterv1.ClusterVariable{Name: variable.Name, Value: apiextensionsv1.JSON{Raw: value}})
	}
	Expect(env.Client.Create(ctx, cluster)).To(Succeed())
	DeferCleanup(func(ctx context.Context) {
		Expect(client.IgnoreNotFound(env.Client.Delete(ctx, cluster))).To(Succeed())
	})
	return cluster
}

func jobOf(cluster *clusterv1.Cluster) hooks.Job {
	return hooks.Job{Cluster: cluster, Hook: hooks.BeforeClusterCreate}
}

// run runs the task twice and expects the same outcome both times.
func run(ctx context.Context, task hooks.Task, cluster *clusterv1.Cluster) hooks.Outcome {
	GinkgoHelper()
	outcome, err := task.Run(ctx, jobOf(cluster))
	Expect(err).NotTo(HaveOccurred())
	again, err := task.Run(ctx, jobOf(cluster))
	Expect(err).NotTo(HaveOccurred())
	Expect(again).To(Equal(outcome))
	return outcome
}

// record records that the job of a Cluster is completed, as the job controller does.
func record(ctx context.Context, cluster *clusterv1.Cluster) {
	GinkgoHelper()
	job := &extensionv1.HookJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace, GenerateName: "job-"},
		Spec: extensionv1.HookJobSpec{
			ClusterName: cluster.Name, ClusterUID: cluster.UID, ExtensionConfig: "foo", Hook: hooks.BeforeClusterCreate, Attempt: 1, RequestTime: metav1.Now(),
		},
	}
	Expect(env.Client.Create(ctx, job)).To(Succeed())
	job.Status = extensionv1.HookJobStatus{Attempt: 1, Conditions: []metav1.Condition{{
		Type: extensionv1.HookJobCompletedCondition, Status: metav1.ConditionTrue, Reason: extensionv1.HookJobCompletedReason, LastTransitionTime: metav1.Now(),
	}}}
	Expect(env.Client.Status().Update(ctx, job)).To(Succeed())
}

// makeInstances creates instances in a cloud that belong to a Cluster or to nobody.
func makeInstances(ctx context.Context, c cloud.Cloud, number int, cluster *clusterv1.Cluster) {
	GinkgoHelper()
	tags := cloud.Tags{}
	name := "other"
	if cluster != nil {
		name = cluster.Name
		tags[ownertags.ClusterKey] = client.ObjectKeyFromObject(cluster).String()
	}
	for i := range number {
		_, err := c.EnsureInstance(ctx, cloud.InstanceSpec{
			Name: fmt.Sprint(name, i), Hostname: "h", InstanceTemplate: cloud.InstanceTemplate{Type: "small", KubernetesVersion: "v1.36.3", Tags: tags},
		})
		Expect(err).NotTo(HaveOccurred())
	}
}
