// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
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
