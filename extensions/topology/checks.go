// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
	"github.com/capfoo/cluster-api-provider-foo/internal/controlplanerules"
	"github.com/capfoo/cluster-api-provider-foo/internal/machinepoolrules"
)

// specPath is the path of the spec that a template gives to the objects created from it.
var specPath = field.NewPath("spec", "template", "spec")

// unlikeKind reports that a template does not match the types of its kind. It does not repeat the
// content of the template.
func unlikeKind(t *template, err error) string {
	return fmt.Sprintf("the %s %s, but must match its kind", t.kind.Kind, unlike(err, ""))
}

// typed decodes the template as its type.
func (t *template) typed(into any) error {
	content, err := t.object.MarshalJSON()
	if err != nil {
		return err
	}
	return json.Unmarshal(content, into)
}

// checkPool applies the rules of FooMachinePools.
func (t *template) checkPool() findings {
	if t.user != pool || t.kind != poolKind {
		return nil
	}
	var wrong findings
	if builtins := t.Builtin.MachinePool; builtins != nil && builtins.Replicas != nil && *builtins.Replicas > infrav1.MaxPoolReplicas {
		wrong = append(wrong, fmt.Sprintf("the replicas are %d, but must be at most %d", *builtins.Replicas, infrav1.MaxPoolReplicas))
	}
	if t.version != v1beta2 {
		return wrong
	}
	var object infrav1.FooMachinePoolTemplate
	if err := t.typed(&object); err != nil {
		return append(wrong, unlikeKind(t, err))
	}
	return append(wrong, t.refused(machinepoolrules.Validate(&object.Spec.Template.Spec, specPath))...)
}

// checkControlPlane applies the rules of FooControlPlanes, and the rules that kubeadm would apply
// on the machines.
func (t *template) checkControlPlane() findings {
	if t.user != controlPlane || t.kind != controlPlaneKind || t.version != v1beta2 {
		return nil
	}
	var object controlplanev1.FooControlPlaneTemplate
	if err := t.typed(&object); err != nil {
		return findings{unlikeKind(t, err)}
	}
	config := object.Spec.Template.Spec.KubeadmConfigSpec
	wrong := t.refused(controlplanerules.ValidateTemplate(&object))
	if builtins := t.Builtin.ControlPlane; builtins != nil {
		for _, problem := range controlplanerules.ValidateReplicas(builtins.Replicas, config.ClusterConfiguration.Etcd, field.NewPath("replicas")) {
			wrong = append(wrong, problem.Error())
		}
	}
	components := specPath.Child("kubeadmConfigSpec", "clusterConfiguration")
	problems := checkSANs(config.ClusterConfiguration.APIServer.CertSANs, components.Child("apiServer", "certSANs"))
	problems = append(problems, checkEndpoints(config.ClusterConfiguration.Etcd.External.Endpoints, components.Child("etcd", "external", "endpoints"))...)
	problems = append(problems, checkArguments(config, specPath.Child("kubeadmConfigSpec"))...)
	return append(wrong, t.refused(problems)...)
}

// refused turns the problems that rules found in the template into findings.
func (t *template) refused(problems field.ErrorList) findings {
	wrong := make(findings, 0, len(problems))
	for _, problem := range problems {
		wrong = append(wrong, t.kind.Kind+" "+problem.Error())
	}
	return wrong
}

// checkSANs requires names that a certificate can contain.
func checkSANs(names []string, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	for i, name := range names {
		isDNS := len(validation.IsDNS1123Subdomain(name)) == 0 || len(validation.IsWildcardDNS1123Subdomain(name)) == 0
		if !isDNS && netutils.ParseIPSloppy(name) == nil {
			problems = append(problems, field.Invalid(path.Index(i), name, "must be a DNS name, which may start with *., or an IP address"))
		}
	}
	return problems
}

