//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// capiVersion is the version that the components of Cluster API in bin/manifests are installed as.
const capiVersion = "v1.14.2"

// The relevant versions in bin/release.
const (
	// lastRelease is kept in testdata/releases as it was published.
	lastRelease = "v0.1.0"
	// nextRelease is the version of the sources.
	nextRelease = "v0.2.0"
)

// providersOf returns the arguments that name a release and what it requires.
func providersOf(release string) []string {
	return []string{
		"--core=cluster-api:" + capiVersion, "--bootstrap=kubeadm:" + capiVersion,
		"--control-plane=foo:" + release, "--infrastructure=foo:" + release,
	}
}

// clusterctl is the program with the repositories of Foo's release and of Cluster API, and the
// user's configuration.
type clusterctl struct {
	config string
	env    []string
}

// newClusterctl writes a configuration like that of the release, but with cert-manager and Cluster
// API from this machine instead of the network.
func newClusterctl(m *management) *clusterctl {
	GinkgoHelper()
	release, err := os.ReadFile(filepath.Join(bin, "release/clusterctl.yaml"))
	Expect(err).NotTo(HaveOccurred(), "build it with `make e2e`")
	certManager, err := filepath.Glob(filepath.Join(bin, "management/cert-manager/*/cert-manager.yaml"))
	Expect(err).NotTo(HaveOccurred())
	Expect(certManager).To(HaveLen(1), "build it with `make e2e`")
	others := fmt.Sprintf("cert-manager: {version: %s, url: %q}\nproviders:\n", filepath.Base(filepath.Dir(certManager[0])), certManager[0])
	for _, one := range []struct{ kind, name, label, file string }{
		{"CoreProvider", "cluster-api", "cluster-api", "core-components.yaml"},
		{"BootstrapProvider", "kubeadm", "bootstrap-kubeadm", "bootstrap-components.yaml"},
	} {
		others += fmt.Sprintf("- {name: %s, type: %s, url: %q}\n", one.name, one.kind, filepath.Join(bin, "management", one.label, capiVersion, one.file))
	}
	config := filepath.Join(suiteDir, "clusterctl.yaml")
	Expect(os.WriteFile(config, []byte(strings.Replace(string(release), "providers:\n", others, 1)), 0o600)).To(Succeed())

	token, err := os.ReadFile(m.env["FOO_CLOUD_TOKEN_FILE"])
	Expect(err).NotTo(HaveOccurred())
	authority, err := os.ReadFile(m.env["FOO_CLOUD_CA_FILE"])
	Expect(err).NotTo(HaveOccurred())
	return &clusterctl{config: config, env: []string{
		"FOO_CLOUD_ENDPOINT=" + m.env["FOO_CLOUD_HTTPS_ENDPOINT"],
		"FOO_CLOUD_TOKEN_B64=" + base64.StdEncoding.EncodeToString(token),
		"FOO_CLOUD_CA_B64=" + base64.StdEncoding.EncodeToString(authority),
		// One flavor requires it.
		`FOO_ETCD_ENDPOINTS=["https://192.0.2.1:2379"]`,
		"FOO_CLUSTER_IDENTITY=outer",
	}}
}

// on runs clusterctl for a management cluster.
func (c *clusterctl) on(ctx context.Context, m *management, args ...string) outcome {
	GinkgoHelper()
	return end(c.command(ctx, m, args...))
}

// command returns clusterctl for a management cluster.
func (c *clusterctl) command(ctx context.Context, m *management, args ...string) *exec.Cmd {
	cmd := command(ctx, "tools/clusterctl", append(slices.Clone(args), "--config="+c.config, "--kubeconfig="+m.kubeconfig)...)
	// Anything that uses the network fails at once.
	cmd.Env = append(append(cmd.Env, "HTTPS_PROXY=http://127.0.0.1:1", "NO_PROXY="+quickstartNetwork), c.env...)
	return cmd
}

// run runs a command that must succeed, and returns clusterctl's output.
func (c *clusterctl) run(ctx context.Context, m *management, args ...string) string {
	GinkgoHelper()
	got := c.on(ctx, m, args...)
	Expect(got.code).To(BeZero(), "clusterctl %s failed: %s%s", strings.Join(args, " "), got.stdout, got.stderr)
	return got.stdout
}

// init installs providers, and returns once their managers are available.
func (c *clusterctl) init(ctx context.Context, m *management, providers ...string) {
	GinkgoHelper()
	c.run(ctx, m, append([]string{"init"}, providers...)...)
	m.deploymentsAvailable(ctx)
}

