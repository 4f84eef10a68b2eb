// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package etcdsnapshot

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"regexp"
	"syscall"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"gocloud.dev/gcerrors"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
)

// Stage is the step in which an error occurred.
type Stage string

const (
	// Reading is taking the snapshot from etcd.
	Reading Stage = "taking the snapshot from etcd"
	// Checking is verifying what etcd sent.
	Checking Stage = "checking the snapshot"
	// Keeping is writing and reading the temporary file of the snapshot.
	Keeping Stage = "using a temporary file for the snapshot"
	// Storing is writing to the bucket or reading from it.
	Storing Stage = "storing the snapshot"
	// Pruning is deleting old snapshots.
	Pruning Stage = "deleting old snapshots"
)

// Error reports what failed and why, always in the same words. It holds no addresses, times, names
// of temporary files or data from a server, so it may be shown to users.
type Error struct {
	// Stage is the step in which the error occurred.
	Stage Stage
	// Where is the bucket without its credentials. It is empty if the error does not concern
	// the bucket.
	Where string
	// Err is the underlying error. Its text is for Detail only.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	where := ""
	if e.Where != "" {
		where = " in " + e.Where
	}
	return fmt.Sprintf("%s%s: %s", e.Stage, where, cause(e.Err))
}

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// cause returns why something failed, in the same few words each time, whatever else the error
// holds.
func cause(err error) string {
	network, ok := errors.AsType[net.Error](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded) || ok && network.Timeout():
		return "it took too long"
	case errors.Is(err, context.Canceled):
		return "it was interrupted"
	}
	for _, known := range []func(error) string{byRefusal, bySystem, byCertificate, byBucket, byEtcd} {
		if text := known(err); text != "" {
			return text
		}
	}
	return "it failed; the log of its Pod says more"
}

func byRefusal(err error) string {
	if refusal, ok := errors.AsType[snapshotjob.Refusal](err); ok {
		return refusal.Error()
	}
	return ""
}

// bySystem recognizes operating system errors, such as no space left on device or connection
// refused.
func bySystem(err error) string {
	if number, ok := errors.AsType[syscall.Errno](err); ok {
		return number.Error()
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return "the name of the host is unknown"
	}
	return ""
}

func byCertificate(err error) string {
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	_, isUnknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, isOfOther := errors.AsType[x509.HostnameError](err)
	switch {
	case isInvalid && invalid.Reason == x509.Expired:
		return "the server's certificate has expired"
	case isInvalid || isUnknown || isOfOther:
		return "the server's certificate is not trusted"
	}
	return ""
}

func byBucket(err error) string {
	if code := gcerrors.Code(err); code != gcerrors.Unknown && code != gcerrors.OK {
		return "the bucket answered " + code.String()
	}
	return ""
}

func byEtcd(err error) string {
	if known, ok := errors.AsType[rpctypes.EtcdError](err); ok {
		return known.Error()
	}
	if code := status.Code(err); code != codes.Unknown && code != codes.OK {
		return "etcd answered " + code.String()
	}
	return ""
}

var (
	userinfo = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/?#"]*@`)
	query    = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://[^\s?"]*)\?[^\s"]*`)
)

// Detail returns the full text of an error, for logs. It removes user names, passwords and queries
// from URLs, because libraries quote the URLs that they requested, and these may be signed.
func Detail(err error) string {
	text := err.Error()
	if staged, ok := errors.AsType[*Error](err); ok {
		text = fmt.Sprintf("%s: %v", text, staged.Err)
	}
	return query.ReplaceAllString(userinfo.ReplaceAllString(text, "${1}"), "${1}?...")
}
