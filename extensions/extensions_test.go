// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/capfoo/cluster-api-provider-foo/extensions/lifecycle"
	"github.com/capfoo/cluster-api-provider-foo/extensions/work"
)

func TestNothingIsDoneBeforeADeletionThatNobodyHasAskedFor(t *testing.T) {
	g := NewWithT(t)
	scheme := fake.NewClientBuilder().Build().Scheme()
	g.Expect(clusterv1.AddToScheme(scheme)).To(Succeed())
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "blue", UID: "uid"}}
	live := fake.NewClientBuilder().WithScheme(scheme).WithObjects(cluster).Build()
	// There is no way to reach a workload cluster here.
	task := tasks(Options{Live: live})[lifecycle.BeforeClusterDelete]
	g.Expect(task.Run(context.Background(), work.Job{
		Cluster: client.ObjectKeyFromObject(cluster), UID: cluster.UID, Hook: lifecycle.BeforeClusterDelete,
		Settings: map[string]string{"cleanUp": "Enabled", "finalSnapshot": "Enabled", "snapshotURL": "s3://bucket"},
	})).To(Equal(work.Outcome{Message: "nothing is done: the Cluster is not being deleted"}))
}
