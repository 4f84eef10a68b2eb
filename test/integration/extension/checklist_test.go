//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package extension

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	runtimeserver "sigs.k8s.io/cluster-api/exp/runtime/server"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// on are settings with which all hooks have work to do.
var on = map[string]string{"smokeChecks": "Enabled"}

var _ = Describe("Discovery", func() {
	It("lists each handler with its hook, its timeout and its policy", func(ctx SpecContext) {
		content, status, err := newCaller().post(ctx, replicas[0], "/hooks.runtime.cluster.x-k8s.io/v1alpha1/discovery", []byte("{}"))
		Expect(err).NotTo(HaveOccurred())
		Expect(status).To(Equal(http.StatusOK))
		var response runtimehooksv1.DiscoveryResponse
		Expect(json.Unmarshal(content, &response)).To(Succeed())
		Expect(response.Status).To(Equal(runtimehooksv1.ResponseStatusSuccess))
		found := map[string]string{}
		for _, handler := range response.Handlers {
			Expect(handler.RequestHook.APIVersion).To(Equal("hooks.runtime.cluster.x-k8s.io/v1alpha1"))
			Expect(handler.TimeoutSeconds).To(HaveValue(BeEquivalentTo(10)), handler.Name)
			Expect(handler.FailurePolicy).To(HaveValue(Equal(runtimehooksv1.FailurePolicyFail)), handler.Name)
			found[handler.RequestHook.Hook] = handler.Name
		}
		for hook, name := range handlers {
			Expect(found).To(HaveKeyWithValue(hook, name))
		}
	})
})

