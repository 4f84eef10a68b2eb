// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	utilyaml "sigs.k8s.io/cluster-api/util/yaml"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/kustomize"
)

func TestNames(t *testing.T) {
	for _, name := range []string{"one", "ns.one", "ns-one", strings.Repeat("a.", 126) + "a", "1.2"} {
		g := NewWithT(t)
		pod := objectName(name)
		g.Expect(validation.IsDNS1123Label(pod)).To(BeEmpty(), pod)
		id := newID(pod)
		g.Expect(validation.IsDNS1123Label(id)).To(BeEmpty(), id)
		g.Expect(podOf(id)).To(Equal(pod))
		g.Expect(validation.IsDNS1035Label(serviceObject(name))).To(BeEmpty())
		g.Expect(validation.IsDNS1123Subdomain(poolObject(name))).To(BeEmpty())
	}
	g := NewWithT(t)
	g.Expect(objectName("ns.one")).NotTo(Equal(objectName("ns-one")))
	for _, id := range []string{"", "nobody", "-12345678", "podx12345678"} {
		g.Expect(podOf(id)).To(BeEmpty(), id)
	}
	for key := range tagLabels(cloud.Tags{"cluster.x-k8s.io/cluster": "ns/" + strings.Repeat("long", 60)}) {
		g.Expect(validation.IsQualifiedName(key)).To(BeEmpty())
	}
}

// Tenants share nothing that applying or deleting one of them would take from another.
func TestTenantsShareNothing(t *testing.T) {
	g, owners := NewWithT(t), map[string]string{}
	for _, namespace := range []string{"team-a", "team-b"} {
		files := filesys.MakeFsInMemory()
		g.Expect(fs.WalkDir(os.DirFS("../../config/kubernetes-cloud"), ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := os.ReadFile("../../config/kubernetes-cloud/" + path)
			if path == "kustomization.yaml" {
				content = bytes.Replace(content, []byte("namespace: foo-machines"), []byte("namespace: "+namespace), 1)
			}
			return errors.Join(err, files.WriteFile(path, content))
		})).To(Succeed())
		content, err := kustomize.BuildIn(files, ".")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(content)).NotTo(ContainSubstring("namespace: foo-machines"))
		objects, err := utilyaml.ToUnstructured(content)
		g.Expect(err).NotTo(HaveOccurred())
		for _, object := range objects {
			key := object.GetKind() + " " + object.GetNamespace() + "/" + object.GetName()
			g.Expect(owners).NotTo(HaveKey(key))
			owners[key] = namespace
			if object.GetKind() == "ClusterRoleBinding" {
				binding := rbacv1.ClusterRoleBinding{}
				g.Expect(runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &binding)).To(Succeed())
				g.Expect(owners).To(HaveKeyWithValue("ClusterRole /"+binding.RoleRef.Name, namespace))
				g.Expect(binding.Subjects).To(ConsistOf(HaveField("Namespace", namespace)))
			}
		}
	}
}

