//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
	"github.com/capfoo/cluster-api-provider-foo/conformance/behaviour/internal/mutant"
	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// allMutants makes the tests break every rule in both versions of the contract, and run all scenarios
// of the contract. Otherwise they run only those that check the rule.
const allMutants = "CONFORMANCE_ALL_MUTANTS"

// unbroken are the rules at this level that no scenario checks. Reports have them as not run, and the README says so.
var unbroken = []string{
	"bootstrap/taint-nodes", "control-plane/endpoint", "control-plane/external-managed", "infrastructure-cluster/multi-tenancy",
}

// ofPrograms are the rules about the flags of a program, which a provider in the same process does not have.
const ofPrograms = "*/multiple-instances"

// contractual are the rules whose check differs between the versions of the contract.
var contractual = []string{
	"*/initialization", "*/conditions", "infrastructure-cluster/failure-domains", "infrastructure-machine/failure-domain", "control-plane/ready-replicas",
	"control-plane/available-replicas", "control-plane/up-to-date-replicas", "control-plane/deletion-timeouts", "control-plane/readiness-gates",
}

// obedient is the name of a rule that does not exist, for a provider that violates none.
const obedient = "none"

// patient is like obedient, for infrastructure that has the endpoint of somebody else.
const patient = "none-endpoint"

// waitsForEndpoint is the rule that only such infrastructure can meet.
const waitsForEndpoint = "infrastructure-cluster/waits-for-endpoint"

// stopShared stops the kube-apiserver that all tests share, once one of them has started it.
var stopShared = func() error { return nil }

