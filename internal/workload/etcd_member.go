// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var (
	// ErrEtcdUnmanaged means that the user runs etcd, so it cannot be reached: it does not run on
	// the control plane's Nodes, or the key of its CA, which signs client certificates, is not in
	// the management cluster.
	ErrEtcdUnmanaged = errors.New("the control plane does not run etcd")
	// ErrNoHealthyMember means that no member of etcd can be used.
	ErrNoHealthyMember = errors.New("etcd has no healthy member")
)

// EtcdMember is a member of etcd, with a client for it and what etcd reports about itself.
type EtcdMember struct {
	// Client is for this member alone.
	Client *clientv3.Client
	// Member is the one that the client is for.
	Member Member
	// State is the state of etcd when the member was chosen.
	State EtcdState
}

// WithHealthyEtcdMember runs do with a client for one healthy member that is not a learner and, if
// there is a choice, not the leader. Choosing the member takes no longer than an observation. do
// may run for as long as the context allows, and has the client to itself. WithHealthyEtcdMember
// returns the unchanged error of do, or ErrEtcdUnmanaged or ErrNoHealthyMember.
func (c *Clusters) WithHealthyEtcdMember(ctx context.Context, cluster client.ObjectKey, do func(context.Context, EtcdMember) error) error {
	members, state, err := c.chooseFrom(ctx, cluster)
	if err != nil {
		return err
	}
	chosen, ok := state.choose()
	if !ok {
		return fmt.Errorf("%w: %s", ErrNoHealthyMember, state.problems())
	}
	return members.with(ctx, chosen.Name, func(ctx context.Context, etcd *clientv3.Client) error {
		return do(ctx, EtcdMember{Client: etcd, Member: chosen, State: state})
	})
}

// chooseFrom returns the clients for etcd, and what etcd reports about itself.
func (c *Clusters) chooseFrom(ctx context.Context, cluster client.ObjectKey) (*etcdCluster, EtcdState, error) {
	ctx, cancel := context.WithTimeout(ctx, observeTimeout)
	defer cancel()
	// Read the Secrets first: without a key for etcd there is no need to query the cluster.
	members, err := c.etcdOf(ctx, cluster)
	if err != nil {
		return nil, EtcdState{}, err
	}
	reader, err := c.Client(ctx, cluster)
	if err != nil {
		return nil, EtcdState{}, err
	}
	nodes, err := listNodes(ctx, reader, EtcdStacked)
	if err != nil {
		return nil, EtcdState{}, err
	}
	if len(nodes) == 0 {
		return nil, EtcdState{}, fmt.Errorf("%w: no node has the label %s", ErrNoHealthyMember, nodeRoleLabel)
	}
	runsEtcd := func(node Node) bool { return node.Pods[Etcd].State != PodMissing }
	if !slices.ContainsFunc(nodes, runsEtcd) {
		return nil, EtcdState{}, fmt.Errorf("no control plane node has a pod of etcd in namespace %s: %w", metav1.NamespaceSystem, ErrEtcdUnmanaged)
	}
	ctx, cancel = context.WithTimeout(ctx, c.etcd.timeout)
	defer cancel()
	return members, members.observe(ctx, nodes), nil
}

// choose returns a member without a problem. It avoids the leader if possible, because the leader
// has the most work.
func (s EtcdState) choose() (Member, bool) {
	fit := slices.DeleteFunc(slices.Clone(s.Members), func(member Member) bool { return member.problem() != "" })
	if len(fit) == 0 {
		return Member{}, false
	}
	return slices.MinFunc(fit, func(a, b Member) int {
		return cmp.Or(s.leads(a)-s.leads(b), cmp.Compare(a.Name, b.Name))
	}), true
}

// leads returns 1 for the leader and 0 for the others.
func (s EtcdState) leads(member Member) int {
	if member.ID == s.Leader {
		return 1
	}
	return 0
}

// problems describes why each member cannot be used.
func (s EtcdState) problems() string {
	if s.Problem != "" {
		return s.Problem
	}
	problems := make([]string, 0, len(s.Members))
	for _, member := range s.Members {
		problems = append(problems, cmp.Or(member.Name, "a member without a name")+": "+member.problem())
	}
	return cmp.Or(strings.Join(problems, "; "), "it has no members")
}

// problem describes why a member cannot be used; empty if it can.
func (m Member) problem() string {
	corrupt := etcdserverpb.AlarmType_CORRUPT.String()
	switch {
	case m.Name == "":
		return "it has not started"
	case m.Learner:
		return errLearner.Error()
	case slices.Contains(m.Alarms, corrupt):
		return "it has raised the alarm " + corrupt
	}
	return m.Problem
}
