// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/blang/semver/v4"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/source"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/controllers/clustercache"

	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

// fakeExpiry is when the certificates of API servers expire, unless a test sets another time.
var fakeExpiry = time.Date(2040, time.January, 2, 3, 4, 5, 0, time.UTC)

// fakeWorkload returns the observations of workload clusters that a test has set.
type fakeWorkload struct {
	mu       sync.Mutex
	clusters map[client.ObjectKey]*fakeCluster
}

type fakeCluster struct {
	initialized bool
	observation workload.Observation
	unreachable bool
	// moving happens while the leadership of etcd moves; nil if nothing does.
	moving func()
	// failure returns the error while the cluster is unreachable; by default, the error is always the
	// same.
	failure func() error
	pending bool
	calls   []string
	// lastMember is the ID of the member that joined last.
	lastMember uint64
	// addons is the last argument of UpdateAddons. addonsErr is its result.
	addons    workload.Addons
	addonsErr error
	// expiries of the API servers' certificates, by node.
	expiries map[string]time.Time
}

var _ workload.Access = &fakeWorkload{}

func newFakeWorkload() *fakeWorkload {
	return &fakeWorkload{clusters: map[client.ObjectKey]*fakeCluster{}}
}

// change lets a test change what is observed of a cluster.
func (f *fakeWorkload) change(key client.ObjectKey, change func(*fakeCluster)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.clusters[key] == nil {
		f.clusters[key] = &fakeCluster{}
	}
	change(f.clusters[key])
}

func (f *fakeWorkload) calls(key client.ObjectKey) []string {
	var calls []string
	f.change(key, func(cluster *fakeCluster) { calls = append(calls, cluster.calls...) })
	return calls
}

// addNode adds a healthy Node, and its member to etcd.
func (f *fakeWorkload) addNode(key client.ObjectKey, name string) {
	f.change(key, func(cluster *fakeCluster) {
		pods := map[workload.Component]workload.Pod{}
		for _, component := range workload.Components(workload.EtcdStacked) {
			pods[component] = workload.Pod{State: workload.PodRunning}
		}
		seen := &cluster.observation
		cluster.lastMember++
		seen.Nodes = append(seen.Nodes, workload.Node{Name: name, Ready: true, Pods: pods})
		seen.Etcd.Members = append(seen.Etcd.Members, workload.Member{ID: cluster.lastMember, Name: name})
		seen.Etcd.Leader = seen.Etcd.Members[0].ID
	})
}

func (f *fakeWorkload) Initialized(_ context.Context, key client.ObjectKey, _ workload.Milestone) (bool, error) {
	var initialized bool
	var err error
	f.change(key, func(cluster *fakeCluster) {
		initialized = cluster.initialized
		if cluster.unreachable {
			initialized, err = false, workload.ErrNoAnswer
		}
	})
	return initialized, err
}

func (f *fakeWorkload) Observe(_ context.Context, query workload.Query) (workload.Observation, error) {
	var observation workload.Observation
	var err error
	f.change(query.Cluster, func(cluster *fakeCluster) {
		if cluster.unreachable {
			err = errors.New("no answer")
			if cluster.failure != nil {
				err = cluster.failure()
			}
		}
		if cluster.pending {
			err = workload.ErrPending
		}
		for _, node := range cluster.observation.Nodes {
			node.Pods = maps.Clone(node.Pods) // tests change them
			observation.Nodes = append(observation.Nodes, node)
		}
		observation.Etcd.Members = append(observation.Etcd.Members, cluster.observation.Etcd.Members...)
		observation.Etcd.Leader = cluster.observation.Etcd.Leader
	})
	return observation, err
}

func (f *fakeWorkload) Source(handler.EventHandler) source.Source {
	return source.Func(func(context.Context, workqueue.TypedRateLimitingInterface[ctrl.Request]) error { return nil })
}

func (f *fakeWorkload) MoveEtcdLeader(_ context.Context, key client.ObjectKey, from, to workload.Member) error {
	f.change(key, func(cluster *fakeCluster) {
		cluster.calls = append(cluster.calls, fmt.Sprintf("leader %s to %s", from.Name, to.Name))
		cluster.observation.Etcd.Leader = to.ID
		if cluster.moving != nil {
			cluster.moving()
		}
	})
	return nil
}

func (f *fakeWorkload) RemoveEtcdMember(_ context.Context, key client.ObjectKey, member, _ workload.Member) error {
	f.change(key, func(cluster *fakeCluster) {
		cluster.calls = append(cluster.calls, "remove "+member.Name)
		var staying []workload.Member
		for _, other := range cluster.observation.Etcd.Members {
			if other.ID != member.ID {
				staying = append(staying, other)
			}
		}
		cluster.observation.Etcd.Members = staying
	})
	return nil
}

func (f *fakeWorkload) PrepareUpgrade(_ context.Context, key client.ObjectKey, _ *bootstrapv1.KubeadmConfigSpec, version semver.Version) error {
	f.change(key, func(cluster *fakeCluster) { cluster.calls = append(cluster.calls, "prepare "+version.String()) })
	return nil
}

func (f *fakeWorkload) UpdateAddons(_ context.Context, addons workload.Addons) error {
	var err error
	f.change(addons.Cluster, func(cluster *fakeCluster) { cluster.addons, err = addons, cluster.addonsErr })
	return err
}

func (f *fakeWorkload) AvoidNode(_ context.Context, key client.ObjectKey, node string, avoid bool) error {
	f.change(key, func(cluster *fakeCluster) {
		for i := range cluster.observation.Nodes {
			if seen := &cluster.observation.Nodes[i]; seen.Name == node {
				seen.Avoided = avoid
			}
		}
	})
	return nil
}

// fakeToken is the token that machines join with.
const fakeToken = "abcdef.0123456789abcdef"

func (f *fakeWorkload) CreateToken(context.Context, client.ObjectKey) (string, error) {
	return fakeToken, nil
}

func (f *fakeWorkload) KeepToken(_ context.Context, key client.ObjectKey, token string) error {
	f.change(key, func(cluster *fakeCluster) { cluster.calls = append(cluster.calls, "keep "+token) })
	return nil
}

func (f *fakeWorkload) TakeLeadership(_ context.Context, key client.ObjectKey, gone []string) error {
	f.change(key, func(cluster *fakeCluster) {
		cluster.calls = append(cluster.calls, "lead instead of "+strings.Join(gone, ", "))
	})
	return nil
}

func (f *fakeWorkload) CertificateExpiry(_ context.Context, endpoint workload.APIServerEndpoint) (time.Time, error) {
	expiry := fakeExpiry
	f.change(endpoint.Cluster, func(cluster *fakeCluster) {
		if other, ok := cluster.expiries[endpoint.Node]; ok {
			expiry = other
		}
	})
	return expiry, nil
}

func (f *fakeWorkload) Watch(context.Context, workload.Watch) error {
	return clustercache.ErrClusterNotConnected
}

func (f *fakeWorkload) Forget(key client.ObjectKey) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.clusters, key)
}
