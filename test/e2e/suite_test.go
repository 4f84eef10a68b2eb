//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e runs complete stories on real machines. Each story uses only the public interfaces of
// the built programs: the flags and the output of foo, foocloud, clusterctl and kubectl, and
// the API of the management and workload clusters. It is built with the tag e2e, and needs root and
// the programs in bin/.
//
// All stories share one management cluster. Each has its own namespace, and deletes its clusters at
// the end. Labels select stories:
//
//	make test                        smoke: each feature once, on one cluster
//	make e2e                         all but those with the label slow, which take minutes each
//	make e2e LABELS='control-plane'  all stories about control planes
//	make test-all                    all stories
//
// A story that needs more than the programs says so in a label such as needs:all-versions, which
// is a target of the Makefile; make e2e builds it for the selected stories only.
//
// Limits: it does not measure speed, which bench does, and runs one story at a time.
package e2e

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// Networks and bridges of the suite. They must not overlap, and must differ from the defaults of a
// user's quickstart.
const (
	suiteBridge       = "fooe2e"
	suiteNetwork      = "10.92.0.0/17"
	quickstartBridge  = "fooe2e1"
	quickstartNetwork = "10.92.128.0/18"
)

// Kubernetes versions that the stories need.
const (
	currentVersion  = "v1.36.3"
	previousVersion = "v1.35.4"
)

// How long something may take on a slow and busy machine, which may have a tenth of its processors.
// Eventually returns as soon as it succeeds: only a failing story waits this long.
const (
	// soon is for the work of a single program.
	soon = 2 * time.Minute
	// clusterUp is for a whole cluster, or a machine that joins one.
	clusterUp = 10 * time.Minute
	// clusterGone is for the deletion of a cluster with draining.
	clusterGone = 5 * time.Minute
	// each poll costs the programs under test CPU time.
	interval = 250 * time.Millisecond
)

// Labels of stories that need more than the programs.
const (
	// needsAllVersions is for stories with the previous Kubernetes version.
	needsAllVersions = "needs:all-versions"
	// needsNextRelease is for stories that install a release or use its templates.
	needsNextRelease         = "needs:next-release"
	needsArchive             = "needs:archive"
	needsKubeadmControlPlane = "needs:kubeadm-control-plane"
	needsInMemoryProvider    = "needs:in-memory-provider"
	needsConformanceParts    = "needs:conformance-parts"
	needsBenchmark           = "needs:bench-program"
	needsMachines            = "needs:machines"
	// needsImages is for stories whose machines run Foo's own images.
	needsImages = "needs:images"
	// needsNodeImages is for stories whose machines start from images of nodes with all versions.
	needsNodeImages = "needs:node-images"
	// needsManagement is for stories with a management cluster whose managers are Pods.
	needsManagement = "needs:management"
)

const suiteName = "Foo on real machines"

func TestE2E(t *testing.T) {
	RegisterFailHandler(Fail)
	for _, story := range stories(PreviewSpecs(suiteName)) {
		selected.Insert(story.Labels()...)
	}
	RunSpecs(t, suiteName)
}

// stories returns the stories of a report that ran.
func stories(report Report) []SpecReport {
	return slices.DeleteFunc(slices.Clone(report.SpecReports), func(one SpecReport) bool {
		return one.LeafNodeType != types.NodeTypeIt || one.State.Is(types.SpecStateSkipped|types.SpecStatePending)
	})
}

// The JUnit report has the durations too, in the order of the stories.
var _ = ReportAfterSuite("durations", func(report Report) {
	if report.SuiteConfig.DryRun {
		return
	}
	ran := stories(report)
	slices.SortStableFunc(ran, func(a, b SpecReport) int { return cmp.Compare(b.RunTime, a.RunTime) })
	fmt.Println("\nStories, slowest first:")
	for _, story := range ran {
		fmt.Printf("%8s  %-7s  %s\n", story.RunTime.Round(time.Second), story.State, story.FullText())
	}
})

var (
	// bin is the folder of the built programs.
	bin string
	// suiteDir is the folder for everything that the suite writes. It is on a disk, and outside the
	// folders that an instance hides.
	suiteDir string
	// shared is the management cluster of all stories; nil until the first story needs it.
	shared *management
	// selected are the labels of the stories that run.
	selected = sets.New[string]()
)

var _ = BeforeSuite(func() {
	ctrl.SetLogger(GinkgoLogr)
	klog.SetLogger(GinkgoLogr)
	SetDefaultEventuallyTimeout(soon)
	SetDefaultEventuallyPollingInterval(interval)
	EnforceDefaultTimeoutsWhenUsingContexts()

	Expect(os.Geteuid()).To(BeZero(), "instances need namespaces, bridges and mounts: run it as root")
	root, err := filepath.Abs("../..")
	Expect(err).NotTo(HaveOccurred())
	bin = filepath.Join(root, "bin")
	for _, name := range []string{"foo", "foocloud", "manager", "tools/clusterctl", "kubernetes/" + currentVersion + "/kubectl"} {
		Expect(filepath.Join(bin, name)).To(BeARegularFile(), "build it with `make e2e`")
	}
	suiteDir, err = os.MkdirTemp("/var/lib", "foo-e2e-")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, suiteDir)
})

var _ = AfterSuite(func(ctx SpecContext) {
	if shared != nil {
		shared.stop(ctx)
	}
}, NodeTimeout(clusterGone))

var _ = AfterEach(func(ctx SpecContext) {
	if shared != nil && CurrentSpecReport().Failed() {
		shared.dump(ctx)
	}
}, NodeTimeout(clusterGone))
