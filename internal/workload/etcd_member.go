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
	// ErrEtcdUnmanaged says that the user runs etcd, so it cannot be reached: it does not run on the control plane's nodes, or
	// the key of its authority, which signs client certificates, is not in the management cluster.
	ErrEtcdUnmanaged = errors.New("etcd is not run by the control plane")
	// ErrNoHealthyMember says that no member of etcd can be asked.
	ErrNoHealthyMember = errors.New("etcd has no healthy member")
)

// EtcdMember is a member of etcd, a client of it, and what etcd says about itself.
type EtcdMember struct {
	// Client of this member alone.
	Client *clientv3.Client
	// Member that the client asks.
	Member Member
	// State of etcd when the member was chosen.
	State EtcdState
}

// WithHealthyEtcdMember runs do with a client of one healthy member that is no learner, and is not the leader where there is
// a choice. Choosing it takes no longer than an observation; do runs for as long as it needs or the context allows, with the
// client for itself. It returns the error of do as it is, or ErrEtcdUnmanaged or ErrNoHealthyMember.
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

// chooseFrom returns the clients of etcd, and what etcd says about itself.
func (c *Clusters) chooseFrom(ctx context.Context, cluster client.ObjectKey) (*etcdCluster, EtcdState, error) {
	ctx, cancel := context.WithTimeout(ctx, observeTimeout)
	defer cancel()
	// The secrets come first: without a key for etcd there is no need to ask the cluster.
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

// choose returns a member without a problem that is not the leader if possible, since the leader has the most to do.
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

// problems says what keeps each member from being asked.
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

// problem says what keeps a member from being asked; empty if nothing does.
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
