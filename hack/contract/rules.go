// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

// contract is one contract of Cluster API: a document with a table of rules or with one section per
// rule.
type contract struct {
	// name is the first part of the IDs of the rules.
	name string
	// document is the path of the document in Cluster API's book.
	document string
	// sections is true for a document with sections instead of a table.
	sections bool
	// rules in the order of the document.
	rules []rule
}

// rule is one rule of a contract.
type rule struct {
	// name is the second part of the ID.
	name string
	// title is the rule's title in the document's table, without brackets and backquotes.
	title string
	// excluded says why Foo does not need the rule. It is empty if Foo needs it.
	excluded string
	// met says how Foo meets the rule, if "met" alone says too little.
	met string
}

// Folders of documents in the book.
const (
	contractsFolder = "developer/providers/contracts/"
	runtimeFolder   = "tasks/experimental-features/runtime-sdk/"
)

// explains is why a section of a document about hooks is not a rule.
const explains = "it explains and sets no rules"

// endpointByInfrastructure is why the control plane need not provide an endpoint.
const endpointByInfrastructure = "the infrastructure provides the endpoint: FooCluster, or another provider's cluster"

// neverTerminal is how the rules about terminal failures are met.
const neverTerminal = "not set: no failure is terminal, and the fields are deprecated"

