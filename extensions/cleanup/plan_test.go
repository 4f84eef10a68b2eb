// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cleanup

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

func empty() *world {
	return &world{volumes: map[string]corev1.PersistentVolume{}, workloads: map[types.UID]workload{}}
}

func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + "/" + name)}
}

func (w *world) withService(name string, kind corev1.ServiceType) *world {
	w.services = append(w.services, corev1.Service{ObjectMeta: meta("a", name), Spec: corev1.ServiceSpec{Type: kind}})
	return w
}

// withClaim adds a claim whose volume has the reclaim policy, or that has no volume if the policy
// is empty.
func (w *world) withClaim(name string, policy corev1.PersistentVolumeReclaimPolicy) *world {
	claim := corev1.PersistentVolumeClaim{ObjectMeta: meta("a", name)}
	if policy != "" {
		claim.Spec.VolumeName = "pv-" + name
		w.withVolume("pv-"+name, policy, &corev1.ObjectReference{Namespace: "a", Name: name, UID: claim.UID})
	}
	w.claims = append(w.claims, claim)
	return w
}

func (w *world) withVolume(name string, policy corev1.PersistentVolumeReclaimPolicy, claim *corev1.ObjectReference) *world {
	w.volumes[name] = corev1.PersistentVolume{
		ObjectMeta: meta("", name), Spec: corev1.PersistentVolumeSpec{PersistentVolumeReclaimPolicy: policy, ClaimRef: claim},
	}
	return w
}

// withPod adds a pod that uses claims. Its owner is the name of a workload, or empty.
func (w *world) withPod(name, owner string, claims ...string) *world {
	pod := corev1.Pod{ObjectMeta: meta("a", name)}
	if owner != "" {
		pod.OwnerReferences = []metav1.OwnerReference{{UID: types.UID("a/" + owner), Name: owner, Controller: ptr.To(true)}}
	}
	for _, claim := range claims {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "v-" + claim, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}})
	}
	w.pods = append(w.pods, pod)
	return w
}

func (w *world) withWorkload(kind, name, owner string) *world {
	object := meta("a", name)
	if owner != "" {
		object.OwnerReferences = []metav1.OwnerReference{{UID: types.UID("a/" + owner), Name: owner, Controller: ptr.To(true)}}
	}
	w.add(appsv1.SchemeGroupVersion.WithKind(kind), &object)
	return w
}

func (w *world) withSet(name string, templates ...string) *world {
	set := appsv1.StatefulSet{ObjectMeta: meta("a", name)}
	for _, template := range templates {
		set.Spec.VolumeClaimTemplates = append(set.Spec.VolumeClaimTemplates, corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: template}})
	}
	w.sets = append(w.sets, set)
	w.add(appsv1.SchemeGroupVersion.WithKind("StatefulSet"), &set)
	return w
}

func described[T fmt.Stringer](items []T) []string {
	var list []string
	for _, item := range items {
		list = append(list, item.String())
	}
	return list
}

const (
	deleteVolume = corev1.PersistentVolumeReclaimDelete
	retainVolume = corev1.PersistentVolumeReclaimRetain
)

