// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

// Defaults and limits of a Spec.
const (
	defaultNotice     = 30
	defaultRetryAfter = 1
	defaultStatus     = 503
	internalError     = 500

	// maxInstanceSeconds limits the times of instance faults. maxCallSeconds limits the times of
	// call faults; it is longer than any client waits.
	maxInstanceSeconds = 3600
	maxCallSeconds     = 120
)

var statuses = []int{internalError, 502, defaultStatus, 504}

// strikes is what faults of a kind strike.
type strikes string

const (
	// strikesBoot is a newly ordered instance, strikesRunning a running one, strikesOrder the order
	// itself.
	strikesBoot    strikes = "Boot"
	strikesRunning strikes = "Running"
	strikesOrder   strikes = "Order"
	strikesZone    strikes = "Zone"
	strikesCalls   strikes = "Calls"
)

// definition defines a kind of fault, and which fields its Spec may set besides name, kind and
// tenant.
type definition struct {
	strikes strikes
	fields  []string
	delay   limit
}

// limit is the allowed range of DelaySeconds. The zero limit allows no delay.
type limit struct {
	least, most float64
}

var (
	instanceFields = []string{fieldPool, fieldZone, fieldProbability, fieldSeed, fieldCount}
	callFields     = []string{fieldProbability, fieldSeed, fieldCount}
)

// Names of the fields that only some kinds have.
const (
	fieldPool        = "pool"
	fieldZone        = "zone"
	fieldProbability = "probability"
	fieldSeed        = "seed"
	fieldCount       = "count"
	fieldDelay       = "delaySeconds"
	fieldNotice      = "noticeSeconds"
	fieldRetryAfter  = "retryAfterSeconds"
	fieldStatus      = "status"
	fieldAfterOutage = "afterOutage"
)

// leastDelay is the shortest time of a fault that only delays.
const leastDelay = 0.001

var definitions = map[Kind]definition{
	BootFailure:     {strikes: strikesBoot, fields: instanceFields},
	SlowBoot:        {strikes: strikesBoot, fields: with(instanceFields, fieldDelay), delay: limit{leastDelay, maxInstanceSeconds}},
	LostInstance:    {strikes: strikesRunning, fields: with(instanceFields, fieldDelay), delay: limit{0, maxInstanceSeconds}},
	StoppedInstance: {strikes: strikesRunning, fields: with(instanceFields, fieldDelay), delay: limit{0, maxInstanceSeconds}},
	SpotReclaim:     {strikes: strikesRunning, fields: with(instanceFields, fieldDelay, fieldNotice), delay: limit{0, maxInstanceSeconds}},
	Stockout:        {strikes: strikesOrder, fields: instanceFields},
	ZoneOutage:      {strikes: strikesZone, fields: []string{fieldZone, fieldAfterOutage}},
	APILatency:      {strikes: strikesCalls, fields: with(callFields, fieldDelay), delay: limit{leastDelay, maxCallSeconds}},
	Throttling:      {strikes: strikesCalls, fields: with(callFields, fieldRetryAfter)},
	ServerError:     {strikes: strikesCalls, fields: with(callFields, fieldStatus)},
}

func with(fields []string, more ...string) []string { return append(slices.Clone(fields), more...) }

// Kinds returns all kinds, sorted by name.
func Kinds() []Kind { return slices.Sorted(maps.Keys(definitions)) }

// Boots reports whether faults of the kind strike an instance before it runs.
func (k Kind) Boots() bool { return definitions[k].strikes == strikesBoot }

// Running reports whether faults of the kind strike a running instance. Zone outages do so too.
func (k Kind) Running() bool {
	return definitions[k].strikes == strikesRunning || k == ZoneOutage
}

// Calls reports whether faults of the kind strike calls.
func (k Kind) Calls() bool { return definitions[k].strikes == strikesCalls }

// Complete returns the spec with its defaults, or an InvalidError that lists what is allowed. The
// tenant must be set. Zones and tenants are the ones that exist in the cloud.
func (s Spec) Complete(zones, tenants []string) (Spec, error) {
	for _, check := range []func(*Spec) error{
		(*Spec).checkName, (*Spec).checkKind,
		func(s *Spec) error { return oneOf("tenant", s.Tenant, append([]string{EveryTenant}, tenants...)) },
		func(s *Spec) error { return s.checkZone(zones) },
		(*Spec).checkFields, (*Spec).checkChance, (*Spec).checkDelay, (*Spec).checkDetails,
	} {
		if err := check(&s); err != nil {
			return Spec{}, err
		}
	}
	return s, nil
}