// shared returns that kube-apiserver, or why there is none.
var shared = sync.OnceValues(func() (*Environment, error) {
	environment, err := Start(context.Background()) // no test's context, as it outlives each
	if err != nil {
		return nil, err
	}
	stopShared = environment.Stop
	objects, err := decode([]byte(mutant.Policy))
	if err != nil {
		return nil, err
	}
	for _, crd := range mutant.CRDs() {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
		if err != nil {
			return nil, err
		}
		objects = append(objects, &unstructured.Unstructured{Object: content})
	}
	return environment, environment.install(context.Background(), objects)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if err := stopShared(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// withMutants returns a kube-apiserver with the kinds of the mutants. Each run of the suite has a
// namespace of its own in it.
func withMutants(t *testing.T) *Environment {
	t.Helper()
	environment, err := shared()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return environment
}

// kindsOf returns the configuration of the mutant's kinds for a rule's contract; all for no rule.
func kindsOf(rule string) map[Role]*Kind {
	all := map[Role]*Kind{
		InfraCluster:     {Kind: mutant.Cluster},
		InfraMachine:     {Kind: mutant.Machine},
		InfraMachinePool: {Kind: mutant.MachinePool},
		ControlPlane:     {Kind: mutant.ControlPlane, Spec: map[string]any{"replicas": 1, "version": "$(KUBERNETES_VERSION)"}},
		BootstrapConfig:  {Kind: mutant.Config},
	}
	role, name, _ := strings.Cut(rule, "/")
	for each, kind := range all {
		kind.Group = mutant.Group
		kind.Features = slices.DeleteFunc(features(each), func(name string) bool {
			return slices.Contains([]string{"multiTenancy", "multipleInstances"}, name) || name == "endpoint" && each != InfraCluster
		})
		kind.Spec = maps.Clone(kind.Spec)
		if kind.Spec == nil {
			kind.Spec = map[string]any{}
		}
		kind.Spec["knob"] = "1"
		kind.TemplateChange = map[string]any{"knob": "2"}
		kind.Template = kind.Kind + mutant.Template
		if role != "" && each != Role(role) {
			delete(all, each)
			continue
		}
		switch name {
		case "ssa-dry-run":
			kind.Template = kind.Kind + mutant.RigidTemplate
		case "waits-for-endpoint", patient:
			if each == InfraCluster {
				kind.Features = slices.DeleteFunc(kind.Features, func(name string) bool { return name == endpointFeature })
			}
		case "in-place-changes", "in-place-changes-allowed":
			if (each == InfraMachine) == (name == "in-place-changes") {
				kind.Kind = mutant.Rigid + kind.Kind
			}
		case "apply-dry-run":
			kind.Kind = mutant.Loud + kind.Kind
		case "scale":
			if each == ControlPlane {
				kind.Kind = mutant.Unscaled + kind.Kind
			}
		}
	}
	return all
}

// reconciled returns the kinds that the mutant must look at.
func reconciled(config *Config) []string {
	var kinds []string
	for role, kind := range config.Kinds {
		kinds = append(kinds, kind.Kind)
		if role == InfraMachine {
			kinds = append(kinds, kind.Template)
		}
		if role == InfraMachinePool && config.Kinds[InfraMachine] == nil {
			kinds = append(kinds, mutant.Machine) // its members
		}
	}
	return kinds
}

// outcomes runs the provider that violates a rule, and returns the rules by outcome.
func outcomes(t *testing.T, environment *Environment, contract, rule string) map[conformance.Status][]string {
	t.Helper()
	return outcomesWith(t, environment, contract, rule, func(*Config, *mutant.Provider) {})
}

// outcomesWith is like outcomes, for another configuration or provider.
func outcomesWith(t *testing.T, environment *Environment, contract, rule string, change func(*Config, *mutant.Provider)) map[conformance.Status][]string {
	t.Helper()
	g := NewWithT(t)
	config := &Config{Kinds: kindsOf(rule), Contracts: []string{contract}, Parallel: 4}
	provider := &mutant.Provider{
		Client: environment.Client, Contract: contract, Violates: rule, Kinds: reconciled(config),
		NoEndpoint: config.Kinds[InfraCluster] != nil && !config.has(InfraCluster, endpointFeature),
	}
	change(config, provider)
	config.setDefaults()
	g.Expect(config.validate()).To(Succeed())
	checker := &Checker{Config: config, Environment: environment, Scenarios: scenariosOf(rule), Stepper: provider}
	results, err := checker.Check(t.Context(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	found := map[conformance.Status][]string{}
	for _, result := range results {
		found[result.Status] = append(found[result.Status], result.Rule)
		if result.Status == conformance.Failed && result.Rule != rule {
			t.Errorf("%s: %v", result.Rule, result.Findings)
		}
	}
	return found
}

// scenariosOf returns the names of the scenarios that check a rule; nothing selects all.
func scenariosOf(rule string) []string {
	role, name, _ := strings.Cut(rule, "/")
	if name == obedient || name == patient || os.Getenv(allMutants) != "" {
		return nil
	}
	var names []string
	for _, scenario := range scenarios() {
		if scenario.role == Role(role) && slices.Contains(scenario.rules, name) {
			names = append(names, scenario.name)
		}
	}
	return names
}

// rulesToBreak are the rules that the mutants violate.
func rulesToBreak(t *testing.T) []conformance.Rule {
	t.Helper()
	g := NewWithT(t)
	rules, err := conformance.Rules()
	g.Expect(err).NotTo(HaveOccurred())
	return slices.DeleteFunc(rules, func(rule conformance.Rule) bool {
		return !rule.At(conformance.Behaviour) || matches(append(unbroken, ofPrograms), rule.ID) || kindsOf("")[Role(rule.Contract)] == nil
	})
}

func TestTheReadmeNamesWhatNothingChecks(t *testing.T) {
	g := NewWithT(t)
	readme, err := os.ReadFile("../README.md")
	g.Expect(err).NotTo(HaveOccurred())
	for _, rule := range unbroken {
		g.Expect(string(readme)).To(ContainSubstring("`" + rule + "`"))
		g.Expect(slices.ContainsFunc(scenarios(), func(s scenario) bool {
			return slices.ContainsFunc(s.rules, func(name string) bool { return matches([]string{rule}, string(s.role)+"/"+name) })
		})).To(BeFalse(), rule)
	}
}

func TestTheObedientProviderPasses(t *testing.T) {
	environment := withMutants(t)
	for role := range kindsOf("") {
		for _, contract := range conformance.Versions {
			t.Run(contract+" "+string(role), func(t *testing.T) {
				t.Parallel()
				g := NewWithT(t)
				found := outcomes(t, environment, contract, string(role)+"/"+obedient)
				g.Expect(found[conformance.Failed]).To(BeEmpty())
				for _, rule := range rulesToBreak(t) {
					if rule.Contract == string(role) && slices.Contains(rule.Versions, contract) && rule.ID != waitsForEndpoint {
						g.Expect(found[conformance.Passed]).To(ContainElement(rule.ID))
					}
				}
			})
		}
	}
}

func TestInfrastructureWithAnotherEndpointPasses(t *testing.T) {
	g := NewWithT(t)
	found := outcomes(t, withMutants(t), "v1beta2", string(InfraCluster)+"/"+patient)
	g.Expect(found[conformance.Failed]).To(BeEmpty())
	g.Expect(found[conformance.Passed]).To(ContainElement(waitsForEndpoint))
}

func TestControlPlaneWithAnotherVersionPasses(t *testing.T) {
	environment := withMutants(t)
	for name, change := range map[string]func(*Config, *mutant.Provider){
		"without a prefix": func(config *Config, _ *mutant.Provider) { config.KubernetesVersion = "1.36.3" },
		"in its spec":      func(config *Config, _ *mutant.Provider) { config.Kinds[ControlPlane].Spec["version"] = "v1.34.1" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			found := outcomesWith(t, environment, "v1beta2", string(ControlPlane)+"/"+obedient, change)
			g.Expect(found[conformance.Failed]).To(BeEmpty())
			g.Expect(found[conformance.Passed]).To(ContainElements("control-plane/version", "control-plane/version-prefix", "control-plane/status-version"))
		})
	}
}

func TestAPoolWhoseMachinesNeedTheirMachinesPasses(t *testing.T) {
	for _, contract := range conformance.Versions {
		t.Run(contract, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			found := outcomesWith(t, withMutants(t), contract, string(InfraMachinePool)+"/"+obedient, func(_ *Config, provider *mutant.Provider) { provider.AwaitsMembers = true })
			g.Expect(found[conformance.Failed]).To(BeEmpty())
			g.Expect(found[conformance.Unfinished]).To(BeEmpty())
			g.Expect(found[conformance.Passed]).To(ContainElements("infrastructure-machinepool/scale", "infrastructure-machinepool/lost-status", "infrastructure-machinepool/pause-resumes"))
		})
	}
}

func TestAPoolNeedNotLeaveItsReplicasToOthers(t *testing.T) {
	const rule = "infrastructure-machinepool/externally-managed-replicas"
	found := outcomesWith(t, withMutants(t), "v1beta2", rule, func(config *Config, _ *mutant.Provider) { config.Kinds[InfraMachinePool].Features = nil })
	NewWithT(t).Expect(found[conformance.NotClaimed]).To(ContainElement(rule))
}

// forgetful is a client that cannot read paused objects.
type forgetful struct{ client.Client }

func (f forgetful) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := f.Client.Get(ctx, key, object, options...)
	if content, ok := object.(*unstructured.Unstructured); ok && err == nil && fields.StatusOf(content, clusterv1.PausedCondition) == "True" {
		err = errors.New("no answer")
	}
	return err
}

func TestAFailedReadDoesNotSayThatNothingHappened(t *testing.T) {
	environment := withMutants(t)
	for _, name := range []string{"pause by annotation", "pause of a deletion"} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			config := &Config{Kinds: kindsOf("infrastructure-machine/" + obedient), Contracts: []string{"v1beta2"}, Parallel: 1}
			config.setDefaults()
			checker := &Checker{
				Config: config, Scenarios: []string{name},
				Environment: &Environment{Client: forgetful{environment.Client}, Config: environment.Config, crds: environment.crds},
				Stepper:     &mutant.Provider{Client: environment.Client, Contract: "v1beta2", Kinds: reconciled(config)},
			}
			results, err := checker.Check(t.Context(), nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(results).To(ContainElement(And(HaveField("Rule", "infrastructure-machine/pausing"), HaveField("Status", conformance.Unfinished),
				HaveField("Reason", ContainSubstring("no answer")))))
		})
	}
}

