// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package clusteridentity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"sigs.k8s.io/cluster-api/util"
	"sigs.k8s.io/cluster-api/util/conditions"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/controllers/internal/cloudfault"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
)

// state is what a reconcile observes before it decides.
type state struct {
	identity *infrav1.FooClusterIdentity
	// users names the FooClusters that reference the identity.
	users []string
	// checked is the result of checking the credentials: an error from the cloud or about the
	// Secret.
	checked error
	// secrets holds the metadata of the Secret that the identity names, if it exists, and of the
	// Secrets that the identity held before.
	secrets []metav1.PartialObjectMetadata
	// identities holds the UIDs of all existing identities.
	identities map[types.UID]struct{}
}

// observe checks the credentials even of an identity that is being deleted: its users need them to
// delete what they have in the cloud.
func (r *reconciler) observe(ctx context.Context, identity *infrav1.FooClusterIdentity) (*state, error) {
	s := &state{identity: identity, checked: r.checker.Check(ctx, identity), identities: map[types.UID]struct{}{}}
	all := &infrav1.FooClusterIdentityList{}
	if err := r.client.List(ctx, all); err != nil {
		return nil, fmt.Errorf("listing FooClusterIdentities: %w", err)
	}
	for i := range all.Items {
		s.identities[all.Items[i].UID] = struct{}{}
	}
	held := &metav1.PartialObjectMetadataList{}
	held.SetGroupVersionKind(secretMetadata().GroupVersionKind())
	if err := r.cached.List(ctx, held, client.MatchingFields{ownerIndex: identity.Name}); err != nil {
		return nil, fmt.Errorf("listing the Secrets of FooClusterIdentity %s: %w", identity.Name, err)
	}
	named := secretMetadata()
	if err := r.client.Get(ctx, credentials(identity), named); client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("getting Secret %s: %w", credentials(identity), err)
	}
	for _, secret := range held.Items {
		if client.ObjectKeyFromObject(&secret) != credentials(identity) {
			s.secrets = append(s.secrets, secret)
		}
	}
	if named.UID != "" {
		s.secrets = append(s.secrets, *named)
	}
	var err error
	s.users, err = r.usersBeforeRelease(ctx, identity, named)
	return s, err
}

// usersBeforeRelease confirms with the API server that there are no users before anything is
// released. The cache may not show recently created users yet, and shows nothing outside the
// namespace that a manager is restricted to.
func (r *reconciler) usersBeforeRelease(ctx context.Context, identity *infrav1.FooClusterIdentity, named *metav1.PartialObjectMetadata) ([]string, error) {
	found, err := users(ctx, r.client, identity)
	deleted := !identity.DeletionTimestamp.IsZero() || !named.DeletionTimestamp.IsZero()
	if err == nil && len(found) == 0 && deleted {
		return users(ctx, r.live, identity)
	}
	return found, err
}

// users names the FooClusters that reference an identity.
func users(ctx context.Context, reader client.Reader, identity *infrav1.FooClusterIdentity) ([]string, error) {
	fooClusters, err := cloudidentity.FooClustersOf(ctx, reader, identity.Name)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(fooClusters))
	for i := range fooClusters {
		names = append(names, client.ObjectKeyFromObject(&fooClusters[i]).String())
	}
	return names, nil
}

// decision is what to do with the Secrets, and what to report.
type decision struct {
	// release is true if the identity is being deleted and nothing uses it any more, so it and its
	// Secret may be deleted.
	release bool
	// secrets holds the Secrets that change, in their desired state.
	secrets []metav1.PartialObjectMetadata
	ready   metav1.Condition
}

// decide returns what to do next. A Secret in use stays, like the identity itself: without it, what
// the identity's users have in the cloud could be neither found nor deleted, for example after the
// whole namespace was deleted.
func decide(s *state) decision {
	d := decision{release: !s.identity.DeletionTimestamp.IsZero() && len(s.users) == 0, ready: ready(s)}
	var unusable *cloudidentity.SecretError
	for _, secret := range s.secrets {
		wanted := *secret.DeepCopy()
		owner := metav1.OwnerReference{
			APIVersion: infrav1.GroupVersion.String(), Kind: "FooClusterIdentity", Name: s.identity.Name, UID: s.identity.UID,
		}
		switch {
		case client.ObjectKeyFromObject(&secret) != credentials(s.identity):
			s.release(&wanted)
			wanted.OwnerReferences = util.RemoveOwnerRef(wanted.OwnerReferences, owner)
		case d.release, errors.As(s.checked, &unusable), !secret.DeletionTimestamp.IsZero() && len(s.users) == 0:
			s.release(&wanted)
		case secret.DeletionTimestamp.IsZero():
			controllerutil.AddFinalizer(&wanted, infrav1.FooClusterIdentityFinalizer)
			wanted.OwnerReferences = util.EnsureOwnerRef(wanted.OwnerReferences, owner)
		}
		if !equality.Semantic.DeepEqual(wanted, secret) {
			d.secrets = append(d.secrets, wanted)
		}
	}
	return d
}

// release gives up a Secret. If another identity also owns it, release removes only this identity's
// owner reference, and the last owner removes the finalizer.
func (s *state) release(secret *metav1.PartialObjectMetadata) {
	isOther := func(owner metav1.OwnerReference) bool {
		_, exists := s.identities[owner.UID]
		return exists && owner.UID != s.identity.UID
	}
	if slices.ContainsFunc(secret.OwnerReferences, isOther) {
		secret.OwnerReferences = slices.DeleteFunc(secret.OwnerReferences, func(owner metav1.OwnerReference) bool { return owner.UID == s.identity.UID })
		return
	}
	controllerutil.RemoveFinalizer(secret, infrav1.FooClusterIdentityFinalizer)
}

func ready(s *state) metav1.Condition {
	c := metav1.Condition{
		Type: infrav1.FooClusterIdentityReadyCondition, Status: metav1.ConditionFalse, ObservedGeneration: s.identity.Generation,
	}
	var unusable *cloudidentity.SecretError
	switch fault := cloudfault.Of(s.checked); {
	case !s.identity.DeletionTimestamp.IsZero():
		c.Reason, c.Message = infrav1.FooClusterIdentityDeletingReason, "Waiting for the FooClusters that use it: "+strings.Join(s.users, ", ")
	case errors.As(s.checked, &unusable):
		c.Reason, c.Message = unusable.Reason, unusable.Message
	case !fault.IsZero():
		c.Reason, c.Message = fault.Reason, fault.Message
	default:
		c.Status, c.Reason = metav1.ConditionTrue, infrav1.FooClusterIdentityReadyReason
	}
	return c
}

// apply updates the Secrets. clusterctl then moves the Secret in use with the identity, and nobody
// can delete it too early.
func (r *reconciler) apply(ctx context.Context, s *state, d decision) error {
	for i := range d.secrets {
		wanted := &d.secrets[i]
		before := secretMetadata()
		for j := range s.secrets {
			if s.secrets[j].UID == wanted.UID {
				before = &s.secrets[j]
			}
		}
		err := r.client.Patch(ctx, wanted, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("changing the owner and the finalizer of Secret %s: %w", client.ObjectKeyFromObject(before), err)
		}
	}
	if d.release {
		r.checker.Forget(s.identity.Name)
		controllerutil.RemoveFinalizer(s.identity, infrav1.FooClusterIdentityFinalizer)
	}
	return nil
}

// setStatus sets the whole status.
func setStatus(s *state, d decision) {
	s.identity.Status.ObservedGeneration = s.identity.Generation
	conditions.Set(s.identity, d.ready)
}
