//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdsnapshot

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.uber.org/zap"
	"gocloud.dev/blob/memblob"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

// startEtcd runs an etcd on a data folder and returns a client for it. An empty folder means a new
// etcd.
func startEtcd(t *testing.T, dataFolder string) *clientv3.Client {
	g := NewWithT(t)
	server := &envtest.Etcd{
		Path: filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "etcd"), DataDir: dataFolder, StartTimeout: envtestenv.Patience, StopTimeout: envtestenv.Patience,
	}
	g.Expect(server.Start()).To(Succeed())
	t.Cleanup(func() { g.Expect(server.Stop()).To(Succeed()) })
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{server.URL.String()}, Logger: zap.NewNop()})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(etcd.Close()).To(Succeed()) })
	return etcd
}

// fill writes the given number of keys with 1 KiB each.
func fill(g Gomega, etcd *clientv3.Client, prefix string, number int) {
	for i := range number {
		_, err := etcd.Put(context.Background(), fmt.Sprintf("%s-%04d", prefix, i), strings.Repeat("x", 1024))
		g.Expect(err).NotTo(HaveOccurred())
	}
}

func count(g Gomega, etcd *clientv3.Client, prefix string) int64 {
	response, err := etcd.Get(context.Background(), prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	g.Expect(err).NotTo(HaveOccurred())
	return response.Count
}

func openFolder(t *testing.T, folder string) *Store {
	g := NewWithT(t)
	store, err := Open(context.Background(), "file://"+folder)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(store.Close()).To(Succeed()) })
	return store
}

// temporaries redirects temporary files to a folder of the test. The returned function lists that
// folder.
func temporaries(t *testing.T) func() []os.DirEntry {
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	return func() []os.DirEntry {
		entries, err := os.ReadDir(folder)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		return entries
	}
}

func TestTakeAndRestore(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	left := temporaries(t)
	etcd := startEtcd(t, t.TempDir())
	fill(g, etcd, "before", 100)
	folder := t.TempDir()
	store, name := openFolder(t, folder), named("u1", "before-v1.36.3")
	taken, err := store.Take(ctx, etcd, name, plenty)
	g.Expect(err).NotTo(HaveOccurred())
	fill(g, etcd, "after", 100)

	g.Expect(taken.Revision).To(BeEquivalentTo(101), "one per key")
	g.Expect(taken.Keys).To(Equal(100))
	g.Expect(taken.Members).To(HaveLen(1))
	g.Expect(taken.EtcdVersion).To(HavePrefix("3."))
	g.Expect(left()).To(BeEmpty(), "no temporary file is left")
	found, ok, err := store.Find(ctx, name)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(ok).To(BeTrue())
	found.Taken = found.Taken.In(taken.Taken.Location())
	g.Expect(found).To(Equal(taken))

	path := filepath.Join(folder, taken.Key)
	content, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(digestOf(content)).To(Equal(taken.SHA256))
	restored := restore(t, path)
	g.Expect(count(g, restored, "before")).To(BeEquivalentTo(100))
	g.Expect(count(g, restored, "after")).To(BeZero())
	fill(g, restored, "later", 1)
}

// restore restores a snapshot with etcdutl and returns a client for an etcd that runs on the
// result.
func restore(t *testing.T, path string) *clientv3.Client {
	data := filepath.Join(t.TempDir(), "data")
	NewWithT(t).Expect(snapshot.NewV3(zap.NewNop()).Restore(snapshot.RestoreConfig{
		SnapshotPath: path, Name: "default", OutputDataDir: data,
		PeerURLs: []string{"http://localhost:2380"}, InitialCluster: "default=http://localhost:2380",
		InitialClusterToken: "restored",
	})).To(Succeed())
	return startEtcd(t, data)
}

// bent is an etcd whose stream is changed on the way.
type bent struct {
	*clientv3.Client
	change func(whole []byte) io.Reader
}

