// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestTagsContain(t *testing.T) {
	tags := Tags{"cluster": "one", "role": "worker"}
	for name, test := range map[string]struct {
		want   Tags
		result bool
	}{
		"nothing is always contained": {nil, true},
		"one of two":                  {Tags{"role": "worker"}, true},
		"another value":               {Tags{"role": "control-plane"}, false},
		"an empty value is a value":   {Tags{"zone": ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(tags.Contains(test.want)).To(Equal(test.result))
		})
	}
}

func TestInstanceFilterMatches(t *testing.T) {
	instance := Instance{Name: "ns.one", Pool: "ns.pool", Tags: Tags{"cluster": "one"}}
	for name, test := range map[string]struct {
		filter InstanceFilter
		result bool
	}{
		"all":          {InstanceFilter{}, true},
		"name":         {InstanceFilter{Name: "ns.one"}, true},
		"other name":   {InstanceFilter{Name: "ns.on"}, false},
		"pool":         {InstanceFilter{Pool: "ns.pool", Tags: Tags{"cluster": "one"}}, true},
		"other pool":   {InstanceFilter{Pool: "pool"}, false},
		"missing tags": {InstanceFilter{Pool: "ns.pool", Tags: Tags{"cluster": "two"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(test.filter.Matches(instance)).To(Equal(test.result))
		})
	}
}

func TestReasonForWrappedErrors(t *testing.T) {
	for want, err := range map[Reason]error{
		ReasonNotFound:      &NotFoundError{Kind: "instance", Name: "a"},
		ReasonInvalid:       &InvalidError{Field: "type", Value: "giant", Problem: "unknown instance type"},
		ReasonQuotaExceeded: &QuotaExceededError{Resource: "cpus", Limit: 4, Used: 4, Requested: 2},
		ReasonOutOfCapacity: &CapacityError{Zone: "zone-a"},
		ReasonUnauthorized:  &UnauthorizedError{Message: "unknown token"},
		ReasonThrottled:     &ThrottledError{RetryAfter: time.Second},
		ReasonConflict:      &ConflictError{Kind: "pool", Name: "a"},
		ReasonUnavailable:   &UnavailableError{Message: "down"},
		ReasonUnknown:       errors.New("connection reset"),
	} {
		t.Run(string(want), func(t *testing.T) {
			NewWithT(t).Expect(ReasonFor(fmt.Errorf("order an instance: %w", err))).To(Equal(want))
		})
	}
}

func TestErrorsSayWhatIsAllowed(t *testing.T) {
	g := NewWithT(t)
	invalid := &InvalidError{Field: "template.type", Value: "giant", Problem: "unknown instance type", Allowed: []string{"small", "large"}}
	g.Expect(invalid).To(MatchError(`template.type "giant": unknown instance type, allowed: small, large`))
	quota := &QuotaExceededError{Resource: "cpus", Limit: 4, Used: 3, Requested: 2}
	g.Expect(&CapacityError{Message: "maintenance"}).To(MatchError("the cloud is out of capacity: maintenance"))
	g.Expect(&CapacityError{Zone: "zone-a"}).To(MatchError("zone zone-a is out of capacity"))
	g.Expect(quota).To(MatchError("quota for cpus exceeded: limit 4, used 3, requested 2"))
}

// Every implementation sends these values as JSON, so the embedded specs must stay flat.
func TestSpecsAreFlatInJSON(t *testing.T) {
	g := NewWithT(t)
	data, err := json.Marshal(InstanceSpec{Name: "a", InstanceTemplate: InstanceTemplate{Type: "small"}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(data).To(MatchJSON(`{"name": "a", "hostname": "", "type": "small", "kubernetesVersion": ""}`))
}
