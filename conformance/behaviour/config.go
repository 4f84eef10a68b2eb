// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

// Config says how to run a provider, and what its kinds need.
type Config struct {
	// Implementation names the provider in the report.
	Implementation conformance.Implementation `json:"implementation,omitempty"`
	// Contracts are the versions to check. Empty means those that the provider's CRDs are labelled
	// with.
	Contracts []string `json:"contracts,omitempty"`
	// KubernetesVersion of the machines; v1.36.3 by default.
	KubernetesVersion string `json:"kubernetesVersion,omitempty"`
	// Programs are started in this order. Each must be ready before the next one starts.
	Programs []Program `json:"programs"`
	// Objects are created in every namespace that a scenario uses, such as credentials.
	Objects []map[string]any `json:"objects,omitempty"`
	// Kinds has the provider's kinds by contract, such as infrastructure-machine.
	Kinds map[Role]*Kind `json:"kinds"`
	// Patience is how long a check waits for something that must happen; 60s by default. Raise it
	// for slow clouds. It costs no time while the provider works.
	Patience metav1.Duration `json:"patience,omitempty"`
	// Quiet is how long nothing must change, at least, before the suite believes that the provider has
	// nothing left to do; 2s by default. For a provider that is slower, the suite waits longer.
	Quiet metav1.Duration `json:"quiet,omitempty"`
	// Parallel is how many scenarios run at once; 8 by default.
	Parallel int `json:"parallel,omitempty"`

	// folder is what relative paths start from.
	folder string
}

// Program is a program to run: the provider's manager, or what it needs. Its command and environment
// may contain variables such as $(KUBECONFIG).
type Program struct {
	// Name of the program in messages, and of its log.
	Name string `json:"name"`
	// Command and its arguments. A relative path with a slash starts at the configuration's folder.
	Command []string `json:"command"`
	// Environment adds to the suite's environment.
	Environment map[string]string `json:"environment,omitempty"`
	// Components are manifests to install before: files, or folders with files. Workloads in them
	// are ignored, webhooks are redirected to $(WEBHOOK_PORT), and the program gets a kubeconfig for
	// the ServiceAccount in them.
	Components []string `json:"components,omitempty"`
	// ServiceAccount is the name of the program's ServiceAccount, if the components have several.
	ServiceAccount string `json:"serviceAccount,omitempty"`
	// Ready is a URL that answers with status 200 once the program is ready. Without it, the program
	// counts as ready at once.
	Ready string `json:"ready,omitempty"`
}

// Kind is one of the provider's kinds.
type Kind struct {
	// Group and Kind, such as infrastructure.cluster.x-k8s.io and FooMachine.
	Group string `json:"group"`
	Kind  string `json:"kind"`
	// Spec of an object that works. Specs overrides it for one version of the contract.
	Spec  map[string]any            `json:"spec,omitempty"`
	Specs map[string]map[string]any `json:"specs,omitempty"`
	// Annotations of every object.
	Annotations map[string]string `json:"annotations,omitempty"`
	// Template is the kind of its templates; <Kind>Template by default. TemplateChange is merged into
	// spec.template.spec to check dry runs, which are not checked without it.
	Template       string         `json:"template,omitempty"`
	TemplateChange map[string]any `json:"templateChange,omitempty"`
	// Reaches is how far an object gets where the suite runs. Rules about what comes later are not
	// run. Default is the last stage that needs no workload cluster.
	Reaches Stage `json:"reaches,omitempty"`
	// Features are the optional features that the provider says it has, as rules name them. Rules of
	// other features are not checked.
	Features []string `json:"features,omitempty"`
	// Program is the one that serves the hooks of a runtime extension. URL is used instead of it for
	// an extension that runs already.
	Program string `json:"program,omitempty"`
	URL     string `json:"url,omitempty"`
	// Requests for a runtime extension, by hook. They are sent besides the suite's own request, which
	// is about a small Cluster and has no templates, and take from it the fields that they leave out.
	// In those for an upgrade plan, an empty fromWorkersKubernetesVersion means that there are no workers.
	Requests map[string][]map[string]any `json:"requests,omitempty"`
}

// Role is the contract that a kind implements.
type Role string

// The roles.
const (
	InfraCluster     Role = "infrastructure-cluster"
	InfraMachine     Role = "infrastructure-machine"
	InfraMachinePool Role = "infrastructure-machinepool"
	ControlPlane     Role = "control-plane"
	BootstrapConfig  Role = "bootstrap"
	RuntimeExtension Role = "runtime-extension"
)

// Stage is how far an object gets.
type Stage string

// The stages, in the order in which a kind goes through them.
const (
	// Waiting objects are reconciled, but nothing is made for them.
	Waiting Stage = "waiting"
	// Provisioned is the last stage of infrastructure.
	Provisioned Stage = "provisioned"
	// DataSecretCreated is the last stage of bootstrap configurations.
	DataSecretCreated Stage = "dataSecretCreated"
	// MachinesCreated is the last stage of control planes: they have made their first Machine.
	MachinesCreated Stage = "machinesCreated"
)

// stages lists how far objects of each role can get. The second stage is the default if there are two.
var stages = map[Role][]Stage{
	InfraCluster:     {Waiting, Provisioned},
	InfraMachine:     {Waiting, Provisioned},
	InfraMachinePool: {Waiting, Provisioned},
	ControlPlane:     {Waiting, MachinesCreated},
	BootstrapConfig:  {Waiting, DataSecretCreated},
	RuntimeExtension: {Waiting},
}

