//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

// realEtcd runs an etcd and counts how often it is used.
func realEtcd(t *testing.T) (etcd Etcd, reached *int) {
	g := NewWithT(t)
	server := &envtest.Etcd{Path: filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "etcd"), StartTimeout: envtestenv.Patience, StopTimeout: envtestenv.Patience}
	g.Expect(server.Start()).To(Succeed())
	t.Cleanup(func() { g.Expect(server.Stop()).To(Succeed()) })
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{server.URL.String()}, Logger: zap.NewNop()})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(client.Close()).To(Succeed()) })
	_, err = client.Put(t.Context(), "key", "value")
	g.Expect(err).NotTo(HaveOccurred())
	reached = new(int)
	return etcdFunc(func(do func(context.Context, workload.EtcdMember) error) error {
		*reached++
		return do(t.Context(), workload.EtcdMember{Client: client})
	}), reached
}

func files(g Gomega, folder string) []string {
	var found []string
	g.Expect(filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found = append(found, strings.TrimPrefix(path, folder+"/"))
		}
		return err
	})).To(Succeed())
	slices.Sort(found)
	return found
}

func TestUpgradeGoesOnOnceTheSnapshotIsStored(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	etcd, reached := realEtcd(t)
	given := on(t, map[string]string{"snapshotsKept": "2"})
	folder := strings.TrimPrefix(given.SnapshotURL, "file://")
	task := BeforeControlPlaneUpgrade(etcd)

	first, err := task.Run(ctx, upgradeJob(given))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(first.Done).To(BeTrue())
	g.Expect(first.Message).To(Equal("an etcd snapshot is stored in file://" + folder + " as u1/default.quick/v1.35.4/before-v1.36.3.db: revision 2, members 1"))
	g.Expect(first.Report).To(And(HavePrefix("etcd snapshot: file://"+folder+" as u1/default.quick/v1.35.4/before-v1.36.3.db\n"), ContainSubstring("sha256: "), ContainSubstring("revision: 2, keys: 1"), ContainSubstring("etcd version: 3.")))
	for range 3 {
		g.Expect(task.Run(ctx, upgradeJob(given))).To(Equal(first), "once more finds what is stored")
	}
	g.Expect(*reached).To(Equal(1))
	later := upgradeJob(given)
	later.Since = time.Now()
	_, err = task.Run(ctx, later)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(*reached).To(Equal(2), "another attempt needs a snapshot of its own")

	for _, to := range []string{"v1.37.0", "v1.38.0"} {
		job := upgradeJob(given)
		job.From, job.To = job.To, to
		_, err := task.Run(ctx, job)
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(files(g, folder)).To(Equal([]string{
		"u1/default.quick/v1.36.3/before-v1.37.0.db", "u1/default.quick/v1.36.3/before-v1.37.0.json",
		"u1/default.quick/v1.36.3/before-v1.38.0.db", "u1/default.quick/v1.36.3/before-v1.38.0.json",
	}), "the two newest ones")
}

func TestDeletionGoesOnOnceTheSnapshotIsStored(t *testing.T) {
	g := NewWithT(t)
	etcd, reached := realEtcd(t)
	given := on(t, nil)
	task := deletion{taker: taker{etcd: etcd}, now: func() time.Time { return since }}
	first, err := task.Run(context.Background(), upgradeJob(given))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(first.Done).To(BeTrue())
	g.Expect(first.Message).To(ContainSubstring(" as u1/default.quick/final/before-deletion.db: revision 2"))
	task.now = func() time.Time { return since.Add(time.Hour) }
	g.Expect(task.Run(context.Background(), upgradeJob(given))).To(Equal(first), "it is found when the time is over")
	g.Expect(*reached).To(Equal(1))
}
