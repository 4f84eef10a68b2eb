// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workloadjob

import (
	"context"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// Key is the key of a ConfigMap that holds a Job.
const Key = "job.yaml"

const (
	// lookTimeout bounds one look at a Job, so that an unresponsive cluster does not hold up the
	// others.
	lookTimeout = 20 * time.Second
	// defaultLife is how long a supplied Job stays after it has ended, if it does not specify that
	// itself.
	defaultLife = time.Hour
)

// Supplied is a Job that users supply in a ConfigMap of the management cluster.
type Supplied struct {
	// Client reads ConfigMaps of the management cluster.
	Client client.Reader
	// Workload connects to workload clusters. Its clients must know core and batch.
	Workload hooks.Workload
	// Purpose is a part of the Job's name.
	Purpose string
	// Setting is the setting that names the ConfigMap.
	Setting string
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
	Identify(wanted, s.Purpose, job)
	workload, err := s.Workload(ctx, job.Key())
	if err != nil {
		return unfinished("the workload cluster cannot be reached: %s", hooks.Message(err))
	}
	return Run(ctx, workload, wanted)
}

// End releases a Job whose result is no longer needed. A Job that has ended is deleted after its
// ttlSecondsAfterFinished, by default an hour; another one immediately.
func (s Supplied) End(ctx context.Context, job hooks.Job, configMap string, result Result) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	workload, err := s.Workload(ctx, job.Key())
	if err != nil {
		return fmt.Errorf("the workload cluster cannot be reached: %w", err)
	}
	if result.State == Open {
		return result.Delete(ctx, workload)
	}
	life := defaultLife
	if supplied, err := s.read(ctx, job, configMap); err == nil && supplied.Spec.TTLSecondsAfterFinished != nil {
		life = time.Duration(*supplied.Spec.TTLSecondsAfterFinished) * time.Second
	}
	return result.Expire(ctx, workload, life)
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
