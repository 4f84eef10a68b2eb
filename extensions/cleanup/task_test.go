//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cleanup

import (
	"context"
	"fmt"
	"net"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// balancerFinalizer is the finalizer that a cloud controller manager puts on Services whose load
// balancer it created.
const balancerFinalizer = "service.kubernetes.io/load-balancer-cleanup"

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// story is a Cluster, and a namespace in its API server that holds everything else.
type story struct {
	namespace string
	cluster   *clusterv1.Cluster
	clock     *clocktesting.FakePassiveClock
	task      Task
}

func newStory(ctx context.Context, workload func(context.Context, client.ObjectKey) (client.Client, error)) *story {
	GinkgoHelper()
	namespace, err := environment.CreateNamespace(ctx, "cleanup")
	Expect(err).NotTo(HaveOccurred())
	s := &story{namespace: namespace, clock: clocktesting.NewFakePassiveClock(start)}
	s.cluster = &clusterv1.Cluster{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "c"},
		Spec:       clusterv1.ClusterSpec{Topology: clusterv1.Topology{ClassRef: clusterv1.ClusterClassRef{Name: "class"}, Version: "v1.36.3"}},
	}
	Expect(environment.Client.Create(ctx, s.cluster)).To(Succeed())
	s.task = Task{hooks.Clusters{Workload: workload}}
	return s
}

func reachable(context.Context, client.ObjectKey) (client.Client, error) {
	return environment.Client, nil
}

// settings are those of the clean-up with its default timeout.
var settings = hooks.Settings{CleanUpTimeout: 10 * time.Minute}

// job returns the job of the Cluster.
func (s *story) job(settings hooks.Settings) hooks.Job {
	return hooks.Job{Cluster: s.cluster, Hook: hooks.BeforeClusterDelete, Settings: settings, Since: start, Now: s.clock.Now()}
}

// run runs the task once.
func (s *story) run(ctx context.Context) hooks.Outcome {
	GinkgoHelper()
	return s.runFor(ctx, settings.CleanUpTimeout)
}

// runFor runs the task once with a timeout.
func (s *story) runFor(ctx context.Context, timeout time.Duration) hooks.Outcome {
	GinkgoHelper()
	outcome, err := s.task.Run(ctx, s.job(hooks.Settings{CleanUpTimeout: timeout}))
	Expect(err).NotTo(HaveOccurred())
	return outcome
}

func (s *story) create(ctx context.Context, object client.Object) {
	GinkgoHelper()
	Expect(environment.Client.Create(ctx, object)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		// Each test looks at the whole API server, so it must not leave anything behind for
		// the next one.
		key := client.ObjectKeyFromObject(object)
		err := environment.Client.Get(ctx, key, object)
		if apierrors.IsNotFound(err) {
			return
		}
		Expect(err).NotTo(HaveOccurred())
		Expect(environment.Client.Delete(ctx, object, client.GracePeriodSeconds(0))).To(Or(Succeed(), MatchError(apierrors.IsNotFound, "NotFound")))
		release(ctx, object)
	})
}

// release removes all finalizers from an object, as the controllers that set them do when they are
// done.
func release(ctx context.Context, object client.Object) {
	GinkgoHelper()
	patch := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	Expect(client.IgnoreNotFound(environment.Client.Patch(ctx, object, patch))).To(Succeed())
}

func (s *story) service(ctx context.Context, name string, kind corev1.ServiceType) *corev1.Service {
	GinkgoHelper()
	made := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec:       corev1.ServiceSpec{Type: kind, Ports: []corev1.ServicePort{{Port: 80}}},
	}
	if kind == corev1.ServiceTypeLoadBalancer {
		made.Finalizers = []string{balancerFinalizer}
	}
	s.create(ctx, made)
	return made
}

// claim creates a claim that is bound to a volume, as Kubernetes' controllers do.
func (s *story) claim(ctx context.Context, name string, policy corev1.PersistentVolumeReclaimPolicy) (*corev1.PersistentVolumeClaim, *corev1.PersistentVolume) {
	GinkgoHelper()
	size := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	modes := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	volumeName := s.namespace + "-" + name
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec:       corev1.PersistentVolumeClaimSpec{VolumeName: volumeName, AccessModes: modes, Resources: corev1.VolumeResourceRequirements{Requests: size}},
	}
	s.create(ctx, claim)
	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: volumeName},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: size, AccessModes: modes, PersistentVolumeReclaimPolicy: policy,
			ClaimRef:               &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: s.namespace, Name: name, UID: claim.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: volumeName}},
		},
	}
	s.create(ctx, volume)
	return claim, volume
}

