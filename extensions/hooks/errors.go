// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// explain finds the outermost error of a known type and describes it in words that are always the
// same. It returns no cause if there is no such error.
func explain(err error) (text string, cause error) {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		cause, ok := status.(error)
		if ok {
			return judged(status.Status()), cause
		}
	}
	text = broken(err)
	if text == "" {
		return "", nil
	}
	return text, outermost(err)
}

// outermost returns the error that a failed request begins with, so that the address in its text is
// removed too.
func outermost(err error) error {
	if asked, ok := errors.AsType[*url.Error](err); ok {
		return asked
	}
	if operation, ok := errors.AsType[*net.OpError](err); ok {
		return operation
	}
	if refused, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return refused
	}
	innermost := err
	for next := errors.Unwrap(innermost); next != nil; next = errors.Unwrap(innermost) {
		innermost = next
	}
	return innermost
}

// judged describes what an API server refused. It leaves out the server's own words, which may
// hold times, addresses and the object that was sent.
func judged(status metav1.Status) string {
	reason := string(status.Reason)
	if reason == "" {
		reason = fmt.Sprintf("code %d", status.Code)
	}
	if status.Details == nil || status.Details.Name == "" {
		return "the API server answered " + reason
	}
	kind := status.Details.Kind
	if status.Details.Group != "" {
		kind += "." + status.Details.Group
	}
	return fmt.Sprintf("the API server answered %s for %s %q", reason, kind, status.Details.Name)
}

// broken returns why a request got no answer. It is empty if err is not such an error.
func broken(err error) string {
	if text := untrusted(err); text != "" {
		return text
	}
	var name *net.DNSError
	var slow net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "the attempt was canceled"
	case errors.As(err, &name) && name.IsNotFound:
		return "the host name could not be resolved"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &slow) && slow.Timeout():
		return "no answer in time"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no route to the host"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return "the connection was closed before the answer"
	case errors.As(err, &slow):
		return "no connection"
	}
	return ""
}

// untrusted returns why a certificate was refused. It is empty if err is not such an error.
func untrusted(err error) string {
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "the server's certificate has expired or is not valid yet"
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "the server's certificate is for other names"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "the server's certificate is not trusted"
	}
	return ""
}
