// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workloadjob

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// Key is the key of a ConfigMap that holds a Job.
const Key = "job.yaml"

// lookTimeout bounds one look at a Job, so that an unresponsive cluster does not hold up the others.
const lookTimeout = 20 * time.Second

// Supplied is a Job that users supply in a ConfigMap of the management cluster.
type Supplied struct {
	hooks.Clusters

	// Purpose is a part of the Job's name.
	Purpose string
	// Setting is the setting that names the ConfigMap.
	Setting string
	// Stays is how long the Job stays at least after it has ended, if that is more than an hour.
	Stays time.Duration
}

// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get

// Run creates the Job of a ConfigMap in the Cluster's namespace in the workload cluster, unless it
// exists, and returns its state. What cannot be done now is part of the result.
func (s Supplied) Run(ctx context.Context, job hooks.Job, configMap string) Result {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	wanted, err := s.read(ctx, job, configMap)
	if err != nil {
		return unfinished("%s", err)
	}
	wanted.Spec.TTLSecondsAfterFinished = ptr.To(max(ptr.Deref(wanted.Spec.TTLSecondsAfterFinished, 0), int32(s.Stays.Seconds())))
	Identify(wanted, s.Purpose, job)
	workload, err := s.Workload(ctx, job.Key())
	if err != nil {
		return unfinished("the workload cluster cannot be reached: %s", hooks.Message(err))
	}
	return Run(ctx, workload, wanted)
}

// End deletes a Job that is still running, although its result is no longer needed.
func (s Supplied) End(ctx context.Context, job hooks.Job, result Result) error {
	if result.State != Open {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	workload, err := s.Workload(ctx, job.Key())
	if err != nil {
		return fmt.Errorf("the workload cluster cannot be reached: %w", err)
	}
	return result.Delete(ctx, workload)
}

// read returns the Job in a ConfigMap.
func (s Supplied) read(ctx context.Context, job hooks.Job, configMap string) (*batchv1.Job, error) {
	source := &corev1.ConfigMap{}
	if err := s.Client.Get(ctx, client.ObjectKey{Namespace: job.Cluster.Namespace, Name: configMap}, source); err != nil {
		return nil, fmt.Errorf("ConfigMap %s, which the setting %s names, cannot be read: %s", configMap, s.Setting, hooks.Message(err))
	}
	return parse(source)
}

// parse returns the Job in a ConfigMap.
func parse(source *corev1.ConfigMap) (*batchv1.Job, error) {
	text, ok := source.Data[Key]
	if !ok {
		return nil, fmt.Errorf("ConfigMap %s has no data[%q]", source.Name, Key)
	}
	job := &batchv1.Job{}
	err := yaml.UnmarshalStrict([]byte(text), job)
	if err != nil || job.APIVersion != batchv1.SchemeGroupVersion.String() || job.Kind != "Job" {
		// The parser's message is left out, because it may quote the content of the Job.
		return nil, fmt.Errorf("data[%q] of ConfigMap %s is not a batch/v1 Job with only known fields", Key, source.Name)
	}
	return job, nil
}