func TestTranslate(t *testing.T) {
	pods, c := schema.GroupResource{Resource: "pods"}, &Cloud{namespace: "red", endpoint: "https://outer"}
	foreign := apierrors.NewGenericServerResponse(http.StatusNotFound, "get", pods, "one", "<html>", 0, true)
	for name, test := range map[string]struct {
		err  error
		want cloud.Reason
		text string
	}{
		"nothing":               {nil, "", ""},
		"typed already":         {&cloud.ConflictError{Kind: "pool", Name: "a"}, cloud.ReasonConflict, ""},
		"namespace is missing":  {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "red"), cloud.ReasonUnauthorized, "namespace red is not usable"},
		"a proxy's 404":         {foreign, cloud.ReasonUnavailable, "not as a Kubernetes API server"},
		"forbidden":             {apierrors.NewForbidden(pods, "one", errors.New("not you")), cloud.ReasonUnauthorized, "not you"},
		"pod security":          {apierrors.NewForbidden(pods, "one", errors.New(`violates PodSecurity "restricted:latest": privileged`)), cloud.ReasonUnauthorized, "PodSecurity"},
		"token is unknown":      {apierrors.NewUnauthorized("Unauthorized"), cloud.ReasonUnauthorized, "does not accept the token"},
		"too many requests":     {apierrors.NewTooManyRequests("slow down", 7), cloud.ReasonThrottled, "try again in 7s"},
		"server is overloaded":  {apierrors.NewServerTimeout(pods, "create", 1), cloud.ReasonUnavailable, ""},
		"webhook refuses":       {apierrors.NewBadRequest("admission webhook says no"), cloud.ReasonInvalid, "says no"},
		"lost too many races":   {apierrors.NewConflict(pods, "one", errors.New("changed")), cloud.ReasonUnavailable, "changed"},
		"connection is refused": {&url.Error{Op: "Get", URL: "https://outer/long/path", Err: errors.New("connection refused")}, cloud.ReasonUnavailable, "endpoint https://outer: connection refused"},
		"quota of pods": {
			apierrors.NewForbidden(pods, "one", errors.New("exceeded quota: limits, requested: pods=1, used: pods=3, limited: pods=3")),
			cloud.ReasonQuotaExceeded, "quota for instances exceeded: limit 3, used 3, requested 1",
		},
		"quota of several resources": {
			apierrors.NewForbidden(pods, "one", errors.New("exceeded quota: limits, requested: requests.cpu=2,pods=1, used: requests.cpu=7500m,pods=3, limited: requests.cpu=8,pods=3")),
			cloud.ReasonQuotaExceeded, "quota for cpus exceeded: limit 8, used 8, requested 2",
		},
		"quota of memory": {
			apierrors.NewForbidden(pods, "one", errors.New("exceeded quota: limits, requested: limits.memory=1Gi, used: limits.memory=1Gi, limited: limits.memory=1536Mi")),
			cloud.ReasonQuotaExceeded, "quota for memoryBytes exceeded: limit 1610612736, used 1073741824, requested 1073741824",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got := c.translate(test.err)
			if test.want == "" {
				g.Expect(got).NotTo(HaveOccurred())
				return
			}
			g.Expect(cloud.ReasonFor(got)).To(Equal(test.want))
			g.Expect(got.Error()).To(ContainSubstring(test.text))
		})
	}
	NewWithT(t).Expect(isGone(foreign)).To(BeFalse(), "only the API server itself can say that something is gone")
}

// A rule may name what it permits.
func TestPermitted(t *testing.T) {
	g := NewWithT(t)
	rule := func(resource string, names ...string) []authorizationv1.ResourceRule {
		return []authorizationv1.ResourceRule{{APIGroups: []string{""}, Resources: []string{resource}, ResourceNames: names, Verbs: []string{"get"}}}
	}
	c := &Cloud{namespace: "red"}
	g.Expect(c.denied(rule("namespaces"))).NotTo(ContainElement("get namespaces"))
	g.Expect(c.denied(rule("namespaces", "blue", "red"))).NotTo(ContainElement("get namespaces"))
	g.Expect(c.denied(rule("namespaces", "blue"))).To(ContainElement("get namespaces"))
	g.Expect(c.denied(rule("namespaces", "*"))).To(ContainElement("get namespaces"), "a name is no pattern")
	g.Expect(c.denied(rule("configmaps", ConfigName))).NotTo(ContainElement("get configmaps"))
	g.Expect(c.denied(rule("pods", "red"))).To(ContainElement("get pods"))
}

// While the outer cluster cannot be reached, nothing is missing.
func TestOutage(t *testing.T) {
	g := NewWithT(t)
	c, err := New(Options{Endpoint: "https://127.0.0.1:1", Namespace: "red", Token: "secret"})
	g.Expect(err).NotTo(HaveOccurred())
	for name, call := range map[string]func() error{
		"get":    func() error { _, err := c.GetInstance(t.Context(), newID("pod")); return err },
		"list":   func() error { _, err := c.ListInstances(t.Context(), cloud.InstanceFilter{}); return err },
		"order":  func() error { _, err := c.EnsureInstance(t.Context(), cloud.InstanceSpec{Name: "one"}); return err },
		"delete": func() error { return c.DeletePool(t.Context(), "pool") },
		"watch":  func() error { _, err := c.Watch(t.Context()); return err },
		"check":  func() error { return c.Check(t.Context()) },
	} {
		err := call()
		g.Expect(cloud.IsUnavailable(err)).To(BeTrue(), name)
		g.Expect(err).To(MatchError(And(ContainSubstring("endpoint https://127.0.0.1:1"), Not(ContainSubstring("secret")))), name)
	}
}

