/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package kubelet

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	kubecontainer "k8s.io/kubernetes/pkg/kubelet/container"
	"k8s.io/kubernetes/pkg/volume/util/hostutil"
)

// The Container Runtime Interface does not say which containers are init containers, and a runtime that simulates containers has
// to know which ones end by themselves. So each init container carries an annotation, which the node agent reads.
const (
	// KindAnnotation is KindInit or KindSidecar on an init container, and absent on every other.
	KindAnnotation = "node.foo.cluster.x-k8s.io/container-kind"
	// KindInit is an init container that has to end before its pod goes on.
	KindInit = "init"
	// KindSidecar is an init container that stays, restartPolicy Always.
	KindSidecar = "sidecar"
)

// containers is the container manager of a node without cgroups; it adds KindAnnotation.
type containers struct {
	cm.ContainerManager
}

// GetResources returns what a container is run with.
func (c containers) GetResources(ctx context.Context, pod *v1.Pod, container *v1.Container) (*kubecontainer.RunContainerOptions, error) {
	options, err := c.ContainerManager.GetResources(ctx, pod, container)
	if err != nil {
		return nil, err
	}
	if kind := kindOf(pod, container.Name); kind != "" {
		options.Annotations = append(options.Annotations, kubecontainer.Annotation{Name: KindAnnotation, Value: kind})
	}
	return options, nil
}

// NewPodContainerManager returns the manager of pods' cgroups.
func (c containers) NewPodContainerManager() cm.PodContainerManager {
	return pods{c.ContainerManager.NewPodContainerManager()}
}

// pods have no cgroups, and it is no error that none is found.
type pods struct {
	cm.PodContainerManager
}

// GetPodCgroupConfig returns a configuration in which nothing is set. The kubelet reads its values where a pod is resized, and
// takes these for: there is no limit so far.
func (pods) GetPodCgroupConfig(*v1.Pod, v1.ResourceName) (*cm.ResourceConfig, error) {
	return &cm.ResourceConfig{Memory: new(int64), CPUShares: new(uint64), CPUQuota: new(int64), CPUPeriod: new(uint64)}, nil
}

// SetPodCgroupConfig applies nothing. A pod that is resized is told so, since no simulated container uses anything.
func (pods) SetPodCgroupConfig(klog.Logger, *v1.Pod, *cm.ResourceConfig) error { return nil }

// kindOf returns the kind of a pod's container by its name, which is unique in the pod.
func kindOf(pod *v1.Pod, name string) string {
	for i := range pod.Spec.InitContainers {
		container := &pod.Spec.InitContainers[i]
		if container.Name != name {
			continue
		}
		if container.RestartPolicy != nil && *container.RestartPolicy == v1.ContainerRestartPolicyAlways {
			return KindSidecar
		}
		return KindInit
	}
	return ""
}

// host looks at the instance's files as they are, which hostPath volumes have checked, but changes no mount.
type host struct {
	*hostutil.HostUtil
}

// MakeRShared does nothing: no mount has to be seen by containers.
func (host) MakeRShared(string) error { return nil }
