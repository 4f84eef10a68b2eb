// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
)

// EnsureInstance implements cloud.Instances.
func (c *Cloud) EnsureInstance(ctx context.Context, spec cloud.InstanceSpec) (cloud.Instance, error) {
	existing, err := c.existing(ctx, spec.Name)
	if err != nil {
		return cloud.Instance{}, err
	}
	if existing != nil {
		return *existing, rules.SameInstance(*existing, spec)
	}
	offered, err := c.catalog(ctx)
	if err != nil {
		return cloud.Instance{}, err
	}
	if err := cmp.Or(offered.Instance(spec), checkUserData("userData", spec.UserData)); err != nil {
		return cloud.Instance{}, err
	}
	port, err := c.expectBackend(ctx, spec.Tags)
	if err != nil {
		return cloud.Instance{}, err
	}
	if spec.Zone == "" {
		// Until the instance exists, the next order would not count it.
		c.choosing.Lock()
		defer c.choosing.Unlock()
		if spec.Zone, err = c.emptiestZone(ctx, offered, spec); err != nil {
			return cloud.Instance{}, err
		}
	}
	return c.create(ctx, offered, order{newRecord(spec, offered), spec.UserData, port})
}

// existing returns the instance with this name, or nil.
func (c *Cloud) existing(ctx context.Context, name string) (*cloud.Instance, error) {
	pod, err := c.pods().Get(ctx, objectName(name), metav1.GetOptions{})
	if isGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, c.translate(err)
	}
	found, err := named(pod, name)
	return &found, err
}

// named returns the instance that a Pod is, which must have this name.
func named(pod *corev1.Pod, name string) (cloud.Instance, error) {
	found, err := instanceOf(pod)
	if err == nil && found.Name != name {
		err = &cloud.InvalidError{Field: "name", Value: name, Problem: fmt.Sprintf("Pod %s belongs to another instance, %s", pod.Name, found.Name)}
	}
	return found, err
}

// emptiestZone returns the zone for an instance that may be in several.
func (c *Cloud) emptiestZone(ctx context.Context, offered *catalog, spec cloud.InstanceSpec) (string, error) {
	zones, err := offered.choices(spec.Zones, spec.Type)
	if err != nil {
		return "", err
	}
	pods, err := c.labelledPods(ctx, spec.Spread, nil)
	if err != nil {
		return "", err
	}
	spread := rules.Spread{}
	for _, peer := range readable(ctx, pods) {
		if peer.Tags.Contains(spec.Spread) {
			spread.Add(&peer)
		}
	}
	return spread.Emptiest(zones), nil
}

// readable returns the instances that Pods are, without those whose record is damaged. Use it only
// where it does no harm if an instance is missing.
func readable(ctx context.Context, pods []corev1.Pod) []cloud.Instance {
	var found []cloud.Instance
	for i := range pods {
		one, err := instanceOf(&pods[i])
		if err != nil {
			klog.FromContext(ctx).Error(err, "Instance cannot be read")
			continue
		}
		found = append(found, one)
	}
	return found
}

// order is what an instance is created from.
type order struct {
	record   cloud.Instance
	userData []byte
	// backendPort is the port that a load balancer will send connections to; 0 if none will.
	backendPort int32
}

// create creates an instance, or returns the one that someone else has created meanwhile. Its user
// data comes first, since a Pod without it would never start. It belongs to the Pod as soon as that
// exists, so the outer cluster deletes it with the Pod.
func (c *Cloud) create(ctx context.Context, offered *catalog, ordered order) (cloud.Instance, error) {
	record := ordered.record
	pod, err := newPod(offered, record)
	if err != nil {
		return cloud.Instance{}, err
	}
	if ordered.backendPort != 0 {
		makeBackend(pod, ordered.backendPort)
	}
	if err := c.storeUserData(ctx, pod.Name, ordered.userData); err != nil {
		return cloud.Instance{}, err
	}
	made, err := c.pods().Create(ctx, pod, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		// The Secret belongs to the existing Pod, and has just lost its owner reference.
		made, err = c.pods().Get(ctx, pod.Name, metav1.GetOptions{})
		if isGone(err) {
			return cloud.Instance{}, &cloud.UnavailableError{Message: fmt.Sprintf("instance %s was deleted while it was created", record.Name)}
		}
	}
	if err != nil {
		return cloud.Instance{}, c.translate(err) // the next order replaces the user data, or sweep deletes it
	}
	if err := c.ownUserData(ctx, made); err != nil {
		return cloud.Instance{}, err
	}
	return named(made, record.Name)
}

// storeUserData creates the Secret that a Pod mounts, or replaces one whose Pod was never created.
func (c *Cloud) storeUserData(ctx context.Context, pod string, userData []byte) error {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: pod, Labels: map[string]string{kindLabel: kindUserData},
			Annotations: map[string]string{storedAnnotation: time.Now().UTC().Format(time.RFC3339)},
		},
		Data: map[string][]byte{userDataKey: userData},
	}
	_, err := c.secrets().Create(ctx, secret, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = c.secrets().Update(ctx, secret, metav1.UpdateOptions{})
	}
	return c.translate(err)
}