func TestStateOfAPod(t *testing.T) {
	endedFor := func(reason, message string) []corev1.ContainerStatus {
		return []corev1.ContainerStatus{{Name: containerName, State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{Reason: reason, Message: message},
		}}}
	}
	ended := func(message string) []corev1.ContainerStatus { return endedFor("Error", message) }
	for name, test := range map[string]struct {
		status    corev1.PodStatus
		state     cloud.InstanceState
		message   string
		bootstrap cloud.Bootstrap
	}{
		"new": {corev1.PodStatus{Phase: corev1.PodPending}, cloud.InstancePending, "", cloud.Bootstrap{State: cloud.BootstrapPending}},
		"no room": {
			corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
				Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available: 3 Insufficient cpu.",
			}}},
			cloud.InstancePending, "zone zone-a is out of capacity: 0/3 nodes are available: 3 Insufficient cpu.", cloud.Bootstrap{State: cloud.BootstrapPending},
		},
		"image cannot be pulled": {
			corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: containerName, State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "not found"},
			}}}},
			cloud.InstancePending, "ImagePullBackOff: not found", cloud.Bootstrap{State: cloud.BootstrapPending},
		},
		"boots": {
			corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{
				Name: containerName, Started: ptr.To(false), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
			}}},
			cloud.InstanceRunning, "", cloud.Bootstrap{State: cloud.BootstrapRunning},
		},
		"has started": {
			corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: containerName, Started: ptr.To(true)}}},
			cloud.InstanceRunning, "", cloud.Bootstrap{State: cloud.BootstrapSucceeded},
		},
		"bootstrap data failed": {
			corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: ended("kubeadm join: exit status 1")},
			cloud.InstanceStopped, "Error: kubeadm join: exit status 1", cloud.Bootstrap{State: cloud.BootstrapFailed, Message: "kubeadm join: exit status 1"},
		},
		"bootstrap data ran out of memory": {
			corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: endedFor("OOMKilled", "kubeadm join: signal: killed")},
			cloud.InstanceStopped, "OOMKilled: kubeadm join: signal: killed", cloud.Bootstrap{State: cloud.BootstrapFailed, Message: "kubeadm join: signal: killed"},
		},
		"cannot start": {
			corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: endedFor("StartError", "exec: no such file")},
			cloud.InstanceStopped, "StartError: exec: no such file", cloud.Bootstrap{State: cloud.BootstrapPending},
		},
		"its node lost the container": {
			corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: endedFor("ContainerStatusUnknown", "The container could not be located")},
			cloud.InstanceStopped, "ContainerStatusUnknown: The container could not be located", cloud.Bootstrap{State: cloud.BootstrapPending},
		},
		"evicted": {
			corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on memory.", ContainerStatuses: ended("")},
			cloud.InstanceStopped, "Evicted: The node was low on memory.", cloud.Bootstrap{State: cloud.BootstrapPending},
		},
		"evicted while its bootstrap data ran": {
			corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on memory.", ContainerStatuses: ended("kubeadm join: context canceled")},
			cloud.InstanceStopped, "Evicted: The node was low on memory.", cloud.Bootstrap{State: cloud.BootstrapPending},
		},
		"refused by its kubelet": {
			corev1.PodStatus{Phase: corev1.PodFailed, Reason: "OutOfcpu", Message: "Node didn't have enough resource"},
			cloud.InstanceFailed, "OutOfcpu: Node didn't have enough resource", cloud.Bootstrap{State: cloud.BootstrapPending},
		},
		"was stopped": {
			corev1.PodStatus{Phase: corev1.PodSucceeded, ContainerStatuses: ended("")}, cloud.InstanceStopped, "Error", cloud.Bootstrap{State: cloud.BootstrapPending},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			pod := &corev1.Pod{Status: test.status}
			pod.Annotations = map[string]string{instanceAnnotation: `{"id": "a", "zone": "zone-a"}`}
			got, err := instanceOf(pod)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect([]any{got.State, got.Message, got.Bootstrap}).To(Equal([]any{test.state, test.message, test.bootstrap}))
		})
	}
}

