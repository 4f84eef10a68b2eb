// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/workloadjob"
	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
)

const (
	// patience is how long a Job that failed stays before another one is made. People must fix what
	// a snapshot waits for, a bucket or a cluster.
	patience = 30 * time.Second
	// lookAgain is when to look again at a Job that is running.
	lookAgain = 5 * time.Second
	// lookTimeout bounds one look, so that an unresponsive cluster does not hold up the others.
	lookTimeout = 20 * time.Second
)

// Tasks are the tasks that take etcd snapshots.
type Tasks struct {
	hooks.Clusters

	// Image has the program etcd-snapshot.
	Image string
}

// result is the result of a look.
type result struct {
	// stored is the outcome if there is a snapshot now.
	stored hooks.Outcome
	// problem is why there is no snapshot yet. It is empty if there is one.
	problem string
	// unreachable means that there never will be one: the Job cannot reach etcd.
	unreachable bool
	// external means that the control plane does not run etcd.
	external bool
	// started is when the Job was created that is running. It is zero if none is.
	started time.Time
}

// take looks at the Job that takes a snapshot, and creates it if there is none.
func (t Tasks) take(ctx context.Context, job hooks.Job, name snapshotjob.Name) result {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if t.Image == "" {
		return result{problem: "the runtime extension has no image for the snapshot Job: start the extension with --etcd-snapshot-image"}
	}
	workload, err := t.Workload(ctx, job.Key())
	if err != nil {
		return result{problem: "the workload cluster cannot be reached: " + hooks.Message(err)}
	}
	found, err := findEtcd(ctx, workload)
	if err != nil {
		return result{problem: "the workload cluster cannot be queried: " + hooks.Message(err)}
	}
	if found.problem != "" {
		return found
	}
	credentials, err := t.credentials(ctx, job)
	if err != nil {
		return result{problem: err.Error()}
	}
	wanted, err := newJob(t.Image, job, name, credentials)
	if err != nil {
		return result{problem: hooks.Message(err)}
	}
	came, err := follow(ctx, workload, wanted, credentials, job.Now)
	if err != nil {
		return result{problem: "the workload cluster cannot be changed: " + hooks.Message(err)}
	}
	return came
}

// findEtcd returns why a Job cannot reach etcd. The result is empty if it can.
func findEtcd(ctx context.Context, workload client.Client) (result, error) {
	uploaded := &corev1.ConfigMap{}
	err := workload.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: "kubeadm-config"}, uploaded)
	if apierrors.IsNotFound(err) {
		return result{problem: "kubeadm has not created the control plane, so nothing is known about its etcd", unreachable: true}, nil
	}
	if err != nil {
		return result{}, err
	}
	var configuration struct {
		Etcd struct {
			External map[string]any `json:"external"`
		} `json:"etcd"`
	}
	if err := yaml.Unmarshal([]byte(uploaded.Data["ClusterConfiguration"]), &configuration); err != nil {
		return result{}, fmt.Errorf("the ClusterConfiguration of kubeadm: %w", err)
	}
	if configuration.Etcd.External != nil {
		return result{problem: "the control plane does not run etcd", unreachable: true, external: true}, nil
	}
	return result{}, nil
}

// Secrets hold the credentials of buckets.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get

// credentials returns the content of the Secret with the credentials for the bucket, or nil if no
// setting names one.
func (t Tasks) credentials(ctx context.Context, job hooks.Job) (map[string][]byte, error) {
	name := job.Settings.SnapshotCredentials
	if name == "" {
		return nil, nil
	}
	secret := &corev1.Secret{}
	if err := t.Client.Get(ctx, client.ObjectKey{Namespace: job.Cluster.Namespace, Name: name}, secret); err != nil {
		return nil, fmt.Errorf("the Secret %s, which the setting snapshotCredentials names, cannot be read: %s", name, hooks.Message(err))
	}
	if secret.Data == nil {
		return map[string][]byte{}, nil
	}
	return secret.Data, nil
}

