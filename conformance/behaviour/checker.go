// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// Checker runs a provider and checks the rules of the level "behaviour".
type Checker struct {
	// Config of the provider.
	Config *Config
	// Folder is where to keep the logs of the programs; by default, they are deleted.
	Folder string
	// Scenarios are patterns of the names of scenarios to run; all by default.
	Scenarios []string
	// Log is told when a scenario has ended; may be nil. Several scenarios may call it at once.
	Log func(message string)
	// Environment is a kube-apiserver that has the provider's CRDs already. By default, Check starts
	// one, with the configuration's programs.
	Environment *Environment
	// Stepper is a provider in this process instead of programs. It needs an Environment.
	Stepper Stepper

	programs *launcher
	rules    map[string]conformance.Rule

	lock sync.Mutex
	// baselines are whether an object of a kind works when nothing special happens.
	baselines map[string]func() error
	// slowest has, for each kind, the longest time in which a baseline saw no change before more followed.
	slowest map[Role]time.Duration
}

var _ conformance.Checker = &Checker{}

// Level implements conformance.Checker.
func (c *Checker) Level() conformance.Level { return conformance.Behaviour }

// Validate returns an error if a pattern matches no scenario.
func (c *Checker) Validate() error {
	for _, pattern := range c.Scenarios {
		if !slices.ContainsFunc(scenarios(), func(s scenario) bool { return c.Config.Kinds[s.role] != nil && matches([]string{pattern}, s.name) }) {
			return fmt.Errorf("no scenario of the configuration's kinds matches %q; --verbose shows their names", pattern)
		}
	}
	return nil
}

