// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	jsonpatch "github.com/evanphx/json-patch/v5"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	conversionutil "sigs.k8s.io/cluster-api/util/conversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// SpokeDataAnnotation holds, on a hub object, what was given in v1beta1 and does not fit into the
// hub, such as a namespace in a reference or a fraction of a second. It is used only as long as
// nobody has changed the field that it belongs to.
const SpokeDataAnnotation = "cluster.x-k8s.io/conversion-data-v1beta1"

// object is a pointer to the type of a kind.
type object[T any] interface {
	*T
	client.Object
	metav1.ObjectMetaAccessor
}

// part is a field of a kind, spec or status, that is converted separately.
type part[H, S any] struct {
	name string
	// hub and spoke return pointers to the field.
	hub   func(*H) any
	spoke func(*S) any
	// down writes the spoke's field from the hub, regardless of its previous value.
	down func(context.Context, *H, *S) error
	// up writes the hub's field from the spoke over its previous value. What the spoke does not
	// know stays.
	up func(context.Context, *S, *H) error
	// computed means that whatever the spoke has beyond the hub is computed from the hub, so
	// none of it is kept.
	computed bool
}

// converter converts a kind between the hub and a spoke.
type converter[H, S any, PH object[H], PS object[S]] []part[H, S]

// toSpoke is a function for conversion.NewSpokeConverter.
func (c converter[H, S, PH, PS]) toSpoke(ctx context.Context, src PH, dst PS) error {
	copyMeta(src, dst)
	given := takeSpokeData(dst)
	hub, spoke := (*H)(src), (*S)(dst)
	for _, p := range c {
		if err := p.down(ctx, hub, spoke); err != nil {
			return fmt.Errorf("converting %s: %w", p.name, err)
		}
		if err := p.restore(spoke, given[p.name]); err != nil {
			return fmt.Errorf("converting %s: %w", p.name, err)
		}
	}
	fits, err := c.fits(ctx, hub, spoke)
	if err != nil || fits {
		return err
	}
	return conversionutil.MarshalData(src, dst)
}

