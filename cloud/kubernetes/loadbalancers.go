// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
)

// EnsureLoadBalancer implements cloud.LoadBalancers.
func (c *Cloud) EnsureLoadBalancer(ctx context.Context, spec cloud.LoadBalancerSpec) (cloud.LoadBalancer, error) {
	if err := rules.LoadBalancer(spec); err != nil {
		return cloud.LoadBalancer{}, err
	}
	var result *corev1.Service
	err := retry.OnError(retry.DefaultBackoff, lostRace, func() error {
		existing, err := c.services().Get(ctx, serviceObject(spec.Name), metav1.GetOptions{})
		switch {
		case isGone(err):
			result, err = c.createService(ctx, spec)
		case err == nil:
			result, err = c.updateService(ctx, existing, spec)
		}
		return err
	})
	if err != nil {
		return cloud.LoadBalancer{}, c.translate(err)
	}
	return c.withBackends(ctx, result)
}

func (c *Cloud) createService(ctx context.Context, spec cloud.LoadBalancerSpec) (*corev1.Service, error) {
	config, err := c.config(ctx)
	if err != nil {
		return nil, err
	}
	spec.TargetPort = cmp.Or(spec.TargetPort, spec.Port)
	if err := c.startHolder(ctx, config, spec); err != nil {
		return nil, err
	}
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name: serviceObject(spec.Name), Labels: objectLabels(kindLoadBalancer, spec.Name, spec.Tags), Annotations: maps.Clone(config.Services.Annotations),
		},
		Spec: corev1.ServiceSpec{
			Type: config.serviceType(),
			// The first control plane machine needs the address before it is ready. See expectBackend
			// for the others.
			PublishNotReadyAddresses: true,
			Ports:                    []corev1.ServicePort{{Port: spec.Port, TargetPort: intstr.FromInt32(spec.TargetPort), Protocol: corev1.ProtocolTCP}},
		},
	}
	if err := setBalancer(service, spec); err != nil {
		return nil, err
	}
	return c.services().Create(ctx, service, metav1.CreateOptions{})
}

func (c *Cloud) updateService(ctx context.Context, service *corev1.Service, spec cloud.LoadBalancerSpec) (*corev1.Service, error) {
	if !service.DeletionTimestamp.IsZero() {
		return nil, &cloud.UnavailableError{Message: "load balancer " + spec.Name + " is being deleted"}
	}
	port := portOf(service)
	if err := rules.Immutable("port", strconv.Itoa(int(port.Port)), strconv.Itoa(int(spec.Port))); err != nil {
		return nil, err
	}
	recorded := recordAddress(service)
	now, err := specIn(service) // what cannot be read is written again
	if err == nil && now.Selector.Equal(spec.Selector) && now.Tags.Equal(spec.Tags) && !recorded {
		return service, nil
	}
	spec.TargetPort = port.TargetPort.IntVal
	setLabels(service, kindLoadBalancer, spec.Name, spec.Tags)
	if err := setBalancer(service, spec); err != nil {
		return nil, err
	}
	return c.services().Update(ctx, service, metav1.UpdateOptions{})
}

// expectBackend prepares the load balancers that will use a new instance with these tags, and returns
// their port; 0 if there are none. A load balancer that has a ready backend must not send
// connections to the new one before that is ready as well.
func (c *Cloud) expectBackend(ctx context.Context, tags cloud.Tags) (int32, error) {
	services, err := c.services().List(ctx, metav1.ListOptions{LabelSelector: selector(kindLoadBalancer, nil, nil)})
	if err != nil {
		return 0, c.translate(err)
	}
	port, labels := int32(0), backendLabels(tags)
	for i := range services.Items {
		service := &services.Items[i]
		if !selects(service.Spec.Selector, labels) {
			continue
		}
		port = portOf(service).TargetPort.IntVal
		if err := c.requireReadiness(ctx, service); err != nil {
			return 0, err
		}
	}
	return port, nil
}

// portOf returns the only port of a load balancer.
func portOf(service *corev1.Service) corev1.ServicePort {
	if len(service.Spec.Ports) == 0 {
		return corev1.ServicePort{}
	}
	return service.Spec.Ports[0]
}

