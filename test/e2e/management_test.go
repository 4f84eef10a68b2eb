//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/controlplane/v1beta2"
	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
)

// suiteQuota is how many CPUs the stories may use.
const suiteQuota = 200

// A type of instance whose disk is soon full, and a tenant that the stories' clusters do not belong to.
const (
	narrowType   = "narrow"
	narrowMemory = 2 << 30
	narrowDisk   = 2 << 30
	stranger     = "stranger"
)

// writeCloudConfig writes the cloud's configuration. It has an instance type that no tenant can afford, so that the quota is
// exceeded without filling the machine.
func writeCloudConfig(cpus int) string {
	GinkgoHelper()
	path := filepath.Join(suiteDir, "cloud.yaml")
	Expect(os.WriteFile(path, fmt.Appendf(nil, `
instanceTypes:
- {name: small, cpus: 2, memory: 2Gi}
- {name: medium, cpus: 2, memory: 4Gi}
- {name: giant, cpus: 1000, memory: 2Gi}
- {name: %s, cpus: 4, memory: 8Gi}
- {name: %s, cpus: 2, memory: %d, disk: %d}
tenants:
- name: default
  quota: {cpus: %d}
- name: %s
`, outerType, narrowType, narrowMemory, narrowDisk, cpus, stranger), 0o600)).To(Succeed())
	return path
}

// management is a management cluster with the Foo cloud and all controllers, started by quickstart.
type management struct {
	client.Client
	// state is the state folder.
	state      string
	bridge     string
	kubeconfig string
	// env is what quickstart says of how to reach what it has started.
	env map[string]string

	program *daemon
}

// sharedManagement returns the management cluster of all stories.
func sharedManagement(ctx context.Context) *management {
	GinkgoHelper()
	if shared == nil {
		shared = startManagement(ctx)
	}
	return shared
}

func startManagement(ctx context.Context) *management {
	GinkgoHelper()
	m := &management{state: filepath.Join(suiteDir, "state"), bridge: suiteBridge}
	args := []string{"--extension", "--cloud-config=" + writeCloudConfig(suiteQuota)}
	if selected.Has(needsKubeadmControlPlane) {
		args = append(args, "--kubeadm-control-plane")
	}
	m.program = startQuickstart(ctx, m.state, m.bridge, suiteNetwork, args...)
	DeferCleanup(func() { // a start that fails half-way
		if shared == nil {
			m.program.interrupt(ctx)
		}
	})
	m.connect(ctx)
	return m
}

// startQuickstart starts a management cluster.
func startQuickstart(ctx context.Context, state, bridge, network string, more ...string) *daemon {
	GinkgoHelper()
	args := append([]string{"quickstart", "--management-only", "--state-dir=" + state, "--bridge=" + bridge, "--network=" + network,
		"--kubernetes-version=" + currentVersion, "--timeout=" + clusterUp.String()}, more...)
	return start(command(context.WithoutCancel(ctx), "foo", args...))
}

// connect waits until quickstart is up, and learns how to reach what it has started.
func (m *management) connect(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		if m.program.ended() {
			StopTrying("quickstart ended: " + string(m.program.said.Contents())).Now()
		}
		g.Expect(filepath.Join(m.state, "env")).To(BeAnExistingFile(), "quickstart has not come up: %s", m.program.said.Contents())
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed())
	m.env = readEnv(filepath.Join(m.state, "env"))
	m.kubeconfig = m.env["MANAGEMENT_KUBECONFIG"]
	m.Client = newClient(m.kubeconfig)
}

func readEnv(path string) map[string]string {
	GinkgoHelper()
	content, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	env := map[string]string{}
	for line := range strings.Lines(string(content)) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		Expect(ok).To(BeTrue(), "%s has the line %q", path, line)
		env[name] = value
	}
	return env
}

func newClient(kubeconfig string) client.Client {
	GinkgoHelper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	config.Proxy = noProxy
	config.QPS = -1
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, clusterv1.AddToScheme, bootstrapv1.AddToScheme, controlplanev1.AddToScheme, infrav1.AddToScheme, extensionv1.AddToScheme,
	} {
		Expect(add(scheme)).To(Succeed())
	}
	c, err := client.New(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())
	return c
}

