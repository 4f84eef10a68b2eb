// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/fault"
)

// A pool whose image the cloud no longer has can change, but not grow.
func TestPoolWhoseImageIsLost(t *testing.T) {
	h := newHost(t)
	h.images = []cloud.Image{{KubernetesVersion: "v1.35.4"}, {Name: "gpu", KubernetesVersion: "v1.35.4"}}
	tenant := h.newEngine().Tenant("a")
	spec := cloud.PoolSpec{Name: "p", HostnamePrefix: "p", Size: 2, Revision: "r", Template: template()}
	spec.Template.KubernetesVersion, spec.Template.Image = "v1.35.4", "gpu"
	made, err := tenant.EnsurePool(ctx, spec, "")
	h.Expect(err).NotTo(HaveOccurred())
	h.Expect(made.Problem).To(BeNil())
	h.images = []cloud.Image{{KubernetesVersion: "v1.36.3"}}

	spec.Template.Tags, spec.Template.UserData = cloud.Tags{"cluster": "two"}, []byte("a renewed token")
	made, err = tenant.EnsurePool(ctx, spec, made.Version)
	h.Expect(err).NotTo(HaveOccurred(), "the image is the one from before")
	h.Expect(made.SameTemplate(spec)).To(BeTrue())
	h.Expect(made.Problem).To(BeNil(), "the pool is full")

	for field, change := range map[string]func(*cloud.InstanceTemplate){
		`template.kubernetesVersion "v1.34.2"`: func(t *cloud.InstanceTemplate) { t.KubernetesVersion, t.Image = "v1.34.2", "" },
		`template.kubernetesVersion "v1.35.4"`: func(t *cloud.InstanceTemplate) { t.Image = "" },
		`template.image "gpu"`:                 func(t *cloud.InstanceTemplate) { t.KubernetesVersion = "v1.36.3" },
	} {
		other := spec
		change(&other.Template)
		_, err = tenant.EnsurePool(ctx, other, made.Version)
		h.Expect(err).To(MatchError(HavePrefix(field)))
		h.Expect(cloud.IsInvalid(err)).To(BeTrue(), field)
	}
	other := spec
	other.Revision = "s"
	_, err = tenant.EnsurePool(ctx, other, made.Version)
	h.Expect(cloud.IsInvalid(err)).To(BeTrue(), "its instances could not be replaced")
	other = spec
	other.Name = "q"
	_, err = tenant.EnsurePool(ctx, other, "")
	h.Expect(cloud.IsInvalid(err)).To(BeTrue(), "a new pool needs an image")

	made, err = tenant.ScalePool(ctx, "p", 3, made.Version)
	h.Expect(err).NotTo(HaveOccurred())
	h.Expect(made.Instances).To(BeEquivalentTo(2))
	h.Expect(made.Problem).To(HaveValue(HaveField("Reason", cloud.ReasonInvalid)))

	spec.Template.KubernetesVersion, spec.Template.Image = "v1.36.3", ""
	made, err = tenant.EnsurePool(ctx, spec, made.Version)
	h.Expect(err).NotTo(HaveOccurred())
	h.Expect(made.Instances).To(BeEquivalentTo(3))
	h.Expect(made.Problem).To(BeNil())
}

// Nobody tells the cloud that its images are back.
func TestAPoolIsFilledWhenItsImageIsBack(t *testing.T) {
	for name, lose := range map[string]func(*host){
		"the image is missing":      func(h *host) { h.images = nil },
		"the images are unreadable": func(h *host) { h.images, h.readErr = nil, errors.New("too many open files") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost(t)
				h.start()
				images := h.images
				h.pool(2)
				lost := h.eventually(2, cloud.InstanceRunning)[0]
				lose(h)
				h.fault(fault.Spec{Kind: fault.LostInstance, Pool: lost.Pool, Count: 1})
				h.eventually(1, cloud.InstanceRunning)
				now, err := h.tenant.GetPool(ctx, lost.Pool)
				h.Expect(err).NotTo(HaveOccurred())
				h.Expect(now.Problem).NotTo(BeNil())
				h.images, h.readErr = images, nil
				h.eventually(2, cloud.InstanceRunning)
				now, err = h.tenant.GetPool(ctx, lost.Pool)
				h.Expect(err).NotTo(HaveOccurred())
				h.Expect(now.Problem).To(BeNil())
			})
		})
	}
}

// Reading them takes a while, and nobody else can change anything meanwhile.
func TestFillingAPoolReadsTheImagesOnce(t *testing.T) {
	h := newHost(t)
	tenant := h.newEngine().Tenant("a")
	made, err := tenant.EnsurePool(ctx, cloud.PoolSpec{Name: "p", HostnamePrefix: "p", Revision: "r", Template: template()}, "")
	h.Expect(err).NotTo(HaveOccurred())
	before := h.reads
	made, err = tenant.ScalePool(ctx, "p", 20, made.Version)
	h.Expect(err).NotTo(HaveOccurred())
	h.Expect(made.Instances).To(BeEquivalentTo(20))
	h.Expect(h.reads).To(Equal(before + 1))
}