// What keeps a Pod from running is reported with the reason that the local cloud would give.
func TestProblemOfAPod(t *testing.T) {
	unscheduled := func(reason string) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: "no",
		}}}
	}
	waiting := func(reason, message string) corev1.PodStatus {
		return corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: containerName, State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message},
		}}}}
	}
	for name, test := range map[string]struct {
		status corev1.PodStatus
		want   *cloud.Problem
	}{
		"new":                  {corev1.PodStatus{Phase: corev1.PodPending}, nil},
		"no room":              {unscheduled(corev1.PodReasonUnschedulable), &cloud.Problem{Reason: cloud.ReasonOutOfCapacity, Message: "zone a is out of capacity: no"}},
		"scheduler fails":      {unscheduled("SchedulerError"), &cloud.Problem{Reason: cloud.ReasonUnavailable, Message: "SchedulerError: no"}},
		"starts":               {waiting("ContainerCreating", ""), nil},
		"image is not there":   {waiting("ErrImagePull", "not found"), &cloud.Problem{Reason: cloud.ReasonUnavailable, Message: "ErrImagePull: not found"}},
		"user data is missing": {waiting("CreateContainerConfigError", "no Secret"), &cloud.Problem{Reason: cloud.ReasonUnavailable, Message: "CreateContainerConfigError: no Secret"}},
		"runs":                 {corev1.PodStatus{Phase: corev1.PodRunning, Conditions: unscheduled("old").Conditions}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			pod := &corev1.Pod{Status: test.status}
			pod.Annotations = map[string]string{instanceAnnotation: `{"id": "a", "zone": "a"}`}
			got, err := instanceOf(pod)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got.Problem).To(Equal(test.want))
		})
	}
}

// A Pod that had to wait for room has the whole time to join once it has a node.
func TestAgeOfAnInstance(t *testing.T) {
	g := NewWithT(t)
	ordered := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: ordered, Annotations: map[string]string{instanceAnnotation: `{"id": "a"}`}}}
	g.Expect(instanceOf(pod)).To(HaveField("CreatedAt", ordered.Time))
	scheduled := corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(ordered.Add(time.Second))}
	pod.Status.Conditions = []corev1.PodCondition{scheduled}
	g.Expect(instanceOf(pod)).To(HaveField("CreatedAt", ordered.Time), "it still waits")
	bound := metav1.NewTime(ordered.Add(time.Minute))
	scheduled.Status, scheduled.LastTransitionTime = corev1.ConditionTrue, bound
	pod.Status.Conditions = []corev1.PodCondition{scheduled}
	g.Expect(instanceOf(pod)).To(HaveField("CreatedAt", bound.Time), "its kubelet has not seen it yet")
	placed := metav1.NewTime(ordered.Add(time.Minute + time.Second))
	pod.Status.StartTime = &placed
	g.Expect(instanceOf(pod)).To(HaveField("CreatedAt", placed.Time))
}

// Removed labels come back, and labels of others stay.
func TestLabelsOfAnObject(t *testing.T) {
	g := NewWithT(t)
	secret := &corev1.Secret{}
	setLabels(secret, kindPool, "ns.pool", cloud.Tags{"a": "1"})
	g.Expect(secret.Labels).To(Equal(objectLabels(kindPool, "ns.pool", cloud.Tags{"a": "1"})))
	secret.Labels["theirs"], secret.Labels[kindLabel] = "x", "wrong"
	setLabels(secret, kindPool, "ns.pool", cloud.Tags{"b": "2"})
	want := objectLabels(kindPool, "ns.pool", cloud.Tags{"b": "2"})
	want["theirs"] = "x"
	g.Expect(secret.Labels).To(Equal(want))
}

