// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// mostFindings is how many findings a message names, so that it fits into a condition.
const mostFindings = 50

// findings are what is wrong with a request.
type findings []string

// at prefixes each finding with its location.
func (f findings) at(where string) findings {
	located := make(findings, 0, len(f))
	for _, finding := range f {
		located = append(located, where+": "+finding)
	}
	return located
}

// into sets the status of the response. Findings make it a Failure that names each of them once,
// always in the same order, because Cluster API keeps the message in a condition. Without findings
// it is a success.
func (f findings) into(response runtimehooksv1.ResponseObject) {
	response.SetStatus(runtimehooksv1.ResponseStatusSuccess)
	if len(f) > 0 {
		response.SetStatus(runtimehooksv1.ResponseStatusFailure)
		response.SetMessage(hooks.Join(f, mostFindings))
	}
}
