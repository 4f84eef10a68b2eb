//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quota_test

import (
	"context"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/test/builder"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/quota"
)

func newTask(of clouds) hooks.Task {
	return quota.New(quota.Options{Client: program, Clouds: of.resolver()})
}

var _ = Describe("A new Cluster", func() {
	It("waits with the numbers until the quota has room for what its topology asks for", func(ctx SpecContext) {
		namespace := class(ctx, nil)
		cluster := newCluster(ctx, namespace, "c", 3, 1, 2, map[string]string{"workerInstanceType": "large"})
		// Three small and three large instances: 30 CPUs and 108Gi.
		full := fake.New(fake.Options{Limits: cloud.Resources{Instances: 6, CPUs: 31, MemoryBytes: 108 * gib, LoadBalancers: 1}})
		makeInstances(ctx, full, 1, nil)
		task := newTask(clouds{"": full})
		held := run(ctx, task, cluster)
		Expect(held.Done).To(BeFalse())
		Expect(held.Message).To(Equal("waiting for room in the quota: instances: 6 needed, 1 of 6 used, 0 reserved for other Clusters; " +
			"CPUs: 30 needed, 2 of 31 used, 0 reserved for other Clusters; memory: 108Gi needed, 4Gi of 108Gi used, 0 reserved for other Clusters"))

		all, err := full.ListInstances(ctx, cloud.InstanceFilter{})
		Expect(err).NotTo(HaveOccurred())
		Expect(full.DeleteInstance(ctx, all[0].ID)).To(Succeed())
		Expect(run(ctx, task, cluster)).To(Equal(hooks.Outcome{
			Done: true, Message: "the quota has room for the cluster",
			Report: "wanted: instances 6, CPUs 30, memory 108Gi, load balancers 1\nreserved for other Clusters: nothing\n",
		}))
	})

	It("does not get what was promised to another one, however they race and whoever restarts", func(ctx SpecContext) {
		namespace := class(ctx, nil)
		both := []*clusterv1.Cluster{newCluster(ctx, namespace, "a", 1, 1, 1, nil), newCluster(ctx, namespace, "b", 1, 1, 1, nil)}
		five := limited(5)
		task := newTask(clouds{"": five})
		winner, loser := race(ctx, task, both)
		const promised = "waiting for room in the quota: instances: 3 needed, 0 of 5 used, 3 reserved for other Clusters"
		Expect(run(ctx, task, loser).Message).To(Equal(promised))
		Expect(run(ctx, task, winner).Done).To(BeTrue(), "what was promised stays promised")

		record(ctx, winner)
		restarted := newTask(clouds{"": five})
		Expect(run(ctx, restarted, loser).Message).To(Equal(promised), "its completed job says so")
		makeInstances(ctx, five, 2, winner)
		Expect(run(ctx, restarted, loser).Message).To(Equal("waiting for room in the quota: instances: 3 needed, 2 of 5 used, 1 reserved for other Clusters"))
		makeInstances(ctx, five, 3, winner)
		Expect(run(ctx, restarted, loser).Message).To(Equal("waiting for room in the quota: instances: 3 needed, 3 of 5 used, 0 reserved for other Clusters"))

		all, err := five.ListInstances(ctx, cloud.InstanceFilter{})
		Expect(err).NotTo(HaveOccurred())
		for _, instance := range all {
			Expect(five.DeleteInstance(ctx, instance.ID)).To(Succeed())
		}
		Expect(run(ctx, restarted, loser).Message).To(Equal(promised), "they will be made again")
		Expect(env.Client.Delete(ctx, winner)).To(Succeed())
		Expect(run(ctx, restarted, loser).Done).To(BeTrue(), "a promise ends with its Cluster")
	})

	It("takes into account what clusters are still to make that never were checked", func(ctx SpecContext) {
		namespace := class(ctx, nil)
		running := newCluster(ctx, namespace, "running", 3, 0, 0, nil)
		running.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: "FooCluster", Name: "running"}
		Expect(env.Client.Update(ctx, running)).To(Succeed())
		four := limited(4)
		makeInstances(ctx, four, 1, running)
		task := newTask(clouds{"": four})
		Expect(run(ctx, task, newCluster(ctx, namespace, "two", 1, 1, 0, nil)).Message).
			To(Equal("waiting for room in the quota: instances: 2 needed, 1 of 4 used, 2 reserved for other Clusters"))
		Expect(run(ctx, task, newCluster(ctx, namespace, "one", 1, 0, 0, nil)).Done).To(BeTrue())

		Expect(env.Client.Create(ctx, &infrav1.FooCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "running"}})).To(Succeed())
		versions := quota.Options{Client: program, Clouds: clouds{"": four}.resolver()}
		Expect(versions.Versions(ctx, client.ObjectKeyFromObject(running))).To(HaveExactElements("v1.35.4", "v1.36.3"))
	})

	It("takes another one whose class is gone for as large as it can be", func(ctx SpecContext) {
		namespace := class(ctx, nil)
		broken := newCluster(ctx, namespace, "broken", 1, 1, 0, nil)
		record(ctx, broken)
		Expect(env.Client.Delete(ctx, readClass(ctx, namespace))).To(Succeed())
		twenty := fake.New(fake.Options{Limits: cloud.Resources{CPUs: 20}})
		Expect(run(ctx, newTask(clouds{"": twenty}), newCluster(ctx, class(ctx, nil), "c", 3, 0, 0, nil)).Message).
			To(Equal("waiting for room in the quota: CPUs: 6 needed, 0 of 20 used, 16 reserved for other Clusters"))
	})

	It("takes another one whose class the program may not read for as large as it can be", func(ctx SpecContext) {
		namespace := class(ctx, nil)
		other := newCluster(ctx, namespace, "other", 1, 1, 0, nil)
		other.Spec.Topology.ClassRef.Namespace = class(ctx, nil)
		Expect(env.Client.Update(ctx, other)).To(Succeed())
		record(ctx, other)
		task := quota.New(quota.Options{
			Client: asProgramOf(ctx, namespace), Namespace: namespace,
			Clouds: clouds{"": fake.New(fake.Options{Limits: cloud.Resources{CPUs: 20}})}.resolver(),
		})
		Expect(run(ctx, task, newCluster(ctx, namespace, "c", 3, 0, 0, nil)).Message).
			To(Equal("waiting for room in the quota: CPUs: 6 needed, 0 of 20 used, 16 reserved for other Clusters"))
	})

	It("has the account of its identity to itself", func(ctx SpecContext) {
		secret := &corev1.Secret{Type: infrav1.FooClusterIdentitySecretType, StringData: map[string]string{infrav1.FooClusterIdentityTokenKey: "t"}}
		secret.Namespace, secret.Name = "default", "s"
		Expect(env.Client.Create(ctx, secret)).To(Succeed())
		identity := func(tenant string, allowed infrav1.AllowedNamespaces) {
			GinkgoHelper()
			identity := &infrav1.FooClusterIdentity{Spec: infrav1.FooClusterIdentitySpec{
				Endpoint: "https://cloud.example:443", Tenant: tenant, AllowedNamespaces: allowed,
				CredentialsRef: infrav1.FooClusterIdentitySecretReference{Namespace: secret.Namespace, Name: secret.Name},
			}}
			identity.Name = tenant
			Expect(env.Client.Create(ctx, identity)).To(Succeed())
		}
		with := func(identity string) *clusterv1.Cluster {
			GinkgoHelper()
			namespace := class(ctx, func(object *unstructured.Unstructured) {
				if object.GetKind() == "FooClusterTemplate" {
					Expect(unstructured.SetNestedField(object.Object, identity, "spec", "template", "spec", "identityRef", "name")).To(Succeed())
				}
			})
			return newCluster(ctx, namespace, "c", 1, 1, 1, nil)
		}
		first, other, second, refused := with("one"), with("two"), with("one"), with("two")
		identity("one", infrav1.AllowedNamespaces{List: []string{first.Namespace, second.Namespace}})
		identity("two", infrav1.AllowedNamespaces{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: other.Namespace}}})
		task := newTask(clouds{"one": limited(3), "two": limited(3)})
		Expect(run(ctx, task, first).Done).To(BeTrue())
		Expect(run(ctx, task, other).Done).To(BeTrue(), "another tenant")
		Expect(run(ctx, task, second).Message).To(Equal("waiting for room in the quota: instances: 3 needed, 0 of 3 used, 3 reserved for other Clusters"))
		_, err := task.Run(ctx, jobOf(refused))
		Expect(err).To(MatchError(ContainSubstring("FooClusterIdentity two does not allow namespace " + refused.Namespace)))
	})

	It("counts as the largest type what external patches may choose, and says so", func(ctx SpecContext) {
		namespace := class(ctx, func(object *unstructured.Unstructured) {
			if object.GetKind() != "ClusterClass" {
				return
			}
			patches, _, err := unstructured.NestedSlice(object.Object, "spec", "patches")
			Expect(err).NotTo(HaveOccurred())
			patches = append(patches, map[string]any{"name": "x", "external": map[string]any{"generatePatchesExtension": "x.y"}})
			Expect(unstructured.SetNestedSlice(object.Object, patches, "spec", "patches")).To(Succeed())
		})
		cluster := newCluster(ctx, namespace, "c", 1, 0, 0, nil)
		Expect(run(ctx, newTask(clouds{"": fake.New(fake.Options{Limits: cloud.Resources{CPUs: 7}})}), cluster).Message).
			To(Equal("waiting for room in the quota: CPUs: 8 needed, 0 of 7 used, 0 reserved for other Clusters " +
				"(all machines counted as the largest instance type, because external patches may choose it)"))
	})

	It("is computed with the external patches that this process has itself", func(ctx SpecContext) {
		variables := map[string]string{"controlPlaneInstanceType": "large"}
		namespace := class(ctx, func(object *unstructured.Unstructured) {
			if object.GetKind() == "ClusterClass" {
				Expect(unstructured.SetNestedSlice(object.Object, []any{map[string]any{"name": "inline", "external": map[string]any{
					"generatePatchesExtension": "generate-patches.foo", "validateTopologyExtension": "validate-topology.foo",
				}}}, "spec", "patches")).To(Succeed())
			}
		})
		Expect(run(ctx, newTask(clouds{"": limited(9)}), newCluster(ctx, namespace, "c", 1, 1, 1, variables)).Report).
			To(Equal("wanted: instances 3, CPUs 12, memory 40Gi, load balancers 1\nreserved for other Clusters: nothing\n"), "one large and two small")
	})

	It("is told which instance types there are", func(ctx SpecContext) {
		cluster := newCluster(ctx, class(ctx, nil), "c", 1, 1, 0, map[string]string{"workerInstanceType": "huge"})
		outcome := run(ctx, newTask(clouds{"": limited(9)}), cluster)
		Expect(outcome.Done).To(BeFalse())
		Expect(outcome.Message).To(Equal("the cloud has no instance type huge, it has: large, small"))
	})

	It("is let go on another infrastructure, whose templates nobody may read, or when it is gone", func(ctx SpecContext) {
		cluster := newCluster(ctx, otherClass(ctx), "c", 9, 9, 9, nil)
		task := newTask(clouds{"": limited(1)})
		outcome := run(ctx, task, cluster)
		Expect(outcome.Done).To(BeTrue())
		Expect(outcome.Report).To(Equal("not checked: the infrastructure is a GenericInfrastructureCluster.infrastructure.cluster.x-k8s.io, and only the quota of Foo's cloud is known"))
		Expect(env.Client.Delete(ctx, cluster)).To(Succeed())
		Expect(run(ctx, task, cluster).Done).To(BeTrue())
	})

	It("does not wait for Clusters on another infrastructure, with their class or without", func(ctx SpecContext) {
		namespace := otherClass(ctx)
		for _, name := range []string{"new", "started"} {
			other := newCluster(ctx, namespace, name, 9, 9, 9, nil)
			record(ctx, other)
			if name == "started" {
				other.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{
					APIGroup: infrav1.GroupVersion.Group, Kind: builder.GenericInfrastructureClusterKind, Name: name,
				}
				Expect(env.Client.Update(ctx, other)).To(Succeed())
			}
		}
		task := newTask(clouds{"": limited(3)})
		cluster := newCluster(ctx, class(ctx, nil), "c", 1, 1, 1, nil)
		Expect(run(ctx, task, cluster).Report).To(HaveSuffix("reserved for other Clusters: nothing\n"))

		Expect(env.Client.Delete(ctx, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "new"}})).To(Succeed())
		Expect(env.Client.Delete(ctx, readClass(ctx, namespace))).To(Succeed())
		Expect(run(ctx, task, cluster).Report).To(HaveSuffix("reserved for other Clusters: nothing\n"))
	})

	It("is counted with a control plane and a bootstrap provider of others, whose templates nobody may read", func(ctx SpecContext) {
		namespace := class(ctx, func(object *unstructured.Unstructured) {
			if object.GetKind() == "ClusterClass" {
				useOtherNodes(object)
			}
		})
		task := newTask(clouds{"": limited(9)})
		Expect(run(ctx, task, newCluster(ctx, namespace, "c", 3, 1, 2, map[string]string{"workerInstanceType": "large"}))).To(Equal(hooks.Outcome{
			Done: true, Message: "the quota has room for the cluster",
			Report: "wanted: instances 6, CPUs 30, memory 108Gi, load balancers 1\nreserved for other Clusters: nothing\n",
		}))
	})

	It("waits for a class and a cloud that can be read", func(ctx SpecContext) {
		namespace := class(ctx, nil)
		cluster := newCluster(ctx, namespace, "c", 1, 0, 0, nil)
		down := limited(9)
		down.Fail(fake.CallQuota, &cloud.UnavailableError{Message: "dial tcp 192.0.2.1:443: odd"})
		_, err := newTask(clouds{"": down}).Run(ctx, jobOf(cluster))
		Expect(err).To(MatchError("the quota check: reading the cloud's quota and its usage: cloud unavailable: dial tcp <address>: odd"))
		Expect(env.Client.Delete(ctx, readClass(ctx, namespace))).To(Succeed())
		_, err = newTask(clouds{"": down}).Run(ctx, jobOf(cluster))
		Expect(err).To(MatchError(`the quota check: reading the ClusterClass: the API server answered NotFound for clusterclasses.cluster.x-k8s.io "foo"`))
	})
})