// requireReadiness restricts a load balancer to ready backends once it has one.
func (c *Cloud) requireReadiness(ctx context.Context, service *corev1.Service) error {
	if !admitsAll(service) || len(service.Spec.Selector) == 0 {
		return nil
	}
	pods, err := c.labelledPods(ctx, nil, service.Spec.Selector)
	if err != nil || !slices.ContainsFunc(pods, isReady) {
		return err
	}
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		now, err := c.services().Get(ctx, service.Name, metav1.GetOptions{})
		if err != nil || !admitsAll(now) {
			return err
		}
		now.Spec.PublishNotReadyAddresses = false
		_, err = c.services().Update(ctx, now, metav1.UpdateOptions{})
		return err
	})
	if isGone(err) {
		return nil
	}
	return c.translate(err)
}

// admitsAll reports whether a load balancer sends connections to backends that are not ready.
func admitsAll(service *corev1.Service) bool {
	return service.Spec.PublishNotReadyAddresses && service.DeletionTimestamp.IsZero()
}

// tendLoadBalancers restricts load balancers to ready backends, and tends their holders.
func (c *Cloud) tendLoadBalancers(ctx context.Context) error {
	services, err := c.services().List(ctx, metav1.ListOptions{LabelSelector: selector(kindLoadBalancer, nil, nil)})
	if err != nil {
		return c.translate(err)
	}
	holders, err := c.pods().List(ctx, metav1.ListOptions{LabelSelector: selector(kindHolder, nil, nil)})
	if err != nil {
		return c.translate(err)
	}
	starting := len(holders.Items) > 0
	for i := range services.Items {
		starting = starting || admitsAll(&services.Items[i])
	}
	// From here on, every change of an instance leads here again.
	c.starting.Store(starting)
	var problems []error
	for i := range services.Items {
		problems = append(problems, c.requireReadiness(ctx, &services.Items[i]))
	}
	for i := range holders.Items {
		if !isDeleting(&holders.Items[i]) {
			problems = append(problems, c.tendHolder(ctx, &holders.Items[i]))
		}
	}
	return errors.Join(problems...)
}

func isReady(pod corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(one corev1.PodCondition) bool {
		return one.Type == corev1.PodReady && one.Status == corev1.ConditionTrue
	})
}

// setBalancer records a load balancer in its Service, and selects its backends.
func setBalancer(service *corev1.Service, spec cloud.LoadBalancerSpec) error {
	text, err := json.Marshal(spec)
	if err != nil {
		return fmt.Errorf("encode a load balancer: %w", err)
	}
	if service.Annotations == nil {
		service.Annotations = map[string]string{}
	}
	service.Annotations[loadBalancerAnnotation] = string(text)
	service.Spec.Selector = backendLabels(spec.Selector)
	return nil
}

// balancerOf returns the load balancer that a Service is, without backends.
func balancerOf(service *corev1.Service) (cloud.LoadBalancer, error) {
	spec, err := specIn(service)
	found := cloud.LoadBalancer{LoadBalancerSpec: spec}
	if err != nil {
		return found, err
	}
	found.Address = addressOf(service)
	switch {
	case !service.DeletionTimestamp.IsZero():
		found.Message = "the load balancer is being deleted"
	case found.Address == "":
		found.Message = fmt.Sprintf("Service %s/%s has no address yet", service.Namespace, service.Name)
	case !slices.Contains(addressesOf(service), found.Address):
		found.Message = fmt.Sprintf("Service %s/%s no longer has the address %s", service.Namespace, service.Name, found.Address)
	default:
		found.Ready = true
	}
	return found, nil
}

// specIn returns the load balancer that a Service or a holder belongs to.
func specIn(object metav1.Object) (cloud.LoadBalancerSpec, error) {
	spec := cloud.LoadBalancerSpec{}
	if err := json.Unmarshal([]byte(object.GetAnnotations()[loadBalancerAnnotation]), &spec); err != nil {
		return spec, &cloud.UnavailableError{Message: fmt.Sprintf("%s/%s, annotation %s: %v", object.GetNamespace(), object.GetName(), loadBalancerAnnotation, err)}
	}
	return spec, nil
}

