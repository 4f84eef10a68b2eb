//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// What the manager may cost in a minute in which everything that it tries is rejected.
const (
	refusedRequests = 20
	refusedEvents   = 5
)

var _ = Describe("A control plane that cannot grow for ten minutes", Ordered, Label("resilience", "slow"), func() {
	const namespace = "refused"
	const lasting = 10
	var c *cluster

	BeforeAll(func(ctx SpecContext) {
		m := sharedManagement(ctx)
		// A manager writes once more about each repeated event some minutes after the last
		// occurrence. What it has to write about earlier stories does not count here.
		m.expectRestart(ctx, "manager", m.kill("manager"))
		m.namespace(ctx, namespace)
		c = m.newCluster(ctx, client.ObjectKey{Namespace: namespace, Name: "patient"}, shape{controlPlanes: 1, version: currentVersion})
		c.available(ctx)
		c.settled(ctx, 1, currentVersion)
		c.withoutDNSPods(ctx)
	}, NodeTimeout(2*clusterUp))

	It("waits calmly while an admission policy rejects its Machines, and then grows", func(ctx SpecContext) {
		allow := c.rejectMachines(ctx)
		c.scaleControlPlane(ctx, 3)
		c.rejected(ctx)
		c.calm(ctx, lasting)
		allow()
		c.settled(ctx, 3, currentVersion)
		c.scaleControlPlane(ctx, 1)
		c.settled(ctx, 1, currentVersion)
	}, NodeTimeout(lasting*time.Minute+3*rolledOut))

	It("waits calmly while the cloud has no quota left, and then grows", func(ctx SpecContext) {
		raise := c.exhaustQuota(ctx)
		c.scaleControlPlane(ctx, 3)
		c.outOfQuota(ctx)
		c.calm(ctx, lasting)
		raise()
		c.settled(ctx, 3, currentVersion)
	}, NodeTimeout(lasting*time.Minute+2*rolledOut))
})

// rejectMachines makes an admission policy reject all new Machines until the returned function is
// called.
func (c *cluster) rejectMachines(ctx context.Context) func() {
	GinkgoHelper()
	probe := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: c.key.Namespace, Name: "probe"}, Spec: clusterv1.MachineSpec{
		ClusterName: c.key.Name,
		Bootstrap:   clusterv1.Bootstrap{DataSecretName: ptr.To("probe")},
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{
			APIGroup: infrav1.GroupVersion.Group, Kind: "FooMachine", Name: "probe",
		},
	}}
	machines := schema.GroupResource{Group: clusterv1.GroupVersion.Group, Resource: "machines"}
	return c.refuse(ctx, admissionregistrationv1.Create, machines, func() error { return c.Create(ctx, probe.DeepCopy(), client.DryRunAll) })
}

// rejected waits until the control plane reports in an event that a Machine was rejected.
func (c *cluster) rejected(ctx context.Context) {
	GinkgoHelper()
	Eventually(c.warnings(c.controlPlane(Default, ctx))).WithContext(ctx).Should(ContainElement(ContainSubstring(refusal)))
}

// exhaustQuota lowers the quota to the current usage until the returned function is called.
func (m *management) exhaustQuota(ctx context.Context) func() {
	GinkgoHelper()
	m.setQuota(ctx, foocloud[quota](ctx, m, "quota").Used.CPUs)
	raise := func(ctx context.Context) { m.setQuota(ctx, suiteQuota) }
	DeferCleanup(func(ctx SpecContext) { raise(ctx) }, NodeTimeout(clusterUp))
	return func() { raise(ctx) }
}

// setQuota changes the quota like an administrator of the cloud: it writes the configuration and
// restarts foocloud.
func (m *management) setQuota(ctx context.Context, cpus int) {
	GinkgoHelper()
	writeCloudConfig(cpus)
	m.expectRestart(ctx, "foocloud", m.kill("foocloud"))
	Eventually(func(g Gomega) {
		var now struct {
			Limits struct {
				CPUs int `json:"cpus"`
			} `json:"limits"`
		}
		g.Expect(json.Unmarshal([]byte(m.said(ctx, "foocloud", "quota", "--output=json")), &now)).To(Succeed())
		g.Expect(now.Limits.CPUs).To(Equal(cpus))
	}).WithContext(ctx).Should(Succeed(), "foocloud does not have the new quota")
}

// outOfQuota waits until the cloud has rejected an instance of the control plane.
func (c *cluster) outOfQuota(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		var reasons []string
		for _, machine := range c.controlPlaneFooMachines(g, ctx) {
			for _, condition := range machine.Status.Conditions {
				reasons = append(reasons, condition.Reason)
			}
		}
		g.Expect(reasons).To(ContainElement(infrav1.CloudQuotaExceededReason))
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "the cloud does not reject an instance")
}