func TestDecide(t *testing.T) {
	for name, test := range map[string]struct {
		found                *world
		remove, waits, stays []string
	}{
		"nothing": {found: empty()},
		"only Services that have a load balancer": {
			found:  empty().withService("lb", corev1.ServiceTypeLoadBalancer).withService("ip", corev1.ServiceTypeClusterIP).withService("port", corev1.ServiceTypeNodePort),
			remove: []string{"Service a/lb"}, waits: []string{"Service a/lb"},
		},
		"volumes that are to be deleted, and claims without any": {
			found:  empty().withClaim("c", deleteVolume).withClaim("b", ""),
			remove: []string{"PersistentVolumeClaim a/c", "PersistentVolumeClaim a/b"},
			waits:  []string{"PersistentVolume pv-c", "PersistentVolumeClaim a/b", "PersistentVolumeClaim a/c"},
		},
		"volumes that stay, with all that uses them": {
			found: empty().withClaim("c", retainVolume).withPod("p", "", "c"),
			stays: []string{"PersistentVolume pv-c of PersistentVolumeClaim a/c is kept: its reclaim policy is Retain"},
		},
		"a volume whose claim is gone": {
			found: empty().withVolume("pv", deleteVolume, &corev1.ObjectReference{Namespace: "a", Name: "c", UID: "1"}),
			waits: []string{"PersistentVolume pv"},
		},
		"volumes made by hand that nobody claims": {
			found: empty().withVolume("pv", deleteVolume, nil).withVolume("pw", deleteVolume, &corev1.ObjectReference{Namespace: "a", Name: "c"}),
		},
		"a claim whose volume is lost": {
			found: func() *world {
				w := empty().withClaim("c", deleteVolume)
				clear(w.volumes)
				return w
			}(),
		},
		"a pod in the way, and what is at the top of its owners": {
			found: empty().withClaim("c", deleteVolume).withPod("p", "rs", "c").withPod("q", "rs", "c").withPod("other", "rs2").
				withWorkload("ReplicaSet", "rs", "d").withWorkload("Deployment", "d", "").withWorkload("ReplicaSet", "rs2", ""),
			remove: []string{"Deployment a/d", "Pod a/p", "Pod a/q", "PersistentVolumeClaim a/c"},
			waits:  []string{"PersistentVolume pv-c", "PersistentVolumeClaim a/c"},
		},
		"an owner of a kind that is not of Kubernetes stays": {
			found: empty().withClaim("c", deleteVolume).withPod("p", "rs", "c").withPod("node", "machine", "c").
				withWorkload("ReplicaSet", "rs", "rollout"),
			remove: []string{"ReplicaSet a/rs", "Pod a/node", "Pod a/p", "PersistentVolumeClaim a/c"},
			waits:  []string{"PersistentVolume pv-c", "PersistentVolumeClaim a/c"},
		},
		"a StatefulSet that would recreate its claims, without pods too": {
			found: empty().withClaim("data-db-0", deleteVolume).withClaim("data-other-x", deleteVolume).
				withSet("db", "data").withSet("other", "data").withSet("d", "data"),
			remove: []string{"StatefulSet a/db", "PersistentVolumeClaim a/data-db-0", "PersistentVolumeClaim a/data-other-x"},
			waits:  []string{"PersistentVolume pv-data-db-0", "PersistentVolume pv-data-other-x", "PersistentVolumeClaim a/data-db-0", "PersistentVolumeClaim a/data-other-x"},
		},
		"owners in a circle": {
			found: empty().withClaim("c", "").withPod("p", "x", "c").withWorkload("Job", "x", "y").withWorkload("CronJob", "y", "x"),
			// Either may be at the top; here it is the one from which a whole round
			// starts.
			remove: []string{"Job a/x", "Pod a/p", "PersistentVolumeClaim a/c"},
			waits:  []string{"PersistentVolumeClaim a/c"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			made := decide(test.found)
			g.Expect(described(made.remove)).To(Equal(test.remove))
			var waits []string
			for _, wait := range made.waits {
				waits = append(waits, wait.ref.String())
			}
			g.Expect(waits).To(Equal(test.waits))
			g.Expect(made.stays).To(Equal(test.stays))
		})
	}
}

func TestEphemeralVolumesAreUsed(t *testing.T) {
	g := NewWithT(t)
	found := empty().withClaim("p-scratch", deleteVolume).withPod("p", "d").withWorkload("Deployment", "d", "")
	found.pods[0].Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}}}
	made := decide(found)
	g.Expect(described(made.remove)).To(Equal([]string{"Deployment a/d", "Pod a/p", "PersistentVolumeClaim a/p-scratch"}))
	g.Expect(described(made.waits)).To(Equal([]string{"PersistentVolume pv-p-scratch", "PersistentVolumeClaim a/p-scratch (in use by Pod p)"}))
}

func TestWhatIsBeingDeletedIsNotDeletedAgain(t *testing.T) {
	g := NewWithT(t)
	found := empty().withService("lb", corev1.ServiceTypeLoadBalancer).withClaim("c", deleteVolume).withPod("p", "", "c")
	now := metav1.Now()
	found.services[0].DeletionTimestamp, found.claims[0].DeletionTimestamp, found.pods[0].DeletionTimestamp = &now, &now, &now
	made := decide(found)
	g.Expect(made.remove).To(BeEmpty())
	g.Expect(described(made.waits)).To(Equal([]string{"PersistentVolume pv-c", "PersistentVolumeClaim a/c (in use by Pod p)", "Service a/lb"}))
}

