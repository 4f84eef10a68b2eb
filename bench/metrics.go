// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// requestsMetric counts the requests that a controller makes to API servers.
const requestsMetric = "rest_client_requests_total"

// diagnosticsFlag is the flag with the address of a controller's metrics.
const diagnosticsFlag = "--diagnostics-address="

// metricsReader reads the metrics of controllers like a monitoring system, with an authorized
// service account.
type metricsReader struct {
	token string
}

// newMetricsReader creates the service account.
func newMetricsReader(ctx context.Context, kube client.Client) (*metricsReader, error) {
	const name = "metrics-reader"
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: benchNamespace, Name: name}}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: benchNamespace, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
	}
	for _, object := range []client.Object{account, role, binding} {
		if err := kube.Create(ctx, object); err != nil {
			return nil, err
		}
	}
	request := &authenticationv1.TokenRequest{}
	if err := kube.SubResource("token").Create(ctx, account, request); err != nil {
		return nil, err
	}
	return &metricsReader{token: request.Status.Token}, nil
}

// requests returns how many requests a controller has made since it started.
func (r *metricsReader) requests(ctx context.Context, controller process) (float64, error) {
	index := slices.IndexFunc(controller.args, func(argument string) bool { return strings.HasPrefix(argument, diagnosticsFlag) })
	if index < 0 {
		return 0, fmt.Errorf("%s has no argument %s<address>", controller.kind, diagnosticsFlag)
	}
	// The certificate of a controller's metrics is self-signed; the controller is on this machine.
	clients, err := rest.HTTPClientFor(&rest.Config{BearerToken: r.token, TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	if err != nil {
		return 0, err
	}
	url := "https://" + strings.TrimPrefix(controller.args[index], diagnosticsFlag) + "/metrics"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err
	}
	response, err := clients.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("metrics of %s: %s", controller.kind, response.Status)
	}
	return sumOf(response.Body, requestsMetric)
}

// sumOf adds up a counter over all its labels from metrics in Prometheus' format.
func sumOf(text io.Reader, metric string) (float64, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(text)
	if err != nil {
		return 0, err
	}
	family, ok := families[metric]
	if !ok {
		return 0, fmt.Errorf("there is no metric %s", metric)
	}
	total := 0.0
	for _, one := range family.GetMetric() {
		total += one.GetCounter().GetValue()
	}
	return total, nil
}
