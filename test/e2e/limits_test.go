//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
)

const (
	// kubeletPort is where every kubelet listens.
	kubeletPort = 10250
	// strangerPort is where the instance of another tenant listens.
	strangerPort = 7000
)

// nobody is an address of the network that no instance has.
const nobody = "10.92.127.250"

// callEverybody is a script that asks all that are connected to the same bridge who has the address of nobody, again and again.
const callEverybody = "while true; do timeout 1 bash -c '</dev/tcp/" + nobody + "/1' 2>/dev/null; done"

// listen20s is a program in Perl that prints for 20 s the IP address of who sent each frame that reaches the network card. A frame
// with ARP has it elsewhere than one with IP.
const listen20s = `$| = 1; $SIG{ALRM} = sub { exit }; alarm 20; socket($s, 17, 3, 0x0300) or die $!;
while (defined recv($s, $frame, 2000, 0)) {
	print join(".", unpack("C4", substr($frame, unpack("n", substr($frame, 12, 2)) == 0x0806 ? 28 : 26, 4))), "\n";
}`

// instanceOf is the ID of the instance that a Node runs on.
func instanceOf(node corev1.Node) string {
	return node.Spec.ProviderID[strings.LastIndex(node.Spec.ProviderID, "/")+1:]
}

// logged returns what the cloud has kept of the console of an instance.
func (m *management) logged(ctx context.Context, id string) string {
	GinkgoHelper()
	cmd := command(ctx, "foocloud", "logs", id)
	cmd.Env = append(cmd.Env, m.cloudEnv()...)
	return output(cmd)
}

// roomOn returns how many bytes can still be written to the file system that a folder lies on.
func roomOn(folder string) (int64, error) {
	var stat unix.Statfs_t
	err := unix.Statfs(folder, &stat)
	return int64(stat.Bavail) * stat.Bsize, err
}

// mostMemoryOf returns how many bytes of memory an instance has had at most.
func mostMemoryOf(id string) int64 {
	GinkgoHelper()
	for _, folder := range cgroupsOf(id) {
		for _, name := range []string{"memory.max_usage_in_bytes", "memory.peak"} {
			text, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				continue
			}
			most, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
			Expect(err).NotTo(HaveOccurred())
			return most
		}
	}
	Fail("the host does not say how much memory instance " + id + " has had")
	return 0
}

// bootStranger makes an instance of another tenant, which calls everybody and listens, and is gone with the story.
func (m *management) bootStranger(ctx context.Context) instance {
	GinkgoHelper()
	theirs := m.as(stranger)
	listen := fmt.Sprintf(`use IO::Socket::INET; my $s = IO::Socket::INET->new(LocalPort => %d, Listen => 5) or die; while (my $c = $s->accept) { close $c }`, strangerPort)
	config, err := json.Marshal(map[string]any{"runcmd": [][]string{
		{"sh", "-c", "exec setsid perl -e '" + listen + "' > /dev/null 2>&1 &"},
		{"sh", "-c", `exec setsid bash -c "$0" > /dev/null 2>&1 &`, callEverybody},
	}})
	Expect(err).NotTo(HaveOccurred())
	spec, err := json.Marshal(map[string]any{
		"name": stranger, "hostname": stranger, "type": narrowType, "kubernetesVersion": currentVersion, "userData": append([]byte("#cloud-config\n"), config...),
	})
	Expect(err).NotTo(HaveOccurred())
	var made instance
	Expect(json.Unmarshal(theirs.askCloud(Default, ctx, http.MethodPost, "/v1/instances", spec), &made)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		theirs.deleteInstance(ctx, made.ID)
		Eventually(func() []instance { return foocloud[[]instance](ctx, theirs, "instances") }).WithContext(ctx).WithTimeout(clusterGone).Should(BeEmpty())
	}, NodeTimeout(clusterGone))
	Eventually(func(g Gomega) {
		all := foocloud[[]instance](ctx, theirs, "instances")
		g.Expect(all).To(HaveLen(1), "the tenant has no other")
		made = all[0]
		connection, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(made.Address, strconv.Itoa(strangerPort)))
		g.Expect(err).NotTo(HaveOccurred(), "the host reaches it")
		g.Expect(connection.Close()).To(Succeed())
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
	return made
}

// hardwareOf returns the hardware address by which the host reaches an instance.
func hardwareOf(address string) string {
	GinkgoHelper()
	table, err := os.ReadFile("/proc/net/arp")
	Expect(err).NotTo(HaveOccurred())
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 3 && fields[0] == address {
			return fields[3]
		}
	}
	Fail("the host does not know " + address)
	return ""
}
