// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
)

const (
	// decideTimeout bounds one decision, because others wait for it.
	decideTimeout = 30 * time.Second
	// lookAgain is when to look again at a Cluster that was held back.
	lookAgain = 10 * time.Second
)

// Options configures the task.
type Options struct {
	// Client reads the management cluster. It must bypass the cache, so that the task sees a
	// Cluster that was let through a moment ago.
	Client client.Client
	// Clouds returns the cloud of each cluster. If it is nil, there is no cloud to ask, and
	// Clusters on Foo's infrastructure wait.
	Clouds cloudidentity.Clouds
	// Namespace is the only namespace whose Clusters count. If it is empty, all Clusters count.
	Namespace string
}

// task decides about one Cluster at a time.
type task struct {
	Options

	mu sync.Mutex
	// granted are the Clusters that this process let through. Their jobs may not be recorded as
	// completed yet.
	granted map[types.UID]bool
}

// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get
// +kubebuilder:rbac:groups=cluster.x-k8s.io,resources=clusterclasses;clusters,verbs=get;list;watch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclusters;fooclusteridentities,verbs=get;list;watch
// +kubebuilder:rbac:groups=infrastructure.cluster.x-k8s.io,resources=fooclustertemplates;foomachinetemplates;foomachinepooltemplates,verbs=get

// New returns the task for BeforeClusterCreate. It holds new Clusters back until the quota has room
// for them. Only one process may run it at a time.
func New(options Options) hooks.Task {
	deciding := &task{Options: options, granted: map[types.UID]bool{}}
	return hooks.Task{Setting: "quotaCheck", Run: deciding.Run}
}

// Run decides about a Cluster.
func (t *task) Run(ctx context.Context, job hooks.Job) (hooks.Outcome, error) {
	if !t.mu.TryLock() {
		// A cloud that hangs must not keep workers from the jobs of other hooks.
		return hooks.Outcome{Message: "waiting for the quota check of another Cluster", RetryAfter: lookAgain}, nil
	}
	defer t.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, decideTimeout)
	defer cancel()
	outcome, err := t.decide(ctx, job)
	if err != nil {
		return hooks.Outcome{}, fmt.Errorf("the quota check: %s", hooks.Message(err))
	}
	if outcome.Done {
		t.granted[job.Cluster.UID] = true
	} else {
		delete(t.granted, job.Cluster.UID)
	}
	return outcome, nil
}

// noCloud is what a Cluster waits for if there is no cloud to ask for its quota.
const noCloud = "the quota check is on, but the runtime extension has no cloud to ask: start it with --cloud-endpoint (FOO_CLOUD_ENDPOINT), or turn the check off"

func (t *task) decide(ctx context.Context, job hooks.Job) (hooks.Outcome, error) {
	clusters, err := t.clusters(ctx)
	if err != nil {
		return hooks.Outcome{}, err
	}
	cluster, ok := clusters[job.Cluster.UID]
	if !ok || !cluster.Spec.Topology.IsDefined() {
		return hooks.Outcome{Done: true, Report: "not checked: the Cluster no longer has a topology"}, nil
	}
	classes := newClasses(t.Client)
	asked, err := classes.demand(ctx, cluster)
	if err != nil {
		return hooks.Outcome{}, err
	}
	if !asked.isFoo() {
		return hooks.Outcome{Done: true, Report: fmt.Sprintf("not checked: the infrastructure is a %s, and only the quota of Foo's cloud is known", asked.kind)}, nil
	}
	if t.Clouds == nil {
		return hooks.Outcome{Message: noCloud, RetryAfter: lookAgain}, nil
	}
	account, err := t.accountOf(ctx, asked)
	if err != nil {
		return hooks.Outcome{}, err
	}
	delete(clusters, job.Cluster.UID)
	claims, err := t.claims(ctx, classes, clusters, account)
	if err != nil {
		return hooks.Outcome{}, err
	}
	return t.compare(ctx, asked, claims)
}