func (b bent) SnapshotWithVersion(ctx context.Context) (*clientv3.SnapshotResponse, error) {
	response, err := b.Client.SnapshotWithVersion(ctx)
	if err != nil {
		return nil, err
	}
	whole, err := io.ReadAll(response.Snapshot)
	if err != nil {
		return nil, err
	}
	response.Snapshot = io.NopCloser(b.change(whole))
	return response, nil
}

// otherMembers is an etcd that has one member more than its database lists.
type otherMembers struct{ *clientv3.Client }

func (o otherMembers) MemberList(ctx context.Context, options ...clientv3.OpOption) (*clientv3.MemberListResponse, error) {
	response, err := o.Client.MemberList(ctx, options...)
	if err == nil {
		another := *response.Members[0]
		another.ID++
		response.Members = append(response.Members, &another)
	}
	return response, err
}

func TestWhatIsNotWholeIsRefused(t *testing.T) {
	g := NewWithT(t)
	etcd := startEtcd(t, t.TempDir())
	fill(g, etcd, "key", 200)
	changed := func(change func(whole []byte) []byte) Etcd {
		return bent{Client: etcd, change: func(whole []byte) io.Reader { return bytes.NewReader(change(whole)) }}
	}
	for name, test := range map[string]struct {
		etcd Etcd
		want string
	}{
		"nothing":              {changed(func([]byte) []byte { return nil }), string(errTruncated)},
		"only a hash":          {changed(func(whole []byte) []byte { return whole[len(whole)-32:] }), string(errTruncated)},
		"cut off":              {changed(func(whole []byte) []byte { return whole[:len(whole)-4096] }), string(errHash)},
		"cut off at a page":    {changed(func(whole []byte) []byte { return whole[:4096*3] }), string(errTruncated)},
		"without the hash":     {changed(func(whole []byte) []byte { return whole[:len(whole)-32] }), string(errTruncated)},
		"one bit of the data":  {changed(func(whole []byte) []byte { whole[len(whole)/2] ^= 1; return whole }), string(errHash)},
		"one bit of the hash":  {changed(func(whole []byte) []byte { whole[len(whole)-1] ^= 1; return whole }), string(errHash)},
		"no database":          {changed(func([]byte) []byte { return signed(bytes.Repeat([]byte("x"), 8192)) }), string(errDatabase)},
		"a connection reset":   {bent{etcd, func(whole []byte) io.Reader { return resetAfter(whole[:4096]) }}, "taking the snapshot from etcd: connection reset by peer"},
		"members not in there": {otherMembers{etcd}, "it lists 1 members"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			left := temporaries(t)
			store, snapshotName := newStore(memblob.OpenBucket(nil), "mem://"), named("u1", "before-v1.36.3")
			_, err := store.Take(context.Background(), test.etcd, snapshotName, plenty)
			g.Expect(err).To(MatchError(ContainSubstring(test.want)))
			_, again := store.Take(context.Background(), test.etcd, snapshotName, plenty)
			g.Expect(again.Error()).To(Equal(err.Error()))
			g.Expect(keys(g, store)).To(BeEmpty(), "nothing is stored")
			g.Expect(left()).To(BeEmpty(), "no temporary file is left")
		})
	}
}

func TestNoMoreIsTakenThanThereIsRoomFor(t *testing.T) {
	g := NewWithT(t)
	left := temporaries(t)
	sent := 0
	endless := bent{startEtcd(t, t.TempDir()), func([]byte) io.Reader {
		return readerFunc(func(buffer []byte) (int, error) { sent += len(buffer); return len(buffer), nil })
	}}
	store := newStore(memblob.OpenBucket(nil), "mem://")
	_, err := store.Take(context.Background(), endless, named("u1", "before-v1.36.3"), 1<<20)
	g.Expect(err).To(MatchError("checking the snapshot: it is larger than the database size that etcd reported"))
	g.Expect(sent).To(BeNumerically("<", 2<<20))
	g.Expect(keys(g, store)).To(BeEmpty(), "nothing is stored")
	g.Expect(left()).To(BeEmpty(), "no temporary file is left")
}

// signed appends the hash that etcd would send.
func signed(content []byte) []byte {
	sum := sha256.Sum256(content)
	return append(content, sum[:]...)
}

