// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// Options defines which cloud to test.
type Options struct {
	// New returns a cloud for one test. Its tenant must be empty and have room for three instances,
	// a pool and a load balancer.
	New func(*testing.T) cloud.Cloud
	// Patience is how long an instance may take to run, and how long any deletion may take.
	Patience time.Duration
	// Lose makes an instance, or another one of its pool, disappear as if the cloud had failed. If
	// nil, tests of lost instances are skipped.
	Lose func(t *testing.T, c cloud.Cloud, instance cloud.Instance)
	// LosePool makes a pool of this name disappear, but not its instances. If nil, tests of lost pools
	// are skipped: no pool of the cloud can be lost that way.
	LosePool func(t *testing.T, c cloud.Cloud, name string)
}

type suite struct {
	*gomega.GomegaWithT
	Options
	t     *testing.T
	cloud cloud.Cloud
	// template is an order that the cloud accepts.
	template cloud.InstanceTemplate
}

// tag marks the objects that the tests create.
const tag = "conformance"

const userData = "#cloud-config\nruncmd: []\n"

// Run tests a cloud. Each rule is a subtest with its own cloud.
func Run(t *testing.T, options Options) {
	t.Helper()
	for name, test := range map[string]func(*suite){
		"catalog is sorted":                              (*suite).catalog,
		"ensuring an instance again makes no other":      (*suite).ensureInstance,
		"an ID is part of its provider ID":               (*suite).identifies,
		"a host name may have dots":                      (*suite).hostnames,
		"an instance stays as it was ordered":            (*suite).immutable,
		"instances are found by name and tags":           (*suite).filters,
		"instances are spread over zones by tags":        (*suite).spreads,
		"instances ordered at once are spread as well":   (*suite).spreadsAtOnce,
		"an instance is deleted until it is not found":   (*suite).deleteInstance,
		"what cannot be ordered is refused as invalid":   (*suite).invalid,
		"tags and revisions have a limited size":         (*suite).limitedSizes,
		"what is not there is not found":                 (*suite).notFound,
		"a load balancer has an address before backends": (*suite).loadBalancer,
		"a load balancer finds its backends by tags":     (*suite).backends,
		"a pool makes its instances":                     (*suite).poolGrows,
		"a pool shrinks by deletions only":               (*suite).poolShrinks,
		"a pool spreads its instances over its zones":    (*suite).poolSpreads,
		"a pool refills after a loss":                    (*suite).poolRefills,
		"a pool takes over what a lost one has left":     (*suite).poolIsLost,
		"a lost pool is deleted with its instances":      (*suite).lostPoolIsDeleted,
		"a pool refuses a change of what was not read":   (*suite).poolConflicts,
		"a pool refuses versions of an earlier one":      (*suite).poolIsCreatedAgain,
		"a deletion is not overwritten by a scaling":     (*suite).scalingRacesDeletion,
		"a deletion is not overwritten by a template":    (*suite).templateRacesDeletion,
		"a repeated deletion of a pool is no change":     (*suite).deletesOnEvents,
		"lists omit nothing that exists":                 (*suite).lists,
		"a read after a call returns what the call did":  (*suite).readsAfterCalls,
		"a read after an event returns the change":       (*suite).readsAfterEvents,
		"a watch tells of changes after Synced":          (*suite).watch,
		"a watch tells of deletions":                     (*suite).deletionEvents,
	} {
		t.Run(name, func(t *testing.T) {
			s := &suite{GomegaWithT: gomega.NewWithT(t), Options: options, t: t, cloud: options.New(t)}
			s.chooseTemplate()
			test(s)
		})
	}
}

// chooseTemplate uses the first type and the newest default image.
func (s *suite) chooseTemplate() {
	types, err := s.cloud.InstanceTypes(s.t.Context())
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(types).NotTo(gomega.BeEmpty())
	images, err := s.cloud.Images(s.t.Context())
	s.Expect(err).NotTo(gomega.HaveOccurred())
	images = slices.DeleteFunc(images, func(image cloud.Image) bool { return image.Name != "" })
	s.Expect(images).NotTo(gomega.BeEmpty())
	s.template = cloud.InstanceTemplate{
		Type: types[0].Name, KubernetesVersion: images[len(images)-1].KubernetesVersion, UserData: []byte(userData),
	}
}

func (s *suite) catalog() {
	zones, err := s.cloud.Zones(s.t.Context())
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(zones).NotTo(gomega.BeEmpty())
	s.Expect(slices.IsSortedFunc(zones, func(a, b cloud.Zone) int { return strings.Compare(a.Name, b.Name) })).To(gomega.BeTrue(), "%v", zones)
	types, err := s.cloud.InstanceTypes(s.t.Context())
	s.Expect(err).NotTo(gomega.HaveOccurred())
	s.Expect(slices.IsSortedFunc(types, func(a, b cloud.InstanceType) int { return strings.Compare(a.Name, b.Name) })).To(gomega.BeTrue(), "%v", types)
	s.Expect(s.template.KubernetesVersion).To(gomega.HavePrefix("v"))
	_, err = s.cloud.Quota(s.t.Context())
	s.Expect(err).NotTo(gomega.HaveOccurred())
}

func (s *suite) notFound() {
	ctx := s.t.Context()
	_, err := s.cloud.GetInstance(ctx, "nobody")
	s.Expect(err).To(gomega.MatchError(cloud.IsNotFound, "a NotFoundError"))
	s.Expect(s.cloud.DeleteInstance(ctx, "nobody")).To(gomega.MatchError(cloud.IsNotFound, "a NotFoundError"))
	s.Expect(s.cloud.DrainInstance(ctx, "nobody")).To(gomega.MatchError(cloud.IsNotFound, "a NotFoundError"))
	_, err = s.cloud.GetPool(ctx, "nobody")
	s.Expect(err).To(gomega.MatchError(cloud.IsNotFound, "a NotFoundError"))
	s.Expect(s.cloud.DeletePool(ctx, "nobody")).To(gomega.MatchError(cloud.IsNotFound, "a NotFoundError"))
	_, err = s.cloud.GetLoadBalancer(ctx, "nobody")
	s.Expect(err).To(gomega.MatchError(cloud.IsNotFound, "a NotFoundError"))
	s.Expect(s.cloud.DeleteLoadBalancer(ctx, "nobody")).To(gomega.MatchError(cloud.IsNotFound, "a NotFoundError"))
}

// eventuallyGone repeats a deletion until nothing is left to delete, as every caller does.
func (s *suite) eventuallyGone(remove func() error) {
	s.t.Helper()
	s.Expect(remove()).To(gomega.Or(gomega.Succeed(), gomega.MatchError(cloud.IsNotFound, "a NotFoundError")))
	s.Eventually(remove, s.Patience).Should(gomega.MatchError(cloud.IsNotFound, "a NotFoundError"))
}
