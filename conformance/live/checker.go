// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimev1 "sigs.k8s.io/cluster-api/api/runtime/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

const fieldOwner = client.FieldOwner("capi-conformance")

// Checker checks the rules of the level "live".
type Checker struct {
	// Client of the management cluster; its scheme is that of NewScheme.
	Client client.Client
	// Template is a cluster template. Variables has the values of its variables; ClusterName, Namespace
	// and the counts of machines are set by the checker.
	Template  string
	Variables map[string]string
	// TopologyTemplate is a cluster template with a managed topology, and its ClusterClass. Config
	// connects to the management cluster: the metrics of Cluster API's manager count the hooks that it
	// calls in the life of this cluster. Empty for no such cluster.
	TopologyTemplate string
	Config           *rest.Config
	// HooksAddress is a HOST:PORT of this machine at which the management cluster reaches the checker, so
	// that the checker can be an extension that updates machines in place; empty for none.
	HooksAddress string
	// Namespace is created for the cluster, and deleted at the end.
	Namespace string
	// Providers are the labels cluster.x-k8s.io/provider of the kinds to check; all by default.
	Providers []string
	// Releases are of the providers, which the checker then installs and removes; nil if they are there.
	Releases *Releases
	// UpgradeTo is the version of Kubernetes to upgrade the cluster to; empty for no upgrade.
	UpgradeTo string
	// Patience is how long the cluster may take after each change; 15 minutes by default.
	Patience time.Duration
	// Log is told what happens, and Warn what the user must know besides the results. Both may be nil.
	Log, Warn func(message string)

	crds    map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition
	rules   map[string]conformance.Rule
	results map[string]*conformance.Result
	// unseen says, for rules about what the suite could not see in the cluster at some time, why.
	unseen map[string]string
	// wanted are the versions of the contracts to check; empty for all.
	wanted []string
	// quiet means that nothing is recorded.
	quiet bool
	// interrupted reports whether the user has interrupted the step that runs; nil between steps.
	interrupted func() bool
}

var _ conformance.Checker = &Checker{}

// NewScheme returns a scheme with the kinds that the checker reads.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, apiextensionsv1.AddToScheme, clusterv1.AddToScheme, runtimev1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// Level implements conformance.Checker.
func (c *Checker) Level() conformance.Level { return conformance.Live }

// Check implements conformance.Checker.
func (c *Checker) Check(ctx context.Context, contracts []string) ([]conformance.Result, error) {
	c.wanted = contracts
	if c.Patience == 0 {
		c.Patience = 15 * time.Minute
	}
	s := &story{Checker: c, now: &view{}}
	var err error
	if s.template, err = c.render(c.Template, false); err != nil {
		return nil, err
	}
	if c.TopologyTemplate != "" {
		if s.topology, err = c.render(c.TopologyTemplate, true); err != nil {
			return nil, fmt.Errorf("with a topology: %w", err)
		}
	}
	if err := errors.Join(c.readRules(), c.readCRDs(ctx), c.checkReleases(ctx), c.checkProviders(ctx)); err != nil {
		return nil, err
	}
	if c.Releases == nil { // otherwise, the kinds come later
		if err := c.checkContracts(); err != nil {
			return nil, err
		}
	}
	if err := c.createNamespace(ctx); err != nil {
		return nil, err
	}
	s.tell(ctx, steps)
	if err := c.Client.Delete(context.WithoutCancel(ctx), c.namespace()); client.IgnoreNotFound(err) != nil && c.Warn != nil {
		c.Warn(fmt.Sprintf("the namespace %s could not be deleted: %s", c.Namespace, err))
	}
	return c.list(), nil // if it was interrupted, the results say so
}

func (c *Checker) namespace() *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.Namespace}}
}

func (c *Checker) createNamespace(ctx context.Context) error {
	err := c.Client.Create(ctx, c.namespace())
	if apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("the namespace %s exists already; the cluster needs one of its own", c.Namespace)
	}
	return err
}

