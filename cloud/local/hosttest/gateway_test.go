//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hosttest

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
)

var _ = Describe("names", func() {
	It("resolve to instances and load balancers", func(ctx SpecContext) {
		d := newDaemon()
		one, two := d.boot(ctx, "one", ""), d.boot(ctx, "two.example", "")
		balancer := d.balance(ctx)
		for _, asks := range []cloud.Instance{one, two} {
			n := &node{daemon: d, Instance: asks}
			for name, address := range map[string]string{
				"one": one.Address, "two.example": two.Address, "two": two.Address, balancer.Name: balancer.Address,
			} {
				Expect(n.do("getent ahostsv4 "+name)).To(HavePrefix(address+" "), "%s asks for %s", asks.Name, name)
			}
			Expect(n.do("getent hosts "+two.Address)).To(MatchRegexp(`\stwo\.example(\s|$)`), asks.Name)
		}
		Expect(d.client.DeleteInstance(ctx, two.ID)).To(Succeed())
		Eventually((&node{daemon: d, Instance: one}).try, soon).WithArguments("getent hosts two; echo $?").
			Should(HaveSuffix("2"), "the instance is deleted by itself")
	})

	It("do not exist at once where the machine has no resolver", func(ctx SpecContext) {
		m := newMachine("echo > resolv.conf; mount --bind resolv.conf /etc/resolv.conf; mkdir state")
		d, output := prepare(), &bytes.Buffer{}
		d.client = m.serve(d, output)
		made := d.boot(ctx, "one", `began=$(date +%s%N)
getent hosts registry.example; test $? = 2 && test $(( $(date +%s%N) - began )) -lt 4500000000 # less than the time after which it asks again
`)
		Expect(made.Bootstrap).To(Equal(cloud.Bootstrap{State: cloud.BootstrapSucceeded}))
	})

	It("resolve only for the tenant that owns them", func(ctx SpecContext) {
		d, other := newTenants()
		mine, theirs := d.boot(ctx, "mine", ""), other.boot(ctx, "theirs", "")
		for _, pair := range [][2]cloud.Instance{{mine, theirs}, {theirs, mine}} {
			n := &node{daemon: d, Instance: pair[0]}
			Expect(n.do("getent hosts "+pair[0].Name)).To(ContainSubstring(pair[0].Name), "its own")
			Expect(n.do("getent hosts "+pair[1].Name+"; echo $?")).To(Equal("2"), "the name of another tenant's instance")
		}
	})
})

var _ = Describe("the API", func() {
	It("answers instances and the machine at the first address of the network", func(ctx SpecContext) {
		d := prepare()
		gateway := strings.TrimSuffix(d.network, "0/24") + "1"
		endpoint := "https://" + gateway + ":7443"
		d.start("--listen", d.endpoint(), "--listen", endpoint)
		n := &node{daemon: d, Instance: d.boot(ctx, "one", "")}
		Expect(n.do("timeout 2 bash -c '</dev/tcp/" + gateway + "/7443' && echo yes")).To(Equal("yes"))
		verified, err := client.NewClient(client.Options{
			Endpoint: endpoint, TokenFile: filepath.Join(d.state, "token"), CAFile: filepath.Join(d.state, "tls.crt"),
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(verified.Healthy(ctx)).To(Succeed())
		d.kill(syscall.SIGTERM)
		d.start("--listen", d.endpoint(), "--listen", endpoint)
		Expect(verified.Healthy(ctx)).To(Succeed(), "the network exists already")
	})
})

var _ = Describe("images of containers", func() {
	It("are loaded, and pulled by instances from the cloud", func(ctx SpecContext) {
		bin, err := filepath.Abs("../../../bin")
		Expect(err).NotTo(HaveOccurred())
		system, err := filepath.EvalSymlinks(programs.system)
		Expect(err).NotTo(HaveOccurred())
		d := prepare()
		d.start("--system-dir", system, "--images-dir", filepath.Join(bin, "kubernetes"), "--agent", filepath.Join(bin, "foonode"))
		Expect(d.run("image", "load", writeArchive("example.test/app:1"))).To(Equal("loaded example.test/app:1\n"))
		Expect(d.run("image", "list")).To(MatchRegexp(`example\.test/app:1 +sha256:`))
		var loaded []api.ContainerImage
		Expect(json.Unmarshal([]byte(d.run("image", "list", "-o", "json")), &loaded)).To(Succeed())
		digest := loaded[0].Digest

		n := d.bootNode(ctx, "one", "small", "#cloud-config\nruncmd: ['true']\n")
		Expect(n.Bootstrap).To(Equal(cloud.Bootstrap{State: cloud.BootstrapSucceeded}), d.run("logs", n.ID))
		pull := "ctr -n k8s.io images pull --hosts-dir /etc/containerd/certs.d "
		n.do(pull + "example.test/app:1")
		n.do(pull + "example.test/app@" + digest)
		Expect(n.do("ctr -n k8s.io images ls name==example.test/app:1")).To(ContainSubstring(digest))
		output, err := n.try("ctr -n k8s.io images push --hosts-dir /etc/containerd/certs.d example.test/app:1")
		Expect(err).To(HaveOccurred(), output)

		d.kill(syscall.SIGTERM)
		d.start("--system-dir", system, "--images-dir", filepath.Join(bin, "kubernetes"), "--agent", filepath.Join(bin, "foonode"))
		n.do("ctr -n k8s.io images rm --sync example.test/app:1 example.test/app@" + digest)
		n.do(pull + "example.test/app:1")
		Expect(d.run("image", "delete", "example.test/app:1")).To(Equal("deleted example.test/app:1\n"))
		output, err = n.try(pull + "example.test/app:1")
		Expect(err).To(HaveOccurred(), output)
	})
})

// writeArchive writes an image as `docker save` does, and returns the file.
func writeArchive(called string) string {
	GinkgoHelper()
	image, err := random.Image(1<<20, 2)
	Expect(err).NotTo(HaveOccurred())
	config, err := image.ConfigFile()
	Expect(err).NotTo(HaveOccurred())
	config.OS, config.Architecture = "linux", runtime.GOARCH
	image, err = mutate.ConfigFile(image, config)
	Expect(err).NotTo(HaveOccurred())
	tag, err := name.NewTag(called)
	Expect(err).NotTo(HaveOccurred())
	path := filepath.Join(programs.folder, "app.tar")
	Expect(tarball.WriteToFile(path, tag, image)).To(Succeed())
	return path
}
