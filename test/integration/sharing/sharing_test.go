//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package sharing tests that managers with different values of --watch-filter can share a
// management cluster and a cloud without touching each other's objects.
//
// Limits: the controllers run in one process with a simulated cloud, and Cluster API does not run:
// the test does the work of its controllers.
package sharing_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/controllers/cluster"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane"
	"github.com/capfoo/cluster-api-provider-foo/controllers/machine"
	"github.com/capfoo/cluster-api-provider-foo/controllers/machinepool"
	"github.com/capfoo/cluster-api-provider-foo/controllers/machinetemplate"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

// tenants are the values of --watch-filter of the two managers, and the prefixes of their objects'
// names.
var tenants = []string{"blue", "green"}

var (
	environment *envtestenv.Environment
	cloud       = fake.New(fake.Options{})
	writes      = map[string]*written{}
)

func TestSharing(t *testing.T) {
	envtestenv.Run(t, "Managers that share a management cluster", &environment, envtestenv.Start, func(ctx context.Context) {
		for _, filter := range tenants {
			writes[filter] = &written{objects: map[string]string{}}
			startManager(ctx, filter, writes[filter])
		}
	})
}

// startManager runs all controllers with a watch filter, like the manager.
func startManager(ctx context.Context, filter string, into *written) {
	GinkgoHelper()
	restConfig := rest.CopyConfig(environment.Config)
	restConfig.ContentType = "application/json" // the format that the recorder reads
	restConfig.Wrap(func(next http.RoundTripper) http.RoundTripper { return recorder{next: next, into: into} })
	mgr, err := ctrl.NewManager(restConfig, ctrl.Options{
		Scheme: environment.Scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		// Unlike real managers, both are in one process.
		Controller: config.Controller{SkipNameValidation: ptr.To(true)},
		Client:     client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}, Unstructured: true}},
	})
	Expect(err).NotTo(HaveOccurred())
	events := cloudevents.New(cloud, nil, wait.Backoff{Duration: 10 * time.Millisecond, Factor: 1, Steps: 1})
	Expect(mgr.Add(events)).To(Succeed())
	clusters, err := clustercache.SetupWithManager(ctx, mgr, clustercache.Options{
		SecretClient: mgr.GetClient(), WatchFilterValue: filter, Client: clustercache.ClientOptions{UserAgent: filter},
	}, controller.Options{})
	Expect(err).NotTo(HaveOccurred())
	Expect(controlplane.SetupWithManager(ctx, mgr, controlplane.Options{SecretClient: mgr.GetClient(), ClusterCache: clusters, WatchFilterValue: filter})).To(Succeed())
	Expect(cluster.SetupWithManager(ctx, mgr, cluster.Options{Clouds: cloudidentity.One(cloud), Events: events, WatchFilterValue: filter})).To(Succeed())
	Expect(machine.SetupWithManager(ctx, mgr, machine.Options{Clouds: cloudidentity.One(cloud), Events: events, WatchFilterValue: filter})).To(Succeed())
	Expect(machinepool.SetupWithManager(ctx, mgr, machinepool.Options{Clouds: cloudidentity.One(cloud), Events: events, WatchFilterValue: filter})).To(Succeed())
	Expect(machinetemplate.SetupWithManager(ctx, mgr, machinetemplate.Options{Clouds: cloudidentity.One(cloud), WatchFilterValue: filter})).To(Succeed())
	envtestenv.RunManager(mgr)
}