// deleteNamespace deletes the namespace of the cluster, and waits until it is gone.
func (c *Checker) deleteNamespace(ctx context.Context) error {
	namespace := c.namespace()
	if err := c.Client.Delete(ctx, namespace); client.IgnoreNotFound(err) != nil {
		return err
	}
	return until(ctx, c.Patience, func() error {
		if err := c.Client.Get(ctx, client.ObjectKeyFromObject(namespace), namespace); err != nil {
			return client.IgnoreNotFound(err)
		}
		return fmt.Errorf("the namespace %s still exists", c.Namespace)
	})
}

func (c *Checker) readRules() error {
	rules, err := conformance.Rules()
	if err != nil {
		return err
	}
	c.rules, c.results, c.unseen = map[string]conformance.Rule{}, map[string]*conformance.Result{}, map[string]string{}
	for _, rule := range rules {
		if rule.At(conformance.Live) {
			c.rules[rule.ID] = rule
		}
	}
	return nil
}

func (c *Checker) readCRDs(ctx context.Context) error {
	list := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := c.Client.List(ctx, list); err != nil {
		return fmt.Errorf("read the CRDs of the management cluster: %w", err)
	}
	c.crds = map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition{}
	for i := range list.Items {
		crd := &list.Items[i]
		c.crds[schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}] = crd
	}
	if c.crds[clusterv1.GroupVersion.WithKind("Cluster").GroupKind()] == nil {
		return errors.New("this is no management cluster: it has no CRD of Cluster")
	}
	return nil
}

// checkProviders returns an error if a provider to check is neither there nor installed later:
// nothing about it would be checked.
func (c *Checker) checkProviders(ctx context.Context) error {
	var have []string
	for _, crd := range c.crds {
		have = append(have, crd.Labels[clusterv1.ProviderNameLabel])
	}
	for _, label := range c.Providers {
		if slices.Contains(have, label) || c.Releases != nil && c.Releases.Versions[label] != "" {
			continue
		}
		if found, err := c.inventoryVersion(ctx, label); err != nil {
			return err
		} else if found == "" {
			slices.Sort(have)
			have = slices.DeleteFunc(slices.Compact(have), func(label string) bool { return label == "" })
			return fmt.Errorf("the management cluster has nothing of the provider %s; it has %s", label, strings.Join(have, ", "))
		}
	}
	return nil
}

// checkContracts returns an error if Cluster API uses no kind of the providers with a version of the
// contracts that is wanted: nothing would be checked in it.
func (c *Checker) checkContracts() error {
	var used []string
	for kind, crd := range c.crds {
		if _, contract, err := c.version(kind); err == nil && c.own(kind) && crd.Labels[clusterv1.ProviderNameLabel] != "cluster-api" {
			used = append(used, contract)
		}
	}
	slices.Sort(used)
	used = slices.Compact(used)
	for _, contract := range c.wanted {
		if len(used) > 0 && !slices.Contains(used, contract) {
			return fmt.Errorf("contract version %s cannot be checked in this management cluster: Cluster API uses the newest one that the label of a CRD names, and that is %s", contract, strings.Join(used, ", "))
		}
	}
	return nil
}

// own reports whether the kind belongs to a provider that is checked.
func (c *Checker) own(kind schema.GroupKind) bool {
	crd := c.crds[kind]
	return crd != nil && (len(c.Providers) == 0 || slices.Contains(c.Providers, crd.Labels[clusterv1.ProviderNameLabel]))
}

// version returns the version of a kind that Cluster API uses, and the version of the contract that
// it uses it with.
func (c *Checker) version(kind schema.GroupKind) (schema.GroupVersionKind, string, error) {
	crd := c.crds[kind]
	if crd == nil {
		return schema.GroupVersionKind{}, "", fmt.Errorf("the management cluster has no CRD of %s", kind)
	}
	for _, contract := range slices.Backward(conformance.Versions) {
		if value := crd.Labels[clusterv1.GroupVersion.Group+"/"+contract]; value != "" {
			return kind.WithVersion(slices.MaxFunc(strings.Split(value, "_"), version.CompareKubeAwareVersionStrings)), contract, nil
		}
	}
	return schema.GroupVersionKind{}, "", fmt.Errorf("CustomResourceDefinition %s has no label of a contract", crd.Name)
}