// clusters returns all Clusters by UID, and forgets what is known about Clusters that are gone.
func (t *task) clusters(ctx context.Context) (map[types.UID]*clusterv1.Cluster, error) {
	list := &clusterv1.ClusterList{}
	if err := t.Client.List(ctx, list, client.InNamespace(t.Namespace)); err != nil {
		return nil, fmt.Errorf("listing Clusters: %w", err)
	}
	clusters := make(map[types.UID]*clusterv1.Cluster, len(list.Items))
	for i := range list.Items {
		clusters[list.Items[i].UID] = &list.Items[i]
	}
	maps.DeleteFunc(t.granted, func(uid types.UID, _ bool) bool { return clusters[uid] == nil })
	return clusters, nil
}

// anyAccount is the account of a demand that could not be computed. Such a demand counts in every
// account.
const anyAccount = "any"

// accountOf names the account from which a demand is ordered.
func (t *task) accountOf(ctx context.Context, asked demand) (string, error) {
	switch {
	case asked.fooCluster == nil:
		return anyAccount, nil
	case !asked.fooCluster.Spec.IdentityRef.IsDefined():
		return "default", nil
	}
	name := asked.fooCluster.Spec.IdentityRef.Name
	identity := &infrav1.FooClusterIdentity{}
	err := t.Client.Get(ctx, client.ObjectKey{Name: name}, identity)
	if apierrors.IsNotFound(err) {
		return "missing identity " + name, nil
	}
	if err != nil {
		return "", fmt.Errorf("reading FooClusterIdentity %s: %w", name, err)
	}
	return "tenant " + identity.Spec.Tenant + " of " + identity.Spec.Endpoint, nil
}

// compare asks the cloud what it has, and decides.
func (t *task) compare(ctx context.Context, asked demand, claims map[types.NamespacedName]demand) (hooks.Outcome, error) {
	c := t.Clouds.OfFooCluster(ctx, asked.fooCluster)
	instanceTypes, err := c.InstanceTypes(ctx)
	if err != nil {
		return hooks.Outcome{}, fmt.Errorf("reading the cloud's instance types: %w", err)
	}
	sizes := newSizes(instanceTypes)
	if absent := sizes.absent(asked); absent != "" {
		return hooks.Outcome{Message: absent, RetryAfter: lookAgain}, nil
	}
	now, err := snapshot(ctx, c, sizes)
	if err != nil {
		return hooks.Outcome{}, err
	}
	claimed := map[types.NamespacedName]cloud.Resources{}
	for cluster, theirs := range claims {
		claimed[cluster] = sizes.amounts(theirs)
	}
	return outcome(decide(now, claimed, sizes.amounts(asked)), asked), nil
}

// snapshot reads what an account has.
func snapshot(ctx context.Context, c cloud.Cloud, sizes sizes) (account, error) {
	instances, listing := c.ListInstances(ctx, cloud.InstanceFilter{})
	loadBalancers, balancing := c.ListLoadBalancers(ctx, nil)
	quota, limiting := c.Quota(ctx)
	if err := errors.Join(listing, balancing, limiting); err != nil {
		return account{}, fmt.Errorf("reading the cloud's quota and its usage: %w", err)
	}
	return count(instances, loadBalancers, quota, sizes), nil
}

// absent returns a message that names the requested instance types that the cloud does not have, or
// an empty text. Uncertain types are not held against a Cluster.
func (s sizes) absent(asked demand) string {
	if asked.uncertain {
		return ""
	}
	var names []string
	for name := range asked.machines {
		if _, ok := s.known[name]; !ok {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return fmt.Sprintf("the cloud has no instance type %s, it has: %s", strings.Join(names, ", "), strings.Join(slices.Sorted(maps.Keys(s.known)), ", "))
}

// outcome describes the decision.
func outcome(decided decision, asked demand) hooks.Outcome {
	assumed := ""
	if asked.uncertain {
		assumed = " (all machines counted as the largest instance type, because external patches may choose it)"
	}
	result := hooks.Outcome{Report: fmt.Sprintf("wanted: %s%s\nreserved for other Clusters: %s\n", describe(decided.wanted), assumed, describe(decided.reserved))}
	if len(decided.short) == 0 {
		result.Done = true
		result.Message = "the quota has room for the cluster"
		return result
	}
	result.Message = "waiting for room in the quota: " + strings.Join(decided.short, "; ") + assumed
	result.RetryAfter = lookAgain
	return result
}
