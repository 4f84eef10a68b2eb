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

package machine

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudfault"
)

// secretRetry is when to look again for a Secret that its Machine names but that is not there. Secrets are not watched.
const secretRetry = 5 * time.Second

// apply does what was decided and puts the cloud's answers into the scope. It returns errors that are not the cloud's.
func (r *reconciler) apply(ctx context.Context, s *scope, p plan) error {
	switch p.action {
	case keep:
	case hold:
		s.wait = p.wait
	case createInstance:
		return r.createInstance(ctx, s, p)
	case drainInstance:
		requestDrain(ctx, s)
	case deleteInstance:
		requestDeletion(ctx, s)
	case release:
		releaseFinalizer(s)
	}
	return nil
}

// createInstance writes the provider ID as soon as the instance is ordered, from when on no other is ever ordered.
//
//contract:infra-machine/provider-id
func (r *reconciler) createInstance(ctx context.Context, s *scope, p plan) error {
	userData, wait, err := r.userData(ctx, p.secret)
	if err != nil || wait.reason != "" {
		s.wait = wait
		return err
	}
	spec := p.instance
	spec.UserData = userData
	instance, err := s.cloud.EnsureInstance(ctx, spec)
	if err != nil {
		s.fault = cloudfault.Of(err)
		return nil
	}
	if instance.State == cloud.InstanceDeleting {
		// One of an earlier FooMachine of this name: taken over, it would be lost in a moment, and never made again.
		s.fault = cloudfault.Of(&cloud.UnavailableError{Message: "the earlier instance " + instance.Name + " is still being deleted"})
		return nil
	}
	s.instance = &instance
	s.fooMachine.Spec.ProviderID = instance.ProviderID
	return nil
}

func (r *reconciler) userData(ctx context.Context, key types.NamespacedName) ([]byte, waiting, error) {
	wait := waiting{reason: infrav1.FooMachineWaitingForBootstrapDataReason, retry: secretRetry}
	secret := &corev1.Secret{}
	err := r.secrets.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		wait.message = fmt.Sprintf("the Secret %s with the bootstrap data does not exist", key)
		return nil, wait, nil
	}
	if err != nil {
		return nil, wait, fmt.Errorf("get the Secret %s with the bootstrap data: %w", key, err)
	}
	if len(secret.Data["value"]) == 0 {
		wait.message = fmt.Sprintf("the Secret %s has no bootstrap data under the key value", key)
		return nil, wait, nil
	}
	if format := string(secret.Data["format"]); format != "" && format != "cloud-config" {
		wait.message = fmt.Sprintf("the Secret %s has bootstrap data of format %q, allowed: cloud-config", key, format)
		return nil, wait, nil
	}
	return secret.Data["value"], waiting{}, nil
}

func requestDrain(ctx context.Context, s *scope) {
	err := s.cloud.DrainInstance(ctx, s.instance.ID)
	switch {
	case cloud.IsNotFound(err):
		s.instance, s.lost = nil, true
	case err != nil:
		s.fault = cloudfault.Of(err)
	default:
		s.instance.Draining = true
	}
}

// requestDeletion is called until the cloud says that the instance is gone; an event of the cloud tells when to ask.
func requestDeletion(ctx context.Context, s *scope) {
	err := s.cloud.DeleteInstance(ctx, s.instance.ID)
	switch {
	case cloud.IsNotFound(err):
		releaseFinalizer(s)
	case err != nil:
		s.fault = cloudfault.Of(err)
	default:
		s.instance.State = cloud.InstanceDeleting
	}
}

func releaseFinalizer(s *scope) {
	s.gone = true
	controllerutil.RemoveFinalizer(s.fooMachine, infrav1.FooMachineFinalizer)
}
