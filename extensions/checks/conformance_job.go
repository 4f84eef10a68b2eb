// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// JobKey is the key of a ConfigMap that holds the conformance Job.
const JobKey = "job.yaml"

const (
	// madeForLabel marks Jobs that were created here. Its value is the name of the hook.
	madeForLabel = "foo.cluster.x-k8s.io/hook"
	// fieldOwner is the field manager for writes to workload clusters.
	fieldOwner = client.FieldOwner("foo-runtime-extension")
	// defaultLife is how many seconds a Job stays after it has ended, if it does not specify
	// that itself.
	defaultLife = 3600
)

// jobState is the progress of a conformance Job.
type jobState string

const (
	// jobOpen is a Job that is running or could not be created yet.
	jobOpen jobState = "Open"
	// jobComplete is a Job that succeeded.
	jobComplete jobState = "Complete"
	// jobFailed is a Job that failed.
	jobFailed jobState = "Failed"
)

// jobResult is what is known of a conformance Job.
type jobResult struct {
	state jobState
	// text describes the state.
	text string
	// conditions of the Job.
	conditions []string
	// made is the Job that was found or created, or nil if there is none.
	made *batchv1.Job
	// lives is how many seconds the Job stays after it has ended.
	lives int32
}

func open(format string, arguments ...any) *jobResult {
	return &jobResult{state: jobOpen, text: fmt.Sprintf(format, arguments...)}
}

// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get

// runJob creates the Job in the workload cluster unless it exists, and returns its state. What
// cannot be done now is part of the result, because it may be possible later.
func (o Options) runJob(ctx context.Context, job hooks.Job, configMap string) *jobResult {
	ctx, cancel := context.WithTimeout(ctx, observeTimeout)
	defer cancel()
	source := &corev1.ConfigMap{}
	if err := o.Client.Get(ctx, client.ObjectKey{Namespace: job.Cluster.Namespace, Name: configMap}, source); err != nil {
		return open("ConfigMap %s, which the setting conformanceJob names, cannot be read: %s", configMap, hooks.Message(err))
	}
	wanted, err := parseJob(source)
	if err != nil {
		return open("%s", err)
	}
	lives := ptr.Deref(wanted.Spec.TTLSecondsAfterFinished, defaultLife)
	identify(wanted, job)
	objects, err := o.Workload(ctx, job.Key())
	if err != nil {
		return open("the workload cluster cannot be reached: %s", hooks.Message(err))
	}
	found := &batchv1.Job{}
	err = objects.Get(ctx, client.ObjectKeyFromObject(wanted), found)
	if apierrors.IsNotFound(err) {
		found = wanted
		err = objects.Create(ctx, found, fieldOwner)
	}
	if err != nil {
		return open("Job %s/%s cannot be created: %s", wanted.Namespace, wanted.Name, hooks.Message(err))
	}
	result := judge(found)
	result.made, result.lives = found, lives
	return result
}

// endJob releases a Job whose result was read. If the Job has ended, it is deleted after its time
// to live; otherwise it is deleted immediately with its Pods.
func (o Options) endJob(ctx context.Context, cluster client.ObjectKey, result *jobResult) error {
	if result == nil || result.made == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, observeTimeout)
	defer cancel()
	objects, err := o.Workload(ctx, cluster)
	if err != nil {
		return fmt.Errorf("the workload cluster cannot be reached: %w", err)
	}
	made := result.made
	if result.state == jobOpen {
		err = objects.Delete(ctx, made, client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &made.UID})
		return client.IgnoreNotFound(err)
	}
	before := client.MergeFrom(made.DeepCopy())
	made.Spec.TTLSecondsAfterFinished = &result.lives
	return client.IgnoreNotFound(objects.Patch(ctx, made, before, fieldOwner))
}

// parseJob returns the Job in a ConfigMap.
func parseJob(source *corev1.ConfigMap) (*batchv1.Job, error) {
	text, ok := source.Data[JobKey]
	if !ok {
		return nil, fmt.Errorf("ConfigMap %s has no data[%q]", source.Name, JobKey)
	}
	job := &batchv1.Job{}
	err := yaml.UnmarshalStrict([]byte(text), job)
	if err != nil || job.APIVersion != batchv1.SchemeGroupVersion.String() || job.Kind != "Job" {
		// The parser's message is left out, because it may quote the content of the Job.
		return nil, fmt.Errorf("data[%q] of ConfigMap %s is not a batch/v1 Job with only known fields", JobKey, source.Name)
	}
	return job, nil
}

// identify names a Job after the hook's job, so that it is created only once, and keeps the Job
// until endJob releases it.
func identify(made *batchv1.Job, job hooks.Job) {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(job.Cluster.UID), job.Hook, job.From, job.To}, "\n")))
	labels := made.Labels
	if labels == nil {
		labels = map[string]string{}
	}
	labels[madeForLabel] = job.Hook
	made.ObjectMeta = metav1.ObjectMeta{
		Namespace: made.Namespace, Name: "foo-conformance-" + hex.EncodeToString(sum[:5]), Labels: labels, Annotations: made.Annotations,
	}
	if made.Namespace == "" {
		made.Namespace = metav1.NamespaceDefault
	}
	made.Spec.TTLSecondsAfterFinished = nil
	made.Status = batchv1.JobStatus{}
}

// judge returns the state of a Job.
func judge(job *batchv1.Job) *jobResult {
	result := open("Job %s/%s has not finished", job.Namespace, job.Name)
	for _, condition := range job.Status.Conditions {
		text := fmt.Sprintf("%s=%s", condition.Type, condition.Status)
		if condition.Reason != "" {
			text += " " + condition.Reason
		}
		if condition.Message != "" {
			text += ": " + condition.Message
		}
		result.conditions = append(result.conditions, text)
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobComplete:
			result.state = jobComplete
			result.text = fmt.Sprintf("Job %s/%s is complete", job.Namespace, job.Name)
		case batchv1.JobFailed:
			result.state = jobFailed
			result.text = fmt.Sprintf("Job %s/%s failed (%s)", job.Namespace, job.Name, condition.Reason)
		default:
		}
	}
	slices.Sort(result.conditions)
	return result
}