var _ = Describe("Every lifecycle hook", func() {
	for _, hook := range hooks.Names() {
		if hook != hooks.AfterControlPlaneInitialized { // its job waits until the settings ask for it
			It(hook+" does not block when nothing is enabled", func(ctx SpecContext) {
				namespace := newNamespace(ctx)
				cluster := newCluster(ctx, namespace, "off")
				for _, given := range []map[string]string{nil, {"smokeChecks": "Disabled"}} {
					Expect(newCaller().call(ctx, replicas[0], hook, requests(cluster, given)[hook]).CommonRetryResponse).To(Equal(success("", 0)))
				}
				Expect(records(ctx, namespace)).To(BeEmpty())
			})
		}

		It(hook+" blocks only while its job waits", func(ctx SpecContext) {
			namespace := newNamespace(ctx)
			cluster := newCluster(ctx, namespace, "waits-"+strings.ToLower(hook))
			beginDeletion(ctx, hook, cluster)
			jobs.hold(cluster.Name, "waits for the test")
			request := requests(cluster, on)[hook]
			first := newCaller().call(ctx, replicas[0], hook, request)
			Expect(first.Status).To(Equal(runtimehooksv1.ResponseStatusSuccess))
			blocks := hook != hooks.AfterControlPlaneInitialized
			if blocks {
				Expect(first.RetryAfterSeconds).To(BeNumerically(">", 0))
				Eventually(func() runtimehooksv1.CommonRetryResponse {
					return newCaller().call(ctx, replicas[1], hook, request).CommonRetryResponse
				}).Should(Equal(success("waits for the test", 5)), "through the other replica")
			}
			jobs.release(cluster.Name)
			Eventually(func() runtimehooksv1.CommonRetryResponse {
				return newCaller().call(ctx, replicas[1], hook, request).CommonRetryResponse
			}).Should(Equal(success("done", 0)))
			Expect(jobs.done(cluster.Name)).To(Equal(map[string]int{hook: 1}))
			found := records(ctx, namespace)
			Expect(found).To(HaveLen(1))
			Expect(found[0].Status.Report).To(Equal("did it"))
			Expect(found[0].OwnerReferences).To(HaveLen(1))
			Expect(found[0].OwnerReferences[0].UID).To(Equal(cluster.UID))
		})

		It(hook+" refuses invalid and unknown settings", func(ctx SpecContext) {
			cluster := newCluster(ctx, newNamespace(ctx), "wrong")
			call := func(given map[string]string) answer {
				return newCaller().call(ctx, replicas[0], hook, requests(cluster, given)[hook])
			}
			Expect(call(map[string]string{"smokeChecks": "yes"}).CommonRetryResponse).To(Equal(refusal(hook, `setting smokeChecks of the ExtensionConfig is "yes", but must be Enabled or Disabled`)))
			Expect(call(map[string]string{"labour": "Enabled"}).CommonRetryResponse).To(And(
				HaveField("Status", refusal(hook, "").Status),
				HaveField("Message", HavePrefix(`the ExtensionConfig has unknown settings: "labour"; known settings are addons, `))))
		})

		It(hook+" continues as soon as its settings are corrected", func(ctx SpecContext) {
			cluster := newCluster(ctx, newNamespace(ctx), "mended-"+strings.ToLower(hook))
			beginDeletion(ctx, hook, cluster)
			Expect(newCaller().call(ctx, replicas[0], hook, requests(cluster, map[string]string{"smokeChecks": "yes"})[hook]).Status).To(Equal(refusal(hook, "").Status))
			Eventually(func() answer { return newCaller().call(ctx, replicas[0], hook, requests(cluster, on)[hook]) }).
				Should(HaveField("Message", "done"))
		})

		It(hook+" is skipped by an annotation of the Cluster", func(ctx SpecContext) {
			namespace := newNamespace(ctx)
			cluster := newCluster(ctx, namespace, "skipped-"+strings.ToLower(hook))
			beginDeletion(ctx, hook, cluster)
			jobs.hold(cluster.Name, "waits for the test")
			cluster.Annotations = map[string]string{hooks.SkipAnnotation: "Other, " + hook}
			Expect(newCaller().call(ctx, replicas[0], hook, requests(cluster, on)[hook]).CommonRetryResponse).
				To(Equal(success("skipped: the annotation foo.cluster.x-k8s.io/skip-hooks names "+hook, 0)))
			Expect(records(ctx, namespace)).To(BeEmpty())
			cluster.Annotations[hooks.SkipAnnotation] = "Other"
			if hook != hooks.AfterControlPlaneInitialized {
				Eventually(func() answer { return newCaller().call(ctx, replicas[0], hook, requests(cluster, on)[hook]) }).
					Should(HaveField("Message", HavePrefix("waits for the test (the annotation foo.cluster.x-k8s.io/skip-hooks names Other; known hooks are BeforeClusterCreate, ")))
			}
		})
	}

	It("does not depend on the status of the request's Cluster, and ignores unknown fields", func(ctx SpecContext) {
		cluster := newCluster(ctx, newNamespace(ctx), "fields")
		hook := hooks.BeforeClusterCreate
		Eventually(func() answer { return newCaller().call(ctx, replicas[0], hook, requests(cluster, on)[hook]) }).Should(HaveField("Message", "done"))
		body, err := json.Marshal(requests(cluster, on)[hook])
		Expect(err).NotTo(HaveOccurred())
		plain, _, err := newCaller().post(ctx, replicas[0], handlerPath(hook), body)
		Expect(err).NotTo(HaveOccurred())
		var fields map[string]any
		Expect(json.Unmarshal(body, &fields)).To(Succeed())
		fields["ofAnotherVersion"] = map[string]any{"a": 1}
		object, ok := fields["cluster"].(map[string]any)
		Expect(ok).To(BeTrue())
		object["status"] = map[string]any{"phase": "Failed", "new": true}
		body, err = json.Marshal(fields)
		Expect(err).NotTo(HaveOccurred())
		other, _, err := newCaller().post(ctx, replicas[0], handlerPath(hook), body)
		Expect(err).NotTo(HaveOccurred())
		Expect(other).To(Equal(plain))
	})

	It("returns the same bytes for the same state from each replica", func(ctx SpecContext) {
		cluster := newCluster(ctx, newNamespace(ctx), "same")
		jobs.hold(cluster.Name, "waits for the test")
		for _, hook := range hooks.Names() {
			beginDeletion(ctx, hook, cluster)
			body, err := json.Marshal(requests(cluster, on)[hook])
			Expect(err).NotTo(HaveOccurred())
			seen := func(r *replica) string {
				content, _, err := newCaller().post(ctx, r, handlerPath(hook), body)
				Expect(err).NotTo(HaveOccurred())
				return string(content)
			}
			for _, r := range replicas {
				Eventually(func() string { return seen(r) }).Should(ContainSubstring("waits for the test"), hook)
			}
			first := seen(replicas[0])
			for range 20 {
				Expect(seen(replicas[0])).To(Equal(first))
				Expect(seen(replicas[1])).To(Equal(first))
			}
		}
	})

	It("does nothing more when it is called again, in any order", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		cluster := newCluster(ctx, namespace, "again")
		all := requests(cluster, on)
		for _, r := range replicas {
			for _, hook := range hooks.Names() {
				beginDeletion(ctx, hook, cluster)
				Eventually(func() answer { return newCaller().call(ctx, r, hook, all[hook]) }).Should(HaveField("Message", "done"))
			}
		}
		before := versions(ctx, namespace)
		Expect(before).To(HaveLen(len(all)))
		order := rand.New(rand.NewPCG(1, uint64(GinkgoRandomSeed())))
		caller := newCaller()
		for range 1000 {
			hook := hooks.Names()[order.IntN(len(all))]
			Expect(caller.call(ctx, replicas[order.IntN(2)], hook, all[hook]).CommonRetryResponse).To(Equal(success("done", 0)))
		}
		Expect(versions(ctx, namespace)).To(Equal(before), "resource versions of the jobs")
		for hook, count := range jobs.done(cluster.Name) {
			Expect(count).To(Equal(1), hook)
		}
	})

	It("is done once for any number of concurrent calls", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		cluster := newCluster(ctx, namespace, "at-once")
		beginDeletion(ctx, hooks.BeforeClusterDelete, cluster)
		caller, request := newCaller(), requests(cluster, on)[hooks.BeforeClusterDelete]
		var calls sync.WaitGroup
		for i := range 50 {
			calls.Go(func() {
				defer GinkgoRecover()
				Expect(caller.call(ctx, replicas[i%2], hooks.BeforeClusterDelete, request).Status).To(Equal(runtimehooksv1.ResponseStatusSuccess))
			})
		}
		calls.Wait()
		Eventually(func() answer { return caller.call(ctx, replicas[1], hooks.BeforeClusterDelete, request) }).Should(HaveField("Message", "done"))
		Expect(records(ctx, namespace)).To(HaveLen(1))
		Expect(jobs.done(cluster.Name)).To(Equal(map[string]int{hooks.BeforeClusterDelete: 1}))
	})

	It("distinguishes a Cluster from another one with the same name", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		hook := hooks.BeforeClusterCreate
		cluster := newCluster(ctx, namespace, "twice")
		Eventually(func() answer { return newCaller().call(ctx, replicas[0], hook, requests(cluster, on)[hook]) }).Should(HaveField("Message", "done"))
		Expect(environment.Client.Delete(ctx, cluster)).To(Succeed())
		Eventually(jobs.forgotten).Should(ContainElement(client.ObjectKeyFromObject(cluster)), "data of a deleted Cluster is kept")
		again := newCluster(ctx, namespace, "twice")
		jobs.hold(again.Name, "waits for the test")
		Eventually(func() answer { return newCaller().call(ctx, replicas[0], hook, requests(again, on)[hook]) }).Should(HaveField("Message", "waits for the test"))
	})

	It("does not block a Cluster whose namespace is being deleted", func(ctx SpecContext) {
		namespace := newNamespace(ctx)
		cluster := newCluster(ctx, namespace, "leaving")
		Expect(environment.Client.Delete(ctx, namespaceObject(namespace))).To(Succeed())
		hook := hooks.BeforeClusterDelete
		Expect(newCaller().call(ctx, replicas[0], hook, requests(cluster, on)[hook]).CommonRetryResponse).
			To(Equal(success("nothing is done before the deletion: the namespace is being deleted", 0)))
		hook = hooks.BeforeClusterUpgrade
		Expect(newCaller().call(ctx, replicas[0], hook, requests(cluster, on)[hook]).CommonRetryResponse).
			To(SatisfyAll(HaveField("RetryAfterSeconds", BeEquivalentTo(5)), HaveField("Message", MatchRegexp(
				`^the job of the hook BeforeClusterUpgrade: creating the HookJob: the API server answered Forbidden for hookjobs.foo.cluster.x-k8s.io "leaving-beforeclusterupgrade-[0-9a-f]{10}"$`))))
	})

	It("is done only while its Cluster is not paused", func(ctx SpecContext) {
		cluster := newCluster(ctx, newNamespace(ctx), "paused", func(cluster *clusterv1.Cluster) { cluster.Spec.Paused = ptr.To(true) })
		hook := hooks.BeforeClusterCreate
		Eventually(func() answer { return newCaller().call(ctx, replicas[0], hook, requests(cluster, on)[hook]) }).ShouldNot(HaveField("RetryAfterSeconds", BeZero()))
		Consistently(func() map[string]int { return jobs.done(cluster.Name) }).Should(BeEmpty())
		resume(ctx, cluster)
		Eventually(func() map[string]int { return jobs.done(cluster.Name) }).Should(Equal(map[string]int{hook: 1}))
	})
})

