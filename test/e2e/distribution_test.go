//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

const (
	// controlPlaneData makes an instance a cluster of its own.
	controlPlaneData = `#cloud-config
write_files:
- path: /run/kubeadm.yaml
  content: |
    apiVersion: kubeadm.k8s.io/v1beta4
    kind: InitConfiguration
    timeouts: {controlPlaneComponentHealthCheck: 30m, kubeletHealthCheck: 30m, kubernetesAPICall: 10m}
    skipPhases: [addon]
    ---
    apiVersion: kubeadm.k8s.io/v1beta4
    kind: ClusterConfiguration
    kubernetesVersion: ` + currentVersion + `
    encryptionAlgorithm: ECDSA-P256
runcmd:
- kubeadm init --config /run/kubeadm.yaml
`
	// webServer is reached through port 30080 of every node. Its image is on every machine.
	webServer = `
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
data:
  Corefile: |
    .:5353 {
      health :8080
    }
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: IMAGE, args: [-conf, /etc/web/Corefile], volumeMounts: [{name: web, mountPath: /etc/web}]}
      volumes:
      - {name: web, configMap: {name: web}}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  type: NodePort
  selector: {app: web}
  ports:
  - {port: 80, targetPort: 8080, nodePort: 30080}
`
	// greedyData asks for memory without end.
	greedyData = `#cloud-config
runcmd:
- tail /dev/zero || echo "tail ended with $?"
`
)

