// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// versionWithoutPrefix creates a control plane with a version as a user may write it, such as 1.36.3.
func versionWithoutPrefix(s *story) error {
	object, err := s.prepare()
	if err != nil {
		return err
	}
	version := strings.TrimPrefix(fields.Text(object, "spec.version"), "v")
	if version == "" {
		return errors.New("the configuration has no spec.version")
	}
	if err := unstructured.SetNestedField(object.Object, version, "spec", "version"); err != nil {
		return err
	}
	err = s.Create(s.ctx, object)
	if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
		s.check("version-prefix", fmt.Errorf("spec.version %q is refused: %w", version, err))
		return nil
	}
	if err != nil {
		return err
	}
	s.check("version-prefix", s.until(fmt.Sprintf("with spec.version %q", version), func() error {
		if err := s.acted(object); err != nil {
			return err
		}
		machine, err := s.firstMachine()
		if err == nil && !strings.HasPrefix(machine.Spec.Version, "v") {
			err = fmt.Errorf("spec.version of its Machine is %q, want the prefix v", machine.Spec.Version)
		}
		return err
	}))
	return nil
}
