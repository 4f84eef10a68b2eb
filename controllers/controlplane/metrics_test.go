// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/internal/documented"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

func metricsScope(name string) *scope {
	controlPlane := &controlplanev1.FooControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	return &scope{memory: &memory{}, controlPlane: controlPlane, now: time.Date(2026, time.March, 9, 9, 0, 0, 0, time.UTC)}
}

// exposed returns the value of each series by "name{label=value,...}"; for a histogram, the sum.
func exposed(g *WithT, gatherer prometheus.Gatherer) map[string]float64 {
	families, err := gatherer.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	result := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			result[strings.TrimPrefix(family.GetName(), metricsPrefix)+"{"+strings.Join(labels, ",")+"}"] = number(metric)
		}
	}
	return result
}

func number(metric *dto.Metric) float64 {
	switch {
	case metric.GetCounter() != nil:
		return metric.GetCounter().GetValue()
	case metric.GetGauge() != nil:
		return metric.GetGauge().GetValue()
	default:
		return metric.GetHistogram().GetSampleSum()
	}
}

func newRegistry(g *WithT) (*metrics, *prometheus.Registry) {
	registry := prometheus.NewRegistry()
	made, err := registered(registry)
	g.Expect(err).NotTo(HaveOccurred())
	again, err := registered(registry)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(BeIdenticalTo(made), "two managers in one process share the metrics")
	return made, registry
}

func TestMetricsAreDocumented(t *testing.T) {
	g := NewWithT(t)
	_, registry := newRegistry(g)
	g.Expect(documented.Metrics(registry, "../../docs/metrics.md", "FooControlPlane")).To(Succeed())
}

func TestMetricsOfDecisions(t *testing.T) {
	g := NewWithT(t)
	m, registry := newRegistry(g)
	s := metricsScope("cp")
	m.record(s, plan.Decision{Action: plan.ActionCreate}, nil, time.Time{})
	m.record(s, plan.Decision{Action: plan.ActionCreate}, errors.New("failed"), time.Time{})
	m.record(s, plan.Decision{Action: plan.ActionRemediate}, nil, time.Time{})
	m.record(s, plan.Decision{Action: plan.ActionRemediate}, errors.New("failed"), time.Time{})
	m.record(s, plan.Decision{Action: plan.ActionNone}, nil, time.Time{})
	g.Expect(exposed(g, registry)).To(Equal(map[string]float64{
		"decisions_total{action=CreateMachine,name=cp,namespace=ns}":    1,
		"decisions_total{action=RemediateMachine,name=cp,namespace=ns}": 1,
		"remediations_total{name=cp,namespace=ns}":                      1,
	}), "failed decisions do not count")
}

func TestMetricsOfBlocks(t *testing.T) {
	g := NewWithT(t)
	m, registry := newRegistry(g)
	s := metricsScope("cp")
	for range 3 {
		m.record(s, plan.Decision{Action: plan.ActionWait, Reason: plan.ReasonEtcdNotHealthy}, nil, time.Time{})
	}
	m.record(s, plan.Decision{Action: plan.ActionWait, Reason: plan.ReasonMachinesNotHealthy}, nil, time.Time{})
	g.Expect(exposed(g, registry)).To(Equal(map[string]float64{
		"blocked{name=cp,namespace=ns,reason=MachinesNotHealthy}":      1,
		"blocks_total{name=cp,namespace=ns,reason=EtcdNotHealthy}":     1,
		"blocks_total{name=cp,namespace=ns,reason=MachinesNotHealthy}": 1,
	}), "a block counts once however long it lasts, and only the current one is shown")
	m.record(s, plan.Decision{Action: plan.ActionNone}, nil, time.Time{})
	g.Expect(exposed(g, registry)).NotTo(HaveKey(HavePrefix("blocked{")))
}