// ownUserData makes a Pod the owner of its user data.
func (c *Cloud) ownUserData(ctx context.Context, pod *corev1.Pod) error {
	owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}
	return c.merge(ctx, "secrets", pod.Name, map[string]any{"metadata": map[string]any{"ownerReferences": []metav1.OwnerReference{owner}}})
}

// GetInstance implements cloud.Instances.
func (c *Cloud) GetInstance(ctx context.Context, id string) (cloud.Instance, error) {
	_, found, err := c.find(ctx, id)
	return found, err
}

// find returns the Pod of an instance, and the instance.
func (c *Cloud) find(ctx context.Context, id string) (*corev1.Pod, cloud.Instance, error) {
	name := podOf(id)
	if name == "" {
		return nil, cloud.Instance{}, c.missing(ctx, cloud.KindInstance, id)
	}
	pod, err := c.pods().Get(ctx, name, metav1.GetOptions{})
	if isGone(err) {
		return nil, cloud.Instance{}, c.missing(ctx, cloud.KindInstance, id)
	}
	if err != nil {
		return nil, cloud.Instance{}, c.translate(err)
	}
	found, err := instanceOf(pod)
	if err == nil && found.ID != id { // a later instance of the same name
		err = &cloud.NotFoundError{Kind: cloud.KindInstance, Name: id}
	}
	return pod, found, err
}

// ListInstances implements cloud.Instances.
func (c *Cloud) ListInstances(ctx context.Context, filter cloud.InstanceFilter) ([]cloud.Instance, error) {
	more := map[string]string{}
	if filter.Name != "" {
		more[nameLabel] = hash(filter.Name)
	}
	if filter.Pool != "" {
		more[poolLabel] = hash(filter.Pool)
	}
	pods, err := c.listPods(ctx, filter.Tags, more)
	if err == nil {
		err = c.stays(ctx)
	}
	if err != nil {
		return nil, err
	}
	var found []cloud.Instance
	for i := range pods {
		one, err := instanceOf(&pods[i])
		if err != nil {
			return nil, err
		}
		if filter.Matches(one) {
			found = append(found, one)
		}
	}
	return sortedBy(found, func(i cloud.Instance) string { return i.Name }), nil
}

// listPods returns the Pods of instances that have the tags and the labels. That there are none
// counts only in a namespace that is set up for Foo.
func (c *Cloud) listPods(ctx context.Context, tags cloud.Tags, more map[string]string) ([]corev1.Pod, error) {
	pods, err := c.labelledPods(ctx, tags, more)
	if err == nil && len(pods) == 0 {
		return nil, c.verify(ctx)
	}
	return pods, err
}

func (c *Cloud) labelledPods(ctx context.Context, tags cloud.Tags, more map[string]string) ([]corev1.Pod, error) {
	pods, err := c.pods().List(ctx, metav1.ListOptions{LabelSelector: selector(kindInstance, tags, more)})
	if err != nil {
		return nil, c.translate(err)
	}
	return pods.Items, nil
}

// DeleteInstance implements cloud.Instances. An instance leaves its pool before its Pod is deleted,
// so that the pool does not replace it. A Pod that is being deleted already, for example because its
// Node is lost, is replaced.
func (c *Cloud) DeleteInstance(ctx context.Context, id string) error {
	pod, found, err := c.find(ctx, id)
	if err != nil {
		return err
	}
	if isDeleting(pod) {
		return nil
	}
	if found.Pool != "" {
		if err := c.leavePool(ctx, found); err != nil {
			return err
		}
	}
	return c.deletePod(ctx, pod)
}

// deletePod deletes exactly this Pod, and its user data.
func (c *Cloud) deletePod(ctx context.Context, pod *corev1.Pod) error {
	err := c.pods().Delete(ctx, pod.Name, *metav1.NewPreconditionDeleteOptions(string(pod.UID)))
	if err != nil && !isGone(err) && !apierrors.IsConflict(err) {
		return c.translate(err)
	}
	return c.deleteUserData(ctx, pod)
}

// deleteUserData deletes the user data of a Pod. A later Pod may own the Secret of this name, and would
// never start without it.
func (c *Cloud) deleteUserData(ctx context.Context, pod *corev1.Pod) error {
	secret, err := c.secrets().Get(ctx, pod.Name, metav1.GetOptions{})
	if err == nil && slices.ContainsFunc(secret.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.UID == pod.UID }) {
		err = c.secrets().Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &secret.UID, ResourceVersion: &secret.ResourceVersion}})
	}
	if isGone(err) || apierrors.IsConflict(err) {
		return nil
	}
	return c.translate(err)
}
