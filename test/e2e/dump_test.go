//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
)

// How many lines of a failed story's logs are shown.
const (
	tailBytes  = 6 << 10
	shownLines = 60
)

// kinds returns the kinds of objects in a story's namespace, and others. The management cluster has
// KubeadmControlPlanes only if a story needs them.
func kinds(others ...string) string {
	all := append([]string{"clusters", "fooclusters", "foocontrolplanes", "machinehealthchecks", "machinepools", "foomachinepools", "machines",
		"foomachines", "kubeadmconfigs"}, others...)
	if selected.Has(needsKubeadmControlPlane) {
		all = append(all, "kubeadmcontrolplanes")
	}
	return strings.Join(all, ",")
}

// conditions shows each object with its conditions, one per line.
const conditions = `{range .items[*]}{.kind}{" "}{.metadata.namespace}/{.metadata.name}{"\n"}` +
	`{range .status.conditions[*]}{"    "}{.type}={.status} {.reason}: {.message}{"\n"}{end}{end}`

// dump adds information to the report that helps to find out why a story failed. It never fails
// itself.
func (m *management) dump(ctx context.Context) {
	show := func(title string, text string) {
		AddReportEntry(title, ReportEntryVisibilityFailureOrVerbose, "\n"+text)
	}
	show("quickstart", string(m.program.said.Contents()))
	if m.env == nil {
		return // it has not come up
	}
	kube := []string{"--kubeconfig=" + m.kubeconfig, "get", "--all-namespaces"}
	show("conditions", m.said(ctx, kubectl(), append(kube, kinds(), "--output=jsonpath="+conditions)...))
	events := m.said(ctx, kubectl(), append(kube, "events", "--sort-by=.metadata.creationTimestamp")...)
	show("events", lastLines(events, shownLines))
	for _, what := range []string{"instances", "pools", "load-balancers", "quota"} {
		show("foocloud "+what, m.said(ctx, "foocloud", what))
	}
	for _, id := range strings.Fields(m.said(ctx, kubectl(), append(kube, "foomachines", "--output=jsonpath={.items[*].status.instanceID}")...)) {
		show("console of "+id, lastLines(m.said(ctx, "foocloud", "logs", id), shownLines))
		show("kubelet of "+id, lastLines(m.said(ctx, "foocloud", "logs", id, "--kubelet"), shownLines))
		show("containerd of "+id, tail(filepath.Join(m.diskOf(id), "private", "log", "containerd.log")))
	}
	logs, _ := filepath.Glob(filepath.Join(m.env["FOO_LOG_DIR"], "*.log")) // the pattern is valid
	for _, log := range logs {
		show(log, tail(log))
	}
	if m.kubeconfig != m.env["MANAGEMENT_KUBECONFIG"] {
		for _, namespace := range managers {
			show("managers in "+namespace, m.said(ctx, kubectl(), "--kubeconfig="+m.kubeconfig, "--namespace="+namespace, "logs",
				"--selector=pod-template-hash", "--prefix", fmt.Sprintf("--tail=%d", shownLines)))
		}
	}
	workloads, _ := filepath.Glob(filepath.Join(suiteDir, "*.kubeconfig"))
	for _, kubeconfig := range workloads {
		show(filepath.Base(kubeconfig), m.said(ctx, kubectl(), "--kubeconfig="+kubeconfig, "--request-timeout=5s",
			"get", "nodes,pods", "--all-namespaces", "--output=wide"))
	}
}

// said returns the output of a program, whether or not it succeeds.
func (m *management) said(ctx context.Context, program string, args ...string) string {
	cmd := command(ctx, program, args...)
	cmd.Env = append(cmd.Env, m.cloudEnv()...)
	text, err := cmd.CombinedOutput()
	if err != nil {
		text = fmt.Appendf(text, "(%v)", err)
	}
	return string(text)
}

func lastLines(text string, count int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-count):], "\n")
}

func tail(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err.Error()
	}
	from := max(0, info.Size()-tailBytes)
	content, err := io.ReadAll(io.NewSectionReader(file, from, tailBytes))
	if err != nil {
		return err.Error()
	}
	return string(content)
}
