// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"github.com/capfoo/cluster-api-provider-foo/extensions/message"
)

// mostFindings is how many findings a message names, so that it fits into a condition.
const mostFindings = 50

// findings are what is wrong with a request.
type findings []string

// at says of each finding where it was made.
func (f findings) at(where string) findings {
	located := make(findings, 0, len(f))
	for _, finding := range f {
		located = append(located, where+": "+finding)
	}
	return located
}

// into makes the response a Failure that names each finding once, always in the same order, since Cluster API keeps the message
// in a condition. Without findings the response is a success.
func (f findings) into(response runtimehooksv1.ResponseObject) {
	response.SetStatus(runtimehooksv1.ResponseStatusSuccess)
	if len(f) > 0 {
		response.SetStatus(runtimehooksv1.ResponseStatusFailure)
		response.SetMessage(message.List(f, mostFindings))
	}
}
