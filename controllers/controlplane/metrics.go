// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api/util/conditions"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/controlplane/plan"
	"github.com/capfoo/cluster-api-provider-foo/internal/workload"
)

const (
	metricsPrefix = "foo_controlplane_"

	labelNamespace = "namespace"
	labelName      = "name"
	labelAction    = "action"
	labelReason    = "reason"
	labelRole      = "role"
	labelAlarm     = "alarm"

	roleVoter   = "voter"
	roleLearner = "learner"
)

// alarmKinds are the alarms that etcd can raise.
var alarmKinds = []string{"NOSPACE", "CORRUPT"}

// metrics are the Prometheus metrics of FooControlPlanes. Each series is labelled with the
// namespace and name of one FooControlPlane and is removed with it. The values of all other labels
// come from short lists in the code: actions, reasons, roles and alarms.
type metrics struct {
	decisions    *prometheus.CounterVec
	blocks       *prometheus.CounterVec
	blocked      *prometheus.GaugeVec
	rollouts     *prometheus.HistogramVec
	remediations *prometheus.CounterVec
	members      *prometheus.GaugeVec
	alarms       *prometheus.GaugeVec
	databaseSize *prometheus.GaugeVec

	mu sync.Mutex
	// reasons holds why each FooControlPlane is blocked now; empty if it is not.
	reasons map[client.ObjectKey]string
}

func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: metricsPrefix + name, Help: help}, append([]string{labelNamespace, labelName}, labels...))
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: metricsPrefix + name, Help: help}, append([]string{labelNamespace, labelName}, labels...))
	}
	return &metrics{
		decisions:    counter("decisions_total", "Decisions that were carried out, by action.", labelAction),
		blocks:       counter("blocks_total", "How often a control plane began to wait, by reason.", labelReason),
		blocked:      gauge("blocked", "1 for the reason that a control plane waits for now.", labelReason),
		remediations: counter("remediations_total", "Unhealthy Machines that were deleted to be replaced."),
		members:      gauge("etcd_members", "Members of etcd, by role: voter or learner. Absent for external etcd.", labelRole),
		alarms:       gauge("etcd_alarms", "Members of etcd that have raised an alarm, by alarm.", labelAlarm),
		databaseSize: gauge("etcd_database_size_bytes", "Size of the largest database of etcd's members."),
		rollouts: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: metricsPrefix + "rollout_duration_seconds",
			Help: "How long a rollout took until all Machines were up to date.",
			// From half a minute, enough for a small cluster here, to a working day.
			Buckets: []float64{30, 60, 120, 300, 600, 1200, 2400, 4800, 9600, 28800},
		}, []string{labelNamespace, labelName}),
		reasons: map[client.ObjectKey]string{},
	}
}

func (m *metrics) all() []*prometheus.MetricVec {
	return []*prometheus.MetricVec{
		m.decisions.MetricVec, m.blocks.MetricVec, m.blocked.MetricVec, m.rollouts.MetricVec,
		m.remediations.MetricVec, m.members.MetricVec, m.alarms.MetricVec, m.databaseSize.MetricVec,
	}
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(descriptions chan<- *prometheus.Desc) {
	for _, collector := range m.all() {
		collector.Describe(descriptions)
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(collected chan<- prometheus.Metric) {
	for _, collector := range m.all() {
		collector.Collect(collected)
	}
}

// registered returns the metrics of the process. All managers in it share them.
func registered(registerer prometheus.Registerer) (*metrics, error) {
	made := newMetrics()
	err := registerer.Register(made)
	if already, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if existing, ok := already.ExistingCollector.(*metrics); ok {
			return existing, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("registering the metrics of FooControlPlanes: %w", err)
	}
	return made, nil
}

// rollingSince is when the current rollout began, according to the status; zero if there is none.
func rollingSince(controlPlane *controlplanev1.FooControlPlane) time.Time {
	condition := conditions.Get(controlPlane, controlplanev1.RollingOutCondition)
	if condition == nil || condition.Status != metav1.ConditionTrue {
		return time.Time{}
	}
	return condition.LastTransitionTime.Time
}

// record updates the metrics after one reconcile. since is when the rollout that was in progress
// before it began; zero if there was none.
func (m *metrics) record(s *scope, next plan.Decision, failure error, since time.Time) {
	key := client.ObjectKeyFromObject(s.controlPlane)
	m.recordBlock(key, next)
	if failure == nil && next.Acts() {
		m.decisions.WithLabelValues(key.Namespace, key.Name, string(next.Action)).Inc()
	}
	if failure == nil && next.Action == plan.ActionRemediate {
		m.remediations.WithLabelValues(key.Namespace, key.Name).Inc()
	}
	if !since.IsZero() && conditions.IsFalse(s.controlPlane, controlplanev1.RollingOutCondition) {
		m.rollouts.WithLabelValues(key.Namespace, key.Name).Observe(s.now.Sub(since).Seconds())
	}
	if s.observation != nil && s.etcdMode() == workload.EtcdStacked && s.observation.Etcd.Problem == "" {
		m.recordEtcd(key, s.observation.Etcd)
	}
}

func (m *metrics) recordBlock(key client.ObjectKey, next plan.Decision) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, after := m.reasons[key], ""
	if next.Action == plan.ActionWait {
		after = next.Reason
	}
	if before == after {
		return
	}
	m.blocked.DeleteLabelValues(key.Namespace, key.Name, before)
	m.reasons[key] = after
	if after != "" {
		m.blocked.WithLabelValues(key.Namespace, key.Name, after).Set(1)
		m.blocks.WithLabelValues(key.Namespace, key.Name, after).Inc()
	}
}

func (m *metrics) recordEtcd(key client.ObjectKey, etcd workload.EtcdState) {
	roles := map[string]int{roleVoter: 0, roleLearner: 0}
	alarms := map[string]int{}
	var size int64
	for _, member := range etcd.Members {
		if member.Learner {
			roles[roleLearner]++
		} else {
			roles[roleVoter]++
		}
		for _, alarm := range member.Alarms {
			alarms[alarm]++
		}
		size = max(size, member.DatabaseSize)
	}
	for role, number := range roles {
		m.members.WithLabelValues(key.Namespace, key.Name, role).Set(float64(number))
	}
	for _, alarm := range alarmKinds {
		m.alarms.WithLabelValues(key.Namespace, key.Name, alarm).Set(float64(alarms[alarm]))
	}
	m.databaseSize.WithLabelValues(key.Namespace, key.Name).Set(float64(size))
}

// forget removes all series of a deleted FooControlPlane.
func (m *metrics) forget(key client.ObjectKey) {
	m.mu.Lock()
	delete(m.reasons, key)
	m.mu.Unlock()
	for _, collector := range m.all() {
		collector.DeletePartialMatch(prometheus.Labels{labelNamespace: key.Namespace, labelName: key.Name})
	}
}
