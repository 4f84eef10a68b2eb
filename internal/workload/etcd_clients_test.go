// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/net/http2"
	"google.golang.org/grpc/connectivity"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"sigs.k8s.io/cluster-api/util/secret"
)

func testEtcdCA(authority *secret.Certificate) *corev1.Secret {
	return testSecret(secret.EtcdCA, map[string][]byte{
		secret.TLSCrtDataName: authority.KeyPair.Cert, secret.TLSKeyDataName: authority.KeyPair.Key,
	})
}

// serveTLS presents a certificate to clients whose certificate the authority has signed, and leaves
// the rest of the connection to serve. It stops when the test ends. The returned forwarder connects
// to it, for any pod.
func serveTLS(t *testing.T, g Gomega, authority *secret.Certificate, shown tls.Certificate, serve func(net.Conn)) forwarder {
	clients := x509.NewCertPool()
	g.Expect(clients.AppendCertsFromPEM(authority.KeyPair.Cert)).To(BeTrue())
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{shown}, NextProtos: []string{"h2"},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients,
	})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			accepted, err := listener.Accept()
			if err != nil {
				return
			}
			go serve(accepted)
		}
	}()
	return func(ctx context.Context, _ string, _ int) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", listener.Addr().String())
	}
}

// answerHTTP2 serves just enough for a connection to become ready.
func answerHTTP2(connection net.Conn) {
	if secured, ok := connection.(*tls.Conn); ok && secured.Handshake() == nil {
		(&http2.Server{}).ServeConn(secured, &http2.ServeConnOpts{Handler: http.NotFoundHandler()})
	}
	_ = connection.Close()
}

// discard reads until the connection ends.
func discard(connection net.Conn) {
	_, _ = io.Copy(io.Discard, connection)
	_ = connection.Close()
}

func TestClientsAreKeptUntilASecretChanges(t *testing.T) {
	g := NewWithT(t)
	clients := newEtcdClients(time.Hour)
	authority := testEtcdCA(newAuthority(g))
	get := func(kubeconfigVersion string) *etcdCluster {
		members, err := clients.get(testCluster, connection{config: &rest.Config{}, resourceVersion: kubeconfigVersion}, authority)
		g.Expect(err).NotTo(HaveOccurred())
		return members
	}
	first := get("1")
	g.Expect(get("1")).To(BeIdenticalTo(first))
	second := get("2")
	g.Expect(second).NotTo(BeIdenticalTo(first), "the kubeconfig has changed")
	authority.ResourceVersion = "another"
	third := get("2")
	g.Expect(third).NotTo(BeIdenticalTo(second), "the authority has changed")
	clients.forget(testCluster)
	g.Expect(get("2")).NotTo(BeIdenticalTo(third), "the cluster was forgotten")
}

// useEtcd calls with, makes the call return result, and returns the client that the call was given,
// once that is connected.
func useEtcd(g Gomega, members *etcdCluster, result error) (used *clientv3.Client) {
	err := members.with(context.Background(), "node", func(ctx context.Context, etcd *clientv3.Client) error {
		used = etcd
		connection := etcd.ActiveConnection()
		connection.Connect()
		for state := connection.GetState(); state != connectivity.Ready; state = connection.GetState() {
			g.Expect(connection.WaitForStateChange(ctx, state)).To(BeTrue())
		}
		return result
	})
	if result == nil {
		g.Expect(err).NotTo(HaveOccurred())
	} else {
		g.Expect(err).To(MatchError(result))
	}
	return used
}

// testEtcd returns clients for an etcd that presents a certificate for the given name.
func testEtcd(t *testing.T, g Gomega, clients *etcdClients, name string, serve func(net.Conn)) *etcdCluster {
	authority := newAuthority(g)
	members, err := clients.get(testCluster, connection{config: &rest.Config{}}, testEtcdCA(authority))
	g.Expect(err).NotTo(HaveOccurred())
	members.forward = serveTLS(t, g, authority, serving(g, authority, name, time.Now().Add(time.Hour)), serve)
	t.Cleanup(members.close)
	return members
}

func TestMembersAreKept(t *testing.T) {
	g := NewWithT(t)
	clients := newEtcdClients(time.Hour)
	members := testEtcd(t, g, clients, "node", answerHTTP2)
	first := useEtcd(g, members, nil)
	g.Expect(useEtcd(g, members, nil)).To(BeIdenticalTo(first), "the client is reused")

	g.Expect(useEtcd(g, members, errors.New("connection reset"))).To(BeIdenticalTo(first))
	g.Expect(first.Ctx().Err()).To(HaveOccurred(), "an error closes the client")
	second := useEtcd(g, members, nil)
	g.Expect(second).NotTo(BeIdenticalTo(first))

	clients.forget(testCluster)
	g.Expect(second.Ctx().Err()).To(HaveOccurred(), "forgetting the cluster closes the client")
	last := useEtcd(g, members, nil)
	g.Expect(last.Ctx().Err()).To(HaveOccurred(), "a forgotten cluster keeps no clients")
}

func TestMembersAreKeptForAWhile(t *testing.T) {
	g := NewWithT(t)
	members := testEtcd(t, g, newEtcdClients(10*time.Millisecond), "node", answerHTTP2)
	used := useEtcd(g, members, nil)
	g.Eventually(used.Ctx().Done()).Should(BeClosed(), "an unused client is closed")
	g.Expect(useEtcd(g, members, nil)).NotTo(BeIdenticalTo(used))
}

func TestTheCertificateProvesWhichMemberAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		shown string
		other bool
		want  string
	}{
		"the node's name, as kubeadm issues it": {shown: "node"},
		"the pod's name":                        {shown: "etcd-node"},
		"another member's name":                 {shown: "other", want: `TLS handshake: the certificate is valid for ["localhost" "other"], not for any of ["node" "etcd-node"]`},
		"from another cluster":                  {shown: "node", other: true, want: "TLS handshake: x509: certificate signed by unknown authority"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			members := testEtcd(t, g, newEtcdClients(time.Hour), test.shown, answerHTTP2)
			if test.other {
				other := newAuthority(g)
				members.forward = serveTLS(t, g, other, serving(g, other, test.shown, time.Now().Add(time.Hour)), discard)
			}
			if test.want == "" {
				g.Expect(useEtcd(g, members, nil).Endpoints()).To(Equal([]string{"http://etcd-node"}))
				return
			}
			state := members.observe(context.Background(), []Node{{Name: "node", Pods: map[Component]Pod{Etcd: {State: PodRunning}}}})
			g.Expect(state.Problem).To(And(HavePrefix("etcd on node node: "+test.want), Not(ContainSubstring("deadline"))))
		})
	}
}

func TestAMemberThatCannotBeReachedSaysWhy(t *testing.T) {
	g := NewWithT(t)
	members := testEtcd(t, g, newEtcdClients(time.Hour), "node", discard)
	members.forward = func(context.Context, string, int) (net.Conn, error) { return nil, errors.New("no such pod") }
	said := members.ask(context.Background(), "node")
	g.Expect(said.err).To(MatchError("no such pod"))
}
