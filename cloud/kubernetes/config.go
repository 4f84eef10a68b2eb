// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
)

const (
	// ConfigName is the name of the ConfigMap in a tenant's namespace that describes what the tenant
	// can order. Without it, the namespace is not used.
	ConfigName = "foo-cloud"
	// ConfigKey is the key of the Config, in YAML.
	ConfigKey = "cloud.yaml"

	// zoneLabel is the label of Nodes that names their zone.
	zoneLabel = corev1.LabelTopologyZone
	// onlyZone is the zone of an outer cluster whose Nodes have no zones.
	onlyZone = "default"
)

// Config is the content of the ConfigMap.
type Config struct {
	// Zones of the outer cluster. If empty, the zones are the values of the label
	// topology.kubernetes.io/zone of the Nodes that can run instances, and the token must be allowed
	// to list Nodes; or the zone "default" if none of these Nodes has the label.
	Zones []Zone `json:"zones,omitempty"`
	// InstanceTypes on offer.
	InstanceTypes []InstanceType `json:"instanceTypes"`
	// Images on offer.
	Images []Image `json:"images"`
	// Services are the settings of load balancers.
	Services Services `json:"services,omitempty"`
	// Pods are the settings of all instances.
	Pods Pods `json:"pods,omitempty"`
}

// Zone is a failure domain.
type Zone struct {
	// Name of the zone, the value of the label topology.kubernetes.io/zone of its Nodes.
	Name string `json:"name"`
	// WorkersOnly is true if control plane instances should not be placed there.
	WorkersOnly bool `json:"workersOnly,omitempty"`
}

// InstanceType is a size of Pods.
type InstanceType struct {
	// Name of the type.
	Name string `json:"name"`
	// CPUs is the limit of the Pod, and what its Node reports.
	CPUs int `json:"cpus"`
	// Memory is the limit of the Pod, and what its Node reports.
	Memory resource.Quantity `json:"memory"`
	// Disk is the size of the volume with everything that the instance writes; unlimited if zero.
	Disk resource.Quantity `json:"disk,omitempty"`
	// Architecture of the Nodes that instances are placed on; any if empty.
	Architecture string `json:"architecture,omitempty"`
	// Requests of the Pod, for outer clusters that are overcommitted; the limits if empty.
	Requests corev1.ResourceList `json:"requests,omitempty"`
}

// Image is a container image with a node of one Kubernetes version.
type Image struct {
	// Name of the variant; empty for the default.
	Name string `json:"name,omitempty"`
	// KubernetesVersion with its leading v.
	KubernetesVersion string `json:"kubernetesVersion"`
	// Image is the reference of the container image.
	Image string `json:"image"`
}

