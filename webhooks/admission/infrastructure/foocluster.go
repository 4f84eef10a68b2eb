// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infrastructure

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/admission"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-foocluster,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=fooclusters,versions=v1beta2,name=validation.foocluster.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

func clusterRules(reader client.Reader) admission.Rules[*infrav1.FooCluster] {
	return admission.Rules[*infrav1.FooCluster]{
		Kind: kind("FooCluster"), Resource: "fooclusters",
		Validate: func(cluster *infrav1.FooCluster) field.ErrorList {
			problems := validateEndpoint(field.NewPath("spec", "controlPlaneEndpoint"), cluster.Spec.ControlPlaneEndpoint)
			return append(problems, validatePort(field.NewPath("spec", "loadBalancer", "port"), &cluster.Spec)...)
		},
		Unwise: unwiseCluster,
		UnwiseNew: func(ctx context.Context, cluster *infrav1.FooCluster) field.ErrorList {
			return unwiseIdentityRef(ctx, reader, cluster)
		},
		Change: changeCluster,
	}
}

// changeCluster lets the controller or the user set the endpoint, but nobody can change it
// afterwards: it is in the certificates and kubeconfigs of the cluster, and on each Node.
func changeCluster(_ context.Context, before, after *infrav1.FooCluster) field.ErrorList {
	endpoint := field.NewPath("spec", "controlPlaneEndpoint")
	from, to := before.Spec.ControlPlaneEndpoint, after.Spec.ControlPlaneEndpoint
	problems := admission.SetOnce(endpoint.Child("host"), from.Host, to.Host)
	problems = append(problems, admission.SetOnce(endpoint.Child("port"), from.Port, to.Port)...)
	if from, to := before.Spec.IdentityRef.Name, after.Spec.IdentityRef.Name; from != to {
		problems = append(problems, field.Forbidden(field.NewPath("spec", "identityRef"), fmt.Sprintf("is immutable, so it must not change from %q to %q: existing "+
			"resources would not be found with another identity; to use other credentials, change the Secret that the identity refers to", from, to)))
	}
	return append(problems, admission.ChangeOnly(field.NewPath("spec"), &before.Spec, &after.Spec, "controlPlaneEndpoint", "identityRef", "zones")...)
}

// unwiseCluster warns of an endpoint that each machine would resolve to itself.
func unwiseCluster(cluster *infrav1.FooCluster) field.ErrorList {
	host := cluster.Spec.ControlPlaneEndpoint.Host
	address := netutils.ParseIPSloppy(host)
	if host != "localhost" && (address == nil || !address.IsLoopback() && !address.IsUnspecified()) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec", "controlPlaneEndpoint", "host"), host, "each machine would look for the API server on itself")}
}

// validateEndpoint requires a host that certificates can name. The schema bounds the port and
// requires both or neither.
func validateEndpoint(path *field.Path, endpoint infrav1.APIEndpoint) field.ErrorList {
	host := endpoint.Host
	if host == "" || netutils.ParseIPSloppy(host) != nil || len(validation.IsDNS1123Subdomain(host)) == 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("host"), host, "must be an IP address or a DNS name, without a scheme or port")}
}

// validatePort refuses a load balancer that would listen where the endpoint does not lead. A CEL rule
// for it would be one of the whole spec, and change the schema of the last release.
func validatePort(path *field.Path, spec *infrav1.FooClusterSpec) field.ErrorList {
	port, endpoint := spec.LoadBalancer.Port, spec.ControlPlaneEndpoint.Port
	if port == 0 || endpoint == 0 || port == endpoint {
		return nil
	}
	return field.ErrorList{field.Invalid(path, port, fmt.Sprintf("must be the port of spec.controlPlaneEndpoint, which is %d", endpoint))}
}

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-fooclustertemplate,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=fooclustertemplates,versions=v1beta2,name=validation.fooclustertemplate.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

func clusterTemplateRules() admission.Rules[*infrav1.FooClusterTemplate] {
	return admission.Rules[*infrav1.FooClusterTemplate]{
		Kind: kind("FooClusterTemplate"), Resource: "fooclustertemplates",
		Validate: func(template *infrav1.FooClusterTemplate) field.ErrorList {
			return template.Spec.Template.ObjectMeta.Validate(templateMetadata)
		},
		Change: admission.Immutable(func(template *infrav1.FooClusterTemplate) any { return &template.Spec.Template.Spec }),
	}
}

// templateMetadata is the path of the labels and annotations that a template gives to the objects
// created from it.
var templateMetadata = field.NewPath("spec", "template", "metadata")