// pod creates a pod on a node. It stays until the kubelet there has stopped it.
func (s *story) pod(ctx context.Context, name, claim string, owner *metav1.OwnerReference) *corev1.Pod {
	GinkgoHelper()
	made := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: corev1.PodSpec{
			NodeName: "n", Containers: []corev1.Container{{Name: "c", Image: "i"}},
			Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
			}}},
		},
	}
	if owner != nil {
		made.OwnerReferences = []metav1.OwnerReference{*owner}
	}
	s.create(ctx, made)
	return made
}

func (s *story) set(ctx context.Context, name, template string) *appsv1.StatefulSet {
	GinkgoHelper()
	labels := map[string]string{"app": name}
	made := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: appsv1.StatefulSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			},
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
				ObjectMeta: metav1.ObjectMeta{Name: template},
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
				},
			}},
		},
	}
	s.create(ctx, made)
	return made
}

// present reports whether an object exists, and reads it.
func present(ctx context.Context, object client.Object) bool {
	GinkgoHelper()
	err := environment.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
	Expect(client.IgnoreNotFound(err)).To(Succeed())
	return err == nil
}

// atClosedPort connects to an API server that has stopped.
func atClosedPort(ctx context.Context, _ client.ObjectKey) (client.Client, error) {
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if err := listener.Close(); err != nil {
		return nil, err
	}
	config := rest.CopyConfig(environment.Config)
	config.Host = listener.Addr().String()
	return client.New(config, client.Options{Scheme: environment.Scheme})
}

// asReader connects to the API server as a user who may only list objects.
func asReader(ctx context.Context, cluster client.ObjectKey) (client.Client, error) {
	name := cluster.Namespace + "-reader"
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"list"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}
	for _, object := range []client.Object{role, binding} {
		if err := environment.Client.Create(ctx, object); client.IgnoreAlreadyExists(err) != nil {
			return nil, err
		}
	}
	config := rest.CopyConfig(environment.Config)
	config.Impersonate.UserName = name
	return client.New(config, client.Options{Scheme: environment.Scheme})
}

