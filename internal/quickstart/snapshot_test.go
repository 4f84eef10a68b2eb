// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/quickstart/progress"
)

// of makes an object belong to the cluster demo.
func of[T client.Object](object T, name string) T {
	object.SetNamespace("default")
	object.SetName(name)
	object.SetLabels(map[string]string{clusterv1.ClusterNameLabel: "demo"})
	return object
}

// The cause is said first.
func TestConditionsOfAClusterThatDoesNotComeUp(t *testing.T) {
	g := NewWithT(t)
	objects := []client.Object{
		demo(), of(&clusterv1.MachinePool{}, "pool"), of(&clusterv1.Machine{}, "machine"), of(&controlplanev1.FooControlPlane{}, "control-plane"),
		of(&infrav1.FooCluster{}, "infra"), of(&infrav1.FooMachinePool{}, "foo-pool"), of(&infrav1.FooMachine{}, "foo-machine"),
	}
	for _, object := range objects {
		object.(conditions.Setter).SetConditions([]metav1.Condition{
			{Type: "Cloud", Status: metav1.ConditionFalse, Reason: infrav1.CloudUnauthorizedReason, Message: "who are you"},
			{Type: "Provisioned", Status: metav1.ConditionFalse, Reason: "Soon"},
			{Type: clusterv1.ReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.CloudUnauthorizedReason},
			{Type: clusterv1.AvailableCondition, Status: metav1.ConditionTrue, Reason: "Fine"},
		})
	}
	f, _ := following(t, objects...)
	all, snapshot, err := f.look(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(snapshot.Failures).To(Equal([]string{
		"FooMachine foo-machine: Cloud is False (Unauthorized): who are you",
		"FooMachinePool foo-pool: Cloud is False (Unauthorized): who are you",
		"FooCluster infra: Cloud is False (Unauthorized): who are you",
		"FooControlPlane control-plane: Cloud is False (Unauthorized): who are you",
		"Machine machine: Cloud is False (Unauthorized): who are you",
		"MachinePool pool: Cloud is False (Unauthorized): who are you",
		"Cluster demo: Cloud is False (Unauthorized): who are you",
	}))
	g.Expect(all.unready()).To(Equal([]string{
		"FooMachine foo-machine: Ready is False (Unauthorized)",
		"FooMachinePool foo-pool: Ready is False (Unauthorized)",
		"FooCluster infra: Ready is False (Unauthorized)",
		"FooControlPlane control-plane: Ready is False (Unauthorized)",
		"Machine machine: Ready is False (Unauthorized)",
		"MachinePool pool: Ready is False (Unauthorized)",
		"Cluster demo: Ready is False (Unauthorized)",
	}))
}

func TestTheFirstMachineIsTheOldestOfTheControlPlane(t *testing.T) {
	g := NewWithT(t)
	var objects []client.Object
	for name, age := range map[string]time.Duration{"worker": time.Hour, "old": time.Minute, "new": 0} {
		machine, fooMachine := of(&clusterv1.Machine{}, name), of(&infrav1.FooMachine{}, name)
		if name != "worker" {
			machine.Labels[clusterv1.MachineControlPlaneLabel] = ""
		}
		machine.CreationTimestamp = metav1.NewTime(time.Now().Add(-age))
		machine.Spec.InfrastructureRef.Name = name
		machine.Status.Initialization.BootstrapDataSecretCreated = ptr.To(true)
		fooMachine.Status.InstanceState, fooMachine.Status.BootstrapState = infrav1.InstanceState(cloud.InstanceRunning), infrav1.BootstrapState(cloud.BootstrapSucceeded)
		fooMachine.Status.Addresses = clusterv1.MachineAddresses{{Type: clusterv1.MachineInternalIP, Address: "address of " + name}}
		objects = append(objects, machine, fooMachine)
	}
	f, _ := following(t, append(objects, demo())...)
	_, snapshot, err := f.look(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(snapshot.First).To(Equal(progress.Machine{Name: "old", Address: "address of old", BootstrapData: true, Running: true, Bootstrapped: true}))
}
