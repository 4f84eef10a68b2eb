// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

// The holder of a load balancer is a Pod that is its backend until an instance is ready. It holds
// connections, and forwards them to the first instance as soon as that listens. Without it, a Service
// without a ready backend would refuse them, and Cluster API, which connects when the infrastructure is
// ready, would wait 30 s before it tries again.
const (
	// holderSettles is the time, in seconds, that the outer cluster has to send connections to a new
	// holder before the load balancer counts as ready. kube-proxy applies changes once a second.
	holderSettles = 2
	// holderLife is how long, in seconds, a holder exists at most. A holder that is neither ready
	// nor reported as unable to start delays the load balancer no longer than this.
	holderLife = 300
	// holderGrace is how long, in seconds, the connections that a holder has forwarded may go on.
	holderGrace = 10
	// holderUser is a user without rights.
	holderUser = 65534
)

// startHolder creates the holder of a load balancer, whose Service comes next, unless there are
// instances for it already. Without a holder the load balancer works as well, so what the outer cluster
// refuses is no error.
func (c *Cloud) startHolder(ctx context.Context, config *Config, spec cloud.LoadBalancerSpec) error {
	pods, err := c.labelledPods(ctx, spec.Selector, nil)
	if err != nil || len(pods) > 0 {
		return err
	}
	pod, err := holderPod(config, spec)
	if err != nil {
		return err
	}
	_, err = c.pods().Create(ctx, pod, metav1.CreateOptions{})
	switch {
	case apierrors.IsAlreadyExists(err):
		return nil
	case apierrors.IsForbidden(err), apierrors.IsInvalid(err), apierrors.IsBadRequest(err):
		klog.FromContext(ctx).Info("New load balancer refuses connections until it has a backend", "namespace", c.namespace, "loadBalancer", spec.Name, "reason", err.Error())
		return nil
	}
	return err
}

// holderPod returns a Pod with a node image that some node has already: an image that must be pulled
// would come too late.
func holderPod(config *Config, spec cloud.LoadBalancerSpec) (*corev1.Pod, error) {
	recorded, err := json.Marshal(spec)
	if err != nil {
		return nil, fmt.Errorf("encode a load balancer: %w", err)
	}
	labels := backendLabels(spec.Selector)
	labels[kindLabel], labels[nameLabel] = kindHolder, hash(spec.Name)
	file := fileOf(contract.IdentityBackend, "annotations", backendAnnotation)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: serviceObject(spec.Name), Labels: labels, Annotations: map[string]string{loadBalancerAnnotation: string(recorded)},
		},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, ActiveDeadlineSeconds: ptr.To(int64(holderLife)), TerminationGracePeriodSeconds: ptr.To(int64(holderGrace)),
			AutomountServiceAccountToken: ptr.To(false), EnableServiceLinks: ptr.To(false),
			NodeSelector: config.Pods.NodeSelector, Tolerations: config.Pods.Tolerations, ImagePullSecrets: config.Pods.ImagePullSecrets,
			PriorityClassName: config.Pods.PriorityClassName,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsUser: ptr.To(int64(holderUser)), RunAsNonRoot: ptr.To(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: containerName, Image: config.newestImage(), ImagePullPolicy: corev1.PullNever,
				Command: []string{contract.AgentDir + "/" + contract.AgentName, "hold"},
				Env:     []corev1.EnvVar{{Name: contract.PortVariable, Value: strconv.Itoa(int(spec.TargetPort))}},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi")},
					Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("200m"), corev1.ResourceMemory: resource.MustParse("64Mi")},
				},
				VolumeMounts: []corev1.VolumeMount{{Name: identityVolume, MountPath: contract.IdentityDir, ReadOnly: true}},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
				ReadinessProbe: &corev1.Probe{
					ProbeHandler:        corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(spec.TargetPort)}},
					InitialDelaySeconds: holderSettles, PeriodSeconds: 1,
				},
			}},
			Volumes: []corev1.Volume{{Name: identityVolume, VolumeSource: corev1.VolumeSource{
				DownwardAPI: &corev1.DownwardAPIVolumeSource{Items: []corev1.DownwardAPIVolumeFile{file}},
			}}},
		},
	}, nil
}

// holderStarts reports whether a load balancer should not be used yet because its holder is about to
// be ready.
func (c *Cloud) holderStarts(ctx context.Context, service *corev1.Service) (bool, error) {
	pod, err := c.pods().Get(ctx, service.Name, metav1.GetOptions{})
	if isGone(err) {
		return false, nil
	}
	if err != nil {
		return false, c.translate(err)
	}
	return isStarting(pod), nil
}

func isStarting(pod *corev1.Pod) bool {
	return !hasEnded(pod) && !isDeleting(pod) && !isReady(*pod) && problemOf(pod, "") == nil
}

func hasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// tendHolder tells a holder where to forward connections, or ends it if it is not needed any more.
func (c *Cloud) tendHolder(ctx context.Context, holder *corev1.Pod) error {
	spec, err := specIn(holder)
	if err != nil {
		return err
	}
	pods, err := c.labelledPods(ctx, spec.Selector, nil)
	if err != nil {
		return err
	}
	// A holder that cannot start has an address, so connections to it would be refused.
	if hasReady(pods, backendLabels(spec.Selector)) || hasEnded(holder) || cannotStart(holder) {
		return c.endHolder(ctx, holder)
	}
	found := backends(readable(ctx, pods), spec.Selector)
	if len(found) == 0 || holder.Annotations[backendAnnotation] == found[0].Address {
		return nil
	}
	return c.mark(ctx, holder, "annotations", backendAnnotation, found[0].Address)
}

// endHolder takes a holder out of its load balancer, and lets it end with the connections that it has.
func (c *Cloud) endHolder(ctx context.Context, holder *corev1.Pod) error {
	if err := c.mark(ctx, holder, "labels", backendLabel, nil); err != nil {
		return err
	}
	err := c.pods().Delete(ctx, holder.Name, *metav1.NewPreconditionDeleteOptions(string(holder.UID)))
	if isGone(err) || apierrors.IsConflict(err) {
		return nil
	}
	return c.translate(err)
}
