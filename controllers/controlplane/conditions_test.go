// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestMessagesBeginLikeThoseOfClusterAPI(t *testing.T) {
	for text, want := range map[string]string{
		"waiting for MachinePool p":          "Waiting for MachinePool p",
		"Machine a is kept":                  "Machine a is kept",
		"only 1 of 3 members are healthy":    "Only 1 of 3 members are healthy",
		"spec.version v1.34.0 is refused":    "spec.version v1.34.0 is refused",
		"default/ca: there is no such thing": "default/ca: there is no such thing",
		"kube-apiserver: exited":             "kube-apiserver: exited",
		"* Machine a is not ready":           "* Machine a is not ready",
		"änderung":                           "Änderung",
		"":                                   "",
	} {
		NewWithT(t).Expect(capitalized(text)).To(Equal(want))
	}
}
