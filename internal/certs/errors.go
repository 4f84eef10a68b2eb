// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"fmt"
	"strings"
)

// MissingError reports that certificate secrets do not exist though the cluster needs them.
type MissingError struct {
	// Secrets are the names of the missing secrets.
	Secrets []string
}

func (e *MissingError) Error() string {
	return "certificate secrets are missing: " + strings.Join(e.Secrets, ", ") +
		"; provide them: secrets of an external etcd are never generated, and none is generated once a machine uses the certificates"
}

// InvalidError reports that a certificate secret cannot be used. It holds no key.
type InvalidError struct {
	// Secret is the name of the secret.
	Secret string
	// Field is the key of the secret's data that is wrong.
	Field string
	// Problem is what is wrong with it.
	Problem string
}

func (e *InvalidError) Error() string {
	return fmt.Sprintf("certificate secret %s: data[%q] %s; restore the right value from a backup, or, if no machine exists yet, delete the secret so that it is generated again",
		e.Secret, e.Field, e.Problem)
}
