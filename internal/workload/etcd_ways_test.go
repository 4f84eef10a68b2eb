/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package workload

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/util/secret"
)

func testEtcdCA(g Gomega) *corev1.Secret {
	authority := secret.NewCertificatesForInitialControlPlane(&bootstrapv1.ClusterConfiguration{
		EncryptionAlgorithm: bootstrapv1.EncryptionAlgorithmECDSAP256,
	}).GetByPurpose(secret.EtcdCA)
	g.Expect(authority.Generate()).To(Succeed())
	return testSecret(secret.EtcdCA, map[string][]byte{
		secret.TLSCrtDataName: authority.KeyPair.Cert, secret.TLSKeyDataName: authority.KeyPair.Key,
	})
}

func TestWaysAreKeptUntilASecretChanges(t *testing.T) {
	g := NewWithT(t)
	ways := newEtcdWays(time.Hour)
	authority := testEtcdCA(g)
	get := func(kubeconfigVersion string) *etcdWay {
		way, err := ways.get(testCluster, connection{config: &rest.Config{}, resourceVersion: kubeconfigVersion}, authority)
		g.Expect(err).NotTo(HaveOccurred())
		return way
	}
	first := get("1")
	g.Expect(get("1")).To(BeIdenticalTo(first))
	second := get("2")
	g.Expect(second).NotTo(BeIdenticalTo(first), "the kubeconfig has changed")
	authority.ResourceVersion = "another"
	third := get("2")
	g.Expect(third).NotTo(BeIdenticalTo(second), "the authority has changed")
	ways.forget(testCluster)
	g.Expect(get("2")).NotTo(BeIdenticalTo(third), "the cluster was forgotten")
}

// useEtcd returns the client that the next call gets, and has the call end with an error, or without one.
func useEtcd(g Gomega, way *etcdWay, result error) (used *clientv3.Client) {
	err := way.with(context.Background(), "node", func(_ context.Context, etcd *clientv3.Client) error {
		used = etcd
		return result
	})
	if result == nil {
		g.Expect(err).NotTo(HaveOccurred())
	} else {
		g.Expect(err).To(MatchError(result))
	}
	return used
}

func testWay(g Gomega, ways *etcdWays) *etcdWay {
	way, err := ways.get(testCluster, connection{config: &rest.Config{Host: "https://127.0.0.1:1"}}, testEtcdCA(g))
	g.Expect(err).NotTo(HaveOccurred())
	return way
}

func TestMembersAreKept(t *testing.T) {
	g := NewWithT(t)
	ways := newEtcdWays(time.Hour)
	way := testWay(g, ways)
	first := useEtcd(g, way, nil)
	g.Expect(useEtcd(g, way, nil)).To(BeIdenticalTo(first), "it is kept")

	g.Expect(useEtcd(g, way, errors.New("connection reset"))).To(BeIdenticalTo(first))
	g.Expect(first.Ctx().Err()).To(HaveOccurred(), "it is closed after an error")
	second := useEtcd(g, way, nil)
	g.Expect(second).NotTo(BeIdenticalTo(first))

	ways.forget(testCluster)
	g.Expect(second.Ctx().Err()).To(HaveOccurred(), "it is closed with the cluster")
	last := useEtcd(g, way, nil)
	g.Expect(last.Ctx().Err()).To(HaveOccurred(), "nothing is kept of what was closed")
}

func TestMembersAreKeptForAWhile(t *testing.T) {
	g := NewWithT(t)
	way := testWay(g, newEtcdWays(10*time.Millisecond))
	used := useEtcd(g, way, nil)
	g.Eventually(used.Ctx().Done()).Should(BeClosed(), "it is closed when nobody uses it")
	g.Expect(useEtcd(g, way, nil)).NotTo(BeIdenticalTo(used))
}
