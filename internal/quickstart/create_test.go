// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

// After an upgrade, the management cluster still runs the programs and the operating system of the old release.
func TestCreationNeedsAManagementClusterOfTheSameRelease(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can create clusters")
	}
	g := NewWithT(t)
	config := built(t)
	config.Keep = true
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	defer state.close()
	g.Expect(os.Mkdir(config.cloudDir(), 0o700)).To(Succeed())
	g.Expect(os.WriteFile(config.environmentFile(), nil, 0o600)).To(Succeed())
	g.Expect(CreateCluster(t.Context(), config, io.Discard)).To(MatchError(errStarting), "this program runs it")

	other := exec.Command("sleep", "1000")
	g.Expect(other.Start()).To(Succeed())
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}()
	g.Expect(os.WriteFile(filepath.Join(config.StateDir, lockFile), fmt.Appendln(nil, other.Process.Pid), 0o600)).To(Succeed())
	stateDir := " --state-dir=" + config.StateDir
	g.Expect(CreateCluster(t.Context(), config, io.Discard)).To(And(Satisfy(IsInvalid), MatchError(
		"the management cluster runs an earlier version or another copy of Foo; restart it, which does not interrupt the clusters: "+
			"foo stop"+stateDir+" && foo start"+stateDir)))
	g.Expect(Up(t.Context(), config, io.Discard)).To(Succeed(), "nothing else is refused")

	config.Keep = false
	g.Expect(writeSettings(config)).To(Succeed())
	g.Expect(CreateCluster(t.Context(), config, io.Discard)).To(And(Satisfy(IsInvalid), MatchError(ContainSubstring(
		"deletes its clusters when it ends; name another folder with --state-dir, or end it with: foo quickstart delete"))))
}

// The host is checked before a cluster begins, also if it is not the first one.
func TestCreationChecksTheHostOfARunningCloud(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can create clusters")
	}
	g := NewWithT(t)
	config := built(t)
	config.Network, config.CloudConfig = "10.78.0.0/16", "/etc/foo/deleted.yaml"
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	defer state.close()
	g.Expect(os.WriteFile(config.environmentFile(), nil, 0o600)).To(Succeed())
	calls := filepath.Join(config.BinDir, "calls")
	g.Expect(os.WriteFile(config.program("foocloud"), []byte("#!/bin/sh\necho \"$@\" >> "+calls+"\necho foocloud: no memory\nexit 1\n"), 0o700)).To(Succeed())
	create := config
	create.Bridge, create.Network, create.CloudConfig = "foo0", "10.77.0.0/16", "" // the user need not repeat them
	g.Expect(CreateCluster(t.Context(), create, io.Discard)).To(And(Satisfy(IsInvalid), MatchError("no memory")))
	called, err := os.ReadFile(calls)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(called)).To(HaveSuffix("--bridge foo-unit-test --network 10.78.0.0/16 --config \n"))
}

// Clusters that exist may have all the memory and space of the host. They must start again, but get no other beside them.
func TestOnlyANewClusterNeedsRoom(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can create clusters")
	}
	g := NewWithT(t)
	config := built(t)
	config.Keep = true
	keep(g, config)
	script := "#!/bin/sh\ncase \"$*\" in *--restart*) ;; *) echo foocloud: no memory; exit 1;; esac\n"
	g.Expect(os.WriteFile(config.program("foocloud"), []byte(script), 0o700)).To(Succeed())
	g.Expect(CreateCluster(t.Context(), config, io.Discard)).To(And(Not(Satisfy(IsInvalid)), MatchError(
		"no memory; the management cluster runs: stop it with: foo stop --state-dir="+config.StateDir)), "the clusters have started")
	g.Expect(CreateCluster(t.Context(), config, io.Discard)).To(And(Satisfy(IsInvalid), MatchError("no memory")), "nothing was done")
	g.Expect(Stop(t.Context(), config, io.Discard)).To(Succeed())
	g.Expect(Up(t.Context(), config, io.Discard)).To(Succeed())
	g.Expect(Stop(t.Context(), config, io.Discard)).To(Succeed())
}
