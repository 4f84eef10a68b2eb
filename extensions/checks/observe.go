// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

const (
	// observeTimeout bounds one look at a workload cluster, so that an unresponsive one does
	// not hold up the others.
	observeTimeout = 20 * time.Second
	// mostBudgets is the maximum number of disruption budgets whose pods are read.
	mostBudgets = 100
	// mostPods is the maximum number of pods that are read for each budget.
	mostPods = 500

	controlPlaneLabel = "node-role.kubernetes.io/control-plane"
)

// Tasks are the tasks of the hooks around an upgrade.
type Tasks struct {
	hooks.Clusters

	// Versions returns the Kubernetes versions that are available for the machines of a
	// cluster, or nil if they are unknown. If Versions itself is nil, versions are not checked.
	Versions func(ctx context.Context, cluster client.ObjectKey) ([]string, error)
}

// source is a workload cluster that can be reached.
type source struct {
	Tasks

	cluster client.ObjectKey
	objects client.Client
	server  server
}

// part reads one part of an observation.
type part struct {
	// name of what is read, for users.
	name string
	read func(ctx context.Context, from source, into *observation) error
}

func probes() part        { return part{"the API server's own checks", readProbes} }
func nodes() part         { return part{"the Nodes", readNodes} }
func staticPods() part    { return part{"the control plane's static pods", readStaticPods} }
func dnsObjects() part    { return part{"the DNS service", readDNS} }
func budgets() part       { return part{"the PodDisruptionBudgets", readBudgets} }
func requestedAPIs() part { return part{"the API server's metrics", readDeprecated} }
func availableVersions() part {
	return part{"the available versions", readVersions}
}

// observe reads the parts. The observation says what could not be read; if a cluster does not
// answer at all, it says only that.
func (t Tasks) observe(ctx context.Context, cluster client.ObjectKey, parts ...part) observation {
	ctx, cancel := context.WithTimeout(ctx, observeTimeout)
	defer cancel()
	from, err := t.reach(ctx, cluster)
	if err != nil {
		return observation{unreadable: []string{"the workload cluster cannot be reached: " + hooks.Message(err)}}
	}
	seen := observation{}
	for _, part := range parts {
		if err := part.read(ctx, from, &seen); err != nil {
			seen.unreadable = append(seen.unreadable, fmt.Sprintf("%s cannot be read: %s", part.name, hooks.Message(err)))
		}
	}
	return seen
}

// reach connects to a workload cluster, and returns an error if nothing answers there.
func (t Tasks) reach(ctx context.Context, cluster client.ObjectKey) (source, error) {
	config, err := t.Config(ctx, cluster)
	if err != nil {
		return source{}, err
	}
	server, err := newServer(config)
	if err != nil {
		return source{}, err
	}
	if err := server.answers(ctx); err != nil {
		return source{}, err
	}
	objects, err := t.Workload(ctx, cluster)
	if err != nil {
		return source{}, err
	}
	return source{Tasks: t, cluster: cluster, objects: objects, server: server}, nil
}

func readNodes(ctx context.Context, from source, into *observation) error {
	list := &corev1.NodeList{}
	if err := from.objects.List(ctx, list); err != nil {
		return err
	}
	for i := range list.Items {
		item := &list.Items[i]
		_, controlPlane := item.Labels[controlPlaneLabel]
		into.nodes = append(into.nodes, node{
			name: item.Name, kubelet: item.Status.NodeInfo.KubeletVersion, controlPlane: controlPlane, ready: util.IsNodeReady(item),
		})
	}
	return nil
}

func readStaticPods(ctx context.Context, from source, into *observation) error {
	list := &corev1.PodList{}
	err := from.objects.List(ctx, list, client.InNamespace(metav1.NamespaceSystem), client.MatchingLabels{"tier": "control-plane"})
	if err != nil {
		return err
	}
	into.static = map[string]bool{}
	for i := range list.Items {
		pod := &list.Items[i]
		into.static[pod.Name] = pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp.IsZero() && ready(pod.Status.Conditions)
	}
	return nil
}

func readDNS(ctx context.Context, from source, into *observation) error {
	deployment := &appsv1.Deployment{}
	err := from.objects.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "coredns"}, deployment)
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	seen := dns{deployment: err == nil, available: int(deployment.Status.AvailableReplicas)}
	service := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "kube-dns"}
	err = from.objects.Get(ctx, service, &corev1.Service{})
	if client.IgnoreNotFound(err) != nil {
		return err
	}
	seen.service = err == nil
	slices := &discoveryv1.EndpointSliceList{}
	err = from.objects.List(ctx, slices, client.InNamespace(service.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: service.Name})
	if err != nil {
		return err
	}
	for i := range slices.Items {
		seen.endpoints += readyEndpoints(&slices.Items[i])
	}
	into.dns = seen
	return nil
}

// readyEndpoints counts the endpoints that are ready or do not report readiness.
func readyEndpoints(slice *discoveryv1.EndpointSlice) int {
	count := 0
	for _, endpoint := range slice.Endpoints {
		if endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready {
			count++
		}
	}
	return count
}

func readBudgets(ctx context.Context, from source, into *observation) error {
	list := &policyv1.PodDisruptionBudgetList{}
	if err := from.objects.List(ctx, list); err != nil {
		return err
	}
	for i := range list.Items {
		item := &list.Items[i]
		if !full(item) || item.Spec.Selector == nil {
			continue
		}
		if len(into.budgets) == mostBudgets {
			return fmt.Errorf("more than %d allow no disruption", mostBudgets)
		}
		selector, err := metav1.LabelSelectorAsSelector(item.Spec.Selector)
		if err != nil {
			return fmt.Errorf("the selector of %s/%s: %w", item.Namespace, item.Name, err)
		}
		pods := &corev1.PodList{}
		err = from.objects.List(ctx, pods, client.InNamespace(item.Namespace), client.MatchingLabelsSelector{Selector: selector}, client.Limit(mostPods))
		if err != nil {
			return err
		}
		into.budgets = append(into.budgets, budget{PodDisruptionBudget: *item, pods: pods.Items})
	}
	return nil
}

func readVersions(ctx context.Context, from source, into *observation) (err error) {
	if from.Versions == nil {
		return nil
	}
	into.versions, err = from.Versions(ctx, from.cluster)
	return err
}
