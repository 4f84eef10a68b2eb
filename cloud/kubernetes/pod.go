// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

const (
	containerName = "node"
	// userDataKey is the key of the bootstrap data in a Secret.
	userDataKey = "user-data"
	// maxUserData leaves room in a Secret, which can have 1 MiB, for the members of a pool.
	maxUserData = 512 << 10

	// identityVolume holds what the agent needs to write the files of the node contract.
	identityVolume = "identity"
	diskVolume     = "disk"

	// stopGrace is how long, in seconds, an instance has to stop.
	stopGrace = 15
	// bootstrapPeriod and bootstrapFailures are how often, in seconds, to ask for the result of the
	// bootstrap data, and how often in vain: the instance is stopped after one hour.
	bootstrapPeriod   = 2
	bootstrapFailures = 1800
	// readyPeriod, readyTimeout and readyFailures are how often, and for how long, in seconds, to ask
	// whether a backend is ready, and how often in vain: a busy machine may answer late.
	readyPeriod   = 2
	readyTimeout  = 3
	readyFailures = 3
)

// diskFolders are the folders of an instance that are on its disk. The image is read-only below an
// overlay, and there is no overlay on an overlay.
var diskFolders = map[string]string{
	"containerd": "/var/lib/containerd",
	"kubelet":    "/var/lib/kubelet",
	"etcd":       "/var/lib/etcd",
	"log":        "/var/log",
}

func checkUserData(field string, userData []byte) error {
	if len(userData) <= maxUserData {
		return nil
	}
	return &cloud.InvalidError{
		Field: field, Value: fmt.Sprintf("%d bytes", len(userData)), Problem: fmt.Sprintf("must be at most %d bytes, to fit in a Secret", maxUserData),
	}
}

// newRecord returns what never changes about a new instance.
func newRecord(spec cloud.InstanceSpec, offered *catalog) cloud.Instance {
	id, size := newID(objectName(spec.Name)), offered.size(spec.Type)
	return cloud.Instance{
		ID: id, Name: spec.Name, Hostname: spec.Hostname, Zone: spec.Zone, ProviderID: cloud.ProviderID(spec.Zone, id), Type: spec.Type,
		KubernetesVersion: spec.KubernetesVersion, Image: spec.Image, DiskBytes: cmp.Or(spec.DiskBytes, size.Disk.Value()),
		Tags: spec.Tags, Interruptible: spec.Interruptible,
	}
}

// newPod returns the Pod of an instance.
func newPod(offered *catalog, record cloud.Instance) (*corev1.Pod, error) {
	size := offered.size(record.Type)
	recorded, err := json.Marshal(record)
	if err != nil {
		return nil, fmt.Errorf("encode an instance: %w", err)
	}
	machine, err := json.Marshal(contract.Instance{
		ID: record.ID, Name: record.Name, Hostname: record.Hostname, ProviderID: record.ProviderID, Zone: record.Zone, Type: record.Type,
		CPUs: size.CPUs, MemoryBytes: size.Memory.Value(), KubernetesVersion: record.KubernetesVersion, Tags: record.Tags,
	})
	if err != nil {
		return nil, fmt.Errorf("encode what an instance is told: %w", err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: objectName(record.Name), Labels: objectLabels(kindInstance, record.Name, record.Tags),
			Annotations: map[string]string{instanceAnnotation: string(recorded), machineAnnotation: string(machine)},
		},
		Spec: podSpec(offered, record, size),
	}
	pod.Labels[backendLabel] = yes
	if record.Pool != "" {
		pod.Labels[poolLabel] = hash(record.Pool)
	}
	return pod, nil
}

func podSpec(offered *catalog, record cloud.Instance, size InstanceType) corev1.PodSpec {
	settings := offered.Pods
	spec := corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: ptr.To(int64(stopGrace)),
		AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
		// The outer cluster's DNS service may have an address of the inner cluster.
		DNSPolicy:    corev1.DNSDefault,
		NodeSelector: maps.Clone(settings.NodeSelector), Tolerations: settings.Tolerations, ImagePullSecrets: settings.ImagePullSecrets,
		PriorityClassName: settings.PriorityClassName, RuntimeClassName: settings.RuntimeClassName, HostUsers: settings.HostUsers,
		Containers: []corev1.Container{container(offered, record, size)},
		Volumes:    []corev1.Volume{identity(record), disk(settings, record)},
	}
	if spec.NodeSelector == nil {
		spec.NodeSelector = map[string]string{}
	}
	if offered.placed {
		spec.NodeSelector[zoneLabel] = record.Zone
	}
	if size.Architecture != "" {
		spec.NodeSelector[corev1.LabelArchStable] = size.Architecture
	}
	// A Pod's host name has no dots. The agent sets those that have.
	if len(validation.IsDNS1123Label(record.Hostname)) == 0 {
		spec.Hostname = record.Hostname
	}
	return spec
}

