// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// readable says, for each type that is a text in JSON, which texts it can decode. The schema
// accepts more: it has no pattern for some fields of Cluster API's kubeadm configuration, any
// length of a duration, and more forms of a time.
var readable = map[string]string{
	"Duration": "must be a duration from 0 to 2562047h, such as 90s or 4m",
	"Time":     "must be a time such as 2026-01-31T15:04:05Z",
	// The name of the type in both versions of the kubeadm configuration.
	"BootstrapTokenString": "must be six lowercase letters or digits, a period, and sixteen more lowercase letters or digits",
}

// unreadable returns a problem for each text in the spec of an object that its type cannot decode.
// Values of another JSON type are left to the schema.
func unreadable(typed runtime.Object, object map[string]any) field.ErrorList {
	spec, _ := reflect.TypeOf(typed).Elem().FieldByName("Spec")
	return unreadableValue(spec.Type, object["spec"], field.NewPath("spec"))
}

func unreadableValue(of reflect.Type, value any, path *field.Path) field.ErrorList {
	if of.Kind() == reflect.Pointer {
		return unreadableValue(of.Elem(), value, path)
	}
	var problems field.ErrorList
	switch value := value.(type) {
	case string:
		return unreadableText(of, value, path)
	case []any:
		for i, item := range value {
			if of.Kind() == reflect.Slice {
				problems = append(problems, unreadableValue(of.Elem(), item, path.Index(i))...)
			}
		}
	case map[string]any:
		if of.Kind() == reflect.Struct {
			problems = unreadableFields(of, value, path)
		}
	}
	return problems
}

func unreadableFields(of reflect.Type, object map[string]any, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	for i := range of.NumField() {
		member := of.Field(i)
		name, _, _ := strings.Cut(member.Tag.Get("json"), ",")
		if name == "" && member.Anonymous {
			problems = append(problems, unreadableValue(member.Type, object, path)...)
		} else if value, found := object[name]; found {
			problems = append(problems, unreadableValue(member.Type, value, path.Child(name))...)
		}
	}
	return problems
}

func unreadableText(of reflect.Type, text string, path *field.Path) field.ErrorList {
	detail, known := readable[of.Name()]
	if !known {
		return nil
	}
	content, err := json.Marshal(text)
	decoded := reflect.New(of).Interface()
	if err == nil {
		err = json.Unmarshal(content, decoded)
	}
	duration, isDuration := decoded.(*metav1.Duration)
	if err == nil && (!isDuration || duration.Duration >= 0*time.Second) {
		return nil
	}
	if of.Name() == "BootstrapTokenString" {
		// A token lets its holder join machines, so the message does not repeat it.
		return field.ErrorList{field.Invalid(path, field.OmitValueType{}, detail)}
	}
	return field.ErrorList{field.Invalid(path, text, detail)}
}
