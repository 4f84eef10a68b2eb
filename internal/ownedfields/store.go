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

package ownedfields

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ErrGone is returned by Keep for an object that is not there any more.
var ErrGone = errors.New("the object is gone")

// maxKnown bounds what is remembered: three objects with two parts of each of 10000 Machines. What is forgotten costs a read.
const maxKnown = 60000

// Store writes parts, and remembers what it has seen to be written, so that an object at rest costs no request. The zero
// value is not usable. It is safe for concurrent use.
type Store struct {
	live   client.Reader
	writer client.Client
	known  *lru.Cache
}

type key struct {
	object  types.UID
	manager string
}

// NewStore returns a store. The reader must give objects as the API server has them, managed fields included.
func NewStore(live client.Reader, writer client.Client) *Store {
	return &Store{live: live, writer: writer, known: lru.New(maxKnown)}
}

// Keep sees to it that an object has all that a part says, and nothing that the part has said before and says no more. The
// object may be an old one without managed fields. Keep returns the object as it was written, or nil if nothing had
// to be; and ErrGone if there is no such object any more.
func (s *Store) Keep(ctx context.Context, object *unstructured.Unstructured, part Part) (*unstructured.Unstructured, error) {
	hash, err := part.Hash()
	if err != nil {
		return nil, err
	}
	if s.knows(object.GetUID(), part.Manager, hash) && part.Met(object.Object) {
		return nil, nil
	}
	current, err := s.get(ctx, object)
	if err != nil {
		return nil, err
	}
	written, err := s.write(ctx, current, part)
	if apierrors.IsNotFound(err) {
		return nil, ErrGone
	}
	if err != nil {
		return nil, fmt.Errorf("applying %s to %s %s: %w", part.Manager, object.GetKind(), object.GetName(), err)
	}
	s.remember(object.GetUID(), part.Manager, hash)
	return written, nil
}

func (s *Store) knows(object types.UID, manager string, hash uint64) bool {
	known, ok := s.known.Get(key{object: object, manager: manager})
	return ok && known == hash
}

func (s *Store) remember(object types.UID, manager string, hash uint64) {
	s.known.Add(key{object: object, manager: manager}, hash)
}

func (s *Store) get(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	current := newObject(object.GroupVersionKind(), object)
	err := s.live.Get(ctx, client.ObjectKeyFromObject(object), current)
	if apierrors.IsNotFound(err) || err == nil && current.GetUID() != object.GetUID() {
		return nil, ErrGone
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return current, nil
}

func (s *Store) write(ctx context.Context, current *unstructured.Unstructured, part Part) (*unstructured.Unstructured, error) {
	stale, err := part.Stale(current.GetManagedFields())
	if err != nil {
		return nil, err
	}
	apply := stale || !part.Met(current.Object)
	var written *unstructured.Unstructured
	if apply || part.Takeover == TakeoverSaid {
		if written, err = s.handOver(ctx, current, part); err != nil {
			return nil, err
		}
	}
	if !apply {
		return written, nil
	}
	return s.apply(ctx, current, part)
}

func (s *Store) handOver(ctx context.Context, current *unstructured.Unstructured, part Part) (*unstructured.Unstructured, error) {
	managers, changed, err := part.HandOver(current.GetManagedFields())
	if err != nil || !changed {
		return nil, err
	}
	changedObject := current.DeepCopy()
	changedObject.SetManagedFields(managers)
	// The lock makes sure that the managed fields of somebody's write in between are not lost.
	patch := client.MergeFromWithOptions(current, client.MergeFromWithOptimisticLock{})
	if err := s.writer.Patch(ctx, changedObject, patch); err != nil {
		return nil, err
	}
	return changedObject, nil
}

func (s *Store) apply(ctx context.Context, current *unstructured.Unstructured, part Part) (*unstructured.Unstructured, error) {
	wanted := newObject(current.GroupVersionKind(), current)
	for name, value := range runtimeCopy(part.Fields) {
		if name == "metadata" {
			continue
		}
		wanted.Object[name] = value
	}
	metadata, _, err := unstructured.NestedMap(part.Fields, "metadata")
	if err != nil {
		return nil, err
	}
	for name, value := range metadata {
		if err := unstructured.SetNestedField(wanted.Object, value, "metadata", name); err != nil {
			return nil, err
		}
	}
	// The identity keeps the apply from making the object anew if it has just gone.
	wanted.SetUID(current.GetUID())
	err = s.writer.Apply(ctx, client.ApplyConfigurationFromUnstructured(wanted), client.FieldOwner(part.Manager), client.ForceOwnership)
	if apierrors.IsConflict(err) {
		return nil, ErrGone
	}
	if err != nil {
		return nil, err
	}
	return wanted, nil
}

func newObject(kind schema.GroupVersionKind, named client.Object) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	object.SetNamespace(named.GetNamespace())
	object.SetName(named.GetName())
	return object
}

func runtimeCopy(fields map[string]any) map[string]any {
	return (&unstructured.Unstructured{Object: fields}).DeepCopy().Object
}
