// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// HookLabel marks the ConfigMaps that hold jobs. Its value is the name of the hook.
const HookLabel = "foo.cluster.x-k8s.io/hook"

// FieldOwner is the field manager for records of jobs.
const FieldOwner = client.FieldOwner("foo-runtime-extension")

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

// record is a recorded job, without its settings.
type record struct {
	cluster client.ObjectKey
	// uid of the Cluster that the hook was called for. A Cluster that is recreated under the
	// same name gets its own jobs.
	uid types.UID
	// owner is the UID of the Cluster that owns the job. It differs from uid if both were
	// moved.
	owner          types.UID
	hook, from, to string
	plan           []string
	// config is the name of the ExtensionConfig with the settings.
	config string
	since  time.Time
}

// newRecord returns the record of the job that a call requests.
func newRecord(call call) record {
	made := record{
		cluster: client.ObjectKeyFromObject(call.cluster), uid: call.cluster.UID, owner: call.cluster.UID,
		hook: call.hook, from: call.from, to: call.to,
	}
	for _, step := range call.steps {
		made.plan = append(made.plan, step.Version)
	}
	return made
}

// key returns the name and namespace of the job's ConfigMap.
func (r record) key() types.NamespacedName {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(r.uid), r.hook, r.from, r.to}, "\n")))
	return types.NamespacedName{
		Namespace: r.cluster.Namespace,
		Name:      fmt.Sprintf("%s-%s-%s", r.cluster.Name, strings.ToLower(r.hook), hex.EncodeToString(sum[:5])),
	}
}

// configMap returns the ConfigMap of a new job.
func (r record) configMap() *corev1.ConfigMap {
	key := r.key()
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: key.Name, Namespace: key.Namespace,
			Labels: map[string]string{HookLabel: r.hook, clusterv1.ClusterNameLabel: r.cluster.Name},
			// Not a controller reference: a change of a job need not trigger a
			// reconcile of the Cluster.
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: clusterv1.GroupVersion.String(), Kind: clusterv1.ClusterKind, Name: r.cluster.Name, UID: r.uid,
			}},
		},
		Data: map[string]string{
			clusterUIDKey: string(r.uid), fromKey: r.from, toKey: r.to, planKey: strings.Join(r.plan, ","),
			configKey: r.config, StateKey: string(Pending),
		},
	}
}

// read returns the job that a ConfigMap holds.
func read(from *corev1.ConfigMap) (record, error) {
	read := record{
		cluster: types.NamespacedName{Namespace: from.Namespace, Name: from.Labels[clusterv1.ClusterNameLabel]},
		uid:     types.UID(from.Data[clusterUIDKey]),
		hook:    from.Labels[HookLabel],
		from:    from.Data[fromKey],
		to:      from.Data[toKey],
		since:   from.CreationTimestamp.Time,
		config:  from.Data[configKey],
	}
	for _, owner := range from.OwnerReferences {
		if owner.Kind == clusterv1.ClusterKind && owner.Name == read.cluster.Name {
			read.owner = owner.UID
		}
	}
	if plan := from.Data[planKey]; plan != "" {
		read.plan = strings.Split(plan, ",")
	}
	if read.key().Name != from.Name {
		return record{}, fmt.Errorf("ConfigMap %s: its labels and data belong to the job %s", from.Name, read.key().Name)
	}
	return read, nil
}

// ledger records jobs. It is safe for concurrent use, even by several processes.
type ledger struct {
	cached client.Reader
	client client.Client
}

// progress is the recorded progress of a job.
type progress struct {
	state   State
	message string
}

// ask returns the progress of a job. It records a new job, and updates the plan of an unfinished
// one. It fails for a new job if no ExtensionConfig has the given settings, because anybody may be
// the caller.
func (l ledger) ask(ctx context.Context, call call) (progress, error) {
	asked, known := newRecord(call), &corev1.ConfigMap{}
	err := l.cached.Get(ctx, asked.key(), known)
	isNew := apierrors.IsNotFound(err)
	if err != nil && !isNew {
		return progress{}, fmt.Errorf("reading the job of the hook: %w", err)
	}
	now := progress{state: State(known.Data[StateKey]), message: known.Data[MessageKey]}
	if now.state == Done {
		return now, nil
	}
	asked.config, err = configOf(ctx, l.cached, call.settings, known.Data[configKey])
	if errors.Is(err, errUnregistered) && !isNew {
		// Cluster API may not know yet that the ExtensionConfig changed. The job is done
		// with the current settings.
		asked.config, err = known.Data[configKey], nil
	}
	if err != nil {
		return progress{}, err
	}
	if isNew {
		return l.write(ctx, asked)
	}
	return now, l.refresh(ctx, asked, known)
}

func (l ledger) write(ctx context.Context, asked record) (progress, error) {
	// Another replica, or an earlier call that the cache has not seen yet, may have recorded it
	// first.
	if err := l.client.Create(ctx, asked.configMap(), FieldOwner); err != nil && !apierrors.IsAlreadyExists(err) {
		return progress{}, fmt.Errorf("recording the job of the hook: %w", err)
	}
	return progress{state: Pending}, nil
}

// refresh updates the plan of a job and the name of its ExtensionConfig.
func (l ledger) refresh(ctx context.Context, asked record, known *corev1.ConfigMap) error {
	plan := strings.Join(asked.plan, ",")
	if known.Data[configKey] == asked.config && known.Data[planKey] == plan {
		return nil
	}
	changed := known.DeepCopy()
	changed.Data[configKey], changed.Data[planKey] = asked.config, plan
	if err := l.client.Patch(ctx, changed, client.MergeFrom(known), FieldOwner); err != nil {
		return fmt.Errorf("recording changes to the job of the hook: %w", err)
	}
	return nil
}

// errUnregistered is the error for a call with settings that no ExtensionConfig has, so nobody with
// permission to register extensions chose them.
var errUnregistered = errors.New("no ExtensionConfig has its settings")

// +kubebuilder:rbac:groups=runtime.cluster.x-k8s.io,resources=extensionconfigs,verbs=get;list;watch

// configOf returns the name of an ExtensionConfig that has the settings of a call, since the call
// does not name it. If there are several, it returns last if that is one of them, and otherwise the
// first by name.
func configOf(ctx context.Context, from client.Reader, settings map[string]string, last string) (string, error) {
	var configs runtimev1.ExtensionConfigList
	if err := from.List(ctx, &configs); err != nil {
		return "", fmt.Errorf("listing ExtensionConfigs: %w", err)
	}
	var names []string
	for i := range configs.Items {
		if maps.Equal(configs.Items[i].Spec.Settings, settings) {
			names = append(names, configs.Items[i].Name)
		}
	}
	switch {
	case len(names) == 0:
		return "", errUnregistered
	case slices.Contains(names, last):
		return last, nil
	}
	return slices.Min(names), nil
}