// New instances go to zones that have a node for them, as long as there is one.
func TestZonesWithoutNodes(t *testing.T) {
	g := NewWithT(t)
	node := func(zone string, cordoned bool, ready corev1.ConditionStatus) corev1.Node {
		node := corev1.Node{Spec: corev1.NodeSpec{Unschedulable: cordoned}}
		node.Labels = map[string]string{zoneLabel: zone}
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: ready}}
		return node
	}
	tainted := func(zone, key string, effect corev1.TaintEffect) corev1.Node {
		node := node(zone, false, corev1.ConditionTrue)
		node.Spec.Taints = []corev1.Taint{{Key: key, Effect: effect}}
		return node
	}
	arm := func(zone string, cordoned bool) corev1.Node {
		node := node(zone, cordoned, corev1.ConditionTrue)
		node.Labels[corev1.LabelArchStable] = "arm64"
		return node
	}
	types := []InstanceType{{Name: "any"}, {Name: "arm", Architecture: "arm64"}, {Name: "z", Architecture: "s390x"}}
	offered := &catalog{Config: &Config{InstanceTypes: types}, open: openZones([]corev1.Node{
		node("a", false, corev1.ConditionUnknown), node("b", false, corev1.ConditionFalse), node("b", false, corev1.ConditionTrue), node("c", true, corev1.ConditionTrue),
		node("", false, corev1.ConditionTrue), tainted("d", "mine", corev1.TaintEffectNoSchedule), tainted("e", "others", corev1.TaintEffectNoSchedule),
		tainted("f", "others", corev1.TaintEffectNoExecute), tainted("g", "others", corev1.TaintEffectPreferNoSchedule),
		tainted("h", corev1.TaintNodeDiskPressure, corev1.TaintEffectNoSchedule), tainted("i", "node.cloudprovider.kubernetes.io/uninitialized", corev1.TaintEffectNoSchedule),
		tainted("b", "others", corev1.TaintEffectNoSchedule), arm("a", false), arm("b", true), arm("c", true),
		tainted("j", "ToBeDeletedByClusterAutoscaler", corev1.TaintEffectNoSchedule), tainted("k", "node.cilium.io/agent-not-ready", corev1.TaintEffectNoExecute),
		tainted("l", "node.cluster.x-k8s.io/uninitialized", corev1.TaintEffectNoSchedule), tainted("m", "karpenter.sh/disrupted", corev1.TaintEffectNoSchedule),
	}, []corev1.Toleration{{Key: "mine", Operator: corev1.TolerationOpExists}})}
	g.Expect(offered.open[""]).To(Equal(map[string]bool{"a": true, "b": true, "c": false, "d": true, "g": true, "h": false, "i": false, "j": false, "k": false, "l": false, "m": false}))
	for zone := range offered.open[""] {
		offered.Catalog.Zones = append(offered.Catalog.Zones, cloud.Zone{Name: zone})
	}
	g.Expect(offered.choices(nil, "any")).To(Equal([]string{"a", "b", "d", "g"}))
	g.Expect(offered.choices([]string{"h", "b", "c", "lost"}, "any")).To(Equal([]string{"b"}))
	g.Expect(offered.choices([]string{"h", "c", "lost"}, "any")).To(Equal([]string{"h", "c"}), "it must wait in one of them")
	_, err := offered.choices([]string{"e", "f"}, "any")
	g.Expect(err).To(MatchError(`zones "e": unknown zone, allowed: a, b, c, d, g, h, i, j, k, l, m`))

	g.Expect(offered.choices(nil, "arm")).To(Equal([]string{"a"}), "b has an open node of another architecture")
	g.Expect(offered.choices([]string{"b", "c", "d"}, "arm")).To(Equal([]string{"b", "c"}), "it must wait in one of them")
	g.Expect(offered.choices([]string{"b", "d"}, "z")).To(Equal([]string{"b", "d"}), "no node has its architecture")
	unknown := &catalog{Config: offered.Config, Catalog: offered.Catalog}
	g.Expect(unknown.choices([]string{"a", "c"}, "any")).To(Equal([]string{"a", "c"}), "the ConfigMap names zones, and Nodes are unknown")
}

