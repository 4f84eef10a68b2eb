// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdsnapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"gocloud.dev/blob/memblob"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func named(uid, occasion string) snapshotjob.Name {
	return snapshotjob.Name{
		UID: types.UID(uid), Cluster: client.ObjectKey{Namespace: "default", Name: "quick"},
		Version: "v1.35.4", Occasion: occasion,
	}
}

// put stores a snapshot with its record. It was taken the given number of hours after now.
func put(g Gomega, store *Store, name snapshotjob.Name, hours int) {
	content := []byte(name.Database())
	g.Expect(store.write(context.Background(), name.Database(), strings.NewReader(name.Database()), "")).To(Succeed())
	g.Expect(store.writeRecord(context.Background(), name, snapshotjob.Snapshot{
		Format: recordFormat, Key: name.Database(), ClusterUID: name.UID, Taken: now.Add(time.Duration(hours) * time.Hour),
		Size: int64(len(content)), SHA256: digestOf(content),
	})).To(Succeed())
}

func keys(g Gomega, store *Store) []string {
	var found []string
	objects := store.bucket.List(nil)
	for {
		object, err := objects.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		g.Expect(err).NotTo(HaveOccurred())
		found = append(found, object.Key)
	}
	slices.Sort(found)
	return found
}

// kind is what the property test stores under a name.
type kind string

const (
	complete   kind = "complete"
	noRecord   kind = "no record"
	noSnapshot kind = "no snapshot"
	otherSize  kind = "another file in its place"
	notRecord  kind = "a record that is something else"
)

func place(g Gomega, store *Store, what kind, name snapshotjob.Name, hours int) {
	ctx := context.Background()
	put(g, store, name, hours)
	switch what {
	case complete:
	case noRecord:
		g.Expect(store.bucket.Delete(ctx, name.Record())).To(Succeed())
	case noSnapshot:
		g.Expect(store.bucket.Delete(ctx, name.Database())).To(Succeed())
	case otherSize:
		g.Expect(store.write(ctx, name.Database(), strings.NewReader("mine"), "")).To(Succeed())
	case notRecord:
		g.Expect(store.write(ctx, name.Record(), strings.NewReader(`{"key":"mine"}`), "")).To(Succeed())
	}
}

type placed struct {
	kind  kind
	name  snapshotjob.Name
	hours int
}

func TestPruneProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		store := newStore(memblob.OpenBucket(nil), "mem://")
		kinds := []kind{complete, complete, complete, noRecord, noSnapshot, otherSize, notRecord}
		var all []placed
		for i := range rapid.IntRange(1, 12).Draw(t, "number") {
			one := placed{
				kind: rapid.SampledFrom(kinds).Draw(t, "kind"), hours: rapid.IntRange(0, 4).Draw(t, "hours"),
				name: named(rapid.SampledFrom([]string{"u1", "u1", "u2"}).Draw(t, "uid"), fmt.Sprintf("before-%d", i)),
			}
			place(g, store, one.kind, one.name, one.hours)
			all = append(all, one)
		}
		current := rapid.SampledFrom(all).Draw(t, "current")
		keep := rapid.IntRange(-1, 5).Draw(t, "keep")
		before := keys(g, store)

		g.Expect(store.Prune(context.Background(), current.name, keep)).To(Succeed())
		after := keys(g, store)
		g.Expect(after).To(Equal(expected(before, all, current, keep)))
		g.Expect(store.Prune(context.Background(), current.name, keep)).To(Succeed())
		g.Expect(keys(g, store)).To(Equal(after), "a second run changes nothing")
	})
}

// expected computes the remaining keys independently of the code.
func expected(before []string, all []placed, current placed, keep int) []string {
	left := map[string]bool{}
	for _, key := range before {
		left[key] = true
	}
	mine := slices.DeleteFunc(slices.Clone(all), func(one placed) bool { return one.name.UID != current.name.UID })
	slices.SortFunc(mine, func(a, b placed) int {
		return cmp.Or(b.hours-a.hours, strings.Compare(b.name.Database(), a.name.Database()))
	})
	slots := max(keep, 1)
	if current.kind == complete {
		slots--
	}
	for _, one := range mine {
		switch {
		case one.kind == noSnapshot:
			delete(left, one.name.Record())
		case one.kind != complete || one.name == current.name:
		case slots > 0:
			slots--
		default:
			delete(left, one.name.Database())
			delete(left, one.name.Record())
		}
	}
	return slices.Sorted(maps.Keys(left))
}

func TestPruneLeavesOtherClustersAlone(t *testing.T) {
	g := NewWithT(t)
	store := newStore(memblob.OpenBucket(nil), "mem://")
	// One UID is a prefix of the other, and a foreign record names a snapshot elsewhere.
	put(g, store, named("u", "before-1"), 0)
	put(g, store, named("u2", "before-1"), 0)
	stolen := named("u2", "before-1")
	g.Expect(store.write(context.Background(), "u/default.quick/stolen.json", strings.NewReader(fmt.Sprintf(
		`{"format":%q,"key":%q,"clusterUID":"u2"}`, recordFormat, stolen.Database())), "")).To(Succeed())
	before := keys(g, store)
	g.Expect(store.Prune(context.Background(), named("u", "before-1"), 1)).To(Succeed())
	g.Expect(keys(g, store)).To(Equal(before))
}