// resetAfter returns a reader that fails like a connection reset after the content.
func resetAfter(content []byte) io.Reader {
	return io.MultiReader(bytes.NewReader(content), readerFunc(func([]byte) (int, error) {
		return 0, &net.OpError{Op: "read", Net: "tcp", Err: os.NewSyscallError("read", syscall.ECONNRESET)}
	}))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(buffer []byte) (int, error) { return f(buffer) }

func TestTakeEndsWithItsContext(t *testing.T) {
	g := NewWithT(t)
	left := temporaries(t)
	etcd := startEtcd(t, t.TempDir())
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	store := newStore(memblob.OpenBucket(nil), "mem://")
	_, err := store.Take(ctx, stuck{etcd, func() {}}, named("u1", "before-v1.36.3"), plenty)
	g.Expect(err).To(MatchError("taking the snapshot from etcd: it took too long"))
	g.Expect(left()).To(BeEmpty(), "no temporary file is left")
}

// stuck is an etcd that sends the beginning of a snapshot and then hangs.
type stuck struct {
	*clientv3.Client
	reached func()
}

func (s stuck) SnapshotWithVersion(ctx context.Context) (*clientv3.SnapshotResponse, error) {
	response, err := s.Client.SnapshotWithVersion(ctx)
	if err == nil {
		response.Snapshot = io.NopCloser(stuckAfter(ctx, io.LimitReader(response.Snapshot, 8192), s.reached))
	}
	return response, err
}

func stuckAfter(ctx context.Context, beginning io.Reader, reached func()) io.Reader {
	return io.MultiReader(beginning, readerFunc(func([]byte) (int, error) {
		reached()
		<-ctx.Done()
		return 0, ctx.Err()
	}))
}

const (
	killedIn     = "ETCDSNAPSHOT_KILLED_IN"
	killedEtcd   = "ETCDSNAPSHOT_ETCD"
	killedFolder = "ETCDSNAPSHOT_FOLDER"
)

// TestMain runs the tests, or the part of a Job that is to be killed in the middle of its work.
func TestMain(m *testing.M) {
	if where := os.Getenv(killedIn); where != "" {
		fmt.Fprintln(os.Stderr, workUntilKilled(where))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func workUntilKilled(where string) error {
	ctx := context.Background()
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{os.Getenv(killedEtcd)}, Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	store, err := Open(ctx, "file://"+os.Getenv(killedFolder))
	if err != nil {
		return err
	}
	reached := func() { fmt.Println("reached") }
	name := named("u1", "before-v1.36.3")
	key := name.Database()
	if where == "record" {
		if _, err := store.Take(ctx, etcd, name, plenty); err != nil {
			return err
		}
		if err := store.bucket.Delete(ctx, name.Record()); err != nil {
			return err
		}
		key = name.Record()
	}
	return store.write(ctx, key, stuckAfter(ctx, strings.NewReader(strings.Repeat("{", 8192)), reached), "")
}

func TestKilledInTheMiddleAndTriedAgain(t *testing.T) {
	etcd := startEtcd(t, t.TempDir())
	fill(NewWithT(t), etcd, "key", 50)
	for where, files := range map[string]int{"upload": 1, "record": 2} {
		t.Run(where, func(t *testing.T) {
			g := NewWithT(t)
			ctx := context.Background()
			folder := t.TempDir()
			kill(t, where, etcd.Endpoints()[0], folder)

			store, name := openFolder(t, folder), named("u1", "before-v1.36.3")
			g.Expect(keys(g, store)).To(HaveLen(files))
			_, ok, err := store.Find(ctx, name)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(ok).To(BeFalse(), "an incomplete snapshot is not found")
			taken, err := store.Take(ctx, etcd, name, plenty)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(keys(g, store)).To(ConsistOf(name.Database(), name.Record()), "nothing is left of the first try")
			found, ok, err := store.Find(ctx, name)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(ok).To(BeTrue())
			g.Expect(found.SHA256).To(Equal(taken.SHA256))
		})
	}
}

// kill runs this test binary until it reports that it is in the middle of its work, and then kills
// it.
func kill(t *testing.T, where, endpoint, folder string) {
	g := NewWithT(t)
	program, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	command := exec.CommandContext(t.Context(), program)
	command.Env = append(os.Environ(), killedIn+"="+where, killedEtcd+"="+endpoint, killedFolder+"="+folder)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(command.Start()).To(Succeed())
	line, err := bufio.NewReader(output).ReadString('\n')
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(line).To(Equal("reached\n"))
	g.Expect(command.Process.Kill()).To(Succeed())
	g.Expect(command.Wait()).To(MatchError("signal: killed"))
}

func TestTwoClustersAndOldSnapshots(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	etcd := startEtcd(t, t.TempDir())
	store := newStore(memblob.OpenBucket(nil), "mem://")
	clock := now
	store.now = func() time.Time { clock = clock.Add(time.Hour); return clock }
	for _, occasion := range []string{"c", "b", "a"} {
		for _, uid := range []string{"u1", "u2"} {
			_, err := store.Take(ctx, etcd, named(uid, occasion), plenty)
			g.Expect(err).NotTo(HaveOccurred())
		}
	}
	g.Expect(store.Prune(ctx, named("u1", "a"), 2)).To(Succeed())
	g.Expect(slices.DeleteFunc(keys(g, store), func(key string) bool { return strings.HasPrefix(key, "u2/") })).To(ConsistOf(
		named("u1", "a").Database(), named("u1", "a").Record(), named("u1", "b").Database(), named("u1", "b").Record()))
	g.Expect(keys(g, store)).To(HaveLen(4 + 6))
}

func TestRun(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	etcd, folder := startEtcd(t, t.TempDir()), t.TempDir()
	fill(g, etcd, "key", 10)
	endpoint := etcd.Endpoints()[0]
	run := func(etcd Etcd, version string, since time.Time) (snapshotjob.Answer, error) {
		name := named("u1", "before-v1.36.3")
		name.Version = version
		return Run(ctx, etcd, endpoint, snapshotjob.Request{URL: "file://" + folder, Name: name, Since: since, Keep: 2})
	}
	start := time.Now().Add(-time.Minute)
	first, err := run(etcd, "v1.35.4", start)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(first.Snapshot.Revision).To(BeEquivalentTo(11))
	again, err := run(etcd, "v1.35.4", start)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Snapshot.Taken).To(BeTemporally("==", first.Snapshot.Taken), "it is found")
	later, err := run(etcd, "v1.35.4", time.Now())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(later.Snapshot.Taken).To(BeTemporally(">", first.Snapshot.Taken), "what was written since is wanted too")

	for _, version := range []string{"v1.36.3", "v1.37.0"} {
		_, err := run(etcd, version, start)
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(keys(g, openFolder(t, folder))).To(HaveLen(4), "two snapshots and their records")

	for want, change := range map[string]func(*clientv3.StatusResponse){
		"the member is still a learner": func(status *clientv3.StatusResponse) { status.IsLearner = true },
		"the member sees no leader":     func(status *clientv3.StatusResponse) { status.Leader = 0 },
		"the member has raised the alarm CORRUPT": func(status *clientv3.StatusResponse) {
			alarm := etcdserverpb.AlarmMember{MemberID: status.Header.MemberId, Alarm: etcdserverpb.AlarmType_CORRUPT}
			status.Errors = append(status.Errors, alarm.String())
		},
	} {
		answer, err := run(unwell{etcd, change}, "v1.38.0", start)
		g.Expect(err).To(HaveOccurred())
		g.Expect(answer).To(Equal(snapshotjob.Answer{Problem: "taking the snapshot from etcd: " + want}))
	}
}

// unwell is an etcd whose member reports something else.
type unwell struct {
	*clientv3.Client
	change func(*clientv3.StatusResponse)
}

func (u unwell) Status(ctx context.Context, endpoint string) (*clientv3.StatusResponse, error) {
	status, err := u.Client.Status(ctx, endpoint)
	if err == nil {
		u.change(status)
	}
	return status, err
}