func TestOutcome(t *testing.T) {
	found := empty().withService("lb", corev1.ServiceTypeLoadBalancer).withClaim("kept", retainVolume)
	made := decide(found)
	const stays = "PersistentVolume pv-kept of PersistentVolumeClaim a/kept is kept: its reclaim policy is Retain"
	within := func(given, left time.Duration) hooks.Job {
		return hooks.Job{Settings: hooks.Settings{CleanUpTimeout: given}, Since: time.Unix(0, 0), Now: time.Unix(0, 0).Add(given - left)}
	}
	many := empty()
	for i := range 12 {
		many.withService(fmt.Sprintf("lb-%02d", i), corev1.ServiceTypeLoadBalancer)
	}
	manyMade := decide(many)
	for name, test := range map[string]struct {
		plan    plan
		job     hooks.Job
		refused map[ref]string
		want    hooks.Outcome
	}{
		"nothing":      {want: hooks.Outcome{Done: true, Message: "no load balancers or volumes of the cluster are left"}},
		"what is kept": {plan: plan{stays: made.stays}, want: hooks.Outcome{Done: true, Message: "no load balancers or volumes of the cluster are left, but: " + stays, Report: stays}},
		"just deleted": {plan: made, job: within(10*time.Minute, time.Minute), want: hooks.Outcome{
			Message: "cleaning up until these are gone: Service a/lb", Report: "waiting: Service a/lb\n" + stays, RetryAfter: soon,
		}},
		"others do their part": {plan: plan{waits: made.waits}, job: within(10*time.Minute, time.Minute), want: hooks.Outcome{
			Message: "cleaning up until these are gone: Service a/lb", Report: "waiting: Service a/lb", RetryAfter: later,
		}},
		"refused": {plan: made, job: within(10*time.Minute, time.Minute), refused: map[ref]string{made.remove[0]: "no"}, want: hooks.Outcome{
			Message: "cleaning up until these are gone: Service a/lb (no)", Report: "waiting: Service a/lb (no)\n" + stays, RetryAfter: later,
		}},
		"the end is near": {plan: plan{waits: made.waits}, job: within(time.Minute, 2*time.Second), want: hooks.Outcome{
			Message: "cleaning up until these are gone: Service a/lb", Report: "waiting: Service a/lb", RetryAfter: 2 * time.Second,
		}},
		"the end": {plan: made, job: within(10*time.Minute, 0), want: hooks.Outcome{
			Done: true, Incomplete: true, Message: "the clean-up did not finish within 10m0s; these may be left over in the cloud: Service a/lb", Report: "left over: Service a/lb\n" + stays,
		}},
		"many": {plan: plan{waits: manyMade.waits}, job: within(time.Minute, 0), want: hooks.Outcome{
			Done: true, Incomplete: true,
			Message: "the clean-up did not finish within 1m0s; these may be left over in the cloud: Service a/lb-00; Service a/lb-01; Service a/lb-02; " +
				"Service a/lb-03; Service a/lb-04; Service a/lb-05; Service a/lb-06; Service a/lb-07; Service a/lb-08; Service a/lb-09; and 2 more",
			Report: "left over: " + strings.Join(described(manyMade.waits), "\nleft over: "),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(test.plan.outcome(test.job, test.refused)).To(Equal(test.want))
		})
	}
}

func TestReportsAreBounded(t *testing.T) {
	g := NewWithT(t)
	lines := strings.Split(report(slices.Repeat([]string{"x"}, reported), []string{"y", "z"}), "\n")
	g.Expect(lines).To(HaveLen(reported + 1))
	g.Expect(lines[reported]).To(Equal("and 2 more"))
}

// TestDecideProperties checks that, whatever a cluster has and in whatever order it is listed, the
// plan is the same, deletes nothing that must stay, and deletes all claims and pods that it waits
// for.
func TestDecideProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := NewWithT(t)
		found := empty()
		policies := []corev1.PersistentVolumeReclaimPolicy{"", deleteVolume, retainVolume}
		var claims []string
		kept := map[string]bool{}
		for i := range rapid.IntRange(0, 6).Draw(t, "claims") {
			name := fmt.Sprintf("data-db-%d", i)
			policy := rapid.SampledFrom(policies).Draw(t, "policy")
			found.withClaim(name, policy)
			claims = append(claims, name)
			kept[name] = policy == retainVolume
		}
		found.withSet("db", "data").withWorkload("Deployment", "d", "")
		uses := map[string][]string{}
		for i := range rapid.IntRange(0, 6).Draw(t, "pods") {
			name := fmt.Sprintf("p%d", i)
			if len(claims) > 0 {
				uses[name] = rapid.SliceOfNDistinct(rapid.SampledFrom(claims), 0, 2, rapid.ID[string]).Draw(t, "uses")
			}
			found.withPod(name, rapid.SampledFrom([]string{"", "d", "db", "gone"}).Draw(t, "owner"), uses[name]...)
		}
		made := decide(found)
		removed := described(made.remove)
		needed := false
		for _, name := range claims {
			g.Expect(slices.Contains(removed, "PersistentVolumeClaim a/"+name)).To(Equal(!kept[name]))
			needed = needed || !kept[name]
		}
		for name, used := range uses {
			inTheWay := slices.ContainsFunc(used, func(claim string) bool { return !kept[claim] })
			g.Expect(slices.Contains(removed, "Pod a/"+name)).To(Equal(inTheWay))
		}
		g.Expect(slices.Contains(removed, "StatefulSet a/db")).To(Equal(needed), "it would recreate its claims")
		g.Expect(slices.Compact(slices.Sorted(slices.Values(removed)))).To(HaveLen(len(removed)), "nothing is deleted twice")

		other := *found
		other.pods = rapid.Permutation(found.pods).Draw(t, "pods in another order")
		g.Expect(decide(&other)).To(Equal(made))
	})
}