func TestConfigThatIsWrong(t *testing.T) {
	const images = "images: [{kubernetesVersion: v1.36.3, image: a}]\n"
	tolerating := func(tolerations string) string {
		return "instanceTypes: [{name: s, cpus: 1, memory: 1Gi}]\npods: {tolerations: [" + tolerations + "]}\n" + images
	}
	for content, want := range map[string]string{
		"": "instanceTypes has 0 entries and images has 0, but each needs at least one",
		"instanceTypes: [{name: small, memory: 1Gi}]\n" + images:                                          `instanceTypes[0] has name "small", cpus 0 and memory 1Gi`,
		"instanceTypes: [{name: s, cpus: 1, memory: 1Gi}]\nimages: [{image: a}]":                          `images[0] has kubernetesVersion "" and image "a", but needs both`,
		"instanceTypes: [{name: s, cpus: 1, memory: 1Gi}]\nservices: {type: NodePort}\n" + images:         `services.type is "NodePort", but must be ClusterIP or LoadBalancer`,
		"instanceTypes: [{name: s, cpus: 1, memory: 1Gi}]\npods: {storageClassName: fast}\n" + images:     "instanceTypes[0] has no disk, which pods.storageClassName requires",
		"instanceTypes: [{name: s, cpus: 1, memory: 1Gi, disk: 1Gi}]\npods: {hostUsers: true}\n" + images: "",
		tolerating("{operator: Exists}"):                                                                  "pods.tolerations[0] tolerates node.kubernetes.io/unschedulable:NoSchedule",
		tolerating("{key: a}, {operator: Exists, effect: NoSchedule}"):                                    "pods.tolerations[1] tolerates node.kubernetes.io/unschedulable:NoSchedule",
		tolerating("{key: node.kubernetes.io/unschedulable, operator: Exists}"):                           "pods.tolerations[0] tolerates node.kubernetes.io/unschedulable:NoSchedule",
		tolerating("{operator: Exists, effect: NoExecute}"):                                               "pods.tolerations[0] tolerates node.kubernetes.io/unreachable:NoExecute",
		tolerating("{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}"):            "pods.tolerations[0] tolerates node.kubernetes.io/not-ready:NoExecute",
		tolerating("{operator: Exists, effect: NoExecute, tolerationSeconds: 60}"):                        "",
		tolerating("{key: dedicated, value: machines}, {key: dedicated, operator: Exists}"):               "",
		tolerating("{key: node.kubernetes.io/disk-pressure, operator: Exists}"):                           "",
	} {
		t.Run(content, func(t *testing.T) {
			g := NewWithT(t)
			config := &Config{}
			g.Expect(yaml.UnmarshalStrict([]byte(content), config)).To(Succeed())
			err := config.validate()
			if want == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(want)))
			}
		})
	}
}

// Machines count with their types, so a limit of what Pods request says nothing if a type requests less.
func TestTighten(t *testing.T) {
	for name, test := range map[string]struct {
		requests   corev1.ResourceList
		hard, used corev1.ResourceList
		want       cloud.Quota
	}{
		"requests": {
			nil, corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("4")}, corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("2")},
			cloud.Quota{Limits: cloud.Resources{CPUs: 4}, Used: cloud.Resources{CPUs: 2}},
		},
		"nothing at all": {
			nil, corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0"), corev1.ResourceLimitsCPU: resource.MustParse("500m")}, nil,
			cloud.Quota{Limits: cloud.Resources{Instances: 1, CPUs: 1}, Used: cloud.Resources{Instances: 1, CPUs: 1}},
		},
		"requests that are lower": {
			corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("1Gi")}, corev1.ResourceList{
				corev1.ResourceRequestsCPU: resource.MustParse("4"), corev1.ResourceRequestsMemory: resource.MustParse("1Gi"),
				corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourceMemory: resource.MustParse("1Gi"),
			}, nil, cloud.Quota{},
		},
		"requests of which one is lower": {
			corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
			corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("4"), corev1.ResourceRequestsMemory: resource.MustParse("1Gi")},
			nil, cloud.Quota{Limits: cloud.Resources{MemoryBytes: 1 << 30}},
		},
		"limits besides requests that are lower": {
			corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
			corev1.ResourceList{corev1.ResourceRequestsCPU: resource.MustParse("4"), corev1.ResourceLimitsCPU: resource.MustParse("8"), corev1.ResourceLimitsMemory: resource.MustParse("1Gi")},
			corev1.ResourceList{corev1.ResourceLimitsCPU: resource.MustParse("1")},
			cloud.Quota{Limits: cloud.Resources{CPUs: 8, MemoryBytes: 1 << 30}, Used: cloud.Resources{CPUs: 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config, quota := &Config{InstanceTypes: []InstanceType{{Name: "large"}, {Name: "small", Requests: test.requests}}}, cloud.Quota{}
			tighten(&quota, corev1.ResourceQuotaStatus{Hard: test.hard, Used: test.used}, config)
			NewWithT(t).Expect(quota).To(Equal(test.want))
		})
	}
}

