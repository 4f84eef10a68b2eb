// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api/util/secret"
)

const (
	// etcdIdle is how long an unused connection to a member is kept. Reconciles come in bursts, and
	// a connection costs three TLS handshakes. A cluster in which nothing changes needs no
	// connection.
	etcdIdle = time.Minute
	// etcdCertificateAge is the age at which a client certificate is replaced, long before it
	// expires.
	etcdCertificateAge = 24 * time.Hour
)

// etcdClients holds clients for the etcds of all clusters. Each is kept until one of the Secrets
// that it was created from changes.
type etcdClients struct {
	// idle is how long an unused connection to a member is kept.
	idle time.Duration
	// timeout bounds one round of requests to a member.
	timeout time.Duration

	mu       sync.Mutex
	clusters map[client.ObjectKey]*etcdCluster
}

func newEtcdClients(idle time.Duration) *etcdClients {
	return &etcdClients{idle: idle, timeout: etcdTimeout, clusters: map[client.ObjectKey]*etcdCluster{}}
}

// etcdCluster holds the clients for the members of one cluster.
type etcdCluster struct {
	// madeFrom holds the resource versions of the Secrets.
	madeFrom string
	made     time.Time
	forward  forwarder
	// authority signs the certificates of the members. It has also signed the client's certificate.
	authority   *x509.CertPool
	certificate tls.Certificate
	idle        time.Duration

	mu      sync.Mutex
	members map[string]*keptClient
}

// keptClient is a client for one member. The timer closes it after a period without use. It runs
// only while the client is unused.
type keptClient struct {
	client *clientv3.Client
	idle   *time.Timer
}

func (c *Connections) etcdOf(ctx context.Context, cluster client.ObjectKey) (*etcdCluster, error) {
	connection, err := c.connect(ctx, cluster)
	if err != nil {
		return nil, err
	}
	authority, err := c.secret(ctx, cluster, secret.EtcdCA)
	if err != nil {
		return nil, err
	}
	return c.etcd.get(cluster, connection, authority)
}

// get returns the clients for a cluster's etcd. It creates them unless there are some from the same
// Secrets.
func (e *etcdClients) get(cluster client.ObjectKey, connection connection, authority *corev1.Secret) (*etcdCluster, error) {
	madeFrom := connection.resourceVersion + "/" + authority.ResourceVersion
	e.mu.Lock()
	defer e.mu.Unlock()
	if known, ok := e.clusters[cluster]; ok {
		if known.madeFrom == madeFrom && time.Since(known.made) < etcdCertificateAge {
			return known, nil
		}
		known.close()
	}
	if len(authority.Data[secret.TLSKeyDataName]) == 0 {
		return nil, fmt.Errorf("the Secret %s: data[%q] is empty, so no certificate for etcd can be signed", authority.Name, secret.TLSKeyDataName)
	}
	certificate, err := signClient(authority.Data[secret.TLSCrtDataName], authority.Data[secret.TLSKeyDataName])
	if err != nil {
		return nil, fmt.Errorf("the Secret %s: %w", authority.Name, err)
	}
	made := &etcdCluster{
		madeFrom: madeFrom, made: time.Now(), idle: e.idle, forward: portForward(connection.config),
		authority: x509.NewCertPool(), certificate: certificate, members: map[string]*keptClient{},
	}
	made.authority.AppendCertsFromPEM(authority.Data[secret.TLSCrtDataName])
	e.clusters[cluster] = made
	return made, nil
}

func (e *etcdClients) forget(cluster client.ObjectKey) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if known, ok := e.clusters[cluster]; ok {
		known.close()
		delete(e.clusters, cluster)
	}
}

// with runs do with a client for the member on a node. After an error, the next call makes a new
// connection.
func (e *etcdCluster) with(ctx context.Context, node string, do func(context.Context, *clientv3.Client) error) error {
	member, err := e.take(ctx, node)
	if err != nil {
		return err
	}
	if err := do(ctx, member.client); err != nil {
		// The first error is the one that matters.
		_ = member.client.Close()
		return err
	}
	e.putBack(node, member)
	return nil
}

// take returns a client that nobody else uses and whose connection works.
func (e *etcdCluster) take(ctx context.Context, node string) (*keptClient, error) {
	e.mu.Lock()
	kept, ok := e.members[node]
	delete(e.members, node)
	e.mu.Unlock()
	if ok && kept.idle.Stop() {
		if kept.client.ActiveConnection().GetState() == connectivity.Ready {
			return kept, nil
		}
		_ = kept.client.Close()
	}
	made, err := e.connect(ctx, node)
	if err != nil {
		return nil, err
	}
	return &keptClient{client: made}, nil
}

// putBack keeps a client for the next caller, for a limited time.
func (e *etcdCluster) putBack(node string, member *keptClient) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, taken := e.members[node]; taken || e.members == nil {
		_ = member.client.Close()
		return
	}
	member.idle = time.AfterFunc(e.idle, func() {
		e.mu.Lock()
		if e.members[node] == member {
			delete(e.members, node)
		}
		e.mu.Unlock()
		_ = member.client.Close()
	})
	e.members[node] = member
}

// close closes the clients. None is kept from then on.
func (e *etcdCluster) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, member := range e.members {
		if member.idle.Stop() {
			_ = member.client.Close()
		}
	}
	e.members = nil
}

// errConnectionLost is the error of a client whose connection broke.
var errConnectionLost = errors.New("the connection was lost")

// connect creates a client for the member on a node, with one connection. gRPC would keep trying to
// connect until the timeout and not report why it failed. So connect makes the connection first;
// once it is lost, the next caller makes another.
func (e *etcdCluster) connect(ctx context.Context, node string) (*clientv3.Client, error) {
	only, err := e.dial(ctx, node)
	if err != nil {
		return nil, err
	}
	ready := make(chan net.Conn, 1)
	ready <- only
	etcd, err := clientv3.New(clientv3.Config{
		// The client outlives the call that it is created for.
		Context: context.WithoutCancel(ctx),
		// The dialer itself sets up TLS.
		Endpoints:       []string{"http://" + staticPodName(Etcd, node)},
		Logger:          zap.NewNop(),
		MaxUnaryRetries: 1,
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) {
			select {
			case connection := <-ready:
				return connection, nil
			default:
				return nil, errConnectionLost
			}
		})},
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a client: %w", err), only.Close())
	}
	context.AfterFunc(etcd.Ctx(), func() {
		select {
		case unused := <-ready:
			_ = unused.Close() // nothing was ever sent on it
		default:
		}
	})
	return etcd, nil
}

// dial connects to the member on a node. The serving certificate proves which member answers,
// whichever route the connection took: kubeadm issues it for the name of the Node, others for the
// name of the Pod.
func (e *etcdCluster) dial(ctx context.Context, node string) (net.Conn, error) {
	pod := staticPodName(Etcd, node)
	raw, err := e.forward(ctx, pod, etcdPort)
	if err != nil {
		return nil, err
	}
	config := verifiedTLS(e.authority, node, pod)
	config.ServerName, config.NextProtos = pod, []string{"h2"}
	config.Certificates = []tls.Certificate{e.certificate}
	return secure(ctx, raw, config)
}
