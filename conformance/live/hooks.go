// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

const hooksRun = "runtime-extension/hooks-run"

// lifecycleHooks are what Cluster API calls in the life of a cluster with a topology and workers, in this
// order.
var lifecycleHooks = []string{
	"BeforeClusterCreate", "AfterControlPlaneInitialized", "BeforeClusterUpgrade", "BeforeControlPlaneUpgrade", "AfterControlPlaneUpgrade",
	"BeforeWorkersUpgrade", "AfterWorkersUpgrade", "AfterClusterUpgrade", "BeforeClusterDelete",
}

// callHooks creates, upgrades and deletes a cluster with a topology, and looks at which hooks Cluster API
// calls meanwhile.
func (s *story) callHooks(ctx context.Context) error {
	extensions := &view{}
	if err := s.readExtensions(ctx, extensions); err != nil {
		return err
	}
	handlers := handlersOf(extensions.extensions)
	switch {
	case len(extensions.extensions) == 0:
		s.missing(hooksRun, conformance.NotApplicable, errNotApplicable.Error())
		return nil
	case len(handlers) == 0:
		s.missing(hooksRun, conformance.NotClaimed, "no extension has a handler of a lifecycle hook")
		return nil
	case s.notHere(hooksRun) != "":
		return nil
	}
	before, counters, err := s.countCalls(ctx)
	if err != nil {
		s.missing(hooksRun, conformance.NotRun, err.Error())
		return nil
	}
	if err := s.startAgain(ctx); err != nil {
		return err
	}
	held, err := s.liveWithTopology(ctx)
	after, later, countErr := s.countCalls(ctx)
	if err != nil || countErr != nil {
		return errors.Join(held, err, countErr)
	}
	s.recordCalls(held, uncalled(handlers, after.since(before), held != nil), counters, later)
	return nil
}

// recordCalls records whether hooks held the cluster and whether handlers were called, which the processes counted at
// its creation and at its end. One that has started again counts from zero.
func (s *story) recordCalls(held, uncalled error, counters, later string) {
	if held == nil && uncalled != nil && later != counters {
		s.missing(hooksRun, conformance.Unfinished, "Cluster API's manager was restarted or replaced, and forgot the calls before")
		return
	}
	s.record(hooksRun, "", "", errors.Join(held, uncalled))
}

// handler is a handler of a lifecycle hook.
type handler struct {
	name, hook string
	// host is what Cluster API calls it at.
	host string
}

func handlersOf(extensions []runtimev1.ExtensionConfig) []handler {
	var all []handler
	for i := range extensions {
		extension := &extensions[i]
		for _, one := range extension.Status.Handlers {
			if slices.Contains(lifecycleHooks, one.RequestHook.Hook) {
				all = append(all, handler{one.Name, one.RequestHook.Hook, hostOf(&extension.Spec.ClientConfig)})
			}
		}
	}
	return all
}

// hostOf returns the host to which Cluster API connects.
func hostOf(config *runtimev1.ClientConfig) string {
	if config.URL != "" {
		if parsed, err := url.Parse(config.URL); err == nil {
			return parsed.Host
		}
		return config.URL
	}
	host := config.Service.Name + "." + config.Service.Namespace + ".svc"
	if config.Service.Port == nil {
		return host
	}
	return net.JoinHostPort(host, strconv.Itoa(int(*config.Service.Port)))
}

// call is a kind of calls that Cluster API counts.
type call struct {
	host, hook string
	success    bool
}

// counts are how often hooks were called.
type counts map[call]int

func (c counts) since(before counts) counts {
	grown := counts{}
	for key, count := range c {
		grown[key] = count - before[key]
	}
	return grown
}

// uncalled returns an error if a handler has not been called with success. If a hook held the cluster,
// Cluster API cannot have called the later ones.
func uncalled(handlers []handler, calls counts, held bool) error {
	var missing []error
	for _, h := range handlers {
		succeeded, failed := calls[call{h.host, h.hook, true}], calls[call{h.host, h.hook, false}]
		switch {
		case succeeded > 0:
		case failed > 0:
			missing = append(missing, fmt.Errorf("the handler %s: %d calls of %s at %s failed, and none succeeded", h.name, failed, h.hook, h.host))
		case !held:
			missing = append(missing, fmt.Errorf("the handler %s: Cluster API has not called %s at %s", h.name, h.hook, h.host))
		}
	}
	return errors.Join(missing...)
}

