// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdsnapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	. "github.com/onsi/gomega"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"gocloud.dev/blob/memblob"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
)

// plenty is larger than any snapshot of these tests, in bytes.
const plenty = 1 << 30

func TestFolderIsForItsOwner(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	folder := filepath.Join(t.TempDir(), "a", "b")
	store, err := Open(ctx, "file://"+folder+"?prefix=below")
	g.Expect(err).NotTo(HaveOccurred())
	put(g, store, named("u1", "before-1"), 0)
	found, ok, err := store.Find(ctx, named("u1", "before-1"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(ok).To(BeTrue())
	g.Expect(found.Key).To(Equal("u1/default.quick/v1.35.4/before-1.db"))
	var files []string
	g.Expect(filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		g.Expect(err).NotTo(HaveOccurred())
		info, err := entry.Info()
		g.Expect(err).NotTo(HaveOccurred())
		want := folderMode
		if !entry.IsDir() {
			want = fileMode
			files = append(files, strings.TrimPrefix(path, folder))
		}
		g.Expect(info.Mode().Perm()).To(Equal(want), path)
		return nil
	})).To(Succeed())
	g.Expect(files).To(ConsistOf("/below/u1/default.quick/v1.35.4/before-1.db", "/below/u1/default.quick/v1.35.4/before-1.json"))
	g.Expect(store.Close()).To(Succeed())
}

func TestSnapshotsAreWhereTheLocationSays(t *testing.T) {
	for _, query := range []string{"", "?prefix=", "?prefix=/", "?prefix=below", "?prefix=below/", "?prefix=/below", "?prefix=a/b", "?prefix=//below", "?prefix=./below", "?prefix=a//b", "?prefix=../x"} {
		t.Run(query, func(t *testing.T) {
			g := NewWithT(t)
			bucket := "file://" + t.TempDir() + query
			store, err := Open(t.Context(), bucket)
			g.Expect(err).NotTo(HaveOccurred())
			put(g, store, named("u1", "before-1"), 0)
			put(g, store, named("u1", "before-2"), 1)
			g.Expect(store.Prune(t.Context(), named("u1", "before-2"), 1)).To(Succeed())
			where := strings.TrimPrefix(snapshotjob.Location(bucket), "file://")
			g.Expect(filepath.Join(where, named("u1", "before-2").Database())).To(BeARegularFile())
			g.Expect(filepath.Join(where, named("u1", "before-1").Database())).NotTo(BeAnExistingFile(), "old snapshots are found there")
			g.Expect(store.Close()).To(Succeed())
		})
	}
}

func TestFind(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	for what, want := range map[kind]bool{complete: true, noRecord: false, noSnapshot: false, otherSize: false, notRecord: false} {
		store := newStore(memblob.OpenBucket(nil), "mem://")
		place(g, store, what, named("u1", "before-1"), 0)
		_, ok, err := store.Find(ctx, named("u1", "before-1"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(ok).To(Equal(want), "%s", what)
		_, ok, err = store.Find(ctx, named("u1", "before-2"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(ok).To(BeFalse())
	}
}

func TestNamesStayInTheirFolder(t *testing.T) {
	g := NewWithT(t)
	store := newStore(memblob.OpenBucket(nil), "mem://")
	for _, change := range []func(*snapshotjob.Name){
		func(n *snapshotjob.Name) { n.UID = "" },
		func(n *snapshotjob.Name) { n.UID = ".." },
		func(n *snapshotjob.Name) { n.Version = "../../u2" },
		func(n *snapshotjob.Name) { n.Occasion = "" },
		func(n *snapshotjob.Name) { n.Cluster.Name = "a/b" },
	} {
		name := named("u1", "before-1")
		change(&name)
		_, _, err := store.Find(context.Background(), name)
		g.Expect(err).To(MatchError(ContainSubstring("none of them with slashes")))
		_, err = store.Take(context.Background(), nil, name, plenty)
		g.Expect(err).To(MatchError(ContainSubstring("none of them with slashes")))
		g.Expect(store.Prune(context.Background(), name, 1)).To(MatchError(ContainSubstring("none of them with slashes")))
	}
}

func TestCauseIsTheSameEachTime(t *testing.T) {
	dial := func(port int) error {
		return fmt.Errorf("asking: %w", &url.Error{Op: "Get", URL: "https://10.0.0.1?sig=hunter2", Err: &net.OpError{
			Op: "dial", Net: "tcp", Source: &net.TCPAddr{Port: port}, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED),
		}})
	}
	for want, err := range map[string]error{
		"connection refused":                      dial(1234),
		"it took too long":                        fmt.Errorf("after 3s: %w", context.DeadlineExceeded),
		"it was interrupted":                      context.Canceled,
		"no space left on device":                 &fs.PathError{Op: "write", Path: "/tmp/x.18af.tmp", Err: syscall.ENOSPC},
		"the name of the host is unknown":         &net.DNSError{Name: "x", Err: "no such host"},
		"etcd answered Unavailable":               status.Error(codes.Unavailable, "read tcp 10.0.0.1:4567: hunter2"),
		"etcdserver: no leader":                   rpctypes.ErrNoLeader,
		string(errHash):                           errors.Join(errHash, errors.New("hunter2")),
		"it failed; the log of its Pod says more": errors.New("request 1234 by hunter2"),
	} {
		NewWithT(t).Expect(cause(err)).To(Equal(want))
	}
	g := NewWithT(t)
	failed := func(port int) *Error { return &Error{Stage: Storing, Where: "s3://bucket", Err: dial(port)} }
	g.Expect(failed(1).Error()).To(Equal("storing the snapshot in s3://bucket: connection refused"))
	g.Expect(failed(1).Error()).To(Equal(failed(2).Error()))
	g.Expect(Detail(failed(1))).To(And(ContainSubstring("https://10.0.0.1?..."), ContainSubstring("dial"), Not(ContainSubstring("hunter2"))))
	g.Expect(Detail(errors.New(`opening "azblob://me:hunter2@box/a?sas=hunter2&x=1" failed`))).To(Equal(`opening "azblob://box/a?..." failed`))
}