// stop ends everything and looks whether nothing is left on the host.
func (m *management) stop(ctx context.Context) {
	GinkgoHelper()
	Expect(m.program.interrupt(ctx)).To(BeZero(), "quickstart did not end well: %s", m.program.said.Contents())
	Expect(leftovers(m.state)).To(BeEmpty(), "quickstart has left something on the host")
	Expect(hasBridge(m.bridge)).To(BeFalse(), "quickstart has left its bridge")
	Expect(m.state).NotTo(BeAnExistingFile(), "quickstart has left its state folder")
}

// namespace makes the namespace of a story, which ends with it, and all its clusters before.
func (m *management) namespace(ctx context.Context, name string) {
	GinkgoHelper()
	Expect(m.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		Expect(m.DeleteAllOf(ctx, &clusterv1.Cluster{}, client.InNamespace(name))).To(Succeed())
		Eventually(ctx, m.clusters(name)).WithTimeout(clusterGone).Should(BeEmpty(), "a Cluster of the story is not gone")
		kubeconfigs, err := filepath.Glob(filepath.Join(suiteDir, name+"-*.kubeconfig"))
		Expect(err).NotTo(HaveOccurred())
		for _, kubeconfig := range kubeconfigs {
			Expect(os.Remove(kubeconfig)).To(Succeed())
		}
	}, NodeTimeout(clusterGone+soon))
}

// clusters returns a function that lists the names of the Clusters of a namespace.
func (m *management) clusters(namespace string) func(Gomega, context.Context) []string {
	return func(g Gomega, ctx context.Context) []string {
		var list clusterv1.ClusterList
		g.Expect(m.List(ctx, &list, client.InNamespace(namespace))).To(Succeed())
		names := make([]string, 0, len(list.Items))
		for _, cluster := range list.Items {
			names = append(names, cluster.Name)
		}
		return names
	}
}

// kubectl returns the command for the management cluster.
func (m *management) kubectl(ctx context.Context, args ...string) string {
	GinkgoHelper()
	return output(command(ctx, kubectl(), append([]string{"--kubeconfig=" + m.kubeconfig}, args...)...))
}

// apply does what a user does with a template: kubectl apply.
func (m *management) apply(ctx context.Context, objects []*unstructured.Unstructured) {
	GinkgoHelper()
	m.pipe(ctx, objects, "apply")
}

// deleteAtOnce deletes objects one after the other, without waiting for any of them to be gone. Some disappear with others.
func (m *management) deleteAtOnce(ctx context.Context, objects []*unstructured.Unstructured) {
	GinkgoHelper()
	m.pipe(ctx, objects, "delete", "--wait=false", "--ignore-not-found")
}

// pipe gives objects to a kubectl command.
func (m *management) pipe(ctx context.Context, objects []*unstructured.Unstructured, args ...string) {
	GinkgoHelper()
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}
	for _, object := range objects {
		list.Items = append(list.Items, *object)
	}
	content, err := list.MarshalJSON()
	Expect(err).NotTo(HaveOccurred())
	cmd := command(ctx, kubectl(), append(args, "--kubeconfig="+m.kubeconfig, "--filename=-")...)
	cmd.Stdin = bytes.NewReader(content)
	output(cmd)
}

// foocloud runs a command of foocloud that shows something, and decodes it.
func foocloud[T any](ctx context.Context, m *management, what string) T {
	GinkgoHelper()
	cmd := command(ctx, "foocloud", append(strings.Fields(what), "--output=json")...)
	cmd.Env = append(cmd.Env, m.cloudEnv()...)
	var value T
	Expect(json.Unmarshal([]byte(output(cmd)), &value)).To(Succeed())
	return value
}

// deleteInstance deletes an instance as its owner can at any time, past Cluster API.
func (m *management) deleteInstance(ctx context.Context, id string) {
	GinkgoHelper()
	m.askCloud(Default, ctx, http.MethodDelete, "/v1/instances/"+id, nil)
}

// askCloud makes a request to the HTTP API of the cloud, which must accept it, and returns the answer.
func (m *management) askCloud(g Gomega, ctx context.Context, method, path string, body []byte) []byte {
	socket, ok := strings.CutPrefix(m.env["FOO_CLOUD_ENDPOINT"], "unix://")
	g.Expect(ok).To(BeTrue(), "endpoint of the cloud: %s", m.env["FOO_CLOUD_ENDPOINT"])
	token, err := os.ReadFile(m.env["FOO_CLOUD_TOKEN_FILE"])
	g.Expect(err).NotTo(HaveOccurred())
	cloud := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		},
	}}
	request, err := http.NewRequestWithContext(ctx, method, "http://foocloud"+path, bytes.NewReader(body))
	g.Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	request.Header.Set("Content-Type", "application/json")
	response, err := cloud.Do(request)
	g.Expect(err).NotTo(HaveOccurred())
	answer, err := io.ReadAll(response.Body)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(response.Body.Close()).To(Succeed())
	g.Expect(response.StatusCode).To(BeElementOf(http.StatusOK, http.StatusAccepted), "%s %s: %s: %s", method, path, response.Status, answer)
	return answer
}

