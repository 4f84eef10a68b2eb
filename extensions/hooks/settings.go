// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package hooks

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
)

// Ending is what happens to an upgrade if a hook cannot do its work, or finds something.
type Ending string

const (
	// Hold keeps the upgrade waiting.
	Hold Ending = "Hold"
	// Continue lets the upgrade continue, and reports what was found.
	Continue Ending = "Continue"
	// Skip lets the upgrade continue without the work.
	Skip Ending = "Skip"
)

// Settings are the settings of an ExtensionConfig. Groups describes each of them. Everything that
// does work is off until a setting asks for it.
type Settings struct {
	// given are the settings as text. Those that ask for a task are only there.
	given map[string]string

	SnapshotURL, SnapshotCredentials      string
	SnapshotsKept                         int
	SnapshotTimeout, FinalSnapshotTimeout time.Duration
	SnapshotExternalEtcd                  Ending

	UpgradeChecksOnFailure   Ending
	SmokeChecksTimeout       time.Duration
	SmokeChecksOnTimeout     Ending
	ConformanceChecksTimeout time.Duration
	ConformanceJob           string

	VolumeBackupJob       string
	VolumeBackupTimeout   time.Duration
	VolumeBackupOnTimeout Ending

	CleanUpTimeout time.Duration

	InstanceTypes      []string
	KubernetesVersions []string
}

// ParseSettings reads the settings of an ExtensionConfig. Cluster API passes them as text to each
// call of a hook. The error names everything that is wrong, including unknown settings: a
// misspelled one would otherwise leave off what it should turn on, and nobody would notice until
// too late.
func ParseSettings(given map[string]string) (Settings, error) {
	parsed := Settings{given: given}
	var known, problems []string
	for _, group := range parsed.groups() {
		for _, setting := range group.Settings {
			known = append(known, setting.Name)
			text, isGiven := given[setting.Name]
			if !isGiven && setting.Default == "" {
				continue
			}
			if !isGiven {
				text = setting.Default
			}
			if err := setting.parse(text); err != nil {
				problems = append(problems, setting.refuse(text, err))
			}
		}
	}
	problems = append(problems, unknownSettings(given, known)...)
	if given["snapshotURL"] == "" && (parsed.asksFor("snapshots") || parsed.asksFor("finalSnapshot")) {
		problems = append(problems, "setting snapshotURL of the ExtensionConfig is missing, but snapshots and finalSnapshot need it")
	}
	if len(problems) > 0 {
		return Settings{}, errors.New(strings.Join(problems, "; "))
	}
	return parsed, nil
}

// asksFor reports whether a setting asks for its task.
func (s Settings) asksFor(setting string) bool {
	value := s.given[setting]
	return value != "" && value != disabled
}

func unknownSettings(given map[string]string, known []string) []string {
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, name) {
			unknown = append(unknown, strconv.Quote(name))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	slices.Sort(known)
	return []string{fmt.Sprintf("the ExtensionConfig has unknown settings: %s; known settings are %s", strings.Join(unknown, ", "), strings.Join(known, ", "))}
}

// Setting describes a setting for users.
type Setting struct {
	// Name of the setting.
	Name string
	// Default applies if the setting is missing. It is empty if there is no default.
	Default string
	// Allowed describes the allowed values.
	Allowed string
	// Meaning describes what the setting does.
	Meaning string

	parse func(string) error
}

// errRefused is the error for a value that is not allowed and may be quoted.
var errRefused = errors.New("refused")

// refuse describes why a value is not allowed.
func (s Setting) refuse(given string, err error) string {
	if errors.Is(err, errRefused) {
		return fmt.Sprintf("setting %s of the ExtensionConfig is %q, but must be %s", s.Name, given, s.Allowed)
	}
	return fmt.Sprintf("setting %s of the ExtensionConfig: %s; it must be %s", s.Name, err, s.Allowed)
}

const (
	enabled  = "Enabled"
	disabled = "Disabled"
)

// toggle is a setting that asks for a task.
func toggle(name, meaning string) Setting {
	return Setting{
		Name: name, Default: disabled, Allowed: enabled + " or " + disabled, Meaning: meaning,
		parse: func(given string) error {
			if given != enabled && given != disabled {
				return errRefused
			}
			return nil
		},
	}
}

// choice is a setting that is Hold, which is the default, or something else.
func choice(name string, into *Ending, other Ending, meaning string) Setting {
	return Setting{
		Name: name, Default: string(Hold), Allowed: fmt.Sprintf("%s or %s", Hold, other), Meaning: meaning,
		parse: func(given string) error {
			*into = Ending(given)
			if Ending(given) != Hold && Ending(given) != other {
				return errRefused
			}
			return nil
		},
	}
}

// duration is a setting such as 90s or 10m, greater than zero and at most the limit.
func duration(name string, into *time.Duration, absent, limit time.Duration, meaning string) Setting {
	return Setting{
		Name: name, Default: absent.String(), Meaning: meaning,
		Allowed: fmt.Sprintf("a duration such as 90s or 10m, more than 0 and at most %s", limit),
		parse: func(given string) error {
			value, err := time.ParseDuration(given)
			*into = value
			if err != nil || value <= 0 || value > limit {
				return errRefused
			}
			return nil
		},
	}
}

// text is a setting without a default, whose values the check accepts.
func text(name string, into *string, check func(string) error, allowed, meaning string) Setting {
	return Setting{
		Name: name, Allowed: allowed, Meaning: meaning,
		parse: func(given string) error {
			*into = given
			return check(given)
		},
	}
}

// list is a setting without a default that holds comma-separated values, each of which the check
// accepts.
func list(name string, into *[]string, check func(string) bool, allowed, meaning string) Setting {
	return Setting{
		Name: name, Allowed: "a comma-separated list of " + allowed, Meaning: meaning,
		parse: func(given string) error {
			var values []string
			for value := range strings.SplitSeq(given, ",") {
				value = strings.TrimSpace(value)
				if !check(value) {
					return errRefused
				}
				values = append(values, value)
			}
			*into = values
			return nil
		},
	}
}

func snapshotsKept(into *int) Setting {
	const limit = 1000
	return Setting{
		Name: "snapshotsKept", Default: "5", Allowed: fmt.Sprintf("a whole number from 1 to %d", limit),
		Meaning: "How many of the newest snapshots of each Cluster are kept.",
		parse: func(given string) error {
			value, err := strconv.Atoi(given)
			*into = value
			if err != nil || value < 1 || value > limit {
				return errRefused
			}
			return nil
		},
	}
}

// isObjectName refuses what cannot be the name of an object.
func isObjectName(given string) error {
	if len(validation.IsDNS1123Subdomain(given)) > 0 {
		return errRefused
	}
	return nil
}

func isInstanceType(given string) bool { return given != "" && len(given) <= 63 }

func isVersion(given string) bool {
	digits, found := strings.CutPrefix(given, "v")
	_, err := semver.Parse(digits)
	return found && err == nil
}

// snapshotURLs describes the URLs that snapshotjob.CheckURL accepts. Its errors do not quote the
// URL, because somebody may have put a password into it.
func snapshotURLs() string {
	return "the URL of a bucket with a scheme of " + strings.Join(snapshotjob.Schemes(), ", ") +
		", such as s3://bucket?region=eu-west-1, gs://bucket, azblob://container or file:///mnt/snapshots"
}