func TestMetricsOfRollouts(t *testing.T) {
	g := NewWithT(t)
	m, registry := newRegistry(g)
	s := metricsScope("cp")
	began := s.now.Add(-90 * time.Second)
	rolling := metav1.Condition{Type: controlplanev1.RollingOutCondition, Status: metav1.ConditionTrue, Reason: "R", LastTransitionTime: metav1.NewTime(began)}
	s.controlPlane.Status.Conditions = []metav1.Condition{rolling}
	g.Expect(rollingSince(s.controlPlane)).To(Equal(began))
	m.record(s, plan.Decision{Action: plan.ActionNone}, nil, rollingSince(s.controlPlane))
	g.Expect(exposed(g, registry)).To(BeEmpty(), "the rollout has not ended")

	since := rollingSince(s.controlPlane)
	conditions.Set(s.controlPlane, metav1.Condition{Type: controlplanev1.RollingOutCondition, Status: metav1.ConditionFalse, Reason: "N"})
	m.record(s, plan.Decision{Action: plan.ActionNone}, nil, since)
	m.record(s, plan.Decision{Action: plan.ActionNone}, nil, rollingSince(s.controlPlane))
	g.Expect(exposed(g, registry)).To(Equal(map[string]float64{"rollout_duration_seconds{name=cp,namespace=ns}": 90}))
}

func TestMetricsOfEtcd(t *testing.T) {
	g := NewWithT(t)
	m, registry := newRegistry(g)
	s := metricsScope("cp")
	s.observation = &workload.Observation{Etcd: workload.EtcdState{Members: []workload.Member{
		{ID: 1, Name: "a", DatabaseSize: 20}, {ID: 2, Name: "b", DatabaseSize: 30, Alarms: []string{"NOSPACE"}}, {ID: 3, Learner: true},
	}}}
	m.record(s, plan.Decision{Action: plan.ActionNone}, nil, time.Time{})
	want := map[string]float64{
		"etcd_members{name=cp,namespace=ns,role=voter}":   2,
		"etcd_members{name=cp,namespace=ns,role=learner}": 1,
		"etcd_alarms{alarm=NOSPACE,name=cp,namespace=ns}": 1,
		"etcd_alarms{alarm=CORRUPT,name=cp,namespace=ns}": 0,
		"etcd_database_size_bytes{name=cp,namespace=ns}":  30,
	}
	g.Expect(exposed(g, registry)).To(Equal(want))
	s.observation.Etcd = workload.EtcdState{Problem: "no answer"}
	m.record(s, plan.Decision{Action: plan.ActionNone}, nil, time.Time{})
	g.Expect(exposed(g, registry)).To(Equal(want), "the last known values stay")
}

func TestMetricsOfAForgottenControlPlane(t *testing.T) {
	g := NewWithT(t)
	m, registry := newRegistry(g)
	other := metricsScope("other")
	m.record(other, plan.Decision{Action: plan.ActionWait, Reason: plan.ReasonEtcdNotHealthy}, nil, time.Time{})
	before := exposed(g, registry)

	s := metricsScope("cp")
	s.observation = &workload.Observation{Etcd: workload.EtcdState{Members: []workload.Member{{ID: 1, Name: "a"}}}}
	conditions.Set(s.controlPlane, metav1.Condition{Type: controlplanev1.RollingOutCondition, Status: metav1.ConditionFalse, Reason: "N"})
	m.record(s, plan.Decision{Action: plan.ActionWait, Reason: plan.ReasonEtcdNotHealthy}, nil, s.now.Add(-time.Minute))
	m.record(s, plan.Decision{Action: plan.ActionRemediate}, nil, time.Time{})
	m.record(s, plan.Decision{Action: plan.ActionWait, Reason: plan.ReasonQuorumAtRisk}, nil, time.Time{})
	g.Expect(len(exposed(g, registry))).To(BeNumerically(">", len(before)+8))

	m.forget(client.ObjectKeyFromObject(s.controlPlane))
	g.Expect(exposed(g, registry)).To(Equal(before), "only its own series are removed")
	m.record(s, plan.Decision{Action: plan.ActionWait, Reason: plan.ReasonQuorumAtRisk}, nil, time.Time{})
	g.Expect(exposed(g, registry)).To(HaveKeyWithValue("blocks_total{name=cp,namespace=ns,reason=EtcdQuorumAtRisk}", float64(1)), "a new one with the same name starts from zero")
}