var _ = Describe("A malformed request", func() {
	bodies := map[string]string{
		"empty": "", "invalid JSON": "{", "an array": "[]", "a string": `"x"`, "null": "null", "a cluster that is text": `{"cluster":"x"}`,
		"settings that are numbers": `{"settings":{"smokeChecks":1}}`, "no cluster": `{"settings":{"smokeChecks":"Enabled"}}`,
		"a cluster without a UID": `{"settings":{"smokeChecks":"Enabled"},"cluster":{"metadata":{"name":"a","namespace":"b"}}}`,
		"deep":                    strings.Repeat(`{"cluster":`, 20000), "bytes": "\xff\xfe\x00",
	}
	for name, body := range bodies {
		It("is answered with a failure: "+name, func(ctx SpecContext) {
			for _, hook := range hooks.Names() {
				content, status, err := newCaller().post(ctx, replicas[0], handlerPath(hook), []byte(body))
				Expect(err).NotTo(HaveOccurred(), "the handler of %s has panicked", hook)
				Expect(status).To(Equal(http.StatusOK))
				var response answer
				Expect(json.Unmarshal(content, &response)).To(Succeed())
				Expect(response.Status).To(Equal(runtimehooksv1.ResponseStatusFailure), "%s: %s", hook, content)
				Expect(response.Message).NotTo(BeEmpty())
			}
		})
	}

	It("is rejected if it is too large", func(ctx SpecContext) {
		content, _, err := newCaller().post(ctx, replicas[0], handlerPath(hooks.BeforeClusterCreate), bytes.Repeat([]byte(" "), 21<<20))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(content)).To(ContainSubstring("too large"))
	})
})

