// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/internal/documented"
)

func TestDocumentedCommandsAreThere(t *testing.T) {
	g := NewWithT(t)
	checked, err := documented.Commands(newCommand, "../..")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(checked).To(BeNumerically(">", 10))
}
