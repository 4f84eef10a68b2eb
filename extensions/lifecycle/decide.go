// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/message"
	"github.com/capfoo/cluster-api-provider-foo/extensions/settings"
	"github.com/capfoo/cluster-api-provider-foo/extensions/work"
)

const (
	// firstLook is how many seconds Cluster API waits before it asks again about a job that
	// nobody has looked at. Most jobs are quick.
	firstLook = 1
	// nextLook is how many seconds it waits before it asks again about a job that waits for
	// something.
	nextLook = 5
)

// Asker takes requests for jobs. work.Ledger implements it.
type Asker interface {
	// Ask returns the progress of a job, and has the job done if it is new.
	Ask(ctx context.Context, job work.Job) (work.Answer, error)
}

// Options configures the hooks.
type Options struct {
	// Jobs takes the requests for jobs.
	Jobs Asker
	// Tasks holds the task for the jobs of each hook, by the name of the hook. A hook without a
	// task does nothing.
	Tasks map[string]work.Task
	// Settings are all settings that any hook reads. Others are refused.
	Settings []settings.Doc
}

// desk decides what hooks answer.
type desk struct {
	Options
}

// decision is the answer of a hook.
type decision struct {
	failure    bool
	message    string
	retryAfter int32
}

// into writes the decision into a response.
func (d decision) into(response runtimehooksv1.ResponseObject) {
	response.SetStatus(runtimehooksv1.ResponseStatusSuccess)
	if d.failure {
		response.SetStatus(runtimehooksv1.ResponseStatusFailure)
	}
	response.SetMessage(d.message)
	if retry, ok := response.(runtimehooksv1.RetryResponseObject); ok && !d.failure {
		retry.SetRetryAfterSeconds(d.retryAfter)
	}
}

// decide returns the answer to a call of a hook for a Cluster.
func (d desk) decide(ctx context.Context, cluster *clusterv1.Cluster, job work.Job) decision {
	if problem := unusable(cluster); problem != "" {
		return decision{failure: true, message: problem}
	}
	job.Cluster, job.UID = client.ObjectKeyFromObject(cluster), cluster.UID
	if message, ok := work.Skips(cluster, job.Hook); ok {
		return decision{message: message}
	}
	wanted, err := d.wanted(job)
	if err != nil {
		return decision{failure: true, message: err.Error()}
	}
	if !wanted {
		return decision{}
	}
	answer, err := d.Jobs.Ask(ctx, job)
	if err != nil {
		return unasked(ctx, job, err)
	}
	return answered(answer, unknown(cluster))
}

func (d desk) wanted(job work.Job) (bool, error) {
	if err := settings.CheckNames(job.Settings, d.Settings); err != nil {
		return false, err
	}
	task, ok := d.Tasks[job.Hook]
	if !ok {
		return false, nil
	}
	return task.Wanted(job.Settings)
}

// unusable returns what is missing in a request's Cluster. Without it, jobs cannot be told apart.
func unusable(cluster *clusterv1.Cluster) string {
	for _, field := range []struct{ name, value string }{
		{"metadata.name", cluster.Name}, {"metadata.namespace", cluster.Namespace}, {"metadata.uid", string(cluster.UID)},
	} {
		if field.value == "" {
			return fmt.Sprintf("the request's cluster has no %s", field.name)
		}
	}
	return ""
}

// unknown returns the names in the Cluster's skip annotation that are not names of hooks.
func unknown(cluster *clusterv1.Cluster) []string {
	var names []string
	for _, name := range work.SkippedHooks(cluster) {
		if !slices.Contains(Names(), name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// answered turns the progress of a job into a decision.
func answered(answer work.Answer, unknown []string) decision {
	if answer.State == work.Done {
		return decision{message: answer.Message}
	}
	result := decision{message: answer.Message, retryAfter: nextLook}
	if answer.Message == "" {
		result.message = "the job of this hook has not started yet"
		result.retryAfter = firstLook
	}
	if len(unknown) > 0 {
		result.message += fmt.Sprintf(" (the annotation %s names %s, want only %s)", work.SkipAnnotation, strings.Join(unknown, ", "), strings.Join(Names(), ", "))
	}
	return result
}

// unasked is the answer if the job could not be requested. In a terminating namespace no job can be
// recorded, but the Cluster must still be deletable.
func unasked(ctx context.Context, job work.Job, err error) decision {
	ctrl.LoggerFrom(ctx).Error(err, "Failed to request the job of a hook", "Cluster", klog.KRef(job.Cluster.Namespace, job.Cluster.Name), "hook", job.Hook)
	if job.Hook == BeforeClusterDelete && apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return decision{message: "nothing is done before the deletion: the namespace is being deleted"}
	}
	return decision{failure: true, message: fmt.Sprintf("the job of the hook %s: %s", job.Hook, message.Of(err))}
}
