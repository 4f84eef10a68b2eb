//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// witness looks at the machines of a cluster of Pods again and again while something goes wrong.
type witness struct {
	*cluster
	// quorum is how many control plane Machines must stay at any time.
	quorum int

	mu sync.Mutex
	// pods has the Pods that each instance has been, by name.
	pods map[string]sets.Set[types.UID]
	// known has the provider IDs of all FooMachines that there have been.
	known    sets.Set[string]
	problems sets.Set[string]
}

// witness begins to look. The returned function ends that, and expects that no machine was created
// twice or reported as gone before its Pod was, and that the control plane kept its quorum.
func (c *cluster) witness(ctx context.Context, quorum int) (end func()) {
	GinkgoHelper()
	w := &witness{cluster: c, quorum: quorum, pods: map[string]sets.Set[types.UID]{}, known: sets.New[string](), problems: sets.New[string]()}
	stop := repeat(ctx, interval, w.look)
	return func() {
		GinkgoHelper()
		looks := stop()
		Expect(len(looks)-failures(looks)).To(BeNumerically(">", 0), "nothing was seen")
		Expect(sets.List(w.problems)).To(BeEmpty())
	}
}

// look reads FooMachines before Pods: what is gone then must have lost its Pod before.
func (w *witness) look(ctx context.Context) error {
	var fooMachines infrav1.FooMachineList
	if err := w.List(ctx, &fooMachines, client.InNamespace(w.key.Namespace)); err != nil {
		return err
	}
	var machines clusterv1.MachineList
	if err := w.List(ctx, &machines, client.InNamespace(w.key.Namespace), client.HasLabels{clusterv1.MachineControlPlaneLabel}); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.countMachines(machines.Items)
	var pods corev1.PodList
	if err := w.outer.workload.List(ctx, &pods, client.InNamespace(machinesNamespace), client.MatchingLabels{instanceLabel: "instance"}); err != nil {
		return err
	}
	return w.compare(fooMachines.Items, pods.Items)
}

func (w *witness) countMachines(machines []clusterv1.Machine) {
	stay := 0
	for _, machine := range machines {
		if machine.DeletionTimestamp.IsZero() && machine.Status.NodeRef.IsDefined() {
			stay++
		}
	}
	if stay < w.quorum {
		w.problems.Insert(fmt.Sprintf("only %d control plane Machines stay", stay))
	}
}

func (w *witness) compare(fooMachines []infrav1.FooMachine, pods []corev1.Pod) error {
	now := sets.New[string]()
	for _, fooMachine := range fooMachines {
		if fooMachine.Spec.ProviderID != "" {
			now.Insert(fooMachine.Spec.ProviderID)
		}
	}
	for _, pod := range pods {
		var one instance
		if err := json.Unmarshal([]byte(pod.Annotations[instanceAnnotation]), &one); err != nil {
			return err
		}
		if !strings.HasPrefix(one.Name, w.key.Namespace+".") {
			continue
		}
		if w.pods[one.Name] == nil {
			w.pods[one.Name] = sets.New[types.UID]()
		}
		if w.pods[one.Name].Insert(pod.UID).Len() > 1 {
			w.problems.Insert("instance " + one.Name + " was created twice")
		}
		if w.known.Has(one.ProviderID) && !now.Has(one.ProviderID) {
			w.problems.Insert("instance " + one.Name + " still has its Pod, but no FooMachine any more")
		}
	}
	w.known = w.known.Union(now)
	return nil
}
