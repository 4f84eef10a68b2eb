// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/internal/documented"
)

func TestDocumentation(t *testing.T) {
	NewWithT(t).Expect(documented.Program(newCommand, "../..")).To(Succeed())
}