// A machine of a user has systemd and cgroup v2, which the machine of this suite may lack.
var _ = DescribeTableSubtree("A machine with Debian", Label("distribution", "slow", needsMachines, needsArchive), func(release string) {
	var (
		v *virtualMachine
		// control is the ID of the instance with a control plane.
		control string
		// untouched has the traces of Foo on the machine before it was installed.
		untouched []string
	)
	// What is in /sys/kernel is mounted when somebody looks at it, and the order changes with each boot.
	const inspect = "ip -brief link | cut -d' ' -f1; findmnt --list --noheadings --output TARGET | grep -v ^/sys/kernel/; find /sys/fs/cgroup -maxdepth 1 -type d; ls /var/lib /usr/local/* /etc/systemd/system/*"

	traces := func(ctx SpecContext) []string {
		GinkgoHelper()
		return strings.Split(v.run(ctx, inspect), "\n")
	}

	// client runs curl against the cloud.
	client := func(ctx SpecContext, path string, args ...string) string {
		GinkgoHelper()
		return v.run(ctx, `curl --silent --show-error --fail-with-body --unix-socket /var/lib/foocloud/foocloud.sock `+
			`--header "Authorization: Bearer $(cat /var/lib/foocloud/token)" `+strings.Join(args, " ")+" http://cloud"+path)
	}
	// create orders an instance and returns it once its bootstrap data has run.
	create := func(ctx SpecContext, name, data string) cloud.Instance {
		GinkgoHelper()
		body, err := json.Marshal(cloud.InstanceSpec{Name: name, Hostname: name, InstanceTemplate: cloud.InstanceTemplate{
			Type: "small", KubernetesVersion: currentVersion, UserData: []byte(data),
		}})
		Expect(err).NotTo(HaveOccurred())
		var made cloud.Instance
		Expect(json.Unmarshal([]byte(client(ctx, "/v1/instances", "--data '"+string(body)+"'")), &made)).To(Succeed())
		Eventually(ctx, func(g Gomega, ctx SpecContext) {
			g.Expect(json.Unmarshal([]byte(client(ctx, "/v1/instances/"+made.ID)), &made)).To(Succeed())
			g.Expect(made.Bootstrap.State).To(BeElementOf(cloud.BootstrapSucceeded, cloud.BootstrapFailed), made.Message)
		}).WithTimeout(emulated).WithPolling(5 * time.Second).Should(Succeed())
		return made
	}
	// firstProcess returns the PID of an instance's first process.
	firstProcess := func(ctx SpecContext, id string) string {
		GinkgoHelper()
		return v.run(ctx, fmt.Sprintf(`for p in /proc/[0-9]*; do grep -qs "/foo/%s/" $p/cgroup && `+
			`grep -qsP "^NSpid:\t\d+\t1$" $p/status && basename $p; done; true`, id))
	}
	// inside returns a shell command that runs kubectl in the instance with the control plane.
	inside := func(arguments string) string {
		return "foocloud instance exec --no-input control -- kubectl --kubeconfig=/etc/kubernetes/admin.conf " + arguments
	}

	BeforeAll(func(ctx SpecContext) {
		v = newVirtualMachine(ctx, release)
		DeferCleanup(func() { v.stop() })
	}, NodeTimeout(emulated))

	JustAfterEach(func(ctx SpecContext) {
		if CurrentSpecReport().Failed() && v != nil { // the machine may not have started
			v.show(ctx)
		}
	}, NodeTimeout(emulated))

	It("has cgroup v2", func(ctx SpecContext) {
		Expect(v.run(ctx, ". /etc/os-release; echo $VERSION_CODENAME")).To(Equal(release))
		Expect(v.run(ctx, "stat --file-system --format=%T /sys/fs/cgroup")).To(Equal("cgroup2fs"))
	}, NodeTimeout(soon))

	It("installs the archive", func(ctx SpecContext) {
		untouched = traces(ctx)
		started := time.Now()
		Expect(v.run(ctx, "sh /media/install.sh")).To(ContainSubstring("sudo /usr/local/bin/foo "))
		AddReportEntry("archive", fmt.Sprintf("%d MiB, installed in %s", v.download>>20, time.Since(started).Round(time.Second)))
	}, NodeTimeout(emulated))

	It("creates a cluster that serves a web page, and has nothing of it left once it is deleted", func(ctx SpecContext) {
		before := traces(ctx)
		started := time.Now()
		v.run(ctx, "foo create cluster demo --worker-machine-count=1 --timeout=40m")
		AddReportEntry("cluster", "created in "+time.Since(started).Round(time.Second).String())
		// An emulated API server may be too busy to answer kubectl in time.
		kubectl := func(args string) (said string) {
			GinkgoHelper()
			Eventually(ctx, func() (err error) {
				said, err = v.try(ctx, "/usr/local/lib/foo/kubernetes/*/kubectl --context foo-demo "+args)
				return err
			}).WithTimeout(emulated).WithPolling(5*time.Second).Should(Succeed(), func() string { return args + ": " + said })
			return said
		}
		image := kubectl("--namespace kube-system get deployment coredns --output=jsonpath={.spec.template.spec.containers[0].image}")
		kubectl("apply --filename=- <<'END'\n" + strings.Replace(webServer, "IMAGE", image, 1) + "\nEND")
		kubectl("rollout status deployment/web --timeout=40m")
		for _, node := range strings.Fields(kubectl(`get nodes --output='jsonpath={.items[*].status.addresses[?(@.type=="InternalIP")].address}'`)) {
			v.eventually(ctx, "curl --silent --show-error --fail --max-time 30 http://"+node+":30080/health").Should(Equal("OK"))
		}
		Expect(v.run(ctx, "foo delete cluster demo")).To(ContainSubstring("the last cluster"))
		Expect(traces(ctx)).To(ConsistOf(before))
	}, NodeTimeout(3*emulated))

	It("runs the cloud as a service, with an instance that is a cluster", func(ctx SpecContext) {
		v.run(ctx, "systemctl enable --now foocloud")
		v.eventually(ctx, "test -S /var/lib/foocloud/foocloud.sock && systemctl is-active foocloud").Should(Equal("active"))
		made := create(ctx, "control", controlPlaneData)
		Expect(made.Bootstrap.State).To(Equal(cloud.BootstrapSucceeded), func() string { return v.run(ctx, "foocloud logs "+made.ID) })
		control = made.ID
		v.run(ctx, inside("create configmap precious --from-literal=key=value"))
	}, NodeTimeout(2*emulated))

	It("limits an instance to its type", func(ctx SpecContext) {
		limits := fmt.Sprintf("cd /sys/fs/cgroup/foo/%s && cat memory.max cpu.max", control)
		Expect(v.run(ctx, limits)).To(Equal("2147483648\n200000 100000"))
		first := firstProcess(ctx, control)
		greedy := create(ctx, "greedy", greedyData)
		Expect(v.run(ctx, "foocloud logs "+greedy.ID)).To(ContainSubstring("tail ended with 137"))
		Expect(v.run(ctx, inside("get --raw /livez"))).To(Equal("ok"))
		Expect(firstProcess(ctx, control)).To(Equal(first))
	}, NodeTimeout(emulated))

	It("keeps its instances when the service restarts", func(ctx SpecContext) {
		first := firstProcess(ctx, control)
		Expect(first).NotTo(BeEmpty())
		v.run(ctx, "systemctl restart foocloud")
		v.eventually(ctx, "systemctl is-active foocloud && foocloud instances").Should(ContainSubstring(control))
		Expect(firstProcess(ctx, control)).To(Equal(first))
		command := inside("get configmap precious --output=jsonpath={.data.key}")
		v.eventually(ctx, command).Should(Equal("value"))
	}, NodeTimeout(emulated))

	It("has its instances back, with their data, after a reboot", func(ctx SpecContext) {
		v.reboot(ctx)
		v.eventually(ctx, "systemctl is-active foocloud").Should(Equal("active"))
		Eventually(ctx, firstProcess).WithArguments(control).WithTimeout(emulated).WithPolling(5 * time.Second).ShouldNot(BeEmpty())
		command := inside("get configmap precious --output=jsonpath={.data.key}")
		v.eventually(ctx, command).Should(Equal("value"))
		alive := inside("get --raw /livez")
		v.eventually(ctx, alive).Should(Equal("ok"))
	}, NodeTimeout(2*emulated))

	It("removes everything", func(ctx SpecContext) {
		v.run(ctx, "systemctl stop foocloud && foocloud destroy --yes && rm -rf /var/lib/foocloud")
		Expect(v.run(ctx, "/usr/local/lib/foo/install.sh --uninstall")).To(ContainSubstring("Removed Foo"))
		Expect(traces(ctx)).To(ConsistOf(untouched))
	}, NodeTimeout(emulated))
},
	Entry("12", Ordered, "bookworm"),
	Entry("13", Ordered, "trixie"),
)
