// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
)

func etcdMembers(names ...string) []*etcdserverpb.Member {
	var members []*etcdserverpb.Member
	for i, name := range names {
		members = append(members, &etcdserverpb.Member{ID: uint64(i + 1), Name: name})
	}
	return members
}

// threeAnswers returns the answers of three healthy members. The leader is a.
func threeAnswers() []answer {
	var answers []answer
	for i, name := range []string{"a", "b", "c"} {
		answers = append(answers, answer{
			node: name, clusterID: 9, memberID: uint64(i + 1), leader: 1, size: int64(100 * (i + 1)), members: etcdMembers("a", "b", "c"),
		})
	}
	return answers
}

func TestNewEtcdState(t *testing.T) {
	tests := map[string]struct {
		change func(answers []answer) []answer
		// problems by member name.
		problems map[string]string
		alarms   map[string][]string
		leader   uint64
	}{
		"healthy": {change: func(answers []answer) []answer { return answers }, leader: 1},
		"one does not answer": {
			change: func(answers []answer) []answer {
				answers[0] = answer{node: "a", err: errors.New("no route")}
				return answers
			},
			problems: map[string]string{"a": "it could not be queried: no route"}, leader: 1,
		},
		"one is cut off, and comes first": {
			change:   func(answers []answer) []answer { answers[0].leader = 0; return answers },
			problems: map[string]string{"a": "it sees no leader"}, leader: 1,
		},
		"no leader": {
			change: func(answers []answer) []answer {
				for i := range answers {
					answers[i].leader = 0
				}
				return answers
			},
			problems: map[string]string{"a": "it sees no leader", "b": "it sees no leader", "c": "it sees no leader"},
		},
		"one sees fewer members": {
			change:   func(answers []answer) []answer { answers[0].members = etcdMembers("a", "b"); return answers },
			problems: map[string]string{"a": "it sees different members than the others"}, leader: 1,
		},
		"one belongs to another cluster": {
			change: func(answers []answer) []answer {
				answers[0].clusterID, answers[0].members, answers[0].leader = 8, etcdMembers("a"), 1
				return answers
			},
			problems: map[string]string{"a": "it belongs to another etcd cluster"}, leader: 1,
		},
		"one answers for another": {
			change:   func(answers []answer) []answer { answers[1].memberID = 77; return answers },
			problems: map[string]string{"b": "another member answers in its place"}, leader: 1,
		},
		"one does not report its ID, but its certificate proves its identity": {
			change: func(answers []answer) []answer { answers[1].memberID = 0; return answers }, leader: 1,
		},
		"one reports errors": {
			change: func(answers []answer) []answer {
				answers[2].errors = []string{"etcdserver: corrupt snapshot"}
				return answers
			},
			problems: map[string]string{"c": "it reports etcdserver: corrupt snapshot"}, leader: 1,
		},
		"only one reports an alarm": {
			change: func(answers []answer) []answer {
				answers[0].alarms = []*etcdserverpb.AlarmMember{
					{MemberID: 2, Alarm: etcdserverpb.AlarmType_NOSPACE}, {MemberID: 3, Alarm: etcdserverpb.AlarmType_NONE},
				}
				answers[1].errors = []string{"memberID:2 alarm:NOSPACE "}
				return answers
			},
			alarms: map[string][]string{"b": {"NOSPACE"}}, leader: 1,
		},
		"one without a node": {
			change:   func(answers []answer) []answer { return answers[:2] },
			problems: map[string]string{"c": "it does not run on any node of the control plane"}, leader: 1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			state := newEtcdState(test.change(threeAnswers()))
			g.Expect(state.Problem).To(BeEmpty())
			g.Expect(state.Leader).To(Equal(test.leader))
			g.Expect(state.Members).To(HaveLen(3))
			for i, member := range state.Members {
				g.Expect(member.Name).To(Equal([]string{"a", "b", "c"}[i]))
				g.Expect(member.Problem).To(Equal(test.problems[member.Name]), member.Name)
				g.Expect(member.Alarms).To(Equal(test.alarms[member.Name]), member.Name)
			}
		})
	}
}

func TestEtcdStateOfAMemberThatHasNotStarted(t *testing.T) {
	g := NewWithT(t)
	answers := threeAnswers()[:1]
	answers[0].members = []*etcdserverpb.Member{{ID: 1, Name: "a"}, {ID: 2, IsLearner: true}}
	state := newEtcdState(answers)
	g.Expect(state.Members).To(Equal([]Member{{ID: 2, Learner: true}, {ID: 1, Name: "a", DatabaseSize: 100}}))
}

// observe stops waiting for a node only if its answer cannot change what is known of etcd.
func TestStrangers(t *testing.T) {
	three := threeAnswers()
	own := answer{node: "x", clusterID: 8, memberID: 7, leader: 7, members: etcdMembers("x")}
	lagging := answer{node: "b", clusterID: 9, memberID: 2, leader: 1, members: etcdMembers("a", "b")}
	starting := answer{node: "a", clusterID: 9, memberID: 1, leader: 1, members: append(etcdMembers("a"), &etcdserverpb.Member{ID: 9})}
	for name, test := range map[string]struct {
		pending []string
		answers []answer
		want    bool
	}{
		"two members do not list the only node":                {[]string{"gone"}, three[:2], true},
		"no member has answered":                               {[]string{"gone"}, nil, false},
		"no member could be asked":                             {[]string{"gone"}, []answer{{node: "a", err: errors.New("no route")}}, false},
		"the only answer is from a member that sees no leader": {[]string{"gone"}, []answer{{node: "a", members: etcdMembers("a")}}, false},
		"one of the nodes runs a member":                       {[]string{"c", "gone"}, three[:2], false},
		"one member lists a member that another lacks":         {[]string{"c"}, []answer{lagging, three[0]}, false},
		"a member has not started and may run there":           {[]string{"gone"}, []answer{starting}, false},
		"a member of another cluster answers first":            {[]string{"a", "b", "c"}, []answer{own}, false},
		"two members disagree":                                 {[]string{"gone"}, []answer{three[0], own}, false},
	} {
		t.Run(name, func(t *testing.T) {
			pending := map[string]bool{}
			for _, node := range test.pending {
				pending[node] = true
			}
			NewWithT(t).Expect(strangers(pending, test.answers)).To(Equal(test.want))
		})
	}
}

func TestEtcdThatCanNotBeAsked(t *testing.T) {
	g := NewWithT(t)
	state := newEtcdState([]answer{{node: "a", err: errors.New("no route")}, {node: "b", err: errors.New("its pod is in state Failed")}})
	g.Expect(state.Members).To(BeNil())
	g.Expect(state.Problem).To(Equal("etcd on node a: no route\netcd on node b: its pod is in state Failed"))
}