// calm expects, for some minutes, that the manager exceeds its limits of requests and events in
// none of them.
func (c *cluster) calm(ctx context.Context, minutes int) {
	GinkgoHelper()
	reader, began := c.newMetricsReader(ctx), time.Now()
	for minute := range minutes {
		before, now := c.cost(ctx, reader, began), cost{}
		Consistently(func(g Gomega) {
			now = c.cost(ctx, reader, began).since(before)
			g.Expect(now.requests).To(BeNumerically("<=", refusedRequests), "requests to the API server in minute %d", minute+1)
			g.Expect(now.events).To(BeNumerically("<=", refusedEvents), "events in minute %d", minute+1)
		}).WithContext(ctx).WithTimeout(time.Minute).WithPolling(10 * time.Second).Should(Succeed())
		AddReportEntry(fmt.Sprintf("minute %d of a rejection", minute+1), ReportEntryVisibilityAlways, fmt.Sprintf("%+v", now))
	}
}

// cost is the number of the manager's requests and events.
type cost struct {
	// requests to the API server of the management cluster, and to those of workload clusters.
	requests, workload int
	// events about objects of the cluster that last occurred after a given time.
	events int
}

func (c cost) since(before cost) cost {
	return cost{requests: c.requests - before.requests, workload: c.workload - before.workload, events: c.events - before.events}
}

// cost returns the manager's requests and events since it was started. The count of a repeated
// event is written only some minutes after its last occurrence, so events that ended before the
// given time are left out.
func (c *cluster) cost(ctx context.Context, reader *metricsReader, began time.Time) cost {
	GinkgoHelper()
	var now cost
	for host, count := range reader.requests(ctx) {
		if host == reader.management {
			now.requests += count
		} else {
			now.workload += count
		}
	}
	var list eventsv1.EventList
	Expect(c.List(ctx, &list, client.InNamespace(c.key.Namespace))).To(Succeed())
	for _, event := range list.Items {
		last, count := event.EventTime, 1
		if event.Series != nil {
			last, count = event.Series.LastObservedTime, int(event.Series.Count)
		}
		if strings.HasPrefix(event.ReportingController, "foo") && !last.Time.Before(began) {
			now.events += count
		}
	}
	return now
}

// metricsReader reads the manager's metrics like a monitoring system, with an authorized service
// account.
type metricsReader struct {
	client *http.Client
	url    string
	// management is the host of the management cluster's API server.
	management string
}

func (m *management) newMetricsReader(ctx context.Context) *metricsReader {
	GinkgoHelper()
	const name = "metrics-reader"
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: account.Namespace, Name: name}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
	}
	for _, object := range []client.Object{account, role, binding} {
		Expect(m.Create(ctx, object)).To(Or(Succeed(), Satisfy(apierrors.IsAlreadyExists)))
	}
	token := &authenticationv1.TokenRequest{}
	Expect(m.SubResource("token").Create(ctx, account, token)).To(Succeed())
	// The certificate of the manager's metrics is self-signed; the manager is on this machine.
	clients, err := rest.HTTPClientFor(&rest.Config{BearerToken: token.Status.Token, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, Proxy: noProxy})
	Expect(err).NotTo(HaveOccurred())
	config, err := clientcmd.BuildConfigFromFlags("", m.kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	server, err := url.Parse(config.Host)
	Expect(err).NotTo(HaveOccurred())
	return &metricsReader{client: clients, url: "https://" + m.argument("manager", "--diagnostics-address=") + "/metrics", management: server.Host}
}

// argument returns the value of a flag that one of quickstart's programs was started with.
func (m *management) argument(program, flag string) string {
	GinkgoHelper()
	for argument := range strings.SplitSeq(procFile(m.pid(Default, program), "cmdline"), "\x00") {
		if value, ok := strings.CutPrefix(argument, flag); ok {
			return value
		}
	}
	Fail(program + " was started without " + flag)
	return ""
}

// requests returns how many requests the manager has made to each API server.
func (r *metricsReader) requests(ctx context.Context) map[string]int {
	GinkgoHelper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url, http.NoBody)
	Expect(err).NotTo(HaveOccurred())
	response, err := r.client.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer func() { _ = response.Body.Close() }()
	Expect(response).To(HaveHTTPStatus(http.StatusOK))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(response.Body)
	Expect(err).NotTo(HaveOccurred())
	Expect(families).To(HaveKey("rest_client_requests_total"))
	found := map[string]int{}
	for _, metric := range families["rest_client_requests_total"].GetMetric() {
		for _, label := range metric.GetLabel() {
			if label.GetName() == "host" {
				found[label.GetValue()] += int(metric.GetCounter().GetValue())
			}
		}
	}
	return found
}
