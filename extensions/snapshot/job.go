// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/extensions/workloadjob"
	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
)

const (
	// specAnnotation on a Job is the hash of what it was made from. If a setting, the image or a
	// credential changes, another Job replaces it.
	specAnnotation = "foo.cluster.x-k8s.io/made-from"
	// problemAnnotation on a Job is why the one before it failed.
	problemAnnotation = "foo.cluster.x-k8s.io/last-problem"

	controlPlaneLabel = "node-role.kubernetes.io/control-plane"
	// Certificates that kubeadm puts on each control plane machine.
	nodeEtcdCA          = "/etc/kubernetes/pki/etcd/ca.crt"
	nodeEtcdCertificate = "/etc/kubernetes/pki/apiserver-etcd-client.crt"
	nodeEtcdKey         = "/etc/kubernetes/pki/apiserver-etcd-client.key"
)

// newJob returns the Job that takes a snapshot. Its program takes all parameters as one argument.
func newJob(image string, job hooks.Job, name snapshotjob.Name, credentials map[string][]byte) (*batchv1.Job, error) {
	argument, err := snapshotjob.Request{URL: job.Settings.SnapshotURL, Name: name, Since: job.Since, Keep: job.Settings.SnapshotsKept}.Argument()
	if err != nil {
		return nil, err
	}
	made := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceSystem}}
	workloadjob.Identify(made, "etcd-snapshot", job)
	container := newContainer(image, argument)
	volumes := nodeVolumes(job.Settings.SnapshotURL)
	if credentials != nil {
		volumes = append(volumes, volume{"credentials", snapshotjob.BucketFolder, true, corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: made.Name}}})
		container.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: made.Name}}}}
	}
	made.Spec = batchv1.JobSpec{
		// The task makes another Job, and knows why this one failed.
		BackoffLimit:            ptr.To[int32](0),
		TTLSecondsAfterFinished: made.Spec.TTLSecondsAfterFinished,
		ActiveDeadlineSeconds:   ptr.To(max(1, int64(job.Settings.SnapshotTimeout/time.Second))),
		Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			// etcd listens on the addresses of its machine, and a machine may have an identity for
			// the bucket.
			HostNetwork:                  true,
			NodeSelector:                 map[string]string{controlPlaneLabel: ""},
			Tolerations:                  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
			PriorityClassName:            "system-cluster-critical",
			AutomountServiceAccountToken: ptr.To(false),
			EnableServiceLinks:           ptr.To(false),
		}},
	}
	pod := &made.Spec.Template.Spec
	for _, volume := range volumes {
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: volume.name, VolumeSource: volume.source})
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: volume.name, MountPath: volume.path, ReadOnly: volume.readOnly})
	}
	pod.Containers = []corev1.Container{container}
	made.Annotations = map[string]string{}
	made.Annotations[specAnnotation], err = hash(made.Spec, credentials)
	return made, err
}

// newContainer returns the container of the Job. It runs as root, who owns the key of etcd's client,
// but without any of root's capabilities.
func newContainer(image, argument string) corev1.Container {
	return corev1.Container{
		Name: "snapshot", Image: image, Args: []string{argument},
		TerminationMessagePath: snapshotjob.TerminationMessage,
		SecurityContext: &corev1.SecurityContext{
			RunAsUser: ptr.To[int64](0), RunAsGroup: ptr.To[int64](0), AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
			Capabilities:   &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}
}

// volume is a volume and where the container has it.
type volume struct {
	name, path string
	readOnly   bool
	source     corev1.VolumeSource
}

// nodeVolumes returns the volumes on the machine.
func nodeVolumes(url string) []volume {
	onNode := func(path string, kind corev1.HostPathType) corev1.VolumeSource {
		return corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}}
	}
	volumes := []volume{
		{"etcd-ca", snapshotjob.EtcdCA, true, onNode(nodeEtcdCA, corev1.HostPathFile)},
		{"etcd-certificate", snapshotjob.EtcdCertificate, true, onNode(nodeEtcdCertificate, corev1.HostPathFile)},
		{"etcd-key", snapshotjob.EtcdKey, true, onNode(nodeEtcdKey, corev1.HostPathFile)},
		{"tmp", snapshotjob.Temporary, false, corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	if folder := snapshotjob.Folder(url); folder != "" {
		// A folder that somebody forgot to mount must not be created on the machine's own disk.
		volumes = append(volumes, volume{"snapshots", folder, false, onNode(folder, corev1.HostPathDirectory)})
	}
	return volumes
}

// hash returns a text that changes with any of its arguments.
func hash(spec batchv1.JobSpec, credentials map[string][]byte) (string, error) {
	content, err := json.Marshal([]any{spec, credentials})
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8]), err
}
