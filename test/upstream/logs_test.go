//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"os"
	"path/filepath"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/test/framework"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// consoles collects the console logs of instances, which contain the output of kubeadm. The framework
// asks for them at the end of each spec.
type consoles struct{ *fooCluster }

var _ framework.ClusterLogCollector = consoles{}

// CollectMachineLog writes the console log of a Machine. Foo names an instance after its FooMachine.
func (c consoles) CollectMachineLog(ctx context.Context, _ client.Client, machine *clusterv1.Machine, folder string) error {
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return err
	}
	log, err := c.foocloud(ctx, "instance", "logs", machine.Spec.InfrastructureRef.Name).Output()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "console.log"), log, 0o600)
}

// CollectMachinePoolLog has nothing to do: the machines of a pool are Machines.
func (c consoles) CollectMachinePoolLog(context.Context, client.Client, *clusterv1.MachinePool, string) error {
	return nil
}

// CollectInfrastructureLogs has nothing to do: a cluster has no other infrastructure with logs.
func (c consoles) CollectInfrastructureLogs(context.Context, client.Client, *clusterv1.Cluster, string) error {
	return nil
}
