// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package infrastructure

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/webhooks/admission"
)

// +kubebuilder:webhook:verbs=create;update,path=/validate-infrastructure-cluster-x-k8s-io-v1beta2-fooclusteridentity,mutating=false,failurePolicy=fail,matchPolicy=Equivalent,groups=infrastructure.cluster.x-k8s.io,resources=fooclusteridentities,versions=v1beta2,name=validation.fooclusteridentity.infrastructure.cluster.x-k8s.io,sideEffects=None,admissionReviewVersions=v1

func identityRules() admission.Rules[*infrav1.FooClusterIdentity] {
	return admission.Rules[*infrav1.FooClusterIdentity]{
		Kind: kind("FooClusterIdentity"), Resource: "fooclusteridentities",
		Validate: func(identity *infrav1.FooClusterIdentity) field.ErrorList {
			spec := field.NewPath("spec")
			problems := validateCloud(spec, &identity.Spec)
			if _, err := metav1.LabelSelectorAsSelector(identity.Spec.AllowedNamespaces.Selector); err != nil {
				path := spec.Child("allowedNamespaces", "selector")
				problems = append(problems, field.Invalid(path, metav1.FormatLabelSelector(identity.Spec.AllowedNamespaces.Selector), err.Error()))
			}
			return problems
		},
		Change: unchangedCloud,
	}
}

// unchangedCloud is no rule of the schema: a rule for the whole spec, which absent values need, would
// be new for objects of earlier releases.
func unchangedCloud(_ context.Context, before, after *infrav1.FooClusterIdentity) field.ErrorList {
	was, is := cmp.Or(before.Spec.Cloud, infrav1.CloudLocal), cmp.Or(after.Spec.Cloud, infrav1.CloudLocal)
	if was == is {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "cloud"), fmt.Sprintf(
		"is immutable, so it must not change from %q to %q: existing resources would not be found in another cloud; create another FooClusterIdentity", was, is))}
}

func validateCloud(spec *field.Path, identity *infrav1.FooClusterIdentitySpec) field.ErrorList {
	var problems field.ErrorList
	if problem := endpointProblem(identity); problem != "" {
		problems = append(problems, field.Invalid(spec.Child("endpoint"), identity.Endpoint, problem))
	}
	if len(identity.CABundle) > 0 && !x509.NewCertPool().AppendCertsFromPEM(identity.CABundle) {
		problems = append(problems, field.Invalid(spec.Child("caBundle"), fmt.Sprintf("%d bytes", len(identity.CABundle)), "must contain a certificate in PEM format"))
	}
	return problems
}

// endpointProblem returns what is wrong with the endpoint of an identity; empty if nothing is.
func endpointProblem(identity *infrav1.FooClusterIdentitySpec) string {
	endpoint, err := url.Parse(identity.Endpoint)
	isSocket := err == nil && endpoint.Scheme == "unix" && endpoint.Host == "" && endpoint.Path != ""
	isSecure := err == nil && endpoint.Scheme == "https" && endpoint.Host != ""
	switch {
	case identity.Cloud == infrav1.CloudKubernetes && !isSecure:
		return "must be https://host:port of the API server of a Kubernetes cluster"
	case !isSocket && !isSecure:
		return "must be https://host:port or unix:///path/of/socket"
	}
	return ""
}

// unwiseIdentityRef warns if the identity does not allow the namespace. The controllers enforce
// this for as long as the cluster exists. It is no reason to refuse a cluster: a move creates
// namespaces without labels and must not stop half-way. An identity that does not exist yet may be
// created later.
func unwiseIdentityRef(ctx context.Context, reader client.Reader, cluster *infrav1.FooCluster) field.ErrorList {
	name := cluster.Spec.IdentityRef.Name
	if name == "" {
		return nil
	}
	identity := &infrav1.FooClusterIdentity{}
	err := reader.Get(ctx, client.ObjectKey{Name: name}, identity)
	if apierrors.IsNotFound(err) {
		return nil
	}
	allowed := false
	if err == nil {
		allowed, err = cloudidentity.Allows(ctx, reader, identity, cluster.Namespace)
	}
	path := field.NewPath("spec", "identityRef", "name")
	switch {
	case err != nil:
		return field.ErrorList{field.Invalid(path, name, "could not determine whether it allows the namespace: "+err.Error())}
	case !allowed:
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("FooClusterIdentity %s does not allow namespace %s, so nothing will be created in the cloud "+
			"until it does; see its spec.allowedNamespaces", name, cluster.Namespace))}
	}
	return nil
}