func container(offered *catalog, record cloud.Instance, size InstanceType) corev1.Container {
	limits := corev1.ResourceList{
		corev1.ResourceCPU: *resource.NewQuantity(int64(size.CPUs), resource.DecimalSI), corev1.ResourceMemory: size.Memory.DeepCopy(),
	}
	requests := size.Requests
	if len(requests) == 0 {
		requests = limits
	}
	mounts := make([]corev1.VolumeMount, 0, 1+len(diskFolders))
	mounts = append(mounts, corev1.VolumeMount{Name: identityVolume, MountPath: contract.IdentityDir, ReadOnly: true})
	for _, name := range slices.Sorted(maps.Keys(diskFolders)) {
		mounts = append(mounts, corev1.VolumeMount{Name: diskVolume, SubPath: name, MountPath: diskFolders[name]})
	}
	return corev1.Container{
		Name: containerName, Image: offered.image(cloud.InstanceTemplate{KubernetesVersion: record.KubernetesVersion, Image: record.Image}),
		Command:   []string{contract.AgentDir + "/" + contract.AgentName, "pod"},
		Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits},
		Env: []corev1.EnvVar{{Name: contract.AddressVariable, ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "status.podIP"},
		}}},
		VolumeMounts:    mounts,
		SecurityContext: &corev1.SecurityContext{Privileged: ptr.To(true)},
		// It has started once its bootstrap data has succeeded.
		StartupProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{contract.AgentDir + "/" + contract.AgentName, "started"}}},
			PeriodSeconds: bootstrapPeriod, FailureThreshold: bootstrapFailures, TimeoutSeconds: bootstrapPeriod,
		},
	}
}

// makeBackend prepares a Pod for load balancers that send connections to this port. A probe decides
// whether they do: load balancers are for API servers, which answer it without credentials. Once the
// Pod has lost the label of a backend, the agent closes the connections to the port.
func makeBackend(pod *corev1.Pod, port int32) {
	node := &pod.Spec.Containers[0]
	node.ReadinessProbe = &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{
			Path: "/readyz", Port: intstr.FromInt32(port), Scheme: corev1.URISchemeHTTPS,
		}},
		PeriodSeconds: readyPeriod, FailureThreshold: readyFailures, TimeoutSeconds: readyTimeout,
	}
	node.Env = append(node.Env, corev1.EnvVar{Name: contract.PortVariable, Value: strconv.Itoa(int(port))})
}

// identity returns the volume with what the instance is told.
func identity(record cloud.Instance) corev1.Volume {
	return corev1.Volume{Name: identityVolume, VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
		DefaultMode: ptr.To(int32(0o400)),
		Sources: []corev1.VolumeProjection{
			{Secret: &corev1.SecretProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: objectName(record.Name)},
				Items:                []corev1.KeyToPath{{Key: userDataKey, Path: contract.IdentityUserData}},
			}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
				fileOf(contract.IdentityInstance, "annotations", machineAnnotation),
				fileOf(contract.IdentityBalanced, "labels", backendLabel),
			}}},
		},
	}}}
}

// fileOf returns a file of a volume with a label or an annotation of the Pod, empty if the Pod lacks it.
func fileOf(path, field, key string) corev1.DownwardAPIVolumeFile {
	return corev1.DownwardAPIVolumeFile{
		Path: path, FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: fmt.Sprintf("metadata.%s['%s']", field, key)},
	}
}

// disk returns the volume for what the instance writes.
func disk(settings Pods, record cloud.Instance) corev1.Volume {
	volume := corev1.Volume{Name: diskVolume}
	size := resource.NewQuantity(record.DiskBytes, resource.BinarySI)
	if settings.StorageClassName == "" {
		volume.EmptyDir = &corev1.EmptyDirVolumeSource{}
		if record.DiskBytes > 0 {
			volume.EmptyDir.SizeLimit = size
		}
		return volume
	}
	volume.Ephemeral = &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{kindLabel: kindInstance}},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: ptr.To(settings.StorageClassName), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: *size}},
		},
	}}
	return volume
}