var _ = Describe("Two managers, each with a watch filter", func() {
	It("bring up their own clusters, and never write the other's objects", func(ctx SpecContext) {
		namespace, err := environment.CreateNamespace(ctx, "shared")
		Expect(err).NotTo(HaveOccurred())
		for _, name := range []string{"blue", "green", "red", "plain"} {
			createCluster(ctx, namespace, name)
		}
		for _, name := range tenants {
			By("waiting for the cluster of " + name)
			fooCluster := &infrav1.FooCluster{}
			Eventually(func(g Gomega) {
				g.Expect(environment.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, fooCluster)).To(Succeed())
				g.Expect(fooCluster.Status.Initialization.Provisioned).To(HaveValue(BeTrue()))
			}).Should(Succeed())
			provisioned(ctx, namespace, name, fooCluster)
			Eventually(func() []infrav1.FooMachine { return fooMachines(ctx, namespace, name) }).Should(
				HaveLen(2), "one of the control plane, one of the pool, although the cloud reports both to both managers")
			Eventually(writes[name].resources).Should(ContainElements(
				"fooclusters", "foocontrolplanes", "foomachines", "foomachinepools", "foomachinetemplates", "machines", "kubeadmconfigs", "secrets"))
		}

		By("making both managers reconcile everything in the cloud")
		cloud.DropWatches()
		for _, name := range tenants {
			// The test cannot wait for a write that must not happen; a second is much longer than a
			// reconcile takes here.
			Consistently(func() []string { return namesOf(writes[name]) }, "1s").Should(HaveEach(HavePrefix(name)))
		}
		for _, name := range []string{"red", "plain"} {
			for _, object := range []client.Object{&infrav1.FooCluster{}, &infrav1.FooMachinePool{}, &controlplanev1.FooControlPlane{}} {
				Expect(environment.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)).To(Succeed())
				Expect(object.GetFinalizers()).To(BeEmpty(), "%T %s", object, name)
			}
			Expect(fooMachines(ctx, namespace, name)).To(BeEmpty())
		}
	})
})

func namesOf(w *written) []string {
	var result []string
	for name := range w.names() {
		result = append(result, name)
	}
	return result
}

// createCluster creates everything that a user creates for a cluster. Its name is also its label,
// but plain has no label.
func createCluster(ctx context.Context, namespace, name string) {
	GinkgoHelper()
	label := map[string]string{clusterv1.WatchLabel: name}
	if name == "plain" {
		label = nil
	}
	owner := infratest.NewCluster(namespace, name)
	owner.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: controlplanev1.GroupVersion.Group, Kind: "FooControlPlane", Name: name}
	create(ctx, owner, label)
	ownerRef := infratest.NewFooCluster(owner).OwnerReferences

	template := &infrav1.FooMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	template.Spec.Template.Spec.InstanceType = "small"
	create(ctx, template, label)
	controlPlane := &controlplanev1.FooControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, OwnerReferences: ownerRef}}
	controlPlane.Spec.Version = infratest.KubernetesVersion
	controlPlane.Spec.MachineTemplate.ObjectMeta.Labels = label
	controlPlane.Spec.MachineTemplate.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{
		APIGroup: infrav1.GroupVersion.Group, Kind: "FooMachineTemplate", Name: template.Name,
	}
	create(ctx, controlPlane, label)
	create(ctx, infratest.NewFooCluster(owner), label)

	create(ctx, infratest.NewSecret(namespace, name, infratest.UserData), nil)
	pool := infratest.NewMachinePool(owner, name, 1)
	create(ctx, pool, label)
	create(ctx, infratest.NewFooMachinePool(pool), label)
}

func create(ctx context.Context, object client.Object, more map[string]string) {
	GinkgoHelper()
	labels := map[string]string{}
	for _, some := range []map[string]string{object.GetLabels(), more} {
		for key, value := range some {
			labels[key] = value
		}
	}
	object.SetLabels(labels)
	Expect(environment.Client.Create(ctx, object)).To(Succeed())
}

// provisioned does what Cluster API does once the infrastructure of a cluster is provisioned.
func provisioned(ctx context.Context, namespace, name string, fooCluster *infrav1.FooCluster) {
	GinkgoHelper()
	owner := &clusterv1.Cluster{}
	Expect(environment.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, owner)).To(Succeed())
	before := owner.DeepCopy()
	endpoint := fooCluster.Spec.ControlPlaneEndpoint
	owner.Spec.ControlPlaneEndpoint = clusterv1.APIEndpoint{Host: endpoint.Host, Port: endpoint.Port}
	Expect(environment.Client.Patch(ctx, owner, client.MergeFrom(before))).To(Succeed())
	before = owner.DeepCopy()
	owner.Status.Initialization.InfrastructureProvisioned = ptr.To(true)
	Expect(environment.Client.Status().Patch(ctx, owner, client.MergeFrom(before))).To(Succeed())
}

func fooMachines(ctx context.Context, namespace, cluster string) []infrav1.FooMachine {
	GinkgoHelper()
	list := &infrav1.FooMachineList{}
	Expect(environment.Client.List(ctx, list, client.InNamespace(namespace))).To(Succeed())
	var result []infrav1.FooMachine
	for _, one := range list.Items {
		if strings.HasPrefix(one.Name, cluster) {
			result = append(result, one)
		}
	}
	return result
}