// newMovers makes two management clusters of one machine each, without providers, which clusters are
// moved between. They end with the story.
func newMovers(ctx context.Context) (source, target *management) {
	GinkgoHelper()
	host := &management{state: filepath.Join(suiteDir, "movers"), bridge: quickstartBridge}
	// Pods reach the cloud at the first address of its network.
	first := netip.MustParsePrefix(quickstartNetwork).Addr().Next()
	host.program = startQuickstart(ctx, host.state, host.bridge, quickstartNetwork, fmt.Sprintf("--cloud-listen=https://%s:7443", first))
	DeferCleanup(host.stop, NodeTimeout(clusterGone))
	host.connect(ctx)
	host.loadManagers(ctx)
	host.kubectl(ctx, "create", "namespace", "movers")
	var movers []*management
	var clusters []*cluster
	for _, name := range []string{"source", "target"} {
		clusters = append(clusters, host.newCluster(ctx, client.ObjectKey{Namespace: "movers", Name: name},
			shape{controlPlanes: 1, version: currentVersion, controlPlaneType: "medium"}))
	}
	for _, c := range clusters {
		c.available(ctx)
		c.on(ctx, "taint", "nodes", "--all", controlPlaneRole+"-")
		mover := *host
		mover.kubeconfig, mover.Client = c.kubeconfig, c.workload
		movers = append(movers, &mover)
	}
	return movers[0], movers[1]
}

