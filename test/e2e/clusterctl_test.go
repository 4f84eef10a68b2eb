//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/base64"
	"fmt"
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

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

// capiVersion is the version that the components of Cluster API in bin/manifests are installed as.
const capiVersion = "v1.14.2"

// The relevant versions in bin/release.
const (
	// lastRelease is kept in testdata/releases as it was published.
	lastRelease = "v0.1.0"
	// nextRelease is the version of the sources.
	nextRelease = "v0.1.1"
)

// initOf returns the arguments that install a release and its prerequisites.
func initOf(release string) []string {
	return []string{
		"init", "--core=cluster-api:" + capiVersion, "--bootstrap=kubeadm:" + capiVersion,
		"--control-plane=foo:" + release, "--infrastructure=foo:" + release,
	}
}

// clusterctl is the program with the repositories of Foo's release and of Cluster API, and the
// user's configuration.
type clusterctl struct {
	config string
	env    []string
}

// newClusterctl writes a configuration like that of the release, but with Cluster API from this
// machine instead of the network.
func newClusterctl(m *management) *clusterctl {
	GinkgoHelper()
	root := filepath.Join(suiteDir, "repository")
	var providers strings.Builder
	for _, one := range []struct{ kind, name, label, file string }{
		{"CoreProvider", "cluster-api", "cluster-api", "core-components.yaml"},
		{"BootstrapProvider", "kubeadm", "bootstrap-kubeadm", "bootstrap-components.yaml"},
	} {
		folder := filepath.Join(root, one.label, capiVersion)
		Expect(os.MkdirAll(filepath.Dir(folder), 0o700)).To(Succeed())
		Expect(os.CopyFS(folder, os.DirFS(filepath.Join(bin, "manifests", one.label)))).To(Or(Succeed(), MatchError(os.ErrExist)))
		fmt.Fprintf(&providers, "- {name: %s, type: %s, url: %q}\n", one.name, one.kind, filepath.Join(folder, one.file))
	}
	release, err := os.ReadFile(filepath.Join(bin, "release/clusterctl.yaml"))
	Expect(err).NotTo(HaveOccurred(), "build it with `make e2e`")
	config := filepath.Join(suiteDir, "clusterctl.yaml")
	Expect(os.WriteFile(config, []byte(strings.Replace(string(release), "providers:\n", "providers:\n"+providers.String(), 1)), 0o600)).To(Succeed())

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
	cmd.Env = append(append(cmd.Env, "HTTPS_PROXY=http://127.0.0.1:1"), c.env...)
	return cmd
}

// run runs a command that must succeed, and returns clusterctl's output.
func (c *clusterctl) run(ctx context.Context, m *management, args ...string) string {
	GinkgoHelper()
	got := c.on(ctx, m, args...)
	Expect(got.code).To(BeZero(), "clusterctl %s failed: %s%s", strings.Join(args, " "), got.stdout, got.stderr)
	return got.stdout
}

// init installs a release, and runs its managers.
func (c *clusterctl) init(ctx context.Context, p *pods, release string) {
	GinkgoHelper()
	p.prepare(ctx)
	c.run(ctx, p.management, initOf(release)...)
	p.run(ctx)
}

// prepare installs the prerequisites of clusterctl.
func (m *management) prepare(ctx context.Context) {
	GinkgoHelper()
	m.kubectl(ctx, "apply", "--server-side", "--filename="+filepath.Join(bin, "manifests/cert-manager/cert-manager.crds.yaml"))
}

// newMover starts a management cluster without providers, which clusters are moved from or to. It
// ends with the story.
func newMover(ctx context.Context, name, bridge, network string) *pods {
	GinkgoHelper()
	m := &management{state: filepath.Join(suiteDir, name), bridge: bridge}
	m.program = startQuickstart(ctx, m.state, bridge, network, "--without-providers",
		fmt.Sprintf("--cloud-listen=https://127.0.0.1:%d", freePort(ctx)))
	DeferCleanup(m.stop, NodeTimeout(clusterGone))
	m.connect(ctx)
	p := m.newPods()
	DeferCleanup(func(ctx SpecContext) { p.stop(ctx, "") }, NodeTimeout(clusterGone))
	return p
}

