// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/quota"
)

// Cluster API calls BeforeClusterUpgrade once, for the target at that moment. The target may change
// afterwards, and an upgrade may pass through several versions: so each of its steps is checked.
// The snapshot before a step is the last task, so that it is fresh.
func TestEachHookHasItsTasks(t *testing.T) {
	g := NewWithT(t)
	known := map[string]bool{}
	for _, group := range hooks.Groups() {
		for _, setting := range group.Settings {
			known[setting.Name] = setting.Default == "" || setting.Default == "Disabled"
		}
	}
	found := map[string][]string{}
	for hook, list := range tasks(Options{Quota: quota.New(quota.Options{})}) {
		for _, task := range list {
			g.Expect(known).To(HaveKeyWithValue(task.Setting, true), "it is off until this setting turns it on")
			found[hook] = append(found[hook], task.Setting)
		}
	}
	g.Expect(found).To(Equal(map[string][]string{
		hooks.BeforeClusterCreate:          {"quotaCheck"},
		hooks.AfterControlPlaneInitialized: {"addons"},
		hooks.BeforeClusterUpgrade:         {"upgradeChecks"},
		hooks.BeforeControlPlaneUpgrade:    {"upgradeChecks", "addons", "snapshots"},
		hooks.AfterControlPlaneUpgrade:     {"addons", "smokeChecks"},
		hooks.BeforeWorkersUpgrade:         {"smokeChecks"},
		hooks.AfterWorkersUpgrade:          {"smokeChecks"},
		hooks.AfterClusterUpgrade:          {"conformanceChecks"},
		hooks.BeforeClusterDelete:          {"finalSnapshot", "volumeBackupJob", "cleanUp"},
	}))
}