func (s *Spec) checkName() error {
	if problems := validation.IsDNS1123Label(s.Name); len(problems) > 0 {
		return &cloud.InvalidError{Field: "name", Value: s.Name, Problem: strings.Join(problems, "; ")}
	}
	return nil
}

func (s *Spec) checkKind() error {
	allowed := make([]string, 0, len(definitions))
	for _, kind := range Kinds() {
		allowed = append(allowed, string(kind))
	}
	return oneOf("kind", string(s.Kind), allowed)
}

func oneOf(field, value string, allowed []string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	return &cloud.InvalidError{Field: field, Value: value, Problem: "is unknown", Allowed: allowed}
}

func (s *Spec) checkZone(zones []string) error {
	if s.Zone == "" && s.Kind != ZoneOutage {
		return nil
	}
	return oneOf(fieldZone, s.Zone, zones)
}

// checkFields refuses fields that the kind does not use: a rule that does less than it says would
// be misleading.
func (s *Spec) checkFields() error {
	allowed := definitions[s.Kind].fields
	for _, field := range []struct{ name, value string }{
		{fieldPool, s.Pool},
		{fieldZone, s.Zone},
		{fieldProbability, number(s.Probability)},
		{fieldSeed, number(float64(s.Seed))},
		{fieldCount, number(float64(s.Count))},
		{fieldDelay, number(s.DelaySeconds)},
		{fieldNotice, number(s.NoticeSeconds)},
		{fieldRetryAfter, number(s.RetryAfterSeconds)},
		{fieldStatus, number(float64(s.Status))},
		{fieldAfterOutage, string(s.AfterOutage)},
	} {
		if field.value != "" && !slices.Contains(allowed, field.name) {
			return &cloud.InvalidError{
				Field: field.name, Value: field.value, Problem: fmt.Sprintf("is not for faults of kind %s", s.Kind),
				Allowed: with([]string{"tenant"}, allowed...),
			}
		}
	}
	return nil
}

// number formats a number; zero, which means omitted, becomes an empty string.
func number(value float64) string {
	if value == 0 {
		return ""
	}
	return strconv.FormatFloat(value, 'g', -1, 64)
}

func (s *Spec) checkChance() error {
	if !slices.Contains(definitions[s.Kind].fields, fieldProbability) {
		return nil
	}
	if s.Probability == 0 {
		s.Probability = 1
	}
	if !(s.Probability > 0 && s.Probability <= 1) {
		return &cloud.InvalidError{
			Field: fieldProbability, Value: number(s.Probability), Problem: "is not a probability", Allowed: []string{"more than 0, at most 1"},
		}
	}
	if s.Count < 0 {
		return &cloud.InvalidError{
			Field: fieldCount, Value: strconv.Itoa(s.Count), Problem: "must not be negative", Allowed: []string{"1 or more", "0 for no limit"},
		}
	}
	return nil
}

func (s *Spec) checkDelay() error {
	return inRange(fieldDelay, s.DelaySeconds, definitions[s.Kind].delay)
}

func inRange(field string, value float64, l limit) error {
	// NaN is out of range, too.
	if value >= l.least && value <= l.most && !math.IsNaN(value) {
		return nil
	}
	return &cloud.InvalidError{
		Field: field, Value: strconv.FormatFloat(value, 'g', -1, 64), Problem: "is out of range",
		Allowed: []string{fmt.Sprintf("%g to %g", l.least, l.most)},
	}
}

func (s *Spec) checkDetails() error {
	switch s.Kind {
	case SpotReclaim:
		if s.NoticeSeconds == 0 {
			s.NoticeSeconds = defaultNotice
		}
		return inRange(fieldNotice, s.NoticeSeconds, limit{leastDelay, maxInstanceSeconds})
	case Throttling:
		if s.RetryAfterSeconds == 0 {
			s.RetryAfterSeconds = defaultRetryAfter
		}
		return inRange(fieldRetryAfter, s.RetryAfterSeconds, limit{leastDelay, maxCallSeconds})
	case ServerError:
		return s.checkStatus()
	case ZoneOutage:
		s.AfterOutage = cmp.Or(s.AfterOutage, StayStopped)
		return oneOf(fieldAfterOutage, string(s.AfterOutage), []string{string(StartAgain), string(StayStopped)})
	default:
		return nil
	}
}

func (s *Spec) checkStatus() error {
	if s.Status == 0 {
		s.Status = defaultStatus
	}
	allowed := make([]string, 0, len(statuses))
	for _, status := range statuses {
		allowed = append(allowed, strconv.Itoa(status))
	}
	return oneOf(fieldStatus, strconv.Itoa(s.Status), allowed)
}
