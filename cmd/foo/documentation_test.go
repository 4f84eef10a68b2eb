// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/internal/documented"
	"github.com/capfoo/cluster-api-provider-foo/internal/reference"
)

func TestDocumentedCommandsAreThere(t *testing.T) {
	g := NewWithT(t)
	checked, err := documented.Commands(newCommand, "../..")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(checked).To(BeNumerically(">", 10))
}

func TestReferenceIsCurrent(t *testing.T) {
	g := NewWithT(t)
	page, err := os.ReadFile("../../docs/commands/foo.md")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(page)).To(Equal(reference.Page(newCommand())), "run make generate")
}