// follow brings the Job forward, and returns what is known of it.
func follow(ctx context.Context, workload client.Client, wanted *batchv1.Job, credentials map[string][]byte, now time.Time) (result, error) {
	found := workloadjob.Run(ctx, workload, wanted.DeepCopy())
	switch {
	case found.Job == nil:
		return result{problem: found.Text}, nil
	case found.State == workloadjob.Complete:
		// Also with other settings than now: the snapshot before a deletion must be from before the
		// clean-up.
		return result{stored: outcomeOf(found)}, deleteCredentials(ctx, workload, wanted)
	case found.Job.Annotations[specAnnotation] != wanted.Annotations[specAnnotation]:
		return replace(ctx, workload, wanted, found, now)
	case found.State == workloadjob.Failed && now.Sub(found.Ended).Abs() < patience:
		// An end far in the future is by a clock that is ahead, and does not count.
		return result{problem: problemOf(found)}, deleteCredentials(ctx, workload, wanted)
	case found.State == workloadjob.Failed:
		wanted.Annotations[problemAnnotation] = problemOf(found)
		return replace(ctx, workload, wanted, found, now)
	}
	running := result{problem: found.Text, started: found.Job.CreationTimestamp.Time}
	if last := found.Job.Annotations[problemAnnotation]; last != "" {
		running.problem = last
	}
	return running, createCredentials(ctx, workload, found.Job, credentials)
}

// replace replaces a Job.
func replace(ctx context.Context, workload client.Client, wanted *batchv1.Job, found workloadjob.Result, now time.Time) (result, error) {
	if err := deleteCredentials(ctx, workload, wanted); err != nil {
		return result{}, err
	}
	if err := found.Delete(ctx, workload); err != nil {
		return result{}, err
	}
	made := workloadjob.Run(ctx, workload, wanted)
	problem := made.Text
	if last := wanted.Annotations[problemAnnotation]; last != "" {
		problem = last
	}
	return result{problem: problem, started: now}, nil
}

// createCredentials copies the credentials into the workload cluster. The copy is deleted with the
// Job at the latest.
func createCredentials(ctx context.Context, workload client.Client, owner *batchv1.Job, credentials map[string][]byte) error {
	if credentials == nil {
		return nil
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: owner.Namespace, Name: owner.Name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Data: credentials,
	}
	if err := workload.Create(ctx, secret, hooks.FieldOwner); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

func deleteCredentials(ctx context.Context, workload client.Client, owner *batchv1.Job) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: owner.Namespace, Name: owner.Name}}
	return client.IgnoreNotFound(workload.Delete(ctx, secret))
}

// problemOf returns why a Job failed. What its program says is more useful than what Kubernetes says.
func problemOf(failed workloadjob.Result) string {
	if answer, ok := snapshotjob.DecodeAnswer(failed.Said); ok && answer.Problem != "" {
		return answer.Problem
	}
	return failed.Text
}

// outcomeOf returns where a Job has stored a snapshot, and what it contains, for restoring it.
func outcomeOf(complete workloadjob.Result) hooks.Outcome {
	outcome := hooks.Outcome{Done: true, Message: "an etcd snapshot is stored", SnapshotTime: complete.Ended}
	if request, err := snapshotjob.ParseRequest(complete.Job.Spec.Template.Spec.Containers[0].Args); err == nil {
		location := snapshotjob.Location(request.URL) + " as " + request.Name.Database()
		outcome.Message += " in " + location
		outcome.Report = "etcd snapshot: " + location
	}
	answer, ok := snapshotjob.DecodeAnswer(complete.Said)
	if !ok || answer.Snapshot == nil {
		// The Pod is gone, perhaps with its machine.
		return outcome
	}
	taken := answer.Snapshot
	if taken.Taken.Before(complete.Ended) {
		outcome.SnapshotTime = taken.Taken
	}
	outcome.Message += fmt.Sprintf(": revision %d, members %d", taken.Revision, len(taken.Members))
	if answer.Problem != "" {
		outcome.Message += "; " + answer.Problem
	}
	outcome.Report = strings.Join([]string{
		outcome.Report,
		"taken: " + taken.Taken.UTC().Format(time.RFC3339),
		fmt.Sprintf("size: %d bytes", taken.Size),
		"sha256: " + taken.SHA256,
		fmt.Sprintf("hash: %s, revision: %d, keys: %d", taken.Hash, taken.Revision, taken.Keys),
		"members: " + strings.Join(taken.Members, ", "),
		"etcd version: " + taken.EtcdVersion,
	}, "\n")
	return outcome
}