// Services are the settings of the Services that are load balancers.
type Services struct {
	// Type is ClusterIP, the default, or LoadBalancer.
	Type corev1.ServiceType `json:"type,omitempty"`
	// Annotations of the Services.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Pods are the settings of the Pods that are instances.
type Pods struct {
	// NodeSelector restricts where instances are placed.
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Tolerations of the taints of Nodes.
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// ImagePullSecrets names Secrets of the namespace.
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// PriorityClassName of the Pods.
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// RuntimeClassName of the Pods.
	RuntimeClassName *string `json:"runtimeClassName,omitempty"`
	// StorageClassName of the ephemeral volume of each instance; an emptyDir if empty. Every
	// instance type must then have a disk.
	StorageClassName string `json:"storageClassName,omitempty"`
	// HostUsers is false to give each Pod users of its own, if the outer cluster supports it.
	HostUsers *bool `json:"hostUsers,omitempty"`
}

// config reads the ConfigMap.
func (c *Cloud) config(ctx context.Context) (*Config, error) {
	object, err := c.api.ConfigMaps(c.namespace).Get(ctx, ConfigName, metav1.GetOptions{})
	if isGone(err) {
		return nil, &cloud.UnauthorizedError{Message: fmt.Sprintf(
			"namespace %s of the cluster at %s is not a Foo cloud: it has no ConfigMap %s", c.namespace, c.endpoint, ConfigName)}
	}
	if err != nil {
		return nil, c.translate(err)
	}
	config := &Config{}
	err = yaml.UnmarshalStrict([]byte(object.Data[ConfigKey]), config)
	if err == nil {
		err = config.validate()
	}
	if err != nil {
		return nil, &cloud.UnavailableError{Message: fmt.Sprintf("ConfigMap %s/%s, key %s: %v", c.namespace, ConfigName, ConfigKey, err)}
	}
	return config, nil
}

func (c *Config) validate() error {
	if len(c.InstanceTypes) == 0 || len(c.Images) == 0 {
		return fmt.Errorf("instanceTypes has %d entries and images has %d, but each needs at least one", len(c.InstanceTypes), len(c.Images))
	}
	if err := c.validateTypes(); err != nil {
		return err
	}
	for i, image := range c.Images {
		if image.KubernetesVersion == "" || image.Image == "" {
			return fmt.Errorf("images[%d] has kubernetesVersion %q and image %q, but needs both", i, image.KubernetesVersion, image.Image)
		}
	}
	if kind := c.serviceType(); kind != corev1.ServiceTypeClusterIP && kind != corev1.ServiceTypeLoadBalancer {
		return fmt.Errorf("services.type is %q, but must be %s or %s", kind, corev1.ServiceTypeClusterIP, corev1.ServiceTypeLoadBalancer)
	}
	return c.validateTolerations()
}

// validateTolerations refuses to tolerate what makes instances leave a Node: they would come back to one
// that is drained, and stay on one that is lost.
func (c *Config) validateTolerations() error {
	for i, one := range c.Pods.Tolerations {
		for _, taint := range []corev1.Taint{
			{Key: corev1.TaintNodeUnschedulable, Effect: corev1.TaintEffectNoSchedule},
			{Key: corev1.TaintNodeUnreachable, Effect: corev1.TaintEffectNoExecute},
			{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute},
		} {
			if one.TolerationSeconds == nil && one.ToleratesTaint(klog.Background(), &taint, true) {
				return fmt.Errorf("pods.tolerations[%d] tolerates %s, but must have another key or, for NoExecute, tolerationSeconds", i, taint.ToString())
			}
		}
	}
	return nil
}

func (c *Config) validateTypes() error {
	for i, size := range c.InstanceTypes {
		if size.Name == "" || size.CPUs < 1 || size.Memory.Sign() <= 0 {
			return fmt.Errorf("instanceTypes[%d] has name %q, cpus %d and memory %s, but needs a name, at least 1 CPU, and memory", i, size.Name, size.CPUs, size.Memory.String())
		}
		if c.Pods.StorageClassName != "" && size.Disk.Sign() <= 0 {
			return fmt.Errorf("instanceTypes[%d] has no disk, which pods.storageClassName requires", i)
		}
	}
	return nil
}

func (c *Config) serviceType() corev1.ServiceType {
	return cmp.Or(c.Services.Type, corev1.ServiceTypeClusterIP)
}

// catalog is a Config with everything that it leaves to the outer cluster.
type catalog struct {
	*Config
	rules.Catalog

	// placed is false if the outer cluster has no zones, so that Pods can be anywhere.
	placed bool
	// open says for each architecture which zones have its nodes, and whether one of these takes new
	// Pods; nil if that is unknown. The key "" stands for all architectures.
	open map[string]map[string]bool
}

// choices returns the zones that a new instance of a type may go to: of the named zones, or of all if
// none is named, those with a node of the type's architecture that takes new Pods. If there is no such
// zone, it returns those with any node of the architecture, and if there is none either, all.
func (o *catalog) choices(named []string, typeName string) ([]string, error) {
	offered, err := o.OfferedZones(named)
	var closed, open []string
	for _, zone := range offered {
		takesPods, exists := o.open[o.size(typeName).Architecture][zone]
		switch {
		case takesPods:
			open = append(open, zone)
		case exists:
			closed = append(closed, zone)
		}
	}
	for _, zones := range [][]string{open, closed} {
		if len(zones) > 0 {
			return zones, nil
		}
	}
	return offered, err
}

func (c *Cloud) catalog(ctx context.Context) (*catalog, error) {
	config, err := c.config(ctx)
	if err != nil {
		return nil, err
	}
	found := &catalog{Config: config, Catalog: rules.Catalog{InstanceTypes: config.types(), Images: config.images()}}
	if err := c.addZones(ctx, found); err != nil {
		return nil, err
	}
	return found, nil
}

// addZones adds the zones in the ConfigMap or, if it names none, the zones of the Nodes
// that can run instances.
func (c *Cloud) addZones(ctx context.Context, found *catalog) error {
	for _, zone := range found.Config.Zones {
		found.Catalog.Zones = append(found.Catalog.Zones, cloud.Zone{Name: zone.Name, ControlPlane: !zone.WorkersOnly})
	}
	if len(found.Catalog.Zones) == 0 {
		pods := found.Pods
		nodes, err := c.api.Nodes().List(ctx, metav1.ListOptions{LabelSelector: labels.SelectorFromSet(pods.NodeSelector).String()})
		if err != nil {
			return fmt.Errorf("zones from Nodes, because ConfigMap %s names none: %w", ConfigName, c.translate(err))
		}
		found.open = openZones(nodes.Items, pods.Tolerations)
		for _, name := range slices.Sorted(maps.Keys(found.open[""])) {
			found.Catalog.Zones = append(found.Catalog.Zones, cloud.Zone{Name: name, ControlPlane: true})
		}
	}
	found.placed = len(found.Catalog.Zones) > 0
	if !found.placed {
		found.Catalog.Zones = []cloud.Zone{{Name: onlyZone, ControlPlane: true}}
	}
	sortedBy(found.Catalog.Zones, func(z cloud.Zone) string { return z.Name })
	return nil
}

// openZones returns the zones of the Nodes that can run Pods with these tolerations, and whether one of
// their Nodes takes new Pods, for each architecture and, under the key "", for all.
func openZones(nodes []corev1.Node, tolerations []corev1.Toleration) map[string]map[string]bool {
	open := map[string]map[string]bool{}
	for i := range nodes {
		zone, taints := nodes[i].Labels[zoneLabel], untolerated(nodes[i].Spec.Taints, tolerations)
		if zone == "" || slices.ContainsFunc(taints, isLasting) {
			continue
		}
		takes := len(taints) == 0 && takesPods(&nodes[i])
		for _, architecture := range []string{"", nodes[i].Labels[corev1.LabelArchStable]} {
			if open[architecture] == nil {
				open[architecture] = map[string]bool{}
			}
			open[architecture][zone] = open[architecture][zone] || takes
		}
	}
	return open
}

// untolerated returns the taints that keep Pods with these tolerations away.
func untolerated(taints []corev1.Taint, tolerations []corev1.Toleration) []corev1.Taint {
	return slices.DeleteFunc(slices.Clone(taints), func(taint corev1.Taint) bool {
		return taint.Effect == corev1.TaintEffectPreferNoSchedule || slices.ContainsFunc(tolerations, func(one corev1.Toleration) bool {
			return one.ToleratesTaint(klog.Background(), &taint, true)
		})
	})
}

// passing are the prefixes of taints with which Kubernetes, autoscalers, Cluster API and network plugins
// report the state of a Node.
var passing = []string{
	"node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "node.cluster.x-k8s.io/", "node.cilium.io/", "ToBeDeletedByClusterAutoscaler",
	"startup-taint.cluster-autoscaler.kubernetes.io/", "karpenter.sh/",
}

// isLasting reports whether a taint says what a Node is for. The others come and go with its state.
func isLasting(taint corev1.Taint) bool {
	return !slices.ContainsFunc(passing, func(prefix string) bool { return strings.HasPrefix(taint.Key, prefix) })
}

func takesPods(node *corev1.Node) bool {
	return !node.Spec.Unschedulable && !slices.ContainsFunc(node.Status.Conditions, func(one corev1.NodeCondition) bool {
		return one.Type == corev1.NodeReady && one.Status != corev1.ConditionTrue
	})
}

// size returns the settings of an instance type that the rules have accepted.
func (c *Config) size(name string) InstanceType {
	for _, size := range c.InstanceTypes {
		if size.Name == name {
			return size
		}
	}
	return InstanceType{}
}

// newestImage returns the reference of the image with the newest Kubernetes version, preferably of one
// without a name.
func (c *Config) newestImage() string {
	images := c.images()
	newest := images[len(images)-1]
	for _, image := range images {
		if image.Name == "" {
			newest = image
		}
	}
	return c.image(cloud.InstanceTemplate{KubernetesVersion: newest.KubernetesVersion, Image: newest.Name})
}

// image returns the reference of the image for a template that the rules have accepted.
func (c *Config) image(template cloud.InstanceTemplate) string {
	for _, image := range c.Images {
		if image.KubernetesVersion == template.KubernetesVersion && image.Name == template.Image {
			return image.Image
		}
	}
	return ""
}
