// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workloadjob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

const (
	// hookLabel marks Jobs that were created here. Its value is the name of the hook.
	hookLabel = "foo.cluster.x-k8s.io/hook"
	// life is how long a Job stays after it has ended, unless it asks for more. Nobody may be left to
	// delete it, for example because its hook is skipped.
	life = time.Hour
	// mostPods is how many Pods of a Job are read.
	mostPods = 100
)

// State is the progress of a Job.
type State string

const (
	// Open is a Job that is running or could not be created yet.
	Open State = "Open"
	// Complete is a Job that succeeded.
	Complete State = "Complete"
	// Failed is a Job that failed.
	Failed State = "Failed"
)

// Result is what is known of a Job.
type Result struct {
	State State
	// Text describes the state for users. The same state gives the same text.
	Text string
	// Conditions of the Job, one text for each, sorted.
	Conditions []string
	// Job was found or created. It is nil if there is none.
	Job *batchv1.Job
	// Ended is when the Job ended. It is zero for an open Job.
	Ended time.Time
	// Said is what the Pod that ended last wrote to its termination message.
	Said string
}

func unfinished(format string, arguments ...any) Result {
	return Result{State: Open, Text: fmt.Sprintf(format, arguments...)}
}

// Identify names a Job after the work that it is for, so that it is created only once. The Job stays
// for at least an hour after it has ended, so that its result is found.
func Identify(made *batchv1.Job, purpose string, job hooks.Job) {
	identity := []string{string(job.Cluster.UID), job.Config, job.Hook, job.From, job.To, fmt.Sprint(job.Attempt)}
	sum := sha256.Sum256([]byte(strings.Join(identity, "\n")))
	labels := made.Labels
	if labels == nil {
		labels = map[string]string{}
	}
	labels[hookLabel] = job.Hook
	made.ObjectMeta = metav1.ObjectMeta{
		Namespace: made.Namespace, Name: "foo-" + purpose + "-" + hex.EncodeToString(sum[:5]), Labels: labels, Annotations: made.Annotations,
	}
	if made.Namespace == "" {
		made.Namespace = metav1.NamespaceDefault
	}
	made.Spec.TTLSecondsAfterFinished = ptr.To(max(ptr.Deref(made.Spec.TTLSecondsAfterFinished, 0), int32(life.Seconds())))
	made.Status = batchv1.JobStatus{}
}

// Run creates a Job that Identify has named, unless it exists, and returns its state. What cannot be
// done now is part of the result, because it may be possible later.
func Run(ctx context.Context, workload client.Client, wanted *batchv1.Job) Result {
	found := &batchv1.Job{}
	err := workload.Get(ctx, client.ObjectKeyFromObject(wanted), found)
	if apierrors.IsNotFound(err) {
		found = wanted
		err = workload.Create(ctx, found, hooks.FieldOwner)
	}
	if err != nil {
		return unfinished("Job %s/%s cannot be created: %s", wanted.Namespace, wanted.Name, hooks.Message(err))
	}
	result := resultOf(found)
	pods := &corev1.PodList{}
	err = workload.List(ctx, pods, client.InNamespace(found.Namespace), client.MatchingLabels{batchv1.ControllerUidLabel: string(found.UID)}, client.Limit(mostPods))
	if err != nil {
		return unfinished("the Pods of Job %s/%s cannot be read: %s", found.Namespace, found.Name, hooks.Message(err))
	}
	result.Said = said(pods.Items)
	if why := waitsFor(pods.Items); why != "" && result.State == Open {
		result.Text += ": its Pod waits (" + why + ")"
	}
	return result
}

// Delete deletes the Job with its Pods.
func (r Result) Delete(ctx context.Context, workload client.Client) error {
	if r.Job == nil {
		return nil
	}
	err := workload.Delete(ctx, r.Job, client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &r.Job.UID})
	return client.IgnoreNotFound(err)
}

// resultOf returns the state of a Job.
func resultOf(job *batchv1.Job) Result {
	result := unfinished("Job %s/%s has not finished", job.Namespace, job.Name)
	result.Job = job
	for _, condition := range job.Status.Conditions {
		text := fmt.Sprintf("%s=%s", condition.Type, condition.Status)
		if condition.Reason != "" {
			text += " " + condition.Reason
		}
		if condition.Message != "" {
			text += ": " + condition.Message
		}
		result.Conditions = append(result.Conditions, text)
		if condition.Status != corev1.ConditionTrue {
			continue
		}
		switch condition.Type {
		case batchv1.JobComplete:
			result.State, result.Ended = Complete, condition.LastTransitionTime.Time
			result.Text = fmt.Sprintf("Job %s/%s is complete", job.Namespace, job.Name)
		case batchv1.JobFailed:
			result.State, result.Ended = Failed, condition.LastTransitionTime.Time
			result.Text = fmt.Sprintf("Job %s/%s failed (%s)", job.Namespace, job.Name, condition.Reason)
		default:
		}
	}
	slices.Sort(result.Conditions)
	return result
}

// said returns the termination message of the container that ended last.
func said(pods []corev1.Pod) string {
	var text string
	var last time.Time
	for i := range pods {
		for _, container := range pods[i].Status.ContainerStatuses {
			if ended := container.State.Terminated; ended != nil && !ended.FinishedAt.Time.Before(last) {
				text, last = ended.Message, ended.FinishedAt.Time
			}
		}
	}
	return text
}

// waitsFor returns why the containers of a Pod do not run, for example ImagePullBackOff or
// Unschedulable. It is empty if they do, or if nobody says.
func waitsFor(pods []corev1.Pod) string {
	var reasons []string
	for i := range pods {
		status := &pods[i].Status
		for _, condition := range status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
				reasons = append(reasons, condition.Reason)
			}
		}
		for _, container := range status.ContainerStatuses {
			if container.State.Waiting != nil {
				reasons = append(reasons, container.State.Waiting.Reason)
			}
		}
	}
	if len(reasons) == 0 {
		return ""
	}
	return slices.Min(reasons)
}
