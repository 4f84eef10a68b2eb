// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	jsonpatch "github.com/evanphx/json-patch/v5"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apimachineryconversion "k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	conversionutil "sigs.k8s.io/cluster-api/util/conversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

// spokeDataAnnotation holds, on a hub object, what was given in the spec of v1beta1 and does not
// fit into the hub, such as a namespace in a reference or a fraction of a second. It is used only
// as long as nobody has changed the spec.
const spokeDataAnnotation = "cluster.x-k8s.io/conversion-data-v1beta1"

// object is a pointer to the type of a kind.
type object[T any] interface {
	*T
	client.Object
}

// kind converts the objects of a kind between the hub and a spoke.
type kind[H, S any, PH object[H], PS object[S]] struct {
	// down and up write the metadata and all fields that both versions have to an empty object.
	down func(*H, *S, apimachineryconversion.Scope) error
	up   func(*S, *H, apimachineryconversion.Scope) error
}

func newKind[H, S any, PH object[H], PS object[S]](
	down func(*H, *S, apimachineryconversion.Scope) error, up func(*S, *H, apimachineryconversion.Scope) error,
) kind[H, S, PH, PS] {
	return kind[H, S, PH, PS]{down: down, up: up}
}

func (k kind[H, S, PH, PS]) converter() func(*runtime.Scheme) (conversion.Converter, error) {
	return conversion.NewHubSpokeConverter(PH(new(H)), conversion.NewSpokeConverter(PS(new(S)), k.toSpoke, k.toHub))
}

// toSpoke keeps the hub in an annotation if it cannot be restored from the spoke's fields.
func (k kind[H, S, PH, PS]) toSpoke(_ context.Context, src PH, dst PS) error {
	if err := k.down(src, dst, nil); err != nil {
		return err
	}
	dst.SetAnnotations(maps.Clone(src.GetAnnotations()))
	if err := k.restoreSpoke(dst); err != nil {
		return err
	}
	again := PH(new(H))
	if err := k.up(dst, again, nil); err != nil {
		return fmt.Errorf("converting back: %w", err)
	}
	again.GetObjectKind().SetGroupVersionKind(src.GetObjectKind().GroupVersionKind())
	again.SetAnnotations(src.GetAnnotations())
	if apiequality.Semantic.DeepEqual((*H)(src), (*H)(again)) {
		return nil
	}
	return conversionutil.MarshalData(src, dst)
}

// toHub restores what the spoke cannot hold, and keeps what the hub cannot hold in an annotation.
func (k kind[H, S, PH, PS]) toHub(_ context.Context, src PS, dst PH) error {
	if err := k.up(src, dst, nil); err != nil {
		return err
	}
	dst.SetAnnotations(maps.Clone(src.GetAnnotations()))
	if err := k.restoreHub(dst); err != nil {
		return err
	}
	return k.keepSpoke(src, dst)
}

// restoreHub merges the hub that was read with the hub that is written.
func (k kind[H, S, PH, PS]) restoreHub(written PH) error {
	before, read, spoke := PH(new(H)), PH(new(H)), PS(new(S))
	// An annotation that somebody wrote by hand counts as none. An error would fail every list of
	// the kind, for a detail that nobody needs.
	if found, _ := conversionutil.UnmarshalData(written, before); !found {
		delete(written.GetAnnotations(), conversionutil.DataAnnotation)
		return nil
	}
	if err := k.down(before, spoke, nil); err != nil {
		return fmt.Errorf("converting what was read: %w", err)
	}
	if err := k.up(spoke, read, nil); err != nil {
		return fmt.Errorf("converting what was read back: %w", err)
	}
	return merge((*H)(before), (*H)(read), (*H)(written))
}

// keepSpoke annotates the hub with what it cannot hold from the spoke's spec.
func (k kind[H, S, PH, PS]) keepSpoke(given PS, hub PH) error {
	annotations := hub.GetAnnotations()
	delete(annotations, spokeDataAnnotation)
	made := new(S)
	if err := k.down(hub, made, nil); err != nil {
		return fmt.Errorf("converting back: %w", err)
	}
	data, err := difference(specOf(made), specOf(given))
	if err != nil || data == nil {
		return err
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[spokeDataAnnotation] = string(data)
	hub.SetAnnotations(annotations)
	return nil
}

// restoreSpoke takes the annotation from a spoke, and writes what was given into its spec if the
// hub still converts to the same value as it did then. As in restoreHub, an annotation that
// somebody wrote by hand is not an error.
func (k kind[H, S, PH, PS]) restoreSpoke(spoke PS) error {
	data := takeSpokeData(spoke.GetAnnotations())
	if data.Spec.Of == "" {
		return nil
	}
	made, err := json.Marshal(specOf(spoke))
	if err != nil || digest(made) != data.Spec.Of {
		return err
	}
	fresh := specOf(new(S))
	if given, err := jsonpatch.MergePatch(made, data.Spec.Patch); err == nil && json.Unmarshal(given, fresh) == nil {
		reflect.ValueOf(specOf(spoke)).Elem().Set(reflect.ValueOf(fresh).Elem())
	}
	return nil
}

// spokeData is the content of spokeDataAnnotation.
type spokeData struct {
	Spec struct {
		// Of identifies the spec that the hub converts to. The patch is valid only for that
		// spec.
		Of string `json:"of"`
		// Patch is a JSON merge patch from that to what was given.
		Patch json.RawMessage `json:"patch"`
	} `json:"spec"`
}

// takeSpokeData takes the data from annotations. It returns nothing for data that it cannot decode.
func takeSpokeData(annotations map[string]string) spokeData {
	text := annotations[spokeDataAnnotation]
	delete(annotations, spokeDataAnnotation)
	data := spokeData{}
	if json.Unmarshal([]byte(text), &data) != nil {
		return spokeData{}
	}
	return data
}

// difference returns the spokeData that turns one spec into another; nil if they are equal.
func difference(made, given any) ([]byte, error) {
	from, err := json.Marshal(made)
	if err != nil {
		return nil, err
	}
	to, err := json.Marshal(given)
	if err != nil || string(from) == string(to) {
		return nil, err
	}
	data := spokeData{}
	data.Spec.Of = digest(from)
	if data.Spec.Patch, err = jsonpatch.CreateMergePatch(from, to); err != nil {
		return nil, err
	}
	return json.Marshal(data)
}

// specOf returns a pointer to the spec of a pointer to an object.
func specOf(object any) any {
	return reflect.ValueOf(object).Elem().FieldByName("Spec").Addr().Interface()
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:8])
}