// What a user does with clusterctl, on management clusters with only what clusterctl installs. The
// managers run with the flags, permissions and webhooks of the release's components. Only the
// program is always built from the sources: whatever it could not do with the permissions of the
// last release must work after the upgrade.
var _ = Describe("A release of Foo", Ordered, Label("clusterctl", needsNextRelease), func() {
	const namespace = "fleet"
	key := client.ObjectKey{Namespace: namespace, Name: "mover"}
	var source, target *pods
	var ctl *clusterctl
	var c *cluster
	BeforeAll(func(ctx SpecContext) {
		source = newMover(ctx, "source", quickstartBridge, quickstartNetwork)
		target = newMover(ctx, "target", targetBridge, targetNetwork)
		ctl = newClusterctl(source.management)
	}, NodeTimeout(2*clusterUp))
	AfterEach(func() {
		for _, p := range []*pods{source, target} {
			if p != nil && CurrentSpecReport().Failed() {
				p.show()
			}
		}
	})

	It("is not installed without its required variables", func(ctx SpecContext) {
		source.prepare(ctx)
		without := &clusterctl{config: ctl.config}
		got := without.on(ctx, source.management, initOf(lastRelease)...)
		Expect(got.code).NotTo(BeZero())
		Expect(got.stderr).To(And(ContainSubstring("FOO_CLOUD_CA_B64"), ContainSubstring("FOO_CLOUD_ENDPOINT"), ContainSubstring("FOO_CLOUD_TOKEN_B64")))
	}, NodeTimeout(clusterUp))

	It("is installed by clusterctl init", func(ctx SpecContext) {
		ctl.init(ctx, source, lastRelease)
		plan := ctl.run(ctx, source.management, "upgrade", "plan")
		Expect(plan).To(MatchRegexp(`control-plane-foo .*%s +%s`, lastRelease, nextRelease))
		Expect(plan).To(MatchRegexp(`infrastructure-foo .*%s +%s`, lastRelease, nextRelease))
	}, NodeTimeout(2*clusterUp))

	It("is not installed twice", func(ctx SpecContext) {
		got := ctl.on(ctx, source.management, "init", "--infrastructure=foo:"+nextRelease, "--target-namespace=elsewhere")
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
			Expect(ctl.generate(ctx, source.management, key, nextRelease, flavor)).To(ContainSubstring("kind: Cluster"), "flavor %q", flavor)
		}
		manifest := filepath.Join(suiteDir, "mover.yaml")
		Expect(os.WriteFile(manifest, []byte(ctl.generate(ctx, source.management, key, lastRelease, "")), 0o600)).To(Succeed())
		source.kubectl(ctx, "apply", "--filename="+manifest)
		c = &cluster{management: source.management, key: key, kubeconfig: filepath.Join(suiteDir, "mover.kubeconfig")}
		c.available(ctx)
		c.nodesReady(ctx, 1, 1)
		described := ctl.run(ctx, source.management, "describe", "cluster", key.Name, "--namespace="+namespace, "--show-conditions=all")
		Expect(described).To(And(ContainSubstring("FooControlPlane"), ContainSubstring("FooCluster")))
	}, NodeTimeout(2*clusterUp))

	It("is upgraded under a live cluster", func(ctx SpecContext) {
		before, machines := c.footprint(ctx, source.management), uidsOf(c.controlPlaneMachines(Default, ctx))
		source.stop(ctx, "-foo-") // like their Pods when clusterctl scales the Deployments down
		ctl.run(ctx, source.management, "upgrade", "apply", "--control-plane=foo:"+nextRelease, "--infrastructure=foo:"+nextRelease)
		source.run(ctx)
		Expect(ctl.run(ctx, source.management, "upgrade", "plan")).To(ContainSubstring("You are already up to date!"))
		source.expectDefinitions(ctx, nextRelease)
		c.scaleWorkers(ctx, 2)
		nodes := c.nodesReady(ctx, 1, 2) // the new managers work
		Expect(source.instances(ctx).IsSuperset(before.instances)).To(BeTrue(), "the upgrade has replaced instances")
		Expect(c.healthyMembers(ctx, controlPlanesOf(nodes))).To(ConsistOf(sets.List(before.members)))
		Expect(uidsOf(c.controlPlaneMachines(Default, ctx))).To(Equal(machines), "the upgrade has replaced Machines")
		Eventually(func(g Gomega) { c.expectSettledStatus(g, ctx, 1, currentVersion) }).WithContext(ctx).Should(Succeed())
		Expect(source.refused()).To(BeEmpty(), "the roles of a release lack a permission")
	}, NodeTimeout(3*clusterUp))

	It("installs the runtime extension as a separate provider, without a cloud", func(ctx SpecContext) {
		alone := &clusterctl{config: ctl.config, env: slices.DeleteFunc(slices.Clone(ctl.env), func(variable string) bool { return strings.HasPrefix(variable, "FOO_CLOUD_") })}
		alone.run(ctx, source.management, "init", "--runtime-extension=foo:"+nextRelease)
		source.run(ctx)
		generated := ctl.generate(ctx, source.management, key, nextRelease, needsExtension)
		Expect(generated).To(And(ContainSubstring("kind: Cluster\n"), ContainSubstring("kind: Addon\n")))
		Expect(source.refused()).To(BeEmpty(), "the role of the runtime extension lacks a permission")
		source.stop(ctx, "runtime-extension-foo-")
		alone.run(ctx, source.management, "delete", "--runtime-extension=foo")
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
			return source.refused()
		}).WithContext(ctx).Should(ContainElement(And(HavePrefix("infrastructure-foo-controller-manager: "),
			ContainSubstring(`cannot patch resource \"fooclusters\"`))), "a permission is missing, and no story would notice")
		give()
		Eventually(func(g Gomega) {
			var fooCluster infrav1.FooCluster
			g.Expect(source.Get(ctx, key, &fooCluster)).To(Succeed())
			g.Expect(fooCluster.Finalizers).NotTo(BeEmpty())
		}).WithContext(ctx).Should(Succeed(), "the manager does not continue with its permission restored")
		source.stop(ctx, "infrastructure-foo-") // its messages have been checked
		source.run(ctx)
	}, NodeTimeout(clusterUp))

	It("does not move a cluster to a target without Foo", func(ctx SpecContext) {
		ctl.refuseMove(ctx, source, target, c, "failed to check Cluster API version")
		target.prepare(ctx)
		ctl.run(ctx, target.management, "init", "--core=cluster-api:"+capiVersion, "--bootstrap=kubeadm:"+capiVersion, "--control-plane=-")
		ctl.refuseMove(ctx, source, target, c, "provider control-plane-foo not found in the target cluster")
		ctl.refuseMove(ctx, source, target, c, "provider infrastructure-foo not found in the target cluster")
		// clusterctl tests cert-manager each time, in a namespace that must be gone by then.
		probe := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "cert-manager-test"}}
		Eventually(ctx, target.gone(probe)).Should(BeTrue())
		ctl.run(ctx, target.management, "init", "--control-plane=foo:"+nextRelease, "--infrastructure=foo:"+nextRelease)
		target.run(ctx)
	}, NodeTimeout(clusterUp))

	It("moves a live cluster with its MachineHealthCheck, and back", func(ctx SpecContext) {
		c.healthChecked(ctx, impatient)
		before := c.footprint(ctx, source.management)
		ctl.move(ctx, source, target, c)
		Expect(c.footprint(ctx, source.management)).To(Equal(before), "the move has changed the cluster")
		ctl.move(ctx, target, source, c)
		Expect(c.footprint(ctx, source.management)).To(Equal(before), "the move back has changed the cluster")
		Expect(append(source.refused(), target.refused()...)).To(BeEmpty(), "the roles of a release lack a permission")
	}, NodeTimeout(4*clusterUp))

	It("moves a live cluster even if the first move is killed before everything is at the target", func(ctx SpecContext) {
		before, objects := c.footprint(ctx, source.management), c.names(ctx, source.management)
		allow := target.refuse(ctx, admissionregistrationv1.Create, schema.GroupResource{Group: infrav1.GroupVersion.Group, Resource: "foomachines"}, func() error {
			return target.Create(ctx, &infrav1.FooMachine{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "probe"}}, client.DryRunAll)
		})
		ctl.killMove(ctx, source, target, c, func(g Gomega) {
			machines := &clusterv1.MachineList{}
			g.Expect(target.List(ctx, machines, client.InNamespace(namespace))).To(Succeed())
			g.Expect(machines.Items).NotTo(BeEmpty())
		})
		allow()
		Expect(c.names(ctx, source.management)).To(ConsistOf(objects), "the source has lost something")
		Expect(c.names(ctx, target.management)).NotTo(ContainElement(ContainSubstring("foomachine.infra")))
		Expect(c.pausedIn(Default, ctx, source.management)).To(BeTrue())
		Expect(c.pausedIn(Default, ctx, target.management)).To(BeTrue())
		Expect(c.footprint(ctx, source.management)).To(Equal(before), "the cluster has changed while it is paused in both")

		By("moving it again")
		got := ctl.on(ctx, source.management, "move", "--namespace="+namespace, "--to-kubeconfig="+target.kubeconfig)
		Expect(got.code).NotTo(BeZero())
		Expect(got.stderr).To(ContainSubstring("cannot start operation while the following Clusters are paused: fleet/mover"))
		c.resume(ctx, source.management)
		ctl.move(ctx, source, target, c)
		Expect(c.names(ctx, target.management)).To(ContainElements(objects), "something has been lost")
		Expect(c.names(ctx, source.management)).To(BeEmpty())
		Expect(c.footprint(ctx, source.management)).To(Equal(before), "the move has changed the cluster")
	}, NodeTimeout(4*clusterUp))

	It("completes a move by hand that was killed after everything was at the target", func(ctx SpecContext) {
		before, objects := c.footprint(ctx, source.management), c.names(ctx, target.management)
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
		Expect(c.names(ctx, source.management)).To(ContainElements(objects), "something has been lost")
		Expect(c.pausedIn(Default, ctx, target.management)).To(BeTrue())
		Expect(c.pausedIn(Default, ctx, source.management)).To(BeTrue())

		unharmed := target.bystander(ctx)
		c.forget(ctx, target.management)
		unharmed()
		c.resume(ctx, source.management)
		c.arrived(ctx, target.management, source.management)
		Expect(c.names(ctx, target.management)).To(BeEmpty())
		Expect(c.footprint(ctx, source.management)).To(Equal(before), "the move has changed the cluster")
		Expect(append(source.refused(), target.refused()...)).To(BeEmpty(), "the roles of a release lack a permission")
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
		Expect(foocloud[[]instance](ctx, source.management, "instances")).To(BeEmpty())
		ctl.run(ctx, source.management, "delete", "--control-plane=foo", "--infrastructure=foo")
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
