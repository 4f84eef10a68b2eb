// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"strings"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// Kind defines what a fault does.
type Kind string

const (
	// BootFailure makes a newly ordered instance end up Failed instead of Running.
	BootFailure Kind = "BootFailure"
	// SlowBoot keeps a newly ordered instance Pending for Spec.DelaySeconds.
	SlowBoot Kind = "SlowBoot"
	// LostInstance makes a running instance disappear.
	LostInstance Kind = "LostInstance"
	// StoppedInstance kills the first process of a running instance.
	StoppedInstance Kind = "StoppedInstance"
	// ZoneOutage stops all instances of a zone and blocks new ones until the rule is removed.
	ZoneOutage Kind = "ZoneOutage"
	// Stockout blocks new instances for lack of capacity.
	Stockout Kind = "Stockout"
	// SpotReclaim reclaims a running interruptible instance, Spec.NoticeSeconds after a notice.
	SpotReclaim Kind = "SpotReclaim"
	// APILatency delays the answers to calls by Spec.DelaySeconds.
	APILatency Kind = "APILatency"
	// Throttling refuses calls with status 429 and asks callers to wait for Spec.RetryAfterSeconds.
	Throttling Kind = "Throttling"
	// ServerError refuses calls with Spec.Status.
	ServerError Kind = "ServerError"
)

// EveryTenant is the tenant of rules that strike all tenants.
const EveryTenant = "*"

// Spec is a fault rule as a user adds it.
type Spec struct {
	// Name of the rule, unique within its tenant, a DNS label.
	Name string `json:"name"`
	// Kind of the fault.
	Kind Kind `json:"kind"`
	// Tenant whose instances and calls are struck; the caller by default, "*" for every tenant.
	// Only an administrator may name another tenant.
	Tenant string `json:"tenant,omitempty"`
	// Pool whose instances are struck; by default instances of any pool and of none. Not for faults
	// of calls and zones.
	Pool string `json:"pool,omitempty"`
	// Zone whose instances are struck; all zones by default. Not for faults of calls. Required for
	// a ZoneOutage.
	Zone string `json:"zone,omitempty"`
	// Probability that it strikes, more than 0 and at most 1; 1 by default. Not for a ZoneOutage.
	Probability float64 `json:"probability,omitempty"`
	// Seed of the draws, which makes them repeatable; the cloud chooses one by default.
	Seed int64 `json:"seed,omitempty"`
	// Count is how often the rule strikes before it is used up; no limit by default. Not for a ZoneOutage.
	Count int `json:"count,omitempty"`
	// DelaySeconds is, for SlowBoot, how much longer the boot takes; for APILatency, how much
	// longer a call takes; for LostInstance, StoppedInstance and SpotReclaim, how long an instance
	// runs before it is struck, 0 by default.
	DelaySeconds float64 `json:"delaySeconds,omitempty"`
	// NoticeSeconds is, for SpotReclaim, the time from the notice to the end; 30 by default.
	NoticeSeconds float64 `json:"noticeSeconds,omitempty"`
	// RetryAfterSeconds is, for Throttling, how long callers must wait; 1 by default.
	RetryAfterSeconds float64 `json:"retryAfterSeconds,omitempty"`
	// Status is, for ServerError, the HTTP status: 500, 502, 503 (the default) or 504.
	Status int `json:"status,omitempty"`
	// AfterOutage is, for ZoneOutage, what happens to the instances that it stopped once the rule
	// is removed.
	AfterOutage AfterOutage `json:"afterOutage,omitempty"`
}

// AfterOutage defines what happens to instances after an outage.
type AfterOutage string

const (
	// StayStopped leaves them stopped, for others to replace. It is the default.
	StayStopped AfterOutage = "StayStopped"
	// StartAgain starts those that still exist, with their old disks.
	StartAgain AfterOutage = "StartAgain"
)

// Rule is the actual state of a fault rule. A rule that is used up stays until it is removed.
type Rule struct {
	Spec `json:",inline"`
	// Draws counts the draws, and Strikes counts how often the rule struck.
	Draws   int `json:"draws"`
	Strikes int `json:"strikes"`
	// CreatedAt is when it was added.
	CreatedAt time.Time `json:"createdAt"`
}

// Key identifies a rule in the cloud: its tenant and its name.
func (r *Rule) Key() string { return r.Tenant + "/" + r.Name }

// Strike is a fault that a rule will cause for one instance.
type Strike struct {
	// Rule is the key of the rule.
	Rule string `json:"rule"`
	// Kind of the fault.
	Kind Kind `json:"kind"`
	// DelaySeconds and NoticeSeconds are copied from the rule.
	DelaySeconds  float64 `json:"delaySeconds,omitempty"`
	NoticeSeconds float64 `json:"noticeSeconds,omitempty"`
	// AfterOutage is copied from the rule.
	AfterOutage AfterOutage `json:"afterOutage,omitempty"`
	// At is when it strikes; nil until the instance runs.
	At *time.Time `json:"at,omitempty"`
}

// Delay returns the rule's delay.
func (s Strike) Delay() time.Duration { return seconds(s.DelaySeconds) }

// Notice returns the rule's notice period.
func (s Strike) Notice() time.Duration { return seconds(s.NoticeSeconds) }

// Cause describes the rule for use in messages.
func (s Strike) Cause() string {
	_, name, _ := strings.Cut(s.Rule, "/")
	return "fault rule " + name
}

// Disturbance is what happens to one call.
type Disturbance struct {
	// Delay before anything else happens.
	Delay time.Duration
	// Err is the answer, a cloud.ThrottledError or a StatusError; nil if the call proceeds.
	Err error
}

// StatusError is an answer that carries only a status.
type StatusError struct {
	// Status is an HTTP status, 500 or more.
	Status int
	// Rule that struck.
	Rule string
}

func (e *StatusError) Error() string { return "the fault rule " + e.Rule + " refused the call" }

// Unwrap returns the error that the status means to a client; nil for 500, which has no type.
func (e *StatusError) Unwrap() error {
	if e.Status == internalError {
		return nil
	}
	return &cloud.UnavailableError{Message: e.Error()}
}

// Reach defines whose rules a caller may see and change.
type Reach string

const (
	// ReachOwn is a tenant's reach: the rules that strike only that tenant.
	ReachOwn Reach = "Own"
	// ReachAll is an administrator's reach.
	ReachAll Reach = "All"
)

func seconds(value float64) time.Duration { return time.Duration(value * float64(time.Second)) }
