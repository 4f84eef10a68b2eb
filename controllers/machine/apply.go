// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/cloudfault"
)

// secretRetry is how soon to look again for bootstrap data that is missing. Secrets are not
// watched.
const secretRetry = 5 * time.Second

// outcome is the result of applying a decision.
type outcome struct {
	knowledge

	// wait is why no instance is ordered yet.
	wait waiting
	// gone is true if nothing is left in the cloud.
	gone bool
	// err is an error that did not come from the cloud.
	err error
}

func (o outcome) result() (ctrl.Result, error) {
	if o.err != nil {
		return ctrl.Result{}, o.err
	}
	if !o.fault.IsZero() {
		return o.fault.Result()
	}
	return ctrl.Result{RequeueAfter: o.wait.retry}, nil
}

// apply carries out the decision. In the FooMachine it changes only the provider ID and the
// finalizer.
func (r *reconciler) apply(ctx context.Context, c cloud.Instances, s *state, d decision) outcome {
	switch d.action {
	case keep:
		return outcome{knowledge: s.knowledge}
	case hold:
		return outcome{wait: d.wait}
	case createInstance:
		return r.createInstance(ctx, c, s, d)
	case drainInstance:
		return outcome{knowledge: drain(ctx, c, *s.instance)}
	case deleteInstance:
		return remove(ctx, c, s)
	case release:
		return released(s)
	}
	return outcome{}
}

// createInstance writes the provider ID as soon as the instance is ordered. From then on, no other
// instance is ever ordered.
func (r *reconciler) createInstance(ctx context.Context, c cloud.Instances, s *state, d decision) outcome {
	userData, wait, err := r.userData(ctx, d.secret)
	if wait.reason != "" {
		return outcome{wait: wait, err: err}
	}
	spec := d.instance
	spec.UserData = userData
	instance, err := c.EnsureInstance(ctx, spec)
	if err == nil && instance.State == cloud.InstanceDeleting {
		// It belongs to an earlier FooMachine of this name. If adopted, it would soon be lost and
		// never be created again.
		err = &cloud.UnavailableError{Message: "the earlier instance " + instance.Name + " is still being deleted"}
	}
	if err != nil {
		return outcome{knowledge: knowledge{fault: cloudfault.Of(err)}}
	}
	s.fooMachine.Spec.ProviderID = instance.ProviderID
	return outcome{knowledge: knowledge{instance: &instance}}
}

// userData reads the bootstrap data, or returns what it waits for.
func (r *reconciler) userData(ctx context.Context, key types.NamespacedName) ([]byte, waiting, error) {
	wait := waiting{reason: infrav1.FooMachineWaitingForBootstrapDataReason, retry: secretRetry}
	secret := &corev1.Secret{}
	err := r.live.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		wait.message = fmt.Sprintf("The Secret %s with the bootstrap data does not exist", key)
		return nil, wait, nil
	}
	if err != nil {
		wait.message = fmt.Sprintf("The Secret %s with the bootstrap data cannot be read", key)
		return nil, wait, fmt.Errorf("getting the Secret %s with the bootstrap data: %w", key, err)
	}
	if len(secret.Data["value"]) == 0 {
		wait.message = fmt.Sprintf(`The Secret %s has no bootstrap data: data["value"] is empty`, key)
		return nil, wait, nil
	}
	if format := string(secret.Data["format"]); format != "" && format != "cloud-config" {
		wait.message = fmt.Sprintf("The Secret %s has bootstrap data in format %q, allowed: cloud-config", key, format)
		return nil, wait, nil
	}
	return secret.Data["value"], waiting{}, nil
}

func drain(ctx context.Context, c cloud.Instances, instance cloud.Instance) knowledge {
	err := c.DrainInstance(ctx, instance.ID)
	if cloud.IsNotFound(err) {
		return knowledge{lost: true}
	}
	if err != nil {
		return knowledge{instance: &instance, fault: cloudfault.Of(err)}
	}
	instance.Draining = true
	return knowledge{instance: &instance}
}

// remove is called until the cloud reports that the instance is gone; a cloud event triggers the
// next call.
func remove(ctx context.Context, c cloud.Instances, s *state) outcome {
	err := c.DeleteInstance(ctx, s.instance.ID)
	if cloud.IsNotFound(err) {
		return released(s)
	}
	instance := *s.instance
	if err == nil {
		instance.State = cloud.InstanceDeleting
	}
	return outcome{knowledge: knowledge{instance: &instance, fault: cloudfault.Of(err)}}
}

func released(s *state) outcome {
	controllerutil.RemoveFinalizer(s.fooMachine, infrav1.FooMachineFinalizer)
	return outcome{gone: true}
}