var _ = Describe("The server", func() {
	It("serves a renewed certificate, also of another authority, without a restart", func(ctx SpecContext) {
		r, another := startReplica(ctx, runtimeserver.Options{}), newAuthority()
		name := func(by signer) (string, error) {
			response, err := by.caller().http.Get(r.url)
			if err != nil {
				return "", err
			}
			return response.TLS.PeerCertificates[0].Subject.CommonName, response.Body.Close()
		}
		Expect(name(authority)).To(Equal("first"))
		authority.issue(r.certDir, "second")
		Eventually(func() (string, error) { return name(authority) }).Should(Equal("second"))
		another.issue(r.certDir, "third")
		Eventually(func() (string, error) { return name(another) }).Should(Equal("third"), "for callers that trust the other authority")
		_, err := name(authority)
		Expect(err).To(MatchError(ContainSubstring("certificate signed by unknown authority")))
	})

	It("accepts only callers with a certificate, if configured", func(ctx SpecContext) {
		r := startReplica(ctx, runtimeserver.Options{ClientCAName: "client-ca.crt"})
		hook := hooks.BeforeClusterCreate
		body := []byte("{}")
		_, status, err := newCaller(authority.client("capi-manager")).post(ctx, r, handlerPath(hook), body)
		Expect(err).NotTo(HaveOccurred())
		Expect(status).To(Equal(http.StatusOK))
		for name, caller := range map[string]caller{"no certificate": newCaller(), "a foreign certificate": newCaller(newAuthority().client("capi-manager"))} {
			_, _, err := caller.post(ctx, r, handlerPath(hook), body)
			Expect(err).To(MatchError(ContainSubstring("tls:")), name)
		}
	})

	It("accepts callers of another authority once it is configured, without a restart", func(ctx SpecContext) {
		r, another := startReplica(ctx, runtimeserver.Options{ClientCAName: "client-ca.crt"}), newAuthority()
		before, after := newCaller(authority.client("capi-manager")), newCaller(another.client("capi-manager"))
		sessions, ok := before.http.Transport.(*http.Transport)
		Expect(ok).To(BeTrue())
		sessions.TLSClientConfig.ClientSessionCache = tls.NewLRUClientSessionCache(1)
		call := func(caller caller) error {
			_, _, err := caller.post(ctx, r, handlerPath(hooks.BeforeClusterCreate), []byte("{}"))
			return err
		}
		Expect(call(before)).To(Succeed())
		Expect(call(after)).To(MatchError(ContainSubstring("tls:")))

		writeFile(r.certDir, "client-ca.crt", certs.EncodeCertPEM(another.cert))
		Expect(call(after)).To(Succeed())
		sessions.CloseIdleConnections()
		Expect(call(before)).To(MatchError(ContainSubstring("tls:")), "not with its existing session either")
	})
})