// closed is a client that cannot create control planes.
type closed struct{ client.Client }

func (c closed) Create(ctx context.Context, object client.Object, options ...client.CreateOption) error {
	if object.GetObjectKind().GroupVersionKind().Kind == mutant.ControlPlane {
		return errors.New("no answer")
	}
	return c.Client.Create(ctx, object, options...)
}

func TestAControlPlaneThatCannotBeCreatedBreaksNoRule(t *testing.T) {
	environment := withMutants(t)
	g := NewWithT(t)
	config := &Config{Kinds: kindsOf("control-plane/" + obedient), Contracts: []string{"v1beta2"}, Parallel: 1}
	config.setDefaults()
	checker := &Checker{
		Config: config, Scenarios: []string{lifeOf + "a control plane"},
		Environment: &Environment{Client: closed{environment.Client}, Config: environment.Config, crds: environment.crds},
		Stepper:     &mutant.Provider{Client: environment.Client, Contract: "v1beta2", Kinds: reconciled(config)},
	}
	results, err := checker.Check(t.Context(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(results).To(ContainElement(And(HaveField("Rule", "control-plane/machine-label"), HaveField("Status", conformance.Unfinished),
		HaveField("Reason", ContainSubstring("no answer")))))
	g.Expect(results).NotTo(ContainElement(HaveField("Status", conformance.Failed)))
}

func TestEachMutantFailsItsRuleOnly(t *testing.T) {
	environment := withMutants(t)
	for _, rule := range rulesToBreak(t) {
		for _, contract := range rule.Versions {
			newest := contract == rule.Versions[len(rule.Versions)-1]
			if !newest && !matches(contractual, rule.ID) && os.Getenv(allMutants) == "" {
				continue
			}
			t.Run(contract+" "+rule.ID, func(t *testing.T) {
				t.Parallel()
				g := NewWithT(t)
				found := outcomes(t, environment, contract, rule.ID)
				g.Expect(found[conformance.Failed]).To(Equal([]string{rule.ID}))
				// What is never deleted says nothing about other deletions.
				if !rule.Mandatory && !strings.HasSuffix(rule.ID, "/deletion") {
					g.Expect(found[conformance.Unfinished]).To(BeEmpty(), "a recommendation must not end the run")
				}
			})
		}
	}
}
