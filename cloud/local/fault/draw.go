// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// Target is something that a rule may strike.
type Target struct {
	// Tenant that owns the instance or makes the call.
	Tenant string
	// Pool and Zone of the instance; empty if there is none.
	Pool, Zone string
}

// Matches reports whether the rule applies to the target.
func (r *Rule) Matches(t Target) bool {
	return (r.Tenant == EveryTenant || r.Tenant == t.Tenant) && (r.Pool == "" || r.Pool == t.Pool) && (r.Zone == "" || r.Zone == t.Zone)
}

// UsedUp reports whether the rule has struck as often as it should.
func (r *Rule) UsedUp() bool { return r.Count > 0 && r.Strikes >= r.Count }

// Ends reports whether the rule will eventually let some requests through on its own.
func (r *Rule) Ends() bool { return r.Count > 0 || r.Probability < 1 }

// Draw reports whether the rule strikes now, and updates the counters. The caller must store the
// rule.
func (r *Rule) Draw() bool {
	if r.UsedUp() {
		return false
	}
	chance := r.chance()
	r.Draws++
	if chance >= r.Probability {
		return false
	}
	r.Strikes++
	return true
}

// chance returns a number in [0, 1) that depends only on the seed and the number of earlier draws.
// Nothing that another release may do differently affects it.
func (r *Rule) chance() float64 {
	var text [16]byte
	binary.BigEndian.PutUint64(text[:8], uint64(r.Seed))
	binary.BigEndian.PutUint64(text[8:], uint64(r.Draws))
	sum := sha256.Sum256(text[:])
	// Use as many bits as the mantissa of a float64 has.
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// Strike returns the rule's strike for an instance.
func (r *Rule) Strike() Strike {
	return Strike{Rule: r.Key(), Kind: r.Kind, DelaySeconds: r.DelaySeconds, NoticeSeconds: r.NoticeSeconds, AfterOutage: r.AfterOutage}
}

// Disturb adds the effect of the rule to a disturbed call. Only the first refusal counts; delays
// add up.
func (r *Rule) Disturb(d *Disturbance) {
	switch {
	case r.Kind == APILatency:
		d.Delay += seconds(r.DelaySeconds)
	case d.Err != nil:
	case r.Kind == Throttling:
		d.Err = &cloud.ThrottledError{RetryAfter: seconds(r.RetryAfterSeconds)}
	case r.Kind == ServerError:
		d.Err = &StatusError{Status: r.Status, Rule: r.Name}
	}
}

// Begun returns the strikes of an instance that starts running now, with their times set.
func Begun(strikes []Strike, now time.Time) []Strike {
	var timed []Strike
	for _, s := range strikes {
		if !s.Kind.Running() {
			continue
		}
		if s.At == nil {
			at := now.Add(s.Delay()).UTC()
			s.At = &at
		}
		timed = append(timed, s)
	}
	return timed
}

// Next returns the earliest strike that has a time, or nil if there is none.
func Next(strikes []Strike) *Strike {
	var next *Strike
	for i := range strikes {
		if at := strikes[i].At; at != nil && (next == nil || at.Before(*next.At)) {
			next = &strikes[i]
		}
	}
	return next
}

// Of returns the first strike of a kind, or nil if there is none.
func Of(strikes []Strike, kind Kind) *Strike {
	for i := range strikes {
		if strikes[i].Kind == kind {
			return &strikes[i]
		}
	}
	return nil
}

// BootDelay returns the total boot delay of all strikes.
func BootDelay(strikes []Strike) time.Duration {
	var delay time.Duration
	for _, s := range strikes {
		if s.Kind == SlowBoot {
			delay += s.Delay()
		}
	}
	return delay
}

// Without returns the strikes that do not belong to the rule with the key.
func Without(strikes []Strike, rule string) []Strike {
	return slices.DeleteFunc(slices.Clone(strikes), func(s Strike) bool { return s.Rule == rule })
}