// recordAddress makes a Service keep the first address that it gets: a controller may publish several,
// and change their order. It reports whether it has changed the Service.
func recordAddress(service *corev1.Service) bool {
	address := addressOf(service)
	if address == service.Annotations[addressAnnotation] {
		return false
	}
	metav1.SetMetaDataAnnotation(&service.ObjectMeta, addressAnnotation, address)
	return true
}

// addressOf returns the recorded address of a load balancer or, if there is none, the one to record.
func addressOf(service *corev1.Service) string {
	address := service.Annotations[addressAnnotation]
	if found := addressesOf(service); address == "" && len(found) > 0 {
		address = found[0]
	}
	return address
}

// addressesOf returns all addresses that a Service has now.
func addressesOf(service *corev1.Service) []string {
	if service.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return []string{service.Spec.ClusterIP}
	}
	var found []string
	for _, ingress := range service.Status.LoadBalancer.Ingress {
		for _, address := range []string{ingress.IP, ingress.Hostname} {
			if address != "" {
				found = append(found, address)
			}
		}
	}
	return found
}

func (c *Cloud) withBackends(ctx context.Context, service *corev1.Service) (cloud.LoadBalancer, error) {
	found, err := balancerOf(service)
	if err != nil {
		return found, err
	}
	pods, err := c.listPods(ctx, found.Selector, nil)
	if err != nil {
		return found, err
	}
	found.Backends = backends(readable(ctx, pods), found.Selector)
	if len(found.Backends) > 0 || !found.Ready {
		return found, nil
	}
	starts, err := c.holderStarts(ctx, service)
	if starts {
		found.Ready, found.Message = false, fmt.Sprintf("Pod %s/%s, which holds connections until there is a backend, is starting", service.Namespace, service.Name)
	}
	return found, err
}

// backends returns the instances that carry the tags and can be reached.
func backends(instances []cloud.Instance, tags cloud.Tags) []cloud.Backend {
	var found []cloud.Backend
	for _, one := range instances {
		if one.Address != "" && !one.State.Terminal() && one.Tags.Contains(tags) {
			found = append(found, cloud.Backend{InstanceID: one.ID, Address: one.Address, Draining: one.Draining})
		}
	}
	return sortedBy(found, func(b cloud.Backend) string { return b.InstanceID })
}

// GetLoadBalancer implements cloud.LoadBalancers.
func (c *Cloud) GetLoadBalancer(ctx context.Context, name string) (cloud.LoadBalancer, error) {
	service, err := c.services().Get(ctx, serviceObject(name), metav1.GetOptions{})
	if isGone(err) {
		return cloud.LoadBalancer{}, c.missing(ctx, cloud.KindLoadBalancer, name)
	}
	if err != nil {
		return cloud.LoadBalancer{}, c.translate(err)
	}
	return c.withBackends(ctx, service)
}

// ListLoadBalancers implements cloud.LoadBalancers.
func (c *Cloud) ListLoadBalancers(ctx context.Context, tags cloud.Tags) ([]cloud.LoadBalancer, error) {
	services, err := c.services().List(ctx, metav1.ListOptions{LabelSelector: selector(kindLoadBalancer, tags, nil)})
	if err != nil {
		return nil, c.translate(err)
	}
	pods, err := c.listPods(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	instances := readable(ctx, pods)
	var found []cloud.LoadBalancer
	for i := range services.Items {
		one, err := balancerOf(&services.Items[i])
		if err != nil {
			return nil, err
		}
		one.Backends = backends(instances, one.Selector)
		if one.Tags.Contains(tags) {
			found = append(found, one)
		}
	}
	return sortedBy(found, func(b cloud.LoadBalancer) string { return b.Name }), nil
}

// DeleteLoadBalancer implements cloud.LoadBalancers.
func (c *Cloud) DeleteLoadBalancer(ctx context.Context, name string) error {
	err := c.pods().Delete(ctx, serviceObject(name), metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(1))})
	if err != nil && !isGone(err) {
		return c.translate(err)
	}
	err = c.services().Delete(ctx, serviceObject(name), metav1.DeleteOptions{})
	if isGone(err) {
		return c.missing(ctx, cloud.KindLoadBalancer, name)
	}
	return c.translate(err)
}
