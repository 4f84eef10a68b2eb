// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errLearner is the problem of a learner, which answers only status requests.
var errLearner = errors.New("it is a learner, which cannot report the members")

// answer is what one member reports.
type answer struct {
	node      string
	clusterID uint64
	memberID  uint64
	leader    uint64
	errors    []string
	size      int64
	learner   bool
	members   []*etcdserverpb.Member
	alarms    []*etcdserverpb.AlarmMember
	err       error
}

// observeEtcd queries all members concurrently, because each may have a different view of the
// cluster.
func (c *Connections) observeEtcd(ctx context.Context, cluster client.ObjectKey, nodes []Node) EtcdState {
	ctx, cancel := context.WithTimeout(ctx, c.etcd.timeout)
	defer cancel()
	members, err := c.etcdOf(ctx, cluster)
	if err != nil {
		return EtcdState{Problem: err.Error()}
	}
	return members.observe(ctx, nodes)
}

// strangerPatience is how long to wait for a node that runs no member according to the other
// members. Its machine may be gone for good.
const strangerPatience = 500 * time.Millisecond

func (e *etcdCluster) observe(ctx context.Context, nodes []Node) EtcdState {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var answers []answer
	answered := make(chan answer, len(nodes))
	pending := map[string]bool{}
	for _, node := range nodes {
		// Querying a member that does not run yet would only cost a timeout.
		if state := node.Pods[Etcd].State; state != PodRunning {
			answers = append(answers, answer{node: node.Name, err: fmt.Errorf("its pod is in state %s", state)})
			continue
		}
		pending[node.Name] = true
		go func() { answered <- e.ask(ctx, node.Name) }()
	}
	for len(pending) > 0 {
		var enough <-chan time.Time
		if strangers(pending, answers) {
			enough = time.After(strangerPatience)
		}
		select {
		case one := <-answered:
			answers = append(answers, one)
			delete(pending, one.node)
		case <-enough:
			stop()
		}
	}
	slices.SortFunc(answers, func(a, b answer) int { return strings.Compare(a.node, b.node) })
	return newEtcdState(answers)
}

// strangers reports whether none of the nodes runs a member. To be sure, at least as many members
// with a leader as there are such nodes must have answered, and all of them must agree. A member
// that has not started has no name, and may belong to any node.
func strangers(nodes map[string]bool, answers []answer) bool {
	var views []answer
	for _, one := range answers {
		if one.err != nil || one.leader == 0 {
			continue
		}
		runs := func(member *etcdserverpb.Member) bool { return member.GetName() == "" || nodes[member.GetName()] }
		if slices.ContainsFunc(one.members, runs) || len(views) > 0 && !one.agrees(views[0]) {
			return false
		}
		views = append(views, one)
	}
	return len(views) >= len(nodes)
}

func (e *etcdCluster) ask(ctx context.Context, node string) answer {
	result := answer{node: node}
	err := e.with(ctx, node, func(ctx context.Context, etcd *clientv3.Client) error {
		status, err := maintenance(etcd).Status(ctx, etcd.Endpoints()[0])
		if err != nil {
			return fmt.Errorf("requesting its status: %w", err)
		}
		result.clusterID, result.memberID = status.Header.GetClusterId(), status.Header.GetMemberId()
		result.leader, result.errors, result.size = status.Leader, status.Errors, status.DbSize
		if status.IsLearner {
			result.learner = true
			return nil
		}
		// A member answers this from its own data, even if the cluster has no leader.
		members, err := etcd.MemberList(ctx, clientv3.WithSerializable())
		if err != nil {
			return fmt.Errorf("requesting its members: %w", err)
		}
		result.members = members.Members
		if result.leader == 0 {
			// A member without a leader does not answer the next request.
			return nil
		}
		alarms, err := etcd.AlarmList(ctx)
		if err != nil {
			return fmt.Errorf("requesting its alarms: %w", err)
		}
		result.alarms = alarms.Alarms
		return nil
	})
	if err == nil && result.learner {
		err = errLearner
	}
	result.err = err
	return result
}