func TestImagesAreSorted(t *testing.T) {
	g := NewWithT(t)
	config := Config{Images: []Image{{KubernetesVersion: "v1.36.10"}, {KubernetesVersion: "v1.36.9"}, {KubernetesVersion: "v1.36.9", Name: "gpu"}, {KubernetesVersion: "v1.35.4"}}}
	g.Expect(config.images()).To(Equal([]cloud.Image{
		{KubernetesVersion: "v1.35.4"}, {KubernetesVersion: "v1.36.9"}, {KubernetesVersion: "v1.36.9", Name: "gpu"}, {KubernetesVersion: "v1.36.10"},
	}))
}

// A proxy may answer a change with a page of its own, and success.
func TestAChangeThatIsAnsweredWithAPageHasFailed(t *testing.T) {
	g := NewWithT(t)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html>Please log in</html>"))
	}))
	t.Cleanup(proxy.Close)
	c, err := NewForConfig(&rest.Config{Host: proxy.URL}, "tenant")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.mark(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod"}}, "labels", drainingLabel, yes)).To(MatchError(cloud.IsUnavailable, "an UnavailableError"))
}

// Nothing says that a version in the ConfigMap is semantic. It must not change the order of the others,
// or of itself.
func TestImagesWithOtherVersionsAreSorted(t *testing.T) {
	g := NewWithT(t)
	want := []string{"edge", "latest", "v1.35.4", "v1.36.3"}
	for _, versions := range [][]string{
		{"edge", "latest", "v1.35.4", "v1.36.3"}, {"v1.36.3", "latest", "v1.35.4", "edge"}, {"latest", "v1.36.3", "edge", "v1.35.4"},
	} {
		config, got := Config{}, []string{}
		for _, version := range versions {
			config.Images = append(config.Images, Image{KubernetesVersion: version, Image: version})
		}
		for _, image := range config.images() {
			got = append(got, image.KubernetesVersion)
		}
		g.Expect(got).To(Equal(want))
		g.Expect(config.newestImage()).To(Equal("v1.36.3"))
	}
}

func TestMembersOfAPool(t *testing.T) {
	pod := func(suffix string) corev1.Pod {
		pod := corev1.Pod{}
		pod.Name = objectName("ns.pool-" + suffix)
		return pod
	}
	leaving := pod("going")
	leaving.DeletionTimestamp = ptr.To(metav1.Now())
	offered := &catalog{Config: &Config{}}
	offered.Catalog.Zones = []cloud.Zone{{Name: "a"}, {Name: "b"}}
	p := &pool{poolRecord: poolRecord{PoolSpec: cloud.PoolSpec{Name: "ns.pool", Size: 4}, Members: []member{
		{Suffix: "lives", Zone: "a", Created: true}, {Suffix: "fresh", Zone: "b"}, {Suffix: "going", Zone: "a", Created: true}, {Suffix: "taken", Zone: "b", Created: true},
	}}}
	g := NewWithT(t)
	g.Expect(p.observe([]corev1.Pod{pod("lives"), leaving})).To(BeTrue())
	g.Expect(p.Members).To(Equal([]member{{Suffix: "lives", Zone: "a", Created: true}, {Suffix: "fresh", Zone: "b"}}), "what was created and is missing was lost")
	g.Expect(p.observe([]corev1.Pod{pod("lives")})).To(BeFalse())
	g.Expect(p.reserve(offered, nil)).To(BeTrue())
	g.Expect(p.Members).To(HaveLen(4))
	g.Expect([]string{p.Members[2].Zone, p.Members[3].Zone}).To(Equal([]string{"a", "b"}))
	g.Expect(p.reserve(offered, nil)).To(BeFalse())
	p.Size = 1
	g.Expect(p.reserve(offered, nil)).To(BeTrue())
	g.Expect(p.Members).To(Equal([]member{{Suffix: "lives", Zone: "a", Created: true}}), "what was not created is given up")
	p.Size = 0
	g.Expect(p.reserve(offered, nil)).To(BeFalse(), "what was created is deleted only by name")
}

