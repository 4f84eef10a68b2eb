//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// serviceAccountFolder is where a kubelet mounts the credentials for the API server in a
	// container.
	serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount"
	// inPod gives a program its own /run and /tmp, which contain everything that the managers
	// mount.
	inPod = `mount --bind "$1" "$2/manager" && mount --bind "$2/run" /run && mount --bind "$2/tmp" /tmp
root="$2" && shift 2 && exec "$root/manager" "$@"`
)

// programs maps the names of Deployments to the programs in their images.
var programs = map[string]string{
	"capi-controller-manager":                   "tools/core",
	"capi-kubeadm-bootstrap-controller-manager": "tools/kubeadm-bootstrap",
	"control-plane-foo-controller-manager":      "manager",
	"infrastructure-foo-controller-manager":     "manager",
	"runtime-extension-foo-controller-manager":  "runtime-extension",
}

// pods replaces kubelets and controllers for a management cluster without nodes: it runs the
// manager of each Deployment as its service account, with its flags and files, and points the
// webhook Services to it. All managers share the network of this machine, so only their ports
// differ from the Deployment.
type pods struct {
	*management
	// address of this machine at which the API server calls webhooks; Kubernetes allows no loopback
	// address.
	address string
	running map[client.ObjectKey]*pod
}

// pod is a running manager.
type pod struct {
	*daemon
	health string
}

func (m *management) newPods() *pods {
	GinkgoHelper()
	bridge, err := net.InterfaceByName(m.bridge)
	Expect(err).NotTo(HaveOccurred())
	addresses, err := bridge.Addrs()
	Expect(err).NotTo(HaveOccurred())
	Expect(addresses).NotTo(BeEmpty(), "addresses of %s", m.bridge)
	ip, _, err := net.ParseCIDR(addresses[0].String())
	Expect(err).NotTo(HaveOccurred())
	return &pods{management: m, address: ip.String(), running: map[client.ObjectKey]*pod{}}
}

// run starts the managers that are not running, and returns once all are ready.
func (p *pods) run(ctx context.Context) {
	GinkgoHelper()
	p.signCertificates(ctx)
	var deployments appsv1.DeploymentList
	Expect(p.List(ctx, &deployments)).To(Succeed())
	for _, deployment := range deployments.Items {
		key := client.ObjectKeyFromObject(&deployment)
		if ptr.Deref(deployment.Spec.Replicas, 1) > 0 && p.running[key] == nil {
			p.running[key] = p.start(ctx, &deployment)
		}
	}
	for key, one := range p.running {
		Eventually(func(g Gomega) {
			if one.ended() {
				StopTrying(fmt.Sprintf("the manager of %s ended: %s", key, lastLines(string(one.said.Contents()), 20))).Now()
			}
			answer, err := http.Get(one.health)
			g.Expect(err).NotTo(HaveOccurred())
			defer func() { _ = answer.Body.Close() }()
			g.Expect(answer.StatusCode).To(Equal(http.StatusOK))
		}).WithContext(ctx).WithTimeout(clusterUp).Should(Succeed(), "the manager of %s is not ready", key)
	}
}

// stop stops the managers whose Deployments have the text in their names.
func (p *pods) stop(ctx context.Context, text string) {
	GinkgoHelper()
	for key, one := range p.running {
		if strings.Contains(key.Name, text) {
			one.interrupt(ctx)
			delete(p.running, key)
		}
	}
}

// refused returns the requests of the managers that the API server denied.
func (p *pods) refused() []string {
	var lines []string
	for key, one := range p.running {
		for line := range strings.Lines(string(one.said.Contents())) {
			if strings.Contains(line, "is forbidden: User") {
				lines = append(lines, key.Name+": "+line)
			}
		}
	}
	return lines
}

// show writes the end of the managers' output to the report.
func (p *pods) show() {
	for key, one := range p.running {
		AddReportEntry(filepath.Base(p.state)+": "+key.Name, ReportEntryVisibilityAlways, lastLines(string(one.said.Contents()), 40))
	}
}

// start runs the manager of a Deployment.
func (p *pods) start(ctx context.Context, deployment *appsv1.Deployment) *pod {
	GinkgoHelper()
	Expect(programs).To(HaveKey(deployment.Name), "the program of this Deployment is unknown")
	spec := deployment.Spec.Template.Spec
	Expect(spec.Containers).To(HaveLen(1))
	root := filepath.Join(suiteDir, "pods", filepath.Base(p.state), deployment.Namespace+"-"+deployment.Name)
	p.mountServiceAccount(ctx, root, client.ObjectKey{Namespace: deployment.Namespace, Name: spec.ServiceAccountName})
	p.mountSecrets(ctx, root, deployment.Namespace, spec)
	Expect(os.MkdirAll(filepath.Join(root, "tmp"), 0o700)).To(Succeed())
	Expect(os.WriteFile(filepath.Join(root, "manager"), nil, 0o700)).To(Succeed())

	webhook, health := freePort(ctx), freePort(ctx)
	p.leadServices(ctx, deployment, webhook)
	args := []string{"--mount", "sh", "-euc", inPod, "sh", filepath.Join(bin, programs[deployment.Name]), root}
	args = append(args, spec.Containers[0].Args...)
	args = append(args, fmt.Sprintf("--webhook-port=%d", webhook), fmt.Sprintf("--health-addr=127.0.0.1:%d", health),
		fmt.Sprintf("--diagnostics-address=127.0.0.1:%d", freePort(ctx)))
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "unshare", args...)
	cmd.Env, cmd.Dir = append([]string{"PATH=" + os.Getenv("PATH")}, p.environment(deployment)...), "/"
	return &pod{daemon: start(cmd), health: fmt.Sprintf("http://127.0.0.1:%d/readyz", health)}
}

