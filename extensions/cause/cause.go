/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

// Package cause puts errors into words that users may see in a condition: the same cause has the same words, without the
// addresses, ports and times that errors carry, and without anything that was sent.
//
// Limits: the words say what kind of error it is and no more. Whoever shows them logs the error itself.
package cause

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
)

// Of returns the words for an error, for example "connection refused" or, if an API server answered, the reason that it gave,
// for example "Forbidden".
func Of(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		if reason := apierrors.ReasonForError(err); reason != "" {
			return string(reason)
		}
		return "the API server failed"
	}
	if meta.IsNoMatchError(err) {
		return "the API server does not know the kind"
	}
	return ofConnection(err)
}

func ofConnection(err error) string {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var network net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no route to the host"
	case errors.Is(err, syscall.ECONNRESET):
		return "connection reset"
	case errors.As(err, &name) && !name.IsTimeout:
		return "the name of the host is unknown"
	case errors.As(err, &certificate):
		return "the certificate is not trusted"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "no answer in time"
	default:
		return "an error that the log describes"
	}
}