// checkEndpoints requires https URLs with a host, each only once.
func checkEndpoints(endpoints []string, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	seen := map[string]bool{}
	for i, endpoint := range endpoints {
		parsed, err := url.Parse(endpoint)
		if err != nil || parsed.Scheme != "https" || parsed.Hostname() == "" || parsed.User != nil {
			// The endpoint may hold a password.
			problems = append(problems, field.Invalid(path.Index(i), field.OmitValueType{}, "must be an https:// URL with a host, a port unless it is 443, and no password"))
		} else if seen[endpoint] {
			problems = append(problems, field.Duplicate(path.Index(i), endpoint))
		}
		seen[endpoint] = true
	}
	return problems
}

// checkBootstrap does for workers what checkControlPlane does for a control plane.
func (t *template) checkBootstrap() findings {
	if t.kind != bootstrapKind || t.version != v1beta2 {
		return nil
	}
	var object bootstrapv1.KubeadmConfigTemplate
	if err := t.typed(&object); err != nil {
		return findings{unlikeKind(t, err)}
	}
	return t.refused(checkArguments(object.Spec.Template.Spec, specPath))
}

// checkArguments requires names without leading dashes, because kubeadm adds its own.
func checkArguments(config bootstrapv1.KubeadmConfigSpec, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	components := path.Child("clusterConfiguration")
	for _, one := range []struct {
		list []argument
		path *field.Path
	}{
		{config.ClusterConfiguration.APIServer.ExtraArgs, components.Child("apiServer", "extraArgs")},
		{config.ClusterConfiguration.ControllerManager.ExtraArgs, components.Child("controllerManager", "extraArgs")},
		{config.ClusterConfiguration.Scheduler.ExtraArgs, components.Child("scheduler", "extraArgs")},
		{config.ClusterConfiguration.Etcd.Local.ExtraArgs, components.Child("etcd", "local", "extraArgs")},
		{config.InitConfiguration.NodeRegistration.KubeletExtraArgs, path.Child("initConfiguration", "nodeRegistration", "kubeletExtraArgs")},
		{config.JoinConfiguration.NodeRegistration.KubeletExtraArgs, path.Child("joinConfiguration", "nodeRegistration", "kubeletExtraArgs")},
	} {
		for i, argument := range one.list {
			if strings.HasPrefix(argument.Name, "-") {
				problems = append(problems, field.Invalid(one.path.Index(i).Child("name"), argument.Name, "must not begin with a dash"))
			}
		}
	}
	return problems
}

// checkNetwork requires separate networks for Pods and Services.
func checkNetwork(shared values) findings {
	cluster := shared.Builtin.Cluster
	if cluster == nil || cluster.Network == nil {
		return nil
	}
	var wrong findings
	for _, pods := range cluster.Network.Pods {
		for _, services := range cluster.Network.Services {
			if overlap(pods, services) {
				wrong = append(wrong, fmt.Sprintf("spec.clusterNetwork: pods have %s and services have %s, but the networks must not overlap", pods, services))
			}
		}
	}
	return wrong
}

// overlap reports whether two networks overlap. Cluster API refuses texts that are not networks.
func overlap(one, other string) bool {
	a, err := netip.ParsePrefix(one)
	if err != nil {
		return false
	}
	b, err := netip.ParsePrefix(other)
	return err == nil && a.Overlaps(b)
}

// mostFindings is how many findings a message names, so that it fits into a condition.
const mostFindings = 50

// findings are what is wrong with a request.
type findings []string

// at prefixes each finding with its location.
func (f findings) at(where string) findings {
	located := make(findings, 0, len(f))
	for _, finding := range f {
		located = append(located, where+": "+finding)
	}
	return located
}

// into sets the status of the response. Findings make it a Failure that names each of them once,
// always in the same order, because Cluster API keeps the message in a condition. Without findings
// it is a success.
func (f findings) into(response runtimehooksv1.ResponseObject) {
	response.SetStatus(runtimehooksv1.ResponseStatusSuccess)
	if len(f) > 0 {
		response.SetStatus(runtimehooksv1.ResponseStatusFailure)
		response.SetMessage(hooks.Join(f, mostFindings))
	}
}