// cloudEnv tells foocloud which cloud to talk to.
func (m *management) cloudEnv() []string {
	return []string{"FOO_CLOUD_ENDPOINT=" + m.env["FOO_CLOUD_ENDPOINT"], "FOO_CLOUD_TOKEN_FILE=" + m.env["FOO_CLOUD_TOKEN_FILE"]}
}

// as is this cloud as another tenant sees it.
func (m *management) as(tenant string) *management {
	other := *m
	other.env = maps.Clone(m.env)
	other.env["FOO_CLOUD_TOKEN_FILE"] += "-" + tenant
	return &other
}

// folderOf returns what the host has of an instance.
func (m *management) folderOf(id string) string {
	return filepath.Join(m.state, "cloud", "instances", id)
}

// diskOf returns what the host has of what an instance has written; a disk whose size is limited has a folder of its own.
func (m *management) diskOf(id string) string {
	folder := m.folderOf(id)
	if _, err := os.Stat(filepath.Join(folder, "disk.img")); err == nil {
		return filepath.Join(folder, "disk")
	}
	return folder
}

// instance is what `foocloud instances` says of an instance.
type instance struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	ProviderID string `json:"providerID"`
	Pool       string `json:"pool"`
	Type       string `json:"type"`
	Zone       string `json:"zone"`
	Address    string `json:"address"`
	State      string `json:"state"`
	Message    string `json:"message"`
	// Tags of the instance.
	Tags map[string]string `json:"tags"`
}

// named is what `foocloud pools` and `foocloud load-balancers` say, as far as the stories ask.
type named struct {
	Name string            `json:"name"`
	Tags map[string]string `json:"tags"`
}

// quota is what `foocloud quota` says is used.
type quota struct {
	Used struct {
		Instances     int `json:"instances"`
		CPUs          int `json:"cpus"`
		MemoryBytes   int `json:"memoryBytes"`
		LoadBalancers int `json:"loadBalancers"`
	} `json:"used"`
}

// kill does what `kill -9` does to one of quickstart's programs, and returns the process ID that it had.
func (m *management) kill(program string) int {
	GinkgoHelper()
	pid := m.pid(Default, program)
	Expect(syscall.Kill(pid, syscall.SIGKILL)).To(Succeed())
	return pid
}

// expectRestart waits until a killed program is running again. A program that keeps dying is
// restarted after growing delays.
func (m *management) expectRestart(ctx context.Context, program string, killed int) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		pid := m.pid(g, program)
		g.Expect(pid).NotTo(Equal(killed))
		g.Expect(syscall.Kill(pid, 0)).To(Succeed())
	}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "%s is not restarted", program)
}

// pid returns the process ID of one of quickstart's programs.
func (m *management) pid(g Gomega, program string) int {
	content, err := os.ReadFile(filepath.Join(m.env["FOO_PID_DIR"], program+".pid"))
	g.Expect(err).NotTo(HaveOccurred())
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	g.Expect(err).NotTo(HaveOccurred())
	return pid
}

// warnings returns a function that lists the warnings about an object as "<reason>: <note>".
func (m *management) warnings(object client.Object) func(Gomega, context.Context) []string {
	return func(g Gomega, ctx context.Context) []string {
		var list eventsv1.EventList
		g.Expect(m.List(ctx, &list, client.InNamespace(object.GetNamespace()))).To(Succeed())
		var texts []string
		for _, event := range list.Items {
			if event.Regarding.UID == object.GetUID() && event.Type == corev1.EventTypeWarning {
				texts = append(texts, fmt.Sprintf("%s: %s", event.Reason, event.Note))
			}
		}
		return texts
	}
}

// gone reports whether an object is not there any more.
func (m *management) gone(object client.Object) func(Gomega, context.Context) bool {
	return func(g Gomega, ctx context.Context) bool {
		err := m.Get(ctx, client.ObjectKeyFromObject(object), object)
		g.Expect(client.IgnoreNotFound(err)).To(Succeed())
		return apierrors.IsNotFound(err)
	}
}