var _ = Describe("Several replicas", Serial, func() {
	It("continue the work of a replica that has stopped", func(ctx SpecContext) {
		another := startReplica(ctx, runtimeserver.Options{})
		namespace := newNamespace(ctx)
		cluster := newCluster(ctx, namespace, "survives")
		jobs.hold(cluster.Name, "waits for the test")
		hook := hooks.BeforeControlPlaneUpgrade
		request := requests(cluster, on)[hook]
		Eventually(func() answer { return newCaller().call(ctx, replicas[0], hook, request) }).Should(HaveField("Message", "waits for the test"))
		replicas[0].stop()
		Eventually(func() answer { return newCaller().call(ctx, replicas[1], hook, request) }).Should(HaveField("Message", "waits for the test"))
		jobs.release(cluster.Name)
		Eventually(func() answer { return newCaller().call(ctx, replicas[1], hook, request) }).Should(HaveField("Message", "done"))
		Expect(jobs.done(cluster.Name)).To(Equal(map[string]int{hook: 1}))
		replicas[0] = another
	})
})

func success(message string, retryAfter int32) runtimehooksv1.CommonRetryResponse {
	return runtimehooksv1.CommonRetryResponse{
		CommonResponse:    runtimehooksv1.CommonResponse{Status: runtimehooksv1.ResponseStatusSuccess, Message: message},
		RetryAfterSeconds: retryAfter,
	}
}

// refusal is the answer of a hook that has no job. Only AfterControlPlaneInitialized cannot ask to be
// called again.
func refusal(hook, message string) runtimehooksv1.CommonRetryResponse {
	if hook == hooks.AfterControlPlaneInitialized {
		return runtimehooksv1.CommonRetryResponse{CommonResponse: runtimehooksv1.CommonResponse{Status: runtimehooksv1.ResponseStatusFailure, Message: message}}
	}
	return success(message, 5)
}

// versions returns the resource versions of the jobs in a namespace.
func versions(ctx context.Context, namespace string) []string {
	GinkgoHelper()
	var list []string
	for _, record := range records(ctx, namespace) {
		list = append(list, fmt.Sprintf("%s %s", record.Name, record.ResourceVersion))
	}
	slices.Sort(list)
	return list
}