// maintenance uses the existing connection of the client. The client itself would open a new one
// for each status request.
func maintenance(etcd *clientv3.Client) clientv3.Maintenance {
	return clientv3.NewMaintenanceFromMaintenanceClient(etcdserverpb.NewMaintenanceClient(etcd.ActiveConnection()), etcd)
}

// newEtcdState combines the answers of the members. The view that most members with a leader share
// is taken as the truth; a member with a different view has a problem.
func newEtcdState(answers []answer) EtcdState {
	view, ok := prevailing(answers)
	if !ok {
		problems := make([]error, 0, len(answers))
		for _, answer := range answers {
			problems = append(problems, fmt.Errorf("etcd on node %s: %w", answer.node, answer.err))
		}
		return EtcdState{Problem: errors.Join(problems...).Error()}
	}
	state := EtcdState{Leader: view.leader, Members: make([]Member, 0, len(view.members))}
	for _, member := range view.members {
		converted := Member{ID: member.GetID(), Name: member.GetName(), Learner: member.GetIsLearner(), Alarms: alarmsOf(member.GetID(), answers)}
		// A member without a name has not started, so it cannot be queried.
		if converted.Name != "" {
			converted.Problem, converted.DatabaseSize = account(converted, view, answers)
		}
		state.Members = append(state.Members, converted)
	}
	slices.SortFunc(state.Members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return state
}

// prevailing returns an answer with the view that most members share.
func prevailing(answers []answer) (answer, bool) {
	var best answer
	var votes int
	for _, candidate := range answers {
		if candidate.err != nil {
			continue
		}
		number := 1
		for _, other := range answers {
			if other.err == nil && candidate.agrees(other) {
				number += 2
			}
		}
		if candidate.leader != 0 {
			// A member that sees a leader belongs to etcd's majority.
			number += 2 * len(answers)
		}
		if number > votes {
			best, votes = candidate, number
		}
	}
	return best, votes > 0
}

// agrees reports whether two members see the same cluster with the same members.
func (a answer) agrees(other answer) bool {
	return a.clusterID == other.clusterID && maps.Equal(identities(a.members), identities(other.members))
}

func identities(members []*etcdserverpb.Member) map[uint64]string {
	result := make(map[uint64]string, len(members))
	for _, member := range members {
		result[member.GetID()] = member.GetName()
	}
	return result
}

// alarmsOf returns the alarms of a member, whichever member reports them.
func alarmsOf(member uint64, answers []answer) []string {
	raised := map[string]bool{}
	for _, answer := range answers {
		for _, alarm := range answer.alarms {
			if alarm.GetMemberID() == member && alarm.GetAlarm() != etcdserverpb.AlarmType_NONE {
				raised[alarm.GetAlarm().String()] = true
			}
		}
	}
	if len(raised) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(raised))
}

// account returns what is wrong with a member, and the size of its database.
func account(member Member, view answer, answers []answer) (string, int64) {
	index := slices.IndexFunc(answers, func(answer answer) bool { return answer.node == member.Name })
	if index < 0 {
		return "it does not run on any node of the control plane", 0
	}
	own := answers[index]
	switch {
	case own.err != nil:
		return "it could not be queried: " + own.err.Error(), 0
	case own.clusterID != view.clusterID:
		return "it belongs to another etcd cluster", own.size
	case own.memberID != 0 && own.memberID != member.ID: // a mismatch; the ID is 0 if the member does not report it
		return "another member answers in its place", own.size
	case own.leader == 0:
		return "it sees no leader", own.size
	case !own.agrees(view):
		return "it sees different members than the others", own.size
	case len(complaints(own.errors)) > 0:
		return "it reports " + strings.Join(complaints(own.errors), ", "), own.size
	}
	return "", own.size
}

// complaints omits what is already reported as an alarm.
func complaints(reported []string) []string {
	return slices.DeleteFunc(slices.Clone(reported), func(text string) bool {
		return text == "" || strings.Contains(text, "alarm:") || strings.Contains(text, "memberID:")
	})
}
