//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"regexp"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// etcdAnswers is how long one attempt to query an etcd may take.
const etcdAnswers = 20 * time.Second

// forwarded matches kubectl's output when it forwards a port.
var forwarded = regexp.MustCompile(`Forwarding from (127\.0\.0\.1:[0-9]+) -> 2379`)

// healthyMembers queries each etcd of the cluster separately, over a port-forward to its pod, and
// returns the names of the voting members that all of them agree on. Each must answer a
// linearizable read.
func (c *cluster) healthyMembers(ctx context.Context, nodes []corev1.Node) []string {
	GinkgoHelper()
	config := c.etcdTLS(ctx)
	var names []string
	for _, node := range nodes {
		if _, ok := node.Labels[controlPlaneRole]; !ok {
			continue
		}
		members := c.membersSeenBy(ctx, "etcd-"+node.Name, config)
		if names != nil {
			Expect(members).To(ConsistOf(names), "the etcd of %s sees other members than the first", node.Name)
		}
		names = members
	}
	return names
}

func (c *cluster) membersSeenBy(ctx context.Context, pod string, config *tls.Config) []string {
	GinkgoHelper()
	var names []string
	c.askEtcd(ctx, pod, config, func(ctx context.Context, g Gomega, etcd *clientv3.Client) {
		_, err := etcd.Get(ctx, "health")
		g.Expect(err).NotTo(HaveOccurred(), "the etcd of %s does not answer a linearizable read", pod)
		list, err := etcd.MemberList(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		alarms, err := etcd.AlarmList(ctx)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(alarms.Alarms).To(BeEmpty(), "etcd has alarms")
		names = nil
		for _, member := range list.Members {
			g.Expect(member.IsLearner).To(BeFalse(), "etcd member %s is still a learner", member.Name)
			names = append(names, member.Name)
		}
	})
	return names
}

// etcdLeader returns the Node with the etcd leader.
func (c *cluster) etcdLeader(ctx context.Context, nodes []corev1.Node) corev1.Node {
	GinkgoHelper()
	config := c.etcdTLS(ctx)
	var leader corev1.Node
	Eventually(func() string {
		for _, node := range nodes {
			c.askEtcd(ctx, "etcd-"+node.Name, config, func(ctx context.Context, g Gomega, etcd *clientv3.Client) {
				status, err := etcd.Status(ctx, etcd.Endpoints()[0])
				g.Expect(err).NotTo(HaveOccurred())
				if status.Leader == status.Header.MemberId {
					leader = node
				}
			})
			if leader.Name != "" {
				break
			}
		}
		return leader.Name
	}).WithContext(ctx).WithTimeout(2*soon).ShouldNot(BeEmpty(), "no etcd reports that it is the leader")
	return leader
}

// askEtcd queries the etcd of a pod over a port-forward, and over a new one if that fails: kubectl
// may not know yet that an etcd was just killed, and the port-forward to it breaks.
func (c *cluster) askEtcd(ctx context.Context, pod string, config *tls.Config, ask func(context.Context, Gomega, *clientv3.Client)) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		forward := start(command(ctx, kubectl(), "--kubeconfig="+c.kubeconfig, "--namespace=kube-system", "port-forward", "pod/"+pod, ":2379"))
		defer forward.interrupt(ctx)
		ctx, cancel := context.WithTimeout(ctx, etcdAnswers)
		defer cancel()
		g.Eventually(forward.said.Contents).WithContext(ctx).Should(Satisfy(forwarded.Match), "kubectl does not forward to %s", pod)
		address := string(forwarded.FindSubmatch(forward.said.Contents())[1])
		etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{"https://" + address}, TLS: config, DialTimeout: etcdAnswers})
		g.Expect(err).NotTo(HaveOccurred())
		defer func() { _ = etcd.Close() }()
		ask(ctx, g, etcd)
	}).WithContext(ctx).WithTimeout(2*soon).Should(Succeed(), "the etcd of %s does not answer", pod)
}

// etcdTLS returns a client certificate signed by the etcd CA, whose Secret is part of the control
// plane contract.
func (c *cluster) etcdTLS(ctx context.Context) *tls.Config {
	GinkgoHelper()
	var secret corev1.Secret
	Expect(c.Get(ctx, client.ObjectKey{Namespace: c.key.Namespace, Name: c.key.Name + "-etcd"}, &secret)).To(Succeed())
	authorities, err := cert.ParseCertsPEM(secret.Data[corev1.TLSCertKey])
	Expect(err).NotTo(HaveOccurred())
	signer, err := keyutil.ParsePrivateKeyPEM(secret.Data[corev1.TLSPrivateKeyKey])
	Expect(err).NotTo(HaveOccurred())
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "e2e"},
		NotBefore:    authorities[0].NotBefore,
		NotAfter:     time.Now().Add(time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, authorities[0], key.Public(), signer)
	Expect(err).NotTo(HaveOccurred())
	pool := x509.NewCertPool()
	pool.AddCert(authorities[0])
	return &tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: pool,
		Certificates: []tls.Certificate{{Certificate: [][]byte{signed}, PrivateKey: key}},
	}
}
