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
)

// plenty is larger than any snapshot of these tests, in bytes.
const plenty = 1 << 30

func TestCheckURL(t *testing.T) {
	for given, want := range map[string]string{
		"file:///var/snapshots":                "",
		"file:///var/snapshots?prefix=here":    "",
		"s3://bucket?region=eu-west-1":         "",
		"gs://bucket":                          "",
		"azblob://container?storage_account=a": "",
		"":                                     `its scheme is ""`,
		"/var/snapshots":                       `its scheme is ""`,
		"http://user:hunter2@host":             `its scheme is "http", want one of file, s3, gs, azblob`,
		"mem://":                               `its scheme is "mem"`,
		"s3://user:hunter2@bucket":             "it contains a user name or password",
		"s3://":                                "names no bucket",
		"s3://bucket?key=one":                  "all snapshots in one blob",
		"file://var/snapshots":                 "no absolute folder",
		"file://./snapshots":                   "no absolute folder",
		"file:///":                             "no absolute folder",
		"file:///a?secret_key_path=hunter2":    `parameter "secret_key_path"`,
		"s3://user:hunter2@bucket\x00?also=hunter2": "it is not a URL",
	} {
		t.Run(given, func(t *testing.T) {
			g := NewWithT(t)
			err := CheckURL(given)
			if want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(And(ContainSubstring(want), Not(ContainSubstring("hunter2")))))
			_, err = Open(context.Background(), given)
			g.Expect(err).To(MatchError(And(ContainSubstring(want), Not(ContainSubstring("hunter2")))))
		})
	}
}

func TestLocationHoldsNoCredentials(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Location("s3://bucket/path?region=r&secret=hunter2#hunter2")).To(Equal("s3://bucket/path"))
	g.Expect(Location("s3://bucket?prefix=prod/&secret=hunter2")).To(Equal("s3://bucket/prod"))
	g.Expect(Location("file:///var/snapshots?prefix=a/b")).To(Equal("file:///var/snapshots/a/b"))
	g.Expect(Location("s3://key:hunter2@bucket")).To(BeEmpty())
}

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
	g.Expect(store.Location(named("u1", "before-1"))).To(Equal("file://" + folder + "/below as u1/default.quick/v1.35.4/before-1.db"))
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
	for _, change := range []func(*Name){
		func(n *Name) { n.UID = "" },
		func(n *Name) { n.UID = ".." },
		func(n *Name) { n.Version = "../../u2" },
		func(n *Name) { n.Occasion = "" },
		func(n *Name) { n.Cluster.Name = "a/b" },
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
		"connection refused":                          dial(1234),
		"it took too long":                            fmt.Errorf("after 3s: %w", context.DeadlineExceeded),
		"it was interrupted":                          context.Canceled,
		"no space left on device":                     &fs.PathError{Op: "write", Path: "/tmp/x.18af.tmp", Err: syscall.ENOSPC},
		"the name of the host is unknown":             &net.DNSError{Name: "x", Err: "no such host"},
		"etcd answered Unavailable":                   status.Error(codes.Unavailable, "read tcp 10.0.0.1:4567: hunter2"),
		"etcdserver: no leader":                       rpctypes.ErrNoLeader,
		string(errHash):                               errors.Join(errHash, errors.New("hunter2")),
		"it failed; the log of the manager says more": errors.New("request 1234 by hunter2"),
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