// fits reports whether the hub can be restored from the spoke's fields alone.
func (c converter[H, S, PH, PS]) fits(ctx context.Context, hub *H, spoke *S) (bool, error) {
	again := new(H)
	for _, p := range c {
		if err := p.up(ctx, spoke, again); err != nil {
			return false, fmt.Errorf("converting %s back: %w", p.name, err)
		}
	}
	for _, p := range c {
		if same, err := sameJSON(p.hub(hub), p.hub(again)); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// toHub is a function for conversion.NewSpokeConverter.
func (c converter[H, S, PH, PS]) toHub(ctx context.Context, src PS, dst PH) error {
	// Start from the hub's fields as they were last read. The spoke's fields are written over
	// them.
	takeHubData[H](src, dst)
	copyMeta(src, dst)
	touched, err := c.touched(ctx, (*S)(src), (*H)(dst))
	if err != nil {
		return err
	}
	for _, p := range touched {
		if err := p.up(ctx, (*S)(src), (*H)(dst)); err != nil {
			return fmt.Errorf("converting %s: %w", p.name, err)
		}
	}
	return c.keepSpokeData(ctx, (*S)(src), dst)
}

// takeHubData removes the data from a spoke's annotations and reads the hub from it. As in
// takeSpokeData, data that somebody wrote by hand is not an error.
func takeHubData[H any, PH object[H]](spoke metav1.Object, hub PH) {
	kind := hub.GetObjectKind().GroupVersionKind()
	if _, err := conversionutil.UnmarshalData(spoke, hub); err != nil {
		*hub = *new(H)
		delete(spoke.GetAnnotations(), conversionutil.DataAnnotation)
	}
	hub.GetObjectKind().SetGroupVersionKind(kind)
}

// touched returns the parts that have changed since they were read. The others stay as they are,
// which is exact.
func (c converter[H, S, PH, PS]) touched(ctx context.Context, spoke *S, hub *H) (converter[H, S, PH, PS], error) {
	var result converter[H, S, PH, PS]
	read := new(S)
	for _, p := range c {
		if err := p.down(ctx, hub, read); err != nil {
			return nil, fmt.Errorf("converting %s as it was: %w", p.name, err)
		}
		same, err := sameJSON(p.spoke(read), p.spoke(spoke))
		if err != nil {
			return nil, err
		}
		if !same {
			result = append(result, p)
		}
	}
	return result, nil
}

// keepSpokeData annotates the hub with what it cannot hold from the spoke.
func (c converter[H, S, PH, PS]) keepSpokeData(ctx context.Context, spoke *S, hub PH) error {
	again, data := new(S), spokeData{}
	for _, p := range c {
		if err := p.down(ctx, (*H)(hub), again); err != nil {
			return fmt.Errorf("converting %s back: %w", p.name, err)
		}
		if p.computed {
			continue
		}
		if err := data.add(p.name, p.spoke(again), p.spoke(spoke)); err != nil {
			return fmt.Errorf("converting %s: %w", p.name, err)
		}
	}
	return data.annotate(hub)
}

// spokeData holds, for each part, what the hub cannot hold.
type spokeData map[string]spokeDifference

// spokeDifference is the difference between what was given for a part and what the hub converts to.
type spokeDifference struct {
	// Of identifies the value that the hub converts to. The difference is valid only for that
	// value.
	Of string `json:"of"`
	// Patch is a JSON merge patch from that to what was given.
	Patch json.RawMessage `json:"patch"`
}

func (d spokeData) add(name string, made, given any) error {
	madeJSON, err := json.Marshal(made)
	if err != nil {
		return err
	}
	givenJSON, err := json.Marshal(given)
	if err != nil || bytes.Equal(madeJSON, givenJSON) {
		return err
	}
	patch, err := jsonpatch.CreateMergePatch(madeJSON, givenJSON)
	if err != nil {
		return err
	}
	d[name] = spokeDifference{Of: digest(madeJSON), Patch: patch}
	return nil
}

// annotate sets the annotation on the hub, or removes an old one if there is no data.
func (d spokeData) annotate(hub metav1.Object) error {
	annotations := hub.GetAnnotations()
	if len(d) == 0 {
		delete(annotations, SpokeDataAnnotation)
		return nil
	}
	data, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[SpokeDataAnnotation] = string(data)
	hub.SetAnnotations(annotations)
	return nil
}

// takeSpokeData removes the data from the annotations that were copied to a spoke, and returns it.
func takeSpokeData(spoke metav1.Object) spokeData {
	annotations := spoke.GetAnnotations()
	text, found := annotations[SpokeDataAnnotation]
	if !found {
		return nil
	}
	delete(annotations, SpokeDataAnnotation)
	data := spokeData{}
	if json.Unmarshal([]byte(text), &data) != nil {
		// Somebody wrote the annotation by hand. An error would fail every list of the
		// kind, for a detail that nobody needs.
		return nil
	}
	return data
}

// restore writes what was given into the spoke's field, if the hub still converts to the same value
// as it did then.
func (p part[H, S]) restore(spoke *S, difference spokeDifference) error {
	if difference.Of == "" {
		return nil
	}
	field := p.spoke(spoke)
	made, err := json.Marshal(field)
	if err != nil || digest(made) != difference.Of {
		return err
	}
	fresh := p.spoke(new(S))
	// As in takeSpokeData, a patch that somebody wrote by hand is not an error.
	if given, err := jsonpatch.MergePatch(made, difference.Patch); err == nil && json.Unmarshal(given, fresh) == nil {
		reflect.ValueOf(field).Elem().Set(reflect.ValueOf(fresh).Elem())
	}
	return nil
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}

func sameJSON(a, b any) (bool, error) {
	left, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	right, err := json.Marshal(b)
	return bytes.Equal(left, right), err
}

// copyMeta copies the metadata but clones the annotations, because conversion changes them.
func copyMeta(src, dst metav1.ObjectMetaAccessor) {
	from, fromOK := src.GetObjectMeta().(*metav1.ObjectMeta)
	to, toOK := dst.GetObjectMeta().(*metav1.ObjectMeta)
	if fromOK && toOK {
		*to = *from
		to.Annotations = maps.Clone(from.Annotations)
	}
}