// What a user does with clusterctl, on management clusters with only what clusterctl installs. The
// managers run in Pods as the release's components say. Only their program is always built from the
// sources: whatever it could not do with the permissions of the last release must work after the
// upgrade.
var _ = Describe("A release of Foo", Ordered, Label("clusterctl", needsNextRelease, needsManagement), func() {
	const namespace = "fleet"
	key := client.ObjectKey{Namespace: namespace, Name: "mover"}
	var source, target *management
	var ctl *clusterctl
	var c *cluster
	BeforeAll(func(ctx SpecContext) {
		source, target = newMovers(ctx)
		ctl = newClusterctl(source)
	}, NodeTimeout(2*clusterUp))
	AfterEach(func(ctx SpecContext) {
		for _, m := range []*management{source, target} {
			if m != nil && CurrentSpecReport().Failed() {
				m.dump(ctx)
			}
		}
	}, NodeTimeout(soon))

	It("is not installed without its required variables", func(ctx SpecContext) {
		without := &clusterctl{config: ctl.config}
		got := without.on(ctx, source, append([]string{"init"}, providersOf(lastRelease)...)...)
		Expect(got.code).NotTo(BeZero())
		Expect(got.stderr).To(And(ContainSubstring("FOO_CLOUD_CA_B64"), ContainSubstring("FOO_CLOUD_ENDPOINT"), ContainSubstring("FOO_CLOUD_TOKEN_B64")))
	}, NodeTimeout(clusterUp))

	It("is installed by clusterctl init", func(ctx SpecContext) {
		ctl.init(ctx, source, providersOf(lastRelease)...)
		plan := ctl.run(ctx, source, "upgrade", "plan")
		Expect(plan).To(MatchRegexp(`control-plane-foo .*%s +%s`, lastRelease, nextRelease))
		Expect(plan).To(MatchRegexp(`infrastructure-foo .*%s +%s`, lastRelease, nextRelease))
	}, NodeTimeout(2*clusterUp))

	It("is not installed twice", func(ctx SpecContext) {
		got := ctl.on(ctx, source, "init", "--infrastructure=foo:"+nextRelease, "--target-namespace=elsewhere")
		Expect(got.code).NotTo(BeZero())
		Expect(got.stderr).To(ContainSubstring("there is already an instance of the \"infrastructure-foo\" provider"))
	}, NodeTimeout(clusterUp))

	const needsExtension = "topology-extension"

	It("generates a cluster of each flavor", func(ctx SpecContext) {
		source.kubectl(ctx, "create", "namespace", namespace)
		for _, flavor := range flavorsOf(nextRelease) {
			if flavor == needsExtension {
				continue // a later spec installs the extension
			}
			Expect(ctl.generate(ctx, source, key, nextRelease, flavor)).To(ContainSubstring("kind: Cluster"), "flavor %q", flavor)
		}
		manifest := filepath.Join(suiteDir, "mover.yaml")
		Expect(os.WriteFile(manifest, []byte(ctl.generate(ctx, source, key, lastRelease, "")), 0o600)).To(Succeed())
		source.kubectl(ctx, "apply", "--filename="+manifest)
		c = &cluster{management: source, key: key, kubeconfig: filepath.Join(suiteDir, "mover.kubeconfig")}
		c.available(ctx)
		c.nodesReady(ctx, 1, 1)
		described := ctl.run(ctx, source, "describe", "cluster", key.Name, "--namespace="+namespace, "--show-conditions=all")
		Expect(described).To(And(ContainSubstring("FooControlPlane"), ContainSubstring("FooCluster")))
	}, NodeTimeout(2*clusterUp))

	It("is upgraded under a live cluster", func(ctx SpecContext) {
		before, machines := c.footprint(ctx, source), uidsOf(c.controlPlaneMachines(Default, ctx))
		source.loadNext(ctx)
		ctl.run(ctx, source, "upgrade", "apply", "--control-plane=foo:"+nextRelease, "--infrastructure=foo:"+nextRelease)
		source.deploymentsAvailable(ctx)
		source.expectManagers(ctx, nextRelease)
		Expect(ctl.run(ctx, source, "upgrade", "plan")).To(ContainSubstring("You are already up to date!"))
		source.expectDefinitions(ctx, nextRelease)
		c.scaleWorkers(ctx, 2)
		nodes := c.nodesReady(ctx, 1, 2) // the new managers work
		Expect(source.instances(ctx).IsSuperset(before.instances)).To(BeTrue(), "the upgrade has replaced instances")
		Expect(c.healthyMembers(ctx, controlPlanesOf(nodes))).To(ConsistOf(sets.List(before.members)))
		Expect(uidsOf(c.controlPlaneMachines(Default, ctx))).To(Equal(machines), "the upgrade has replaced Machines")
		Eventually(func(g Gomega) { c.expectSettledStatus(g, ctx, 1, currentVersion) }).WithContext(ctx).Should(Succeed())
		Expect(source.refused(ctx)).To(BeEmpty(), "the roles of a release lack a permission")
	}, NodeTimeout(3*clusterUp))

	It("installs the runtime extension as a separate provider, without a cloud", func(ctx SpecContext) {
		alone := &clusterctl{config: ctl.config, env: slices.DeleteFunc(slices.Clone(ctl.env), func(variable string) bool { return strings.HasPrefix(variable, "FOO_CLOUD_") })}
		alone.init(ctx, source, "--runtime-extension=foo:"+nextRelease)
		generated := ctl.generate(ctx, source, key, nextRelease, needsExtension)
		Expect(generated).To(And(ContainSubstring("kind: Cluster\n"), ContainSubstring("kind: Addon\n")))
		Expect(source.refused(ctx)).To(BeEmpty(), "the role of the runtime extension lacks a permission")
		alone.run(ctx, source, "delete", "--runtime-extension=foo")
	}, NodeTimeout(clusterUp))

	It("works with CRDs that are newer than its managers, and keeps their new fields", func(ctx SpecContext) {
		const crd, field = "foomachinepools.infrastructure.cluster.x-k8s.io", "fromTheFuture"
		source.changeSpecs(ctx, crd, func(fields map[string]any) { fields[field] = map[string]any{"type": "string"} })
		pool := []string{"--namespace=" + namespace, "patch", "foomachinepool", key.Name + "-workers", "--type=merge", "--patch"}
		kept := func() string {
			GinkgoHelper()
			return source.kubectl(ctx, "--namespace="+namespace, "get", pool[2], pool[3], "--output=jsonpath={.spec."+field+"}")
		}
		Eventually(func() string {
			source.kubectl(ctx, append(slices.Clone(pool), `{"spec":{"`+field+`":"kept"}}`)...)
			return kept()
		}).WithContext(ctx).Should(Equal("kept"), "the API server does not know the new field")
		c.scaleWorkers(ctx, 1)
		c.nodesReady(ctx, 1, 1)
		Eventually(func(g Gomega) {
			g.Expect(c.pool(g, ctx).Spec.ProviderIDList).To(HaveLen(1), "the manager wrote the object")
		}).WithContext(ctx).Should(Succeed())
		Expect(kept()).To(Equal("kept"))
		source.kubectl(ctx, append(slices.Clone(pool), `{"spec":{"`+field+`":null}}`)...)
		source.changeSpecs(ctx, crd, func(fields map[string]any) { delete(fields, field) })
	}, NodeTimeout(2*clusterUp))

	It("reports a permission that a role lacks", func(ctx SpecContext) {
		give := source.takeRight(ctx, "infrastructure-foo-manager", "patch", "fooclusters")
		By("removing the finalizer repeatedly: an API server that has not seen the change of the role yet lets the manager restore it")
		Eventually(func() []string {
			source.kubectl(ctx, "--namespace="+namespace, "patch", "foocluster", key.Name, "--type=merge", `--patch={"metadata":{"finalizers":null}}`)
			return source.refused(ctx)
		}).WithContext(ctx).Should(ContainElement(And(HavePrefix("infrastructure-foo-controller-manager-"),
			ContainSubstring(`cannot patch resource \"fooclusters\"`))), "a permission is missing, and no story would notice")
		give()
		Eventually(func(g Gomega) {
			var fooCluster infrav1.FooCluster
			g.Expect(source.Get(ctx, key, &fooCluster)).To(Succeed())
			g.Expect(fooCluster.Finalizers).NotTo(BeEmpty())
		}).WithContext(ctx).Should(Succeed(), "the manager does not continue with its permission restored")
		source.kubectl(ctx, "--namespace=infrastructure-foo-system", "delete", "pods", "--all") // their messages have been checked
		source.deploymentsAvailable(ctx)
	}, NodeTimeout(clusterUp))

	It("does not move a cluster to a target without Foo", func(ctx SpecContext) {
		ctl.refuseMove(ctx, source, target, c, "failed to check Cluster API version")
		ctl.init(ctx, target, "--core=cluster-api:"+capiVersion, "--bootstrap=kubeadm:"+capiVersion, "--control-plane=-")
		ctl.refuseMove(ctx, source, target, c, "provider control-plane-foo not found in the target cluster")
		ctl.refuseMove(ctx, source, target, c, "provider infrastructure-foo not found in the target cluster")
		// clusterctl tests cert-manager each time, in a namespace that must be gone by then.
		probe := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "cert-manager-test"}}
		Eventually(ctx, target.gone(probe)).Should(BeTrue())
		ctl.init(ctx, target, "--control-plane=foo:"+nextRelease, "--infrastructure=foo:"+nextRelease)
	}, NodeTimeout(clusterUp))

	It("moves a live cluster with its MachineHealthCheck, and back", func(ctx SpecContext) {
		c.healthChecked(ctx, impatient)
		before := c.footprint(ctx, source)
		ctl.move(ctx, source, target, c)
		Expect(c.footprint(ctx, source)).To(Equal(before), "the move has changed the cluster")
		ctl.move(ctx, target, source, c)
		Expect(c.footprint(ctx, source)).To(Equal(before), "the move back has changed the cluster")
		Expect(append(source.refused(ctx), target.refused(ctx)...)).To(BeEmpty(), "the roles of a release lack a permission")
	}, NodeTimeout(4*clusterUp))

	It("moves a live cluster even if the first move is killed before everything is at the target", func(ctx SpecContext) {
		before, objects := c.footprint(ctx, source), c.names(ctx, source)
		allow := target.refuse(ctx, admissionregistrationv1.Create, schema.GroupResource{Group: infrav1.GroupVersion.Group, Resource: "foomachines"}, func() error {
			return target.Create(ctx, &infrav1.FooMachine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "probe"}}, client.DryRunAll)
		})
		ctl.killMove(ctx, source, target, c, func(g Gomega) {
			machines := &clusterv1.MachineList{}
			g.Expect(target.List(ctx, machines, client.InNamespace(namespace))).To(Succeed())
			g.Expect(machines.Items).NotTo(BeEmpty())
		})
		allow()
		Expect(c.names(ctx, source)).To(ConsistOf(objects), "the source has lost something")
		Expect(c.names(ctx, target)).NotTo(ContainElement(ContainSubstring("foomachine.infra")))
		Expect(c.pausedIn(Default, ctx, source)).To(BeTrue())
		Expect(c.pausedIn(Default, ctx, target)).To(BeTrue())
		Expect(c.footprint(ctx, source)).To(Equal(before), "the cluster has changed while it is paused in both")

		By("moving it again")
		got := ctl.on(ctx, source, "move", "--namespace="+namespace, "--to-kubeconfig="+target.kubeconfig)
		Expect(got.code).NotTo(BeZero())
		Expect(got.stderr).To(ContainSubstring("cannot start operation while the following Clusters are paused: fleet/mover"))
		c.resume(ctx, source)
		ctl.move(ctx, source, target, c)
		Expect(c.names(ctx, target)).To(ContainElements(objects), "something has been lost")
		Expect(c.names(ctx, source)).To(BeEmpty())
		Expect(c.footprint(ctx, source)).To(Equal(before), "the move has changed the cluster")
	}, NodeTimeout(4*clusterUp))

	It("completes a move by hand that was killed after everything was at the target", func(ctx SpecContext) {
		before, objects := c.footprint(ctx, source), c.names(ctx, target)
		controlPlane := c.controlPlane(Default, ctx)
		allow := target.refuse(ctx, admissionregistrationv1.Delete, schema.GroupResource{Group: controlplanev1.GroupVersion.Group, Resource: "foocontrolplanes"}, func() error {
			return target.Delete(ctx, controlPlane.DeepCopy(), client.DryRunAll)
		})
		ctl.killMove(ctx, target, source, c, func(g Gomega) {
			machines := &clusterv1.MachineList{}
			g.Expect(target.List(ctx, machines, client.InNamespace(namespace))).To(Succeed())
			g.Expect(machines.Items).To(BeEmpty())
		})
		allow()
		Expect(c.names(ctx, source)).To(ContainElements(objects), "something has been lost")
		Expect(c.pausedIn(Default, ctx, target)).To(BeTrue())
		Expect(c.pausedIn(Default, ctx, source)).To(BeTrue())

		unharmed := target.bystander(ctx)
		c.forget(ctx, target)
		unharmed()
		c.resume(ctx, source)
		c.arrived(ctx, target, source)
		Expect(c.names(ctx, target)).To(BeEmpty())
		Expect(c.footprint(ctx, source)).To(Equal(before), "the move has changed the cluster")
		Expect(append(source.refused(ctx), target.refused(ctx)...)).To(BeEmpty(), "the roles of a release lack a permission")
	}, NodeTimeout(4*clusterUp))

	It("does not move a cluster while it rolls out", func(ctx SpecContext) {
		before := uidsOf(c.controlPlaneMachines(Default, ctx))
		// The new Machine has no Node until the move has been rejected.
		c.fault(ctx, "slow", "--kind=SlowBoot", "--delay="+clusterUp.String(), "--count=1")
		DeferCleanup(func(ctx SpecContext) { c.healAll(ctx) }, NodeTimeout(soon))
		c.rolloutNow(ctx)
		Eventually(func(g Gomega) {
			for _, machine := range c.controlPlaneMachines(g, ctx) {
				if !machine.Status.NodeRef.IsDefined() {
					return
				}
			}
			g.Expect(before).To(BeEmpty(), "there is a new Machine")
		}).WithContext(ctx).Should(Succeed())
		ctl.refuseMove(ctx, source, target, c, "is still provisioning the node")
		c.heal(ctx, "slow")
		c.replaced(ctx, before)
		c.nodesReady(ctx, 1, 1)
	}, NodeTimeout(2*clusterUp))

	It("moves a cluster with an identity to a target that does not allow its namespace yet", func(ctx SpecContext) {
		ctl.moveTenant(ctx, source, target)
	}, NodeTimeout(2*clusterUp))

	It("moves a control plane of 3 with a broken Machine, which is replaced at the target", Label("slow"), func(ctx SpecContext) {
		ctl.moveBroken(ctx, source, target)
	}, NodeTimeout(2*rolledOut+2*clusterUp))

	It("moves a crowd of clusters at once", Label("slow"), func(ctx SpecContext) {
		ctl.moveCrowd(ctx, source, target)
	}, NodeTimeout(3*clusterUp))

	It("deletes the cluster, and then itself", func(ctx SpecContext) {
		source.kubectl(ctx, "--namespace="+namespace, "delete", "cluster", key.Name)
		Expect(source.instances(ctx)).To(HaveLen(2), "the machines of the management clusters")
		ctl.run(ctx, source, "delete", "--control-plane=foo", "--infrastructure=foo")
		crds := source.kubectl(ctx, "get", "crds", "--output=name")
		Expect(crds).To(ContainSubstring("foocontrolplanes"), "CRDs stay, and with them the users' objects")
	}, NodeTimeout(2*clusterUp))
})

// generate returns clusterctl's rendering of a template of the release.
func (c *clusterctl) generate(ctx context.Context, m *management, key client.ObjectKey, release, flavor string) string {
	GinkgoHelper()
	return c.run(ctx, m, "generate", "cluster", key.Name, "--target-namespace="+key.Namespace, "--infrastructure=foo:"+release,
		"--flavor="+flavor, "--kubernetes-version="+currentVersion, "--control-plane-machine-count=1", "--worker-machine-count=1")
}

// flavorsOf returns the names of the flavors that a release publishes.
func flavorsOf(release string) []string {
	GinkgoHelper()
	files, err := filepath.Glob(filepath.Join(bin, "release/infrastructure-foo", release, "cluster-template*.yaml"))
	Expect(err).NotTo(HaveOccurred())
	Expect(files).NotTo(BeEmpty())
	flavors := make([]string, 0, len(files))
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "cluster-template"), ".yaml")
		flavors = append(flavors, strings.TrimPrefix(name, "-"))
	}
	return flavors
}
