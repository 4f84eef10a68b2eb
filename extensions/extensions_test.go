// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"reflect"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// Cluster API calls BeforeClusterUpgrade once, for the target at that moment. The target may change
// afterwards, and an upgrade may pass through several versions.
func TestEachStepOfAnUpgradeIsChecked(t *testing.T) {
	g := NewWithT(t)
	on := hooks.Settings{UpgradeChecks: true, Addons: true, Snapshots: true}
	names := func(hook string) []string {
		var list []string
		for _, task := range tasks(Options{})[hook] {
			if task.Wanted(on) {
				list = append(list, reflect.TypeOf(task).String())
			}
		}
		return list
	}
	g.Expect(names(hooks.BeforeClusterUpgrade)).To(Equal([]string{"checks.upgrade"}))
	g.Expect(names(hooks.BeforeControlPlaneUpgrade)).To(Equal([]string{"checks.upgrade", "*addons.Task", "snapshot.upgrade"}), "the snapshot is the last, so that it is fresh")
}

func TestEveryHookHasTasks(t *testing.T) {
	g := NewWithT(t)
	all := tasks(Options{})
	g.Expect(all).To(HaveLen(len(hooks.Names())))
	for _, hook := range hooks.Names() {
		g.Expect(all[hook]).NotTo(BeEmpty(), hook)
	}
}
