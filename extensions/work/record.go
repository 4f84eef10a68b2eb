// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// HookLabel marks the ConfigMaps that hold jobs. Its value is the name of the hook.
const HookLabel = "foo.cluster.x-k8s.io/hook"

// Keys of a job's ConfigMap.
const (
	clusterUIDKey = "clusterUID"
	fromKey       = "fromVersion"
	toKey         = "toVersion"
	planKey       = "plan"
	// configKey holds the name of an ExtensionConfig instead of settings: permission to write a
	// job must not include permission to choose how it is done.
	configKey = "extensionConfig"
	// StateKey holds the state of the job.
	StateKey = "state"
	// MessageKey holds Outcome.Message.
	MessageKey = "message"
	// ReportKey holds Outcome.Report.
	ReportKey = "report"
)

// State is the progress of a job, as recorded in its ConfigMap.
type State string

const (
	// Pending is a job that nobody has looked at yet.
	Pending State = "Pending"
	// Waiting is a job that was looked at and waits for what its message describes.
	Waiting State = "Waiting"
	// Done is a job with nothing left to do.
	Done State = "Done"
)

// key returns the name and namespace of the job's ConfigMap.
func (j Job) key() types.NamespacedName {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(j.UID), j.Hook, j.From, j.To}, "\n")))
	return types.NamespacedName{
		Namespace: j.Cluster.Namespace,
		Name:      fmt.Sprintf("%s-%s-%s", j.Cluster.Name, strings.ToLower(j.Hook), hex.EncodeToString(sum[:5])),
	}
}

// record returns the ConfigMap of a new job.
func record(job Job) *corev1.ConfigMap {
	key := job.key()
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: key.Name, Namespace: key.Namespace,
			Labels: map[string]string{HookLabel: job.Hook, clusterv1.ClusterNameLabel: job.Cluster.Name},
			// Not a controller reference: a change of a job need not trigger a
			// reconcile of the Cluster.
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: clusterv1.GroupVersion.String(), Kind: clusterv1.ClusterKind, Name: job.Cluster.Name, UID: job.UID,
			}},
		},
		Data: map[string]string{
			clusterUIDKey: string(job.UID), fromKey: job.From, toKey: job.To, planKey: strings.Join(job.Plan, ","),
			configKey: job.config, StateKey: string(Pending),
		},
	}
}

// read returns the job that a ConfigMap holds, without its settings.
func read(record *corev1.ConfigMap) (Job, error) {
	job := Job{
		Cluster: types.NamespacedName{Namespace: record.Namespace, Name: record.Labels[clusterv1.ClusterNameLabel]},
		UID:     types.UID(record.Data[clusterUIDKey]),
		Hook:    record.Labels[HookLabel],
		From:    record.Data[fromKey],
		To:      record.Data[toKey],
		Since:   record.CreationTimestamp.Time,
		config:  record.Data[configKey],
	}
	for _, owner := range record.OwnerReferences {
		if owner.Kind == clusterv1.ClusterKind && owner.Name == job.Cluster.Name {
			job.owner = owner.UID
		}
	}
	if plan := record.Data[planKey]; plan != "" {
		job.Plan = strings.Split(plan, ",")
	}
	if job.key().Name != record.Name {
		return Job{}, fmt.Errorf("ConfigMap %s: its labels and data belong to the job %s", record.Name, job.key().Name)
	}
	return job, nil
}