var _ = Describe("The clean-up", func() {
	It("deletes Services and waits for their load balancers, and changes nothing more meanwhile", func(ctx SpecContext) {
		s := newStory(ctx, reachable)
		balancer, other := s.service(ctx, "lb", corev1.ServiceTypeLoadBalancer), s.service(ctx, "ip", corev1.ServiceTypeClusterIP)
		s.run(ctx)
		Expect(present(ctx, balancer)).To(BeTrue())
		Expect(balancer.DeletionTimestamp).NotTo(BeNil())
		version := balancer.ResourceVersion
		want := hooks.Outcome{
			Message:    fmt.Sprintf("cleaning up until these are gone: Service %s/lb", s.namespace),
			Report:     fmt.Sprintf("waiting: Service %s/lb", s.namespace),
			RetryAfter: later,
		}
		for range 100 {
			Expect(s.run(ctx)).To(Equal(want))
		}
		Expect(present(ctx, balancer)).To(BeTrue())
		Expect(balancer.ResourceVersion).To(Equal(version))
		release(ctx, balancer)
		Expect(s.run(ctx)).To(Equal(hooks.Outcome{Done: true, Message: "no load balancers or volumes of the cluster are left"}))
		Expect(present(ctx, other)).To(BeTrue())
		Expect(other.DeletionTimestamp).To(BeNil())
	})

	It("deletes volumes with what uses them, and keeps those that are to stay", func(ctx SpecContext) {
		s := newStory(ctx, reachable)
		claim, volume := s.claim(ctx, "data-db-0", corev1.PersistentVolumeReclaimDelete)
		keptClaim, keptVolume := s.claim(ctx, "kept", corev1.PersistentVolumeReclaimRetain)
		set := s.set(ctx, "db", "data")
		pod := s.pod(ctx, "db-0", "data-db-0", metav1.NewControllerRef(set, appsv1.SchemeGroupVersion.WithKind("StatefulSet")))
		keptPod := s.pod(ctx, "kept", "kept", nil)
		stays := fmt.Sprintf("PersistentVolume %s-kept of PersistentVolumeClaim %s/kept is kept: its reclaim policy is Retain", s.namespace, s.namespace)

		s.run(ctx)
		Expect(present(ctx, set)).To(BeFalse(), "it would recreate the claim")
		Expect(present(ctx, pod)).To(BeTrue())
		Expect(pod.DeletionTimestamp).NotTo(BeNil())
		Expect(present(ctx, claim)).To(BeTrue(), "it is protected while the pod uses it")
		Expect(claim.DeletionTimestamp).NotTo(BeNil())
		outcome := s.run(ctx)
		Expect(outcome.Message).To(Equal(fmt.Sprintf(
			"cleaning up until these are gone: PersistentVolume %s-data-db-0; PersistentVolumeClaim %s/data-db-0 (in use by Pod db-0)", s.namespace, s.namespace)))
		Expect(outcome.Report).To(HaveSuffix("\n" + stays))

		By("the kubelet ending the pod, and the claim being released")
		Expect(environment.Client.Delete(ctx, pod, client.GracePeriodSeconds(0))).To(Succeed())
		release(ctx, claim)
		Expect(s.run(ctx).Message).To(Equal(fmt.Sprintf("cleaning up until these are gone: PersistentVolume %s-data-db-0", s.namespace)))

		By("the volume being deleted in the cloud")
		Expect(environment.Client.Delete(ctx, volume)).To(Succeed())
		release(ctx, volume)
		Expect(s.run(ctx)).To(Equal(hooks.Outcome{
			Done: true, Message: "no load balancers or volumes of the cluster are left, but: " + stays, Report: stays,
		}))
		for _, object := range []client.Object{keptClaim, keptVolume, keptPod} {
			Expect(present(ctx, object)).To(BeTrue())
			Expect(object.GetDeletionTimestamp()).To(BeNil())
		}
	})

	It("lets go in the end, and names what is left over", func(ctx SpecContext) {
		s := newStory(ctx, reachable)
		s.service(ctx, "lb", corev1.ServiceTypeLoadBalancer)
		s.clock.SetTime(start.Add(5*time.Minute - time.Second))
		Expect(s.runFor(ctx, 5*time.Minute).Done).To(BeFalse())
		Expect(s.runFor(ctx, 5*time.Minute).RetryAfter).To(Equal(time.Second), "the end is not missed")
		s.clock.SetTime(start.Add(5 * time.Minute))
		Expect(s.runFor(ctx, 5*time.Minute)).To(Equal(hooks.Outcome{
			Done: true, Incomplete: true,
			Message: fmt.Sprintf("the clean-up did not finish within 5m0s; these may be left over in the cloud: Service %s/lb", s.namespace),
			Report:  fmt.Sprintf("left over: Service %s/lb", s.namespace),
		}))
		Expect(s.run(ctx).Done).To(BeFalse(), "by default it is longer")
	})

	It("says what the API server refuses to delete", func(ctx SpecContext) {
		s := newStory(ctx, asReader)
		s.service(ctx, "lb", corev1.ServiceTypeLoadBalancer)
		// The authorizer notices a new role after a moment; until then it refuses to list.
		Eventually(func() string { return s.run(ctx).Message }).Should(Equal(fmt.Sprintf(
			"cleaning up until these are gone: Service %s/lb (the API server answered Forbidden for services %q)", s.namespace, "lb")))
	})

	It("never keeps a Cluster whose API server is gone", func(ctx SpecContext) {
		s := newStory(ctx, atClosedPort)
		By("the control plane never having come up")
		Expect(s.run(ctx)).To(Equal(hooks.Outcome{Done: true, Message: "nothing was cleaned up: the control plane was never initialized"}))

		By("the control plane having come up, although a move lost the status")
		s.cluster.Spec.ControlPlaneRef.Name = "blue"
		Expect(s.run(ctx)).To(Equal(hooks.Outcome{
			Message: "waiting for the workload API server before cleaning up: connection refused", RetryAfter: later,
		}))
		s.clock.SetTime(start.Add(settings.CleanUpTimeout))
		outcome := s.run(ctx)
		Expect(outcome.Done).To(BeTrue())
		Expect(outcome.Message).To(Equal("the workload cluster could not be cleaned up within 10m0s, and what it created in the cloud may be left over: connection refused"))
		Expect(outcome.Report).To(HavePrefix("left over: unknown"))
	})
})