// Check implements conformance.Checker.
func (c *Checker) Check(ctx context.Context, contracts []string) (_ []conformance.Result, err error) {
	if err := c.readRules(); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.programs = &launcher{config: c.Config}
	if c.Environment == nil {
		stop, err := c.start(ctx)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	if contracts, err = c.contracts(contracts); err != nil {
		return nil, err
	}
	results, err := c.run(ctx, contracts)
	if err != nil {
		return nil, err
	}
	return append(results, c.checkFlags(ctx, contracts)...), nil
}

func (c *Checker) readRules() error {
	rules, err := conformance.Rules()
	if err != nil {
		return err
	}
	c.rules = map[string]conformance.Rule{}
	for _, rule := range rules {
		if rule.At(conformance.Behaviour) {
			c.rules[rule.ID] = rule
		}
	}
	return nil
}

// start starts a kube-apiserver and the programs.
func (c *Checker) start(ctx context.Context) (stop func() error, err error) {
	folder, clean := c.Folder, func() error { return nil }
	if folder == "" {
		if folder, err = os.MkdirTemp("", "capi-conformance-"); err != nil {
			return nil, err
		}
		clean = func() error { return os.RemoveAll(folder) }
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	environment, err := Start(ctx)
	if err != nil {
		return nil, errors.Join(err, clean())
	}
	programs := &launcher{config: c.Config, environment: environment, folder: folder, kinds: map[string][]schema.GroupKind{}}
	stop = func() error {
		programs.stop()
		c.Environment = nil
		return errors.Join(environment.Stop(), clean())
	}
	programs.certificate, err = newCertificate(folder)
	for _, program := range c.Config.Programs {
		if err == nil {
			err = programs.start(ctx, program)
		}
	}
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	c.Environment, c.programs = environment, programs
	return stop, nil
}

// contracts returns the versions to check. If none are wanted, the configuration names them, or else
// the labels that all of the provider's CRDs have.
func (c *Checker) contracts(wanted []string) ([]string, error) {
	if len(wanted) == 0 {
		wanted = c.Config.Contracts
	}
	if len(wanted) > 0 {
		return wanted, nil
	}
	var problems []error
	for _, contract := range conformance.Versions {
		var problem error
		for role, kind := range c.Config.Kinds {
			if role != RuntimeExtension {
				_, err := c.Environment.version(schema.GroupKind{Group: kind.Group, Kind: kind.Kind}, contract)
				problem = errors.Join(problem, err)
			}
		}
		if problem == nil {
			wanted = append(wanted, contract)
		}
		problems = append(problems, problem)
	}
	if len(wanted) == 0 {
		return nil, fmt.Errorf("no version of the contract to check: %w", errors.Join(problems...))
	}
	return wanted, nil
}

// run tells all stories, some of them at once.
func (c *Checker) run(ctx context.Context, contracts []string) ([]conformance.Result, error) {
	found := &results{}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(c.Config.Parallel)
	for _, scenario := range scenarios() {
		for _, contract := range contracts {
			if !c.selected(scenario, contract, found) {
				continue
			}
			s := &story{scenario: scenario, Client: c.Environment.Client, ctx: ctx, checker: c, contract: contract, results: found}
			group.Go(func() error {
				s.tell()
				return errors.Join(ctx.Err(), c.programs.check())
			})
		}
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	all := found.list(contracts)
	for id, rule := range c.rules {
		reason := c.wanted(id, rule.Versions[0])
		if reason == "" || slices.ContainsFunc(all, func(r conformance.Result) bool { return r.Rule == id }) {
			continue
		}
		if role, _, _ := strings.Cut(id, "/"); stages[Role(role)] == nil {
			continue // no configuration could name it
		}
		status := conformance.NotApplicable
		if strings.HasSuffix(reason, notClaimed) {
			status = conformance.NotClaimed
		}
		all = append(all, conformance.Result{Rule: id, Level: conformance.Behaviour, Status: status, Reason: reason})
	}
	return all, nil
}

// selected reports whether a scenario has something to check, and otherwise records why not.
func (c *Checker) selected(s scenario, contract string, found *results) bool {
	if len(c.Scenarios) > 0 && !matches(c.Scenarios, s.name) {
		return false
	}
	wanted := slices.ContainsFunc(s.rules, func(name string) bool { return c.wanted(string(s.role)+"/"+name, contract) == "" })
	if !wanted || c.Config.reaches(s.role, s.stage) {
		return wanted
	}
	for _, name := range s.rules {
		if c.wanted(string(s.role)+"/"+name, contract) != "" {
			continue
		}
		found.notRun(string(s.role)+"/"+name, contract,
			fmt.Sprintf("the configuration says that a %s gets to %q here, and the rule is about %q", c.Config.Kinds[s.role].Kind, c.Config.Kinds[s.role].Reaches, s.stage))
	}
	return false
}

const notClaimed = "the configuration does not claim it"

// wanted returns why a rule is not checked; empty if it is.
func (c *Checker) wanted(id, contract string) string {
	role, name, _ := strings.Cut(id, "/")
	rule, ok := c.rules[id]
	switch {
	case !ok:
		return fmt.Sprintf("there is no rule %s at this level", id)
	case c.Config.Kinds[Role(role)] == nil:
		return fmt.Sprintf("the configuration names no %s", role)
	case !slices.Contains(rule.Versions, contract):
		return fmt.Sprintf("version %s of the contract does not have it", contract)
	case !c.Config.has(Role(role), rule.Feature):
		return fmt.Sprintf("feature %s: %s", rule.Feature, notClaimed)
	case name == "waits-for-endpoint" && c.Config.has(Role(role), endpointFeature):
		return "the provider makes the endpoint itself"
	default:
		return ""
	}
}

// works returns an error unless an object of the story's kind works when nothing special happens.
func (c *Checker) works(s *story) error {
	return c.baseline(s, "does not work even if nothing special happens", func(s *story) error {
		_, err := s.ready()
		return err
	})
}

// deletes returns an error unless an object that works is deleted when nothing special happens.
func (c *Checker) deletes(s *story) error {
	return c.baseline(s, "is not deleted even if nothing special happens", func(s *story) error {
		object, err := s.ready()
		if err != nil {
			return err
		}
		if err := s.Delete(s.ctx, object); err != nil {
			return err
		}
		return s.untilGone(object, "it was deleted")
	})
}

// baseline runs a story once for all stories of the same kind and version, and returns what is wrong.
func (c *Checker) baseline(s *story, wrong string, run func(*story) error) error {
	c.lock.Lock()
	if c.baselines == nil {
		c.baselines = map[string]func() error{}
	}
	key := s.contract + " " + string(s.role) + " " + wrong
	if c.baselines[key] == nil {
		c.baselines[key] = sync.OnceValue(func() error {
			baseline := &story{
				scenario: scenario{name: "baseline", role: s.role}, Client: s.Client, ctx: s.ctx, checker: c, contract: s.contract, results: s.results, pace: &pace{},
			}
			err := baseline.begin()
			if err == nil {
				err = run(baseline)
			}
			c.slower(s.role, baseline.pace.longest)
			if err != nil {
				return fmt.Errorf("a %s %s: %w", s.about(), wrong, err)
			}
			return nil
		})
	}
	told := c.baselines[key]
	c.lock.Unlock()
	return told()
}

// slower notes how long a baseline saw no change before more followed.
func (c *Checker) slower(role Role, gap time.Duration) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.slowest == nil {
		c.slowest = map[Role]time.Duration{}
	}
	c.slowest[role] = max(c.slowest[role], gap)
}

// quiet returns how long nothing must change before a story believes that nothing more will happen:
// three times as long as the provider has needed for a change, because the machine may be busier
// now, and at least what the configuration says.
func (c *Checker) quiet(s *story) time.Duration {
	c.lock.Lock()
	defer c.lock.Unlock()
	return max(c.Config.Quiet.Duration, 3*c.slowest[s.role])
}

// matches reports whether a name matches one of the patterns.
func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matched, err := path.Match(pattern, name)
		return err == nil && matched
	})
}
