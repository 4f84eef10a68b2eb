// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"strings"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
)

// Kind says what a fault does.
type Kind string

const (
	// BootFailure makes an instance that was ordered end as Failed instead of Running.
	BootFailure Kind = "BootFailure"
	// SlowBoot keeps an instance that was ordered Pending for Spec.DelaySeconds.
	SlowBoot Kind = "SlowBoot"
	// LostInstance makes an instance that runs disappear.
	LostInstance Kind = "LostInstance"
	// StoppedInstance kills the first process of an instance that runs.
	StoppedInstance Kind = "StoppedInstance"
	// ZoneOutage stops all instances of a zone, and lets no instance be made there, until the rule is removed.
	ZoneOutage Kind = "ZoneOutage"
	// Stockout lets no instance be made for want of capacity.
	Stockout Kind = "Stockout"
	// SpotReclaim takes an interruptible instance that runs back, Spec.NoticeSeconds after a notice.
	SpotReclaim Kind = "SpotReclaim"
	// APILatency answers calls only after Spec.DelaySeconds.
	APILatency Kind = "APILatency"
	// Throttling refuses calls with status 429 and asks to wait for Spec.RetryAfterSeconds.
	Throttling Kind = "Throttling"
	// ServerError refuses calls with Spec.Status.
	ServerError Kind = "ServerError"
)

// EveryTenant is the tenant of rules that strike whoever it is.
const EveryTenant = "*"

// Spec is a fault rule as a user adds it.
type Spec struct {
	// Name of the rule, unique among those of its tenant, a DNS label.
	Name string `json:"name"`
	// Kind of the fault.
	Kind Kind `json:"kind"`
	// Tenant whose instances and calls are struck; the caller by default, and "*" is every tenant. Only an administrator
	// may name another than its own.
	Tenant string `json:"tenant,omitempty"`
	// Pool whose instances are struck; instances in any pool and in none by default. Not for faults of calls and zones.
	Pool string `json:"pool,omitempty"`
	// Zone whose instances are struck; all by default. Not for faults of calls; a ZoneOutage must name one.
	Zone string `json:"zone,omitempty"`
	// Probability that it strikes, more than 0 and at most 1, which is the default. Not for a ZoneOutage.
	Probability float64 `json:"probability,omitempty"`
	// Seed of the draws, by which they can be repeated; the cloud chooses one by default.
	Seed int64 `json:"seed,omitempty"`
	// Count is how often the rule strikes before it is used up; no limit by default. Not for a ZoneOutage.
	Count int `json:"count,omitempty"`
	// DelaySeconds is, for SlowBoot, how long the boot takes longer; for APILatency, how long a call takes longer; for
	// LostInstance, StoppedInstance and SpotReclaim, how long an instance has run before it is struck, 0 by default.
	DelaySeconds float64 `json:"delaySeconds,omitempty"`
	// NoticeSeconds is, for SpotReclaim, the time from the notice to the end; 30 by default.
	NoticeSeconds float64 `json:"noticeSeconds,omitempty"`
	// RetryAfterSeconds is, for Throttling, how long callers are asked to wait; 1 by default.
	RetryAfterSeconds float64 `json:"retryAfterSeconds,omitempty"`
	// Status is, for ServerError, the HTTP status: 500, 502, 503 (the default) or 504.
	Status int `json:"status,omitempty"`
	// AfterOutage is, for ZoneOutage, what becomes of the instances that it stopped once the rule is removed.
	AfterOutage AfterOutage `json:"afterOutage,omitempty"`
}

// AfterOutage says what becomes of instances after an outage.
type AfterOutage string

const (
	// StayStopped leaves them as they are, for whoever replaces them. It is the default.
	StayStopped AfterOutage = "StayStopped"
	// StartAgain starts those that are still there. They go on with what they had written to their disks.
	StartAgain AfterOutage = "StartAgain"
)

// Rule is a fault rule as it is. Used up, it stays until it is removed.
type Rule struct {
	Spec `json:",inline"`
	// Draws is how often it was drawn whether the rule strikes, and Strikes how often it did.
	Draws   int `json:"draws"`
	Strikes int `json:"strikes"`
	// CreatedAt is when it was added.
	CreatedAt time.Time `json:"createdAt"`
}

// Key names a rule in the cloud: its tenant and its name.
func (r *Rule) Key() string { return r.Tenant + "/" + r.Name }

// Strike is a fault that a rule has in store for one instance.
type Strike struct {
	// Rule is the key of the rule.
	Rule string `json:"rule"`
	// Kind of the fault.
	Kind Kind `json:"kind"`
	// DelaySeconds and NoticeSeconds are the rule's.
	DelaySeconds  float64 `json:"delaySeconds,omitempty"`
	NoticeSeconds float64 `json:"noticeSeconds,omitempty"`
	// AfterOutage is the rule's.
	AfterOutage AfterOutage `json:"afterOutage,omitempty"`
	// At is when it happens; nil until the instance runs.
	At *time.Time `json:"at,omitempty"`
}

// Delay is the rule's.
func (s Strike) Delay() time.Duration { return seconds(s.DelaySeconds) }

// Notice is the rule's.
func (s Strike) Notice() time.Duration { return seconds(s.NoticeSeconds) }

// Cause names the rule in words, for messages.
func (s Strike) Cause() string {
	_, name, _ := strings.Cut(s.Rule, "/")
	return "fault rule " + name
}

// Disturbance is what becomes of one call.
type Disturbance struct {
	// Delay before anything else happens.
	Delay time.Duration
	// Err is the answer, a cloud.ThrottledError or a StatusError; nil when the call goes on.
	Err error
}

// StatusError is an answer that says nothing but its status.
type StatusError struct {
	// Status is an HTTP status, 500 or more.
	Status int
	// Rule that struck.
	Rule string
}

func (e *StatusError) Error() string { return "the fault rule " + e.Rule + " refused the call" }

// Unwrap returns what the status means to a client; nothing that has a type for 500.
func (e *StatusError) Unwrap() error {
	if e.Status == internalError {
		return nil
	}
	return &cloud.UnavailableError{Message: e.Error()}
}

// Reach says whose rules a caller may see and change.
type Reach string

const (
	// ReachOwn is a tenant's: the rules that strike it alone.
	ReachOwn Reach = "Own"
	// ReachAll is an administrator's.
	ReachAll Reach = "All"
)

func seconds(value float64) time.Duration { return time.Duration(value * float64(time.Second)) }