// environment returns the variables about the API server and its Pod that a kubelet sets in a
// container.
func (p *pods) environment(deployment *appsv1.Deployment) []string {
	GinkgoHelper()
	config, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	host, port, err := net.SplitHostPort(strings.TrimPrefix(config.Host, "https://"))
	Expect(err).NotTo(HaveOccurred())
	env := []string{"KUBERNETES_SERVICE_HOST=" + host, "KUBERNETES_SERVICE_PORT=" + port}
	fields := map[string]string{
		"metadata.namespace": deployment.Namespace, "metadata.name": deployment.Name + "-0", "metadata.uid": string(deployment.UID),
	}
	for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
		value := variable.Value
		if variable.ValueFrom != nil {
			Expect(fields).To(HaveKey(variable.ValueFrom.FieldRef.FieldPath))
			value = fields[variable.ValueFrom.FieldRef.FieldPath]
		}
		env = append(env, variable.Name+"="+value)
	}
	return env
}

// mountServiceAccount writes a token of the service account, which determines the manager's
// permissions.
func (p *pods) mountServiceAccount(ctx context.Context, root string, key client.ObjectKey) {
	GinkgoHelper()
	config, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](24 * 3600)}}
	Expect(p.SubResource("token").Create(ctx, account, token)).To(Succeed(), "token of %s", key)
	p.mount(root, serviceAccountFolder, map[string][]byte{
		"token": []byte(token.Status.Token), "ca.crt": config.CAData, "namespace": []byte(key.Namespace),
	})
}

// mountSecrets writes the Secrets that are volumes of the Pod.
func (p *pods) mountSecrets(ctx context.Context, root, namespace string, spec corev1.PodSpec) {
	GinkgoHelper()
	for _, mount := range spec.Containers[0].VolumeMounts {
		for _, volume := range spec.Volumes {
			// Volumes that start empty are private to the Pod anyway.
			if volume.Name != mount.Name || volume.EmptyDir != nil {
				continue
			}
			Expect(volume.Secret).NotTo(BeNil(), "volume %s is not a Secret", volume.Name)
			var secret corev1.Secret
			Expect(p.Get(ctx, client.ObjectKey{Namespace: namespace, Name: volume.Secret.SecretName}, &secret)).To(Succeed())
			p.mount(root, mount.MountPath, secret.Data)
		}
	}
}

// mount writes files for a path that the Pod sees.
func (p *pods) mount(root, path string, files map[string][]byte) {
	GinkgoHelper()
	path = strings.TrimPrefix(path, "/var")
	Expect(path).To(Or(HavePrefix("/run/"), HavePrefix("/tmp/")), "only these are private to the Pod")
	folder := filepath.Join(root, path)
	Expect(os.MkdirAll(folder, 0o700)).To(Succeed())
	for name, content := range files {
		Expect(os.WriteFile(filepath.Join(folder, name), content, 0o600)).To(Succeed())
	}
}

// leadServices makes the manager the endpoint of the Services that select it.
func (p *pods) leadServices(ctx context.Context, deployment *appsv1.Deployment, port int32) {
	GinkgoHelper()
	var services corev1.ServiceList
	Expect(p.List(ctx, &services, client.InNamespace(deployment.Namespace))).To(Succeed())
	for _, service := range services.Items {
		// The metrics Service has no endpoint here.
		if strings.HasSuffix(service.Name, "-foo-metrics") || len(service.Spec.Selector) == 0 || !labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(deployment.Spec.Template.Labels)) {
			continue
		}
		slice := &discoveryv1.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{Namespace: service.Namespace, Name: service.Name, Labels: map[string]string{discoveryv1.LabelServiceName: service.Name}},
			// An API server finds the port by its name in the Service.
			AddressType: discoveryv1.AddressTypeIPv4,
			Ports:       []discoveryv1.EndpointPort{{Name: ptr.To(service.Spec.Ports[0].Name), Port: ptr.To(port), Protocol: ptr.To(corev1.ProtocolTCP)}},
			Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{p.address}, Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)}}},
		}
		err := p.Create(ctx, slice)
		if apierrors.IsAlreadyExists(err) {
			err = p.Update(ctx, slice)
		}
		Expect(err).NotTo(HaveOccurred())
	}
}

// freePort returns a port that nothing listens on.
func freePort(ctx context.Context) int32 {
	GinkgoHelper()
	address, err := netip.ParseAddrPort(freeAddress(ctx, ""))
	Expect(err).NotTo(HaveOccurred())
	return int32(address.Port())
}