// LoadConfig reads a configuration.
func LoadConfig(file string) (*Config, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	config := &Config{}
	if err := yaml.UnmarshalStrict(data, config); err != nil {
		// Where in the code the error comes from is of no use.
		return nil, fmt.Errorf("%s: %s", file, strings.TrimPrefix(err.Error(), "error unmarshaling JSON: while decoding JSON: json: "))
	}
	if config.folder, err = filepath.Abs(filepath.Dir(file)); err != nil {
		return nil, err
	}
	config.setDefaults()
	if err := config.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return config, nil
}

func (c *Config) setDefaults() {
	if c.KubernetesVersion == "" {
		c.KubernetesVersion = "v1.36.3"
	}
	if c.Patience.Duration == 0 {
		c.Patience.Duration = time.Minute
	}
	if c.Quiet.Duration == 0 {
		c.Quiet.Duration = 2 * time.Second
	}
	if c.Parallel == 0 {
		c.Parallel = 8
	}
	for role, kind := range c.Kinds {
		if kind == nil {
			continue
		}
		if kind.Template == "" {
			kind.Template = kind.Kind + "Template"
		}
		if known := stages[role]; kind.Reaches == "" && len(known) > 0 {
			kind.Reaches = known[min(1, len(known)-1)]
		}
	}
}

// prefixedVersion returns the version as Cluster API's webhooks leave it in Machines and Clusters.
func (c *Config) prefixedVersion() string { return "v" + strings.TrimPrefix(c.KubernetesVersion, "v") }

func (c *Config) validate() error {
	var errs []error
	if c.Parallel < 0 || c.Patience.Duration < 0 || c.Quiet.Duration < 0 {
		errs = append(errs, errors.New("parallel, patience and quiet: want positive values"))
	}
	if len(c.Kinds) == 0 {
		errs = append(errs, errors.New("kinds: name at least one of the provider's kinds"))
	}
	for _, role := range slices.Sorted(maps.Keys(c.Kinds)) {
		errs = append(errs, c.validateKind(role, c.Kinds[role]))
	}
	for i, program := range c.Programs {
		if err := program.validate(); err != nil {
			errs = append(errs, fmt.Errorf("programs[%d]: %w", i, err))
		}
	}
	for _, version := range c.Contracts {
		if !slices.Contains(conformance.Versions, version) {
			errs = append(errs, fmt.Errorf("contracts: %q is unknown; allowed: %s", version, strings.Join(conformance.Versions, ", ")))
		}
	}
	return errors.Join(errs...)
}

func (p *Program) validate() error {
	switch {
	case p.Name == "" || len(p.Command) == 0:
		return errors.New("needs a name and a command")
	case p.ServiceAccount != "" && len(p.Components) == 0:
		return fmt.Errorf("serviceAccount is %q, and there are no components that could have it", p.ServiceAccount)
	}
	return nil
}

func (c *Config) validateKind(role Role, kind *Kind) error {
	known, ok := stages[role]
	switch {
	case !ok:
		return fmt.Errorf("kinds: %q is no contract; allowed: %v", role, slices.Sorted(maps.Keys(stages)))
	case kind == nil:
		return fmt.Errorf("kinds: %s is empty", role)
	case !slices.Contains(known, kind.Reaches):
		return fmt.Errorf("kinds: %s: reaches is %q; allowed: %v", role, kind.Reaches, known)
	case len(unknownFeatures(role, kind.Features)) > 0:
		return fmt.Errorf("kinds: %s: no rule has the features %v; allowed: %v", role, unknownFeatures(role, kind.Features), features(role))
	case role == RuntimeExtension:
		if kind.URL == "" && !slices.ContainsFunc(c.Programs, func(p Program) bool { return p.Name == kind.Program }) {
			return fmt.Errorf("kinds: %s: program is %q: want the name of one of the programs, or set a url", role, kind.Program)
		}
	case kind.Group == "" || kind.Kind == "":
		return fmt.Errorf("kinds: %s: needs a group and a kind", role)
	}
	return nil
}

// features returns what a rule of the contract may be about.
func features(role Role) []string {
	rules, err := conformance.Rules()
	if err != nil {
		return nil
	}
	known := map[string]bool{}
	for _, rule := range rules {
		if rule.Contract == string(role) && rule.Feature != "" {
			known[rule.Feature] = true
		}
	}
	return slices.Sorted(maps.Keys(known))
}

func unknownFeatures(role Role, claimed []string) []string {
	known := features(role)
	return slices.DeleteFunc(slices.Clone(claimed), func(name string) bool { return slices.Contains(known, name) })
}

// has reports whether a kind has a feature; every kind has the empty one.
func (c *Config) has(role Role, feature string) bool {
	return feature == "" || slices.Contains(c.Kinds[role].Features, feature)
}

// reaches reports whether objects of a role get to the stage.
func (c *Config) reaches(role Role, stage Stage) bool {
	return slices.Index(stages[role], c.Kinds[role].Reaches) >= slices.Index(stages[role], stage)
}

// resolve returns a path as seen from the configuration.
func (c *Config) resolve(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(c.folder, file)
}
