// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"encoding/json"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	conversionutil "sigs.k8s.io/cluster-api/util/conversion"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/randfill"
)

// noMapper knows no kinds, so references get the version of the contract.
func noMapper() meta.RESTMapper { return meta.NewDefaultRESTMapper([]schema.GroupVersion{}) }

// controlPlanes is the converter under test. The other converters are variables already.
var controlPlanes = fooControlPlane(noMapper())

// fuzzFuncs fill objects as the API server can send them, by passing them through JSON.
func fuzzFuncs[H, S any, PH object[H], PS object[S]](k kind[H, S, PH, PS]) fuzzer.FuzzerFuncs {
	return func(serializer.CodecFactory) []any {
		return []any{
			func(object *H, c randfill.Continue) { c.FillNoCustom(object); throughJSON(object) },
			func(object *S, c randfill.Continue) {
				c.FillNoCustom(object)
				throughJSON(object)
				k.compute(object)
			},
			// A token is serialized as one text, which must have the right form.
			func(token *bootstrapv1.BootstrapTokenString, _ randfill.Continue) {
				token.ID, token.Secret = "abcdef", "abcdef0123456789"
			},
			func(token *bootstrapv1beta1.BootstrapTokenString, _ randfill.Continue) {
				token.ID, token.Secret = "abcdef", "abcdef0123456789"
			},
		}
	}
}

// compute replaces the status of a spoke with what the hub computes, since nobody can write
// anything else.
func (c kind[H, S, PH, PS]) compute(spoke *S) {
	hub, computed := new(H), new(S)
	if c.up(spoke, hub, nil) != nil || c.down(hub, computed, nil) != nil {
		return
	}
	status := reflect.ValueOf(spoke).Elem().FieldByName("Status")
	if status.IsValid() {
		status.Set(reflect.ValueOf(computed).Elem().FieldByName("Status"))
	}
}

// throughJSON reduces an object to what JSON can represent. An object that cannot be encoded stays
// as it is, and its conversion fails later.
func throughJSON[T any](object *T) {
	content, err := json.Marshal(object)
	if err != nil {
		return
	}
	fresh := new(T)
	if json.Unmarshal(content, fresh) == nil {
		*object = *fresh
	}
}

// rounds runs Cluster API's own test: it converts 10,000 random objects of each version to the
// other one and back.
func rounds[H, S any, PH object[H], PS object[S]](c kind[H, S, PH, PS]) func(*testing.T) {
	return conversionutil.SpokeConverterFuzzTestFunc(conversionutil.SpokeConverterFuzzTestFuncInput[PH, PS]{
		ConvertHubToSpokeFunc: c.toSpoke,
		ConvertSpokeToHubFunc: c.toHub,
		// What the hub cannot hold is restored from its annotation, which toSpoke removes.
		FuzzerFuncs: []fuzzer.FuzzerFuncs{fuzzFuncs(c)},
	})
}

func TestRandomRounds(t *testing.T) {
	if testing.Short() {
		t.Skip("10,000 rounds of each kind")
	}
	for name, run := range map[string]func(*testing.T){
		"FooCluster":              rounds(fooCluster),
		"FooClusterTemplate":      rounds(fooClusterTemplate),
		"FooMachine":              rounds(fooMachine),
		"FooMachineTemplate":      rounds(fooMachineTemplate),
		"FooMachinePool":          rounds(fooMachinePool),
		"FooMachinePoolTemplate":  rounds(fooMachinePoolTemplate),
		"FooControlPlane":         rounds(controlPlanes),
		"FooControlPlaneTemplate": rounds(fooControlPlaneTemplate),
	} {
		t.Run(name, run)
	}
}

// fuzzRound lets the fuzzing engine choose the objects. Both round trips must return their input.
func fuzzRound[H, S any, PH object[H], PS object[S]](f *testing.F, c kind[H, S, PH, PS]) {
	f.Helper()
	f.Add([]byte("seed"))
	codecs := serializer.NewCodecFactory(runtime.NewScheme())
	funcs := fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, fuzzFuncs(c))(codecs)
	f.Fuzz(func(t *testing.T, data []byte) {
		filler := randfill.NewFromGoFuzz(data).NilChance(.5).NumElements(1, 4).Funcs(funcs...)
		hub, spoke := PH(new(H)), PS(new(S))
		filler.Fill(hub)
		filler.Fill(spoke)
		checkHubRound(t, c, hub)
		checkSpokeRound(t, c, spoke)
	})
}

func checkHubRound[H, S any, PH object[H], PS object[S]](t *testing.T, c kind[H, S, PH, PS], hub PH) {
	t.Helper()
	spoke, back := PS(new(S)), PH(new(H))
	before := hub.DeepCopyObject().(client.Object)
	if err := c.toSpoke(t.Context(), hub, spoke); err != nil {
		t.Fatal(err)
	}
	if err := c.toHub(t.Context(), spoke, back); err != nil {
		t.Fatal(err)
	}
	if !equality.Semantic.DeepEqual(before, client.Object(back)) {
		t.Fatalf("hub to v1beta1 and back:\ngot  %s\nwant %s", asJSON(t, back), asJSON(t, before))
	}
}

func checkSpokeRound[H, S any, PH object[H], PS object[S]](t *testing.T, c kind[H, S, PH, PS], spoke PS) {
	t.Helper()
	hub, back := PH(new(H)), PS(new(S))
	before := spoke.DeepCopyObject().(client.Object)
	if err := c.toHub(t.Context(), spoke, hub); err != nil {
		t.Fatal(err)
	}
	if err := c.toSpoke(t.Context(), hub, back); err != nil {
		t.Fatal(err)
	}
	annotations := back.GetAnnotations()
	delete(annotations, conversionutil.DataAnnotation)
	if !equality.Semantic.DeepEqual(before, client.Object(back)) {
		t.Fatalf("v1beta1 to hub and back:\ngot  %s\nwant %s", asJSON(t, back), asJSON(t, before))
	}
}

func asJSON(t *testing.T, object any) string {
	t.Helper()
	content, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func FuzzFooCluster(f *testing.F)              { fuzzRound(f, fooCluster) }
func FuzzFooClusterTemplate(f *testing.F)      { fuzzRound(f, fooClusterTemplate) }
func FuzzFooMachine(f *testing.F)              { fuzzRound(f, fooMachine) }
func FuzzFooMachineTemplate(f *testing.F)      { fuzzRound(f, fooMachineTemplate) }
func FuzzFooMachinePool(f *testing.F)          { fuzzRound(f, fooMachinePool) }
func FuzzFooMachinePoolTemplate(f *testing.F)  { fuzzRound(f, fooMachinePoolTemplate) }
func FuzzFooControlPlane(f *testing.F)         { fuzzRound(f, controlPlanes) }
func FuzzFooControlPlaneTemplate(f *testing.F) { fuzzRound(f, fooControlPlaneTemplate) }