// countCalls reads the metrics of Cluster API's managers, and says which processes have counted. They serve metrics
// without encryption only if they were told to.
func (s *story) countCalls(ctx context.Context) (calls counts, counters string, err error) {
	clientset, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		return nil, "", err
	}
	managers := &corev1.PodList{}
	if err := s.Client.List(ctx, managers, client.MatchingLabels{clusterv1.ProviderNameLabel: "cluster-api"}); err != nil {
		return nil, "", err
	}
	all := counts{}
	var processes []string
	for i := range managers.Items {
		pod := &managers.Items[i]
		content, err := clientset.CoreV1().Pods(pod.Namespace).ProxyGet("http", pod.Name, metricsPort(pod), "/metrics", nil).DoRaw(ctx)
		if err != nil {
			return nil, "", fmt.Errorf("read the metrics of the Pod %s of Cluster API, which needs --insecure-diagnostics=true: %w", pod.Name, err)
		}
		for _, container := range pod.Status.ContainerStatuses {
			processes = append(processes, fmt.Sprintf("%s/%s/%d", pod.UID, container.Name, container.RestartCount))
		}
		if err := all.add(content); err != nil {
			return nil, "", fmt.Errorf("the metrics of the Pod %s: %w", pod.Name, err)
		}
	}
	if len(managers.Items) == 0 {
		return nil, "", fmt.Errorf("no Pod has the label %s=cluster-api of Cluster API's manager, whose metrics count the calls", clusterv1.ProviderNameLabel)
	}
	slices.Sort(processes)
	return all, strings.Join(processes, " "), nil
}

func metricsPort(pod *corev1.Pod) string {
	for _, container := range pod.Spec.Containers {
		for _, port := range container.Ports {
			if port.Name == "metrics" {
				return strconv.Itoa(int(port.ContainerPort))
			}
		}
	}
	return "8443"
}

// add adds the calls that metrics in the text format of Prometheus count.
func (c counts) add(metrics []byte) error {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(metrics))
	if err != nil {
		return err
	}
	for _, metric := range families["capi_runtime_sdk_requests_total"].GetMetric() {
		labels := map[string]string{}
		for _, label := range metric.GetLabel() {
			labels[label.GetName()] = label.GetValue()
		}
		c[call{labels["host"], labels["hook"], labels["status"] == "Success"}] += int(metric.GetCounter().GetValue())
	}
	return nil
}

// liveWithTopology creates a cluster with a topology, upgrades it and deletes it. If a hook held the
// cluster for too long, held says so.
func (s *story) liveWithTopology(ctx context.Context) (held, err error) {
	was := s.now
	s.now, s.quiet = &view{}, true // the rules about other kinds are checked in the cluster without a topology
	defer func() { s.now, s.quiet = was, false }()
	if err = s.growTopology(ctx); err != nil && s.now.cluster != nil {
		if held = heldByHook(s.now.cluster); held != nil {
			err = nil // the rule is a recommendation
		}
	}
	ctx = context.WithoutCancel(ctx)
	if gone := s.remove(ctx); gone != nil {
		cluster := &clusterv1.Cluster{}
		if s.Client.Get(ctx, s.key(clusterName), cluster) == nil {
			held = cmp.Or(held, heldByHook(cluster))
		}
		err = errors.Join(err, gone)
	}
	return held, err
}

func (s *story) growTopology(ctx context.Context) error {
	if err := s.createAll(ctx, s.topology); err != nil {
		return err
	}
	if err := s.settle(ctx, func(v *view) error { return v.follows(v.cluster.Spec.Topology.Version) }); err != nil {
		return err
	}
	cluster := s.now.cluster
	if err := s.change(ctx, cluster, func() { cluster.Spec.Topology.Version = s.UpgradeTo }); err != nil {
		return err
	}
	return s.settle(ctx, func(v *view) error { return v.follows(s.UpgradeTo) })
}

// follows returns nil once a cluster is as its topology says, and no hook is pending.
func (v *view) follows(version string) error {
	for _, condition := range v.cluster.Status.Conditions {
		if condition.Type == clusterv1.ClusterTopologyReconciledCondition && (condition.Status != metav1.ConditionTrue || condition.ObservedGeneration != v.cluster.Generation) {
			return fmt.Errorf("the topology is not reconciled: %s", cmp.Or(condition.Message, condition.Reason))
		}
	}
	if pending := v.cluster.Annotations[runtimev1.PendingHooksAnnotation]; pending != "" {
		return fmt.Errorf("these hooks are pending: %s", pending)
	}
	for _, m := range v.machines {
		if !fields.SameVersion(m.Spec.Version, version) {
			return fmt.Errorf("the Machine %s has the version %s, want %s", m.Name, m.Spec.Version, version)
		}
	}
	return nil
}

// heldByHook returns an error if a cluster waits for a hook.
func heldByHook(cluster *clusterv1.Cluster) error {
	for _, condition := range cluster.Status.Conditions {
		named := slices.ContainsFunc(lifecycleHooks, func(hook string) bool { return strings.Contains(condition.Message, hook) })
		if condition.Type == clusterv1.ClusterTopologyReconciledCondition && condition.Status != metav1.ConditionTrue && named {
			return fmt.Errorf("the cluster waits for a hook: %s", condition.Message)
		}
	}
	return nil
}