var contracts = []contract{
	{name: "control-plane", document: contractsFolder + "control-plane.md", rules: []rule{
		{name: "scope", title: "All resources: scope"},
		{name: "type-meta", title: "All resources: TypeMeta and ObjectMetafield"},
		{name: "api-version", title: "All resources: APIVersion field value"},
		{name: "resource-definition", title: "ControlPlane, ControlPlaneList resource definition"},
		{name: "endpoint", title: "ControlPlane: endpoint", excluded: endpointByInfrastructure},
		{name: "replicas", title: "ControlPlane: replicas"},
		{name: "version", title: "ControlPlane: version"},
		{name: "machines", title: "ControlPlane: machines"},
		{name: "rollout-after", title: "ControlPlane: rolloutAfter"},
		{name: "initialization-completed", title: "ControlPlane: initialization completed"},
		{name: "in-place-updates", title: "ControlPlane: in-place updates"},
		{name: "conditions", title: "ControlPlane: conditions"},
		{name: "terminal-failures", title: "ControlPlane: terminal failures", met: neverTerminal},
		{name: "template", title: "ControlPlaneTemplate, ControlPlaneTemplateList resource definition"},
		{name: "kubeconfig", title: "Cluster kubeconfig management"},
		{name: "certificates", title: "Cluster certificate management"},
		{name: "machine-placement", title: "Machine placement"},
		{name: "metadata-propagation", title: "Metadata propagation"},
		{name: "min-ready-seconds-and-up-to-date", title: "MinReadySeconds and UpToDate propagation"},
		{name: "multiple-instances", title: "Support for running multiple instances"},
		{name: "clusterctl", title: "Clusterctl support"},
		{name: "pausing", title: "ControlPlane: pausing"},
	}},
	{name: "infra-cluster", document: contractsFolder + "infra-cluster.md", rules: []rule{
		{name: "scope", title: "All resources: scope"},
		{name: "type-meta", title: "All resources: TypeMeta and ObjectMetafield"},
		{name: "api-version", title: "All resources: APIVersion field value"},
		{name: "resource-definition", title: "InfraCluster, InfraClusterList resource definition"},
		{name: "control-plane-endpoint", title: "InfraCluster: control plane endpoint"},
		{name: "failure-domains", title: "InfraCluster: failure domains"},
		{name: "initialization-completed", title: "InfraCluster: initialization completed"},
		{name: "conditions", title: "InfraCluster: conditions"},
		{name: "terminal-failures", title: "InfraCluster: terminal failures", met: neverTerminal},
		{name: "template", title: "InfraClusterTemplate, InfraClusterTemplateList resource definition"},
		{name: "externally-managed", title: "Externally managed infrastructure"},
		{name: "multi-tenancy", title: "Multi tenancy"},
		{name: "clusterctl", title: "Clusterctl support"},
		{name: "pausing", title: "InfraCluster: pausing"},
	}},
	{name: "infra-machine", document: contractsFolder + "infra-machine.md", rules: []rule{
		{name: "scope", title: "All resources: scope"},
		{name: "type-meta", title: "All resources: TypeMeta and ObjectMetafield"},
		{name: "api-version", title: "All resources: APIVersion field value"},
		{name: "resource-definition", title: "InfraMachine, InfraMachineList resource definition"},
		{name: "provider-id", title: "InfraMachine: provider ID"},
		{name: "failure-domain", title: "InfraMachine: failure domain"},
		{name: "addresses", title: "InfraMachine: addresses"},
		{name: "initialization-completed", title: "InfraMachine: initialization completed"},
		{name: "conditions", title: "InfraMachine: conditions"},
		{name: "terminal-failures", title: "InfraMachine: terminal failures", met: neverTerminal},
		{name: "in-place-changes", title: "InfraMachine: support for in-place changes"},
		{name: "template", title: "InfraMachineTemplate, InfraMachineTemplateList resource definition"},
		{name: "template-ssa-dry-run", title: "InfraMachineTemplate: support for SSA dry run"},
		{name: "multi-tenancy", title: "Multi tenancy"},
		{name: "clusterctl", title: "Clusterctl support"},
		{name: "pausing", title: "InfraMachine: pausing"},
		{name: "autoscaling-from-zero", title: "InfraMachineTemplate: support cluster autoscaling from zero"},
	}},
	{name: "infra-machinepool", document: contractsFolder + "infra-machinepool.md", rules: []rule{
		{name: "scope", title: "All resources: scope"},
		{name: "type-meta", title: "All resources: TypeMeta and ObjectMetafield"},
		{name: "api-version", title: "All resources: APIVersion field value"},
		{name: "resource-definition", title: "InfraMachinePool, InfraMachinePoolList resource definition"},
		{name: "instances", title: "InfraMachinePool: instances"},
		{name: "machine-pool-machines", title: "MachinePoolMachines support"},
		{name: "providerID", title: "InfraMachinePool: providerID"},
		{name: "providerIDList", title: "InfraMachinePool: providerIDList"},
		{name: "initialization-completed", title: "InfraMachinePool: initialization completed"},
		{name: "pausing", title: "InfraMachinePool: pausing"},
		{name: "conditions", title: "InfraMachinePool: conditions"},
		{name: "replicas", title: "InfraMachinePool: replicas"},
		{name: "terminal-failures", title: "InfraMachinePool: terminal failures", met: neverTerminal},
		{name: "template", title: "InfraMachinePoolTemplate, InfraMachineTemplatePoolList resource definition"},
		{name: "template-ssa-dry-run", title: "InfraMachinePoolTemplate: support for SSA dry run"},
		{name: "multi-tenancy", title: "Multi tenancy"},
		{name: "clusterctl", title: "Clusterctl support"},
	}},
	{name: "clusterctl", document: contractsFolder + "clusterctl.md", sections: true, rules: []rule{
		{name: "repository", title: "Provider Repositories"},
		{name: "built-in-list", title: "Provider Repositories: Adding a provider to clusterctl", excluded: notPublished},
		{name: "github", title: "Provider Repositories: Creating a provider repository on GitHub", excluded: notPublished},
		{name: "gitlab", title: "Provider Repositories: Creating a provider repository on GitLab", excluded: notPublished},
		{name: "local-repository", title: "Provider Repositories: Creating a local provider repository"},
		{name: "metadata", title: "Metadata YAML"},
		{name: "metadata-validation", title: "Metadata YAML: Validation Rules"},
		{name: "components", title: "Components YAML"},
		{name: "components-names", title: "Components YAML: Naming conventions"},
		{name: "components-namespace", title: "Components YAML: Target namespace"},
		{name: "components-controllers", title: "Components YAML: Controllers & Watching namespace"},
		{name: "components-variables", title: "Components YAML: Variables"},
		{name: "components-labels", title: "Components YAML: Labels"},
		{name: "templates", title: "Workload cluster templates"},
		{name: "templates-names", title: "Workload cluster templates: Naming conventions"},
		{name: "templates-namespace", title: "Workload cluster templates: Target namespace"},
		{name: "templates-variables", title: "Workload cluster templates: Variables"},
		{name: "classes", title: "ClusterClass definitions"},
		{name: "classes-names", title: "ClusterClass definitions: Naming conventions"},
		{name: "classes-namespace", title: "ClusterClass definitions: Target namespace"},
		{name: "classes-variables", title: "ClusterClass definitions: Variables"},
		{name: "classes-note", title: "ClusterClass definitions: Note", excluded: "it says what clusterctl does"},
		{name: "owner-references", title: "OwnerReferences chain"},
		{name: "components-transformations", title: "Components YAML transformations"},
		{name: "template-transformations", title: "Cluster template transformations"},
		{name: "external-objects", title: "Links to external objects"},
		{name: "move", title: "Move"},
	}},
	{name: "runtime-extension", document: runtimeFolder + "implement-extensions.md", sections: true, rules: []rule{
		{name: "introduction", title: "Introduction", excluded: explains},
		{name: "implementation", title: "Implementation"},
		{name: "guidelines", title: "Guidelines", excluded: explains},
		{name: "timeouts", title: "Timeouts"},
		{name: "availability", title: "Availability"},
		{name: "blocking-hooks", title: "Blocking Hooks"},
		{name: "side-effects", title: "Side Effects"},
		{name: "idempotence", title: "Idempotence"},
		{name: "avoid-dependencies", title: "Avoid dependencies"},
		{name: "deterministic-result", title: "Deterministic result"},
		{name: "error-messages", title: "Error messages"},
		{name: "extensionconfig", title: "ExtensionConfig"},
		{name: "settings", title: "Settings"},
		{name: "error-management", title: "Error management"},
		{name: "tips", title: "Tips & tricks", excluded: explains},
	}},
	{name: "lifecycle-hooks", document: runtimeFolder + "implement-lifecycle-hooks.md", sections: true, rules: []rule{
		{name: "introduction", title: "Introduction", excluded: explains},
		{name: "guidelines", title: "Guidelines", excluded: explains},
		{name: "definitions", title: "Definitions", excluded: explains},
		{name: "before-cluster-create", title: "BeforeClusterCreate"},
		{name: "after-control-plane-initialized", title: "AfterControlPlaneInitialized"},
		{name: "before-cluster-upgrade", title: "BeforeClusterUpgrade"},
		{name: "before-control-plane-upgrade", title: "BeforeControlPlaneUpgrade"},
		{name: "after-control-plane-upgrade", title: "AfterControlPlaneUpgrade"},
		{name: "before-workers-upgrade", title: "BeforeWorkersUpgrade"},
		{name: "after-workers-upgrade", title: "AfterWorkersUpgrade"},
		{name: "after-cluster-upgrade", title: "AfterClusterUpgrade"},
		{name: "before-cluster-delete", title: "BeforeClusterDelete"},
	}},
	{name: "topology-mutation", document: runtimeFolder + "implement-topology-mutation-hook.md", sections: true, rules: []rule{
		{name: "introduction", title: "Introduction", excluded: explains},
		{name: "guidelines", title: "Guidelines", excluded: explains},
		{name: "definitions", title: "Definitions", excluded: explains},
		{name: "inline-or-external", title: "Inline vs. external patches", excluded: explains},
		{name: "variable-definitions", title: "External variable definitions", excluded: explains},
		{name: "variable-discovery", title: "External variable discovery in the ClusterClass"},
		{name: "variable-conflicts", title: "Variable definition conflicts", excluded: "it says what Cluster API does"},
		{name: "variable-values", title: "Setting values for variables in the Cluster", excluded: "it says what users do"},
		{name: "several-extensions", title: "Using one or multiple external patch extensions", excluded: explains},
		{name: "patch-guidelines", title: "Patch extension guidelines"},
		{name: "discovery-guidelines", title: "Variable discovery guidelines"},
		{name: "generate-patches", title: "GeneratePatches"},
		{name: "validate-topology", title: "ValidateTopology"},
		{name: "discover-variables", title: "DiscoverVariables"},
		{name: "version-bumps", title: "Dealing with Cluster API upgrades with apiVersion bumps"},
	}},
	{name: "upgrade-plan", document: runtimeFolder + "implement-upgrade-plan-hooks.md", sections: true, rules: []rule{
		{name: "introduction", title: "Introduction", excluded: explains},
		{name: "guidelines", title: "Guidelines", excluded: explains},
		{name: "definitions", title: "Definitions", excluded: explains},
		{name: "generate-upgrade-plan", title: "GenerateUpgradePlan"},
	}},
}

// notPublished is why Foo need not know where a release is published.
const notPublished = "it is for the publisher of a release, which is a folder of files"

// ruleIDs are the IDs of all rules.
func ruleIDs() map[string]bool {
	ids := map[string]bool{}
	for _, c := range contracts {
		for _, r := range c.rules {
			ids[c.id(r)] = true
		}
	}
	return ids
}

// id returns the ID of a rule of the contract: <contract>/<rule>.
func (c contract) id(r rule) string { return c.name + "/" + r.name }
