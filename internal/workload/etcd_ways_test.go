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
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	ways := &etcdWays{ways: map[client.ObjectKey]*etcdWay{}}
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

func TestMembersAreKeptForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		ways := &etcdWays{ways: map[client.ObjectKey]*etcdWay{}}
		way, err := ways.get(testCluster, connection{config: &rest.Config{Host: "https://one.example.com"}}, testEtcdCA(g))
		g.Expect(err).NotTo(HaveOccurred())
		use := func(result error) (used *clientv3.Client) {
			err := way.with(t.Context(), "node", func(_ context.Context, etcd *clientv3.Client) error {
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
		first := use(nil)
		g.Expect(use(nil)).To(BeIdenticalTo(first), "it is kept")

		g.Expect(use(errors.New("connection reset"))).To(BeIdenticalTo(first))
		g.Expect(first.Ctx().Err()).To(HaveOccurred(), "it is closed after an error")
		second := use(nil)
		g.Expect(second).NotTo(BeIdenticalTo(first))

		<-time.After(etcdIdle + time.Second)
		synctest.Wait()
		g.Expect(second.Ctx().Err()).To(HaveOccurred(), "it is closed when nobody uses it")
		third := use(nil)
		g.Expect(third).NotTo(BeIdenticalTo(second))

		ways.forget(testCluster)
		g.Expect(third.Ctx().Err()).To(HaveOccurred(), "it is closed with the cluster")
		last := use(nil)
		g.Expect(last.Ctx().Err()).To(HaveOccurred(), "nothing is kept of what was closed")
	})
}