// otherClass installs a ClusterClass for another provider's infrastructure.
func otherClass(ctx context.Context) string {
	GinkgoHelper()
	return class(ctx, func(object *unstructured.Unstructured) {
		if object.GetKind() == "ClusterClass" {
			infrastructure := ofOther(builder.InfrastructureGroupVersion, builder.GenericInfrastructureClusterTemplateKind)
			Expect(unstructured.SetNestedMap(object.Object, infrastructure, "spec", "infrastructure", "templateRef")).To(Succeed())
		}
	})
}

// useOtherNodes makes a ClusterClass use the control plane and the bootstrap provider of others,
// with a patch for the latter.
func useOtherNodes(class *unstructured.Unstructured) {
	GinkgoHelper()
	controlPlane := ofOther(builder.ControlPlaneGroupVersion, builder.GenericControlPlaneTemplateKind)
	Expect(unstructured.SetNestedMap(class.Object, controlPlane, "spec", "controlPlane", "templateRef")).To(Succeed())
	for _, kind := range []string{"machineDeployments", "machinePools"} {
		workers, _, err := unstructured.NestedSlice(class.Object, "spec", "workers", kind)
		Expect(err).NotTo(HaveOccurred())
		for _, worker := range workers {
			bootstrap := ofOther(builder.BootstrapGroupVersion, builder.GenericBootstrapConfigTemplateKind)
			Expect(unstructured.SetNestedMap(worker.(map[string]any), bootstrap, "bootstrap", "templateRef")).To(Succeed())
		}
		Expect(unstructured.SetNestedSlice(class.Object, workers, "spec", "workers", kind)).To(Succeed())
	}
	patches, _, err := unstructured.NestedSlice(class.Object, "spec", "patches")
	Expect(err).NotTo(HaveOccurred())
	patches = append(patches, map[string]any{"name": "other", "definitions": []any{map[string]any{
		"selector": map[string]any{
			"apiVersion": builder.BootstrapGroupVersion.String(), "kind": builder.GenericBootstrapConfigTemplateKind,
			"matchResources": map[string]any{"machineDeploymentClass": map[string]any{"names": []any{"*"}}},
		},
		"jsonPatches": []any{map[string]any{"op": "replace", "path": "/spec/template/spec/deep/inside", "value": "x"}},
	}}})
	Expect(unstructured.SetNestedSlice(class.Object, patches, "spec", "patches")).To(Succeed())
}

// race runs the task for both Clusters concurrently, and returns the one that was let through and
// the other one.
func race(ctx context.Context, task hooks.Task, both []*clusterv1.Cluster) (winner, loser *clusterv1.Cluster) {
	GinkgoHelper()
	outcomes := make([]hooks.Outcome, len(both))
	errs := make([]error, len(both))
	var group sync.WaitGroup
	for i, cluster := range both {
		group.Go(func() { outcomes[i], errs[i] = task.Run(ctx, jobOf(cluster)) })
	}
	group.Wait()
	Expect(errs).To(HaveEach(Succeed()))
	Expect([]bool{outcomes[0].Done, outcomes[1].Done}).To(ConsistOf(true, false), "there is room for one only")
	if outcomes[0].Done {
		return both[0], both[1]
	}
	return both[1], both[0]
}