// instanceOf returns the instance that a Pod is.
func instanceOf(pod *corev1.Pod) (cloud.Instance, error) {
	found := cloud.Instance{}
	if err := json.Unmarshal([]byte(pod.Annotations[instanceAnnotation]), &found); err != nil {
		return found, &cloud.UnavailableError{Message: fmt.Sprintf("Pod %s/%s, annotation %s: %v", pod.Namespace, pod.Name, instanceAnnotation, err)}
	}
	found.CreatedAt, found.Address = hostedSince(pod), pod.Status.PodIP
	found.ReclaimAt = reclaimOf(pod)
	found.Draining = pod.Labels[drainingLabel] == yes
	found.State, found.Message = stateOf(pod)
	if found.State == cloud.InstancePending {
		if found.Problem = problemOf(pod, found.Zone); found.Problem != nil {
			found.Message = found.Problem.Message
		}
	}
	found.Bootstrap = bootstrapOf(pod)
	return found, nil
}

// hostedSince returns when a Pod got a node, or was created if it has none. Its kubelet needs a moment
// to see it.
func hostedSince(pod *corev1.Pod) time.Time {
	if pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	since := pod.CreationTimestamp.Time
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionTrue && condition.LastTransitionTime.After(since) {
			since = condition.LastTransitionTime.Time
		}
	}
	return since
}

func stateOf(pod *corev1.Pod) (cloud.InstanceState, string) {
	ended := nodeStatus(pod).State.Terminated
	switch {
	case isDeleting(pod):
		return cloud.InstanceDeleting, ""
	case pod.Status.Phase == corev1.PodRunning:
		return cloud.InstanceRunning, ""
	case pod.Status.Phase == corev1.PodFailed && ended == nil:
		return cloud.InstanceFailed, joined(pod.Status.Reason, pod.Status.Message)
	case pod.Status.Phase == corev1.PodFailed && pod.Status.Reason != "": // for example Evicted
		return cloud.InstanceStopped, joined(pod.Status.Reason, pod.Status.Message)
	case ended != nil:
		return cloud.InstanceStopped, joined(ended.Reason, ended.Message)
	}
	return cloud.InstancePending, ""
}

// problemOf returns why a Pod does not run yet, if something is wrong: no node of its zone has room
// for it, or its image cannot be pulled. The scheduler and the kubelet keep trying.
func problemOf(pod *corev1.Pod, zone string) *cloud.Problem {
	if cannotStart(pod) {
		waiting := nodeStatus(pod).State.Waiting
		return &cloud.Problem{Reason: cloud.ReasonUnavailable, Message: joined(waiting.Reason, waiting.Message)}
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type != corev1.PodScheduled || condition.Status != corev1.ConditionFalse {
			continue
		}
		if condition.Reason == corev1.PodReasonUnschedulable {
			return &cloud.Problem{Reason: cloud.ReasonOutOfCapacity, Message: (&cloud.CapacityError{Zone: zone, Message: condition.Message}).Error()}
		}
		return &cloud.Problem{Reason: cloud.ReasonUnavailable, Message: joined(condition.Reason, condition.Message)}
	}
	return nil
}

// cannotStart reports whether the kubelet has said why a Pod's container does not start.
func cannotStart(pod *corev1.Pod) bool {
	waiting := nodeStatus(pod).State.Waiting
	return waiting != nil && waiting.Message != ""
}

// bootstrapOf tells the state of the bootstrap data from the Pod. The agent ends when it has failed,
// with the reason as its last message. If the outer cluster ends the Pod, the agent may leave such a
// message as well, since a command of the bootstrap data was interrupted.
func bootstrapOf(pod *corev1.Pod) cloud.Bootstrap {
	status := nodeStatus(pod)
	switch {
	case ptr.Deref(status.Started, false):
		return cloud.Bootstrap{State: cloud.BootstrapSucceeded}
	case agentFailed(status.State.Terminated) && pod.Status.Reason == "" && !isDeleting(pod):
		return cloud.Bootstrap{State: cloud.BootstrapFailed, Message: status.State.Terminated.Message}
	case status.State.Running != nil:
		return cloud.Bootstrap{State: cloud.BootstrapRunning}
	}
	return cloud.Bootstrap{State: cloud.BootstrapPending}
}

// agentFailed reports whether the agent has left a message. With other reasons, the message is about the
// container, for example why it could not start.
func agentFailed(ended *corev1.ContainerStateTerminated) bool {
	return ended != nil && ended.Message != "" && (ended.Reason == "Error" || ended.Reason == "OOMKilled")
}

func nodeStatus(pod *corev1.Pod) corev1.ContainerStatus {
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == containerName {
			return status
		}
	}
	return corev1.ContainerStatus{}
}

func joined(reason, message string) string {
	return strings.Trim(reason+": "+message, ": ")
}
