// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package settings_test

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/extensions/settings"
)

type ending string

const (
	hold  ending = "Hold"
	letGo ending = "Continue"
)

var (
	checks  = settings.Switch("checks", "Checks.")
	timeout = settings.Duration("timeout", "How long.", time.Minute, time.Hour)
	kept    = settings.Number("kept", "How many.", 3, 10)
	onEnd   = settings.Choice("onEnd", "What then.", hold, letGo)
	names   = settings.List("names", "Which.", "words without x", func(value string) error {
		if value == "" || value == "x" {
			return errors.New("refused")
		}
		return nil
	})
)

func TestGet(t *testing.T) {
	g := NewWithT(t)
	get := func(given map[string]string) []any {
		var values []any
		for _, read := range []func() (any, error){
			func() (any, error) { return checks.Get(given) },
			func() (any, error) { return timeout.Get(given) },
			func() (any, error) { return kept.Get(given) },
			func() (any, error) { return onEnd.Get(given) },
			func() (any, error) { return names.Get(given) },
		} {
			value, err := read()
			g.Expect(err).NotTo(HaveOccurred())
			values = append(values, value)
		}
		return values
	}
	g.Expect(get(nil)).To(Equal([]any{false, time.Minute, 3, hold, []string(nil)}))
	g.Expect(get(map[string]string{"checks": "Enabled", "timeout": "90s", "kept": "10", "onEnd": "Continue", "names": "b, a"})).
		To(Equal([]any{true, 90 * time.Second, 10, letGo, []string{"b", "a"}}))
}

func TestGetRefuses(t *testing.T) {
	given := map[string]string{"checks": "true", "timeout": "2h", "kept": "0", "onEnd": "", "names": "a,x"}
	for want, read := range map[string]func() error{
		`setting checks of the ExtensionConfig is "true", want Enabled or Disabled`: func() error { _, err := checks.Get(given); return err },
		`setting timeout of the ExtensionConfig is "2h", want a duration such as 90s or 10m, more than 0 and at most 1h0m0s`: func() error {
			_, err := timeout.Get(given)
			return err
		},
		`setting kept of the ExtensionConfig is "0", want a whole number from 1 to 10`: func() error { _, err := kept.Get(given); return err },
		`setting onEnd of the ExtensionConfig is "", want Hold or Continue`:            func() error { _, err := onEnd.Get(given); return err },
		`setting names of the ExtensionConfig is "a,x", want a comma-separated list of words without x`: func() error {
			_, err := names.Get(given)
			return err
		},
	} {
		t.Run(want, func(t *testing.T) {
			g := NewWithT(t)
			err := read()
			g.Expect(err).To(MatchError(want))
			var wrong *settings.Error
			g.Expect(errors.As(err, &wrong)).To(BeTrue())
		})
	}
}

func TestCheckNames(t *testing.T) {
	g := NewWithT(t)
	known := []settings.Doc{timeout.Doc(), checks.Doc()}
	g.Expect(settings.CheckNames(map[string]string{"checks": "Enabled"}, known)).To(Succeed())
	g.Expect(settings.CheckNames(map[string]string{"timeOut": "1s", "check": "", "checks": ""}, known)).
		To(MatchError(`the ExtensionConfig has unknown settings: "check", "timeOut"; want only checks, timeout`))
}