// Two members with the same suffix would share a Pod, and the pool would always lack a machine.
func TestMembersHaveDifferentPods(t *testing.T) {
	g := NewWithT(t)
	offered := &catalog{Config: &Config{}}
	offered.Catalog.Zones = []cloud.Zone{{Name: "a"}}
	names := func(pods []corev1.Pod) map[string]string {
		p := &pool{poolRecord: poolRecord{PoolSpec: cloud.PoolSpec{Name: "ns.pool", Size: 10000}}}
		g.Expect(p.reserve(offered, pods)).To(BeTrue())
		return p.zonesOfPods()
	}
	first := names(nil)
	g.Expect(first).To(HaveLen(10000))

	// Pods that are being deleted belong to no member.
	var pods []corev1.Pod
	for name := range first {
		pods = append(pods, corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	maps.Copy(first, names(pods))
	g.Expect(first).To(HaveLen(20000))

	// An earlier version made such members.
	p := &pool{poolRecord: poolRecord{PoolSpec: cloud.PoolSpec{Name: "ns.pool", Size: 4}, Members: []member{
		{Suffix: "lives", Zone: "a", Created: true}, {Suffix: "lives", Zone: "a", Created: true}, {Suffix: "fresh", Zone: "a"}, {Suffix: "fresh", Zone: "a"},
	}}}
	pods = []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: objectName("ns.pool-lives")}}}
	g.Expect(p.observe(pods)).To(BeTrue())
	g.Expect(p.Members).To(Equal([]member{{Suffix: "lives", Zone: "a", Created: true}, {Suffix: "fresh", Zone: "a"}}))
	g.Expect(p.reserve(offered, pods)).To(BeTrue())
	g.Expect(p.zonesOfPods()).To(HaveLen(4))
}

// A member that had to wait goes where new instances go by now.
func TestMembersOfAPoolThatWait(t *testing.T) {
	g := NewWithT(t)
	offered := &catalog{Config: &Config{}, open: map[string]map[string]bool{"": {"a": true, "b": false}}}
	offered.Catalog.Zones = []cloud.Zone{{Name: "a"}, {Name: "b"}}
	p := &pool{poolRecord: poolRecord{PoolSpec: cloud.PoolSpec{Name: "ns.pool", Size: 4, Zones: []string{"a", "b", "lost"}}, Members: []member{
		{Suffix: "lives", Zone: "b", Created: true}, {Suffix: "waits", Zone: "a"}, {Suffix: "closed", Zone: "b"}, {Suffix: "lost", Zone: "lost"},
	}}}
	g.Expect(p.reserve(offered, nil)).To(BeTrue())
	g.Expect(p.Members[:2]).To(Equal([]member{{Suffix: "lives", Zone: "b", Created: true}, {Suffix: "waits", Zone: "a"}}))
	g.Expect(p.Members[2:]).To(HaveExactElements(HaveField("Zone", "a"), HaveField("Zone", "a")))
	g.Expect(p.reserve(offered, nil)).To(BeFalse())

	p.Zones = []string{"lost"}
	g.Expect(p.reserve(offered, nil)).To(BeTrue())
	g.Expect(p.Members).To(HaveExactElements(HaveField("Suffix", "lives")), "there is no zone for others")
}

// An instance that has stopped leaves room in its zone.
func TestZoneOfAMemberThatStopped(t *testing.T) {
	g := NewWithT(t)
	offered := &catalog{Config: &Config{}}
	offered.Catalog.Zones = []cloud.Zone{{Name: "a"}, {Name: "b"}}
	p := &pool{poolRecord: poolRecord{PoolSpec: cloud.PoolSpec{Name: "ns.pool", Size: 3}, Members: []member{
		{Suffix: "stopped", Zone: "a", Created: true}, {Suffix: "lives", Zone: "b", Created: true},
	}}}
	pod := corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", ContainerStatuses: []corev1.ContainerStatus{{
		Name: containerName, State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}},
	}}}}
	pod.Name = objectName("ns.pool-stopped")
	g.Expect(p.reserve(offered, []corev1.Pod{pod})).To(BeTrue())
	g.Expect(p.Members[2].Zone).To(Equal("a"))
}