var (
	// errNotClaimed means that the provider does not have the feature that a rule is about.
	errNotClaimed = errors.New("the cluster shows nothing of the feature")
	// errNotApplicable means that the cluster has nothing that a rule is about.
	errNotApplicable = errors.New("the cluster has nothing of the kind")
	// errUnknown means that the suite could not see what a rule is about.
	errUnknown = errors.New("the suite could not look into the cluster")
)

// unjudged is what errors that say nothing against the provider mean for a rule.
var unjudged = map[error]conformance.Status{
	errNotClaimed: conformance.NotClaimed, errNotApplicable: conformance.NotApplicable, errUnknown: conformance.NotRun,
}

// excuse returns what an error means for a rule; empty if it says something against the provider.
func excuse(problem error) conformance.Status {
	for err, status := range unjudged {
		if errors.Is(problem, err) {
			return status
		}
	}
	return ""
}

// isNoProblem reports whether an error says nothing against the provider.
func isNoProblem(err error) bool { return err == nil || excuse(err) != "" }

// problems joins those errors that say something against the provider.
func problems(errs ...error) error { return errors.Join(slices.DeleteFunc(errs, isNoProblem)...) }

// record records what was seen of a rule. A problem stays, even if the rule holds later, and a rule that
// held stays, even if there is nothing left that it is about. A rule that is about no kind belongs to no
// version of the contract.
func (c *Checker) record(id, contract, object string, problem error) {
	if c.quiet || !c.covers(id, contract) {
		return
	}
	if errors.Is(problem, errUnknown) {
		c.unseen[id] = problem.Error()
	}
	status := excuse(problem)
	if problem != nil && c.ended() {
		status = conformance.Unfinished
	}
	if status != "" {
		c.missing(id, status, problem.Error())
		return
	}
	var versions []string
	if contract != "" {
		versions = []string{contract}
	}
	result := c.results[id]
	if result == nil || !slices.Contains([]conformance.Status{conformance.Failed, conformance.Passed, conformance.Unfinished}, result.Status) {
		result = &conformance.Result{Rule: id, Level: conformance.Live, Status: conformance.Passed, Versions: versions}
		c.results[id] = result
	}
	if problem != nil {
		fail(result, conformance.Finding{Object: object, Versions: versions, Message: problem.Error()})
	}
}

// covers reports whether a rule is checked in a version of its contract.
func (c *Checker) covers(id, contract string) bool {
	rule, ok := c.rules[id]
	return ok && (contract == "" || slices.Contains(rule.Versions, contract) && (len(c.wanted) == 0 || slices.Contains(c.wanted, contract)))
}

// ended reports whether the user has interrupted the step that runs. What is wrong or missing then proves
// nothing.
func (c *Checker) ended() bool { return c.interrupted != nil && c.interrupted() }

// fail adds a finding, unless it is there.
func fail(result *conformance.Result, finding conformance.Finding) {
	result.Status = conformance.Failed
	if !slices.ContainsFunc(result.Findings, func(f conformance.Finding) bool { return f.Object == finding.Object && f.Message == finding.Message }) {
		result.Findings = append(result.Findings, finding)
	}
}

// missing records why a rule was not checked, unless it was.
func (c *Checker) missing(id string, status conformance.Status, reason string) {
	if _, ok := c.rules[id]; ok && !c.quiet && c.results[id] == nil {
		if c.ended() {
			status, reason = conformance.Unfinished, "the run was interrupted"
		}
		c.results[id] = &conformance.Result{Rule: id, Level: conformance.Live, Status: status, Reason: reason}
	}
}

func (c *Checker) list() []conformance.Result {
	all := make([]conformance.Result, 0, len(c.results))
	for _, id := range slices.Sorted(maps.Keys(c.results)) {
		all = append(all, *c.results[id])
	}
	return all
}

func (c *Checker) log(format string, values ...any) {
	if c.Log != nil {
		c.Log(fmt.Sprintf(format, values...))
	}
}
