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
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api/util/secret"
)

const (
	// etcdIdle is how long the connection to a member is kept after it was used. Reconciles come in bursts, and a
	// connection costs three TLS handshakes; a cluster at rest is to have none.
	etcdIdle = time.Minute
	// etcdCertificateAge is after what time a client certificate is made anew, long before it expires.
	etcdCertificateAge = 24 * time.Hour
)

// etcdWays are the ways to the etcds of all clusters, each kept until a secret that it was made from changes.
type etcdWays struct {
	// idle is how long the connection to a member is kept after it was used.
	idle time.Duration
	// timeout bounds all that is asked of one member at once.
	timeout time.Duration

	mu   sync.Mutex
	ways map[client.ObjectKey]*etcdWay
}

func newEtcdWays(idle time.Duration) *etcdWays {
	return &etcdWays{idle: idle, timeout: etcdTimeout, ways: map[client.ObjectKey]*etcdWay{}}
}

// etcdWay is how the members of one cluster are reached.
type etcdWay struct {
	// madeFrom are the resource versions of the secrets.
	madeFrom string
	made     time.Time
	forward  forwarder
	// authority signs the certificates of the members, and has signed the client's.
	authority   *x509.CertPool
	certificate tls.Certificate
	idle        time.Duration

	mu      sync.Mutex
	members map[string]*etcdMember
}

// etcdMember is a client of one member. The timer closes it when it has not been used for a while, and runs only then.
type etcdMember struct {
	client *clientv3.Client
	idle   *time.Timer
}

func (c *Clusters) wayToEtcd(ctx context.Context, cluster client.ObjectKey) (*etcdWay, error) {
	connection, err := c.direct.connect(ctx, cluster)
	if err != nil {
		return nil, err
	}
	authority, err := c.direct.secrets.get(ctx, cluster, secret.EtcdCA)
	if err != nil {
		return nil, err
	}
	return c.etcd.get(cluster, connection, authority)
}

// get returns the way to a cluster's etcd, which is made if there is none from the same secrets.
func (w *etcdWays) get(cluster client.ObjectKey, connection connection, authority *corev1.Secret) (*etcdWay, error) {
	madeFrom := connection.resourceVersion + "/" + authority.ResourceVersion
	w.mu.Lock()
	defer w.mu.Unlock()
	if known, ok := w.ways[cluster]; ok {
		if known.madeFrom == madeFrom && time.Since(known.made) < etcdCertificateAge {
			return known, nil
		}
		known.close()
	}
	if len(authority.Data[secret.TLSKeyDataName]) == 0 {
		return nil, fmt.Errorf("secret %s: data[%q] is empty: %w", authority.Name, secret.TLSKeyDataName, ErrEtcdUnmanaged)
	}
	certificate, err := signClient(authority.Data[secret.TLSCrtDataName], authority.Data[secret.TLSKeyDataName])
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", authority.Name, err)
	}
	way := &etcdWay{
		madeFrom: madeFrom, made: time.Now(), idle: w.idle, forward: portForward(connection.config),
		authority: x509.NewCertPool(), certificate: certificate, members: map[string]*etcdMember{},
	}
	way.authority.AppendCertsFromPEM(authority.Data[secret.TLSCrtDataName])
	w.ways[cluster] = way
	return way, nil
}

func (w *etcdWays) forget(cluster client.ObjectKey) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known, ok := w.ways[cluster]; ok {
		known.close()
		delete(w.ways, cluster)
	}
}

// with runs do with a client of the member on a node. After an error the next one starts with a connection of its own.
func (w *etcdWay) with(ctx context.Context, node string, do func(context.Context, *clientv3.Client) error) error {
	member, err := w.take(ctx, node)
	if err != nil {
		return err
	}
	if err := do(ctx, member.client); err != nil {
		// What went wrong is what counts, not how the rest of the connection ends.
		_ = member.client.Close()
		return err
	}
	w.putBack(node, member)
	return nil
}

// take returns a client that nobody else uses.
func (w *etcdWay) take(ctx context.Context, node string) (*etcdMember, error) {
	w.mu.Lock()
	kept, ok := w.members[node]
	delete(w.members, node)
	w.mu.Unlock()
	if ok && kept.idle.Stop() {
		return kept, nil
	}
	made, err := w.connect(ctx, node)
	if err != nil {
		return nil, err
	}
	return &etcdMember{client: made}, nil
}

// putBack keeps a client for the next one who needs it, for a while.
func (w *etcdWay) putBack(node string, member *etcdMember) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, taken := w.members[node]; taken || w.members == nil {
		_ = member.client.Close()
		return
	}
	member.idle = time.AfterFunc(w.idle, func() {
		w.mu.Lock()
		if w.members[node] == member {
			delete(w.members, node)
		}
		w.mu.Unlock()
		_ = member.client.Close()
	})
	w.members[node] = member
}

// close ends what is kept, and has nothing kept any more.
func (w *etcdWay) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, member := range w.members {
		if member.idle.Stop() {
			_ = member.client.Close()
		}
	}
	w.members = nil
}

// connect makes a client of the member on a node. gRPC would try to connect until time is up and not say why it failed, so
// the first connection is made before.
func (w *etcdWay) connect(ctx context.Context, node string) (*clientv3.Client, error) {
	first, err := w.dial(ctx, node)
	if err != nil {
		return nil, err
	}
	ready := make(chan net.Conn, 1)
	ready <- first
	etcd, err := clientv3.New(clientv3.Config{
		// The client outlives the call that it is made for.
		Context: context.WithoutCancel(ctx),
		// The dialer secures the connections itself.
		Endpoints: []string{"http://" + staticPodName(Etcd, node)},
		Logger:    zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			select {
			case connection := <-ready:
				return connection, nil
			default:
				return w.dial(ctx, node)
			}
		})},
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a client: %w", err), first.Close())
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

// dial connects to the member on a node. The serving certificate proves which member answers, whichever way the connection
// went: kubeadm makes it for the name of the node, and others for the name of the pod.
func (w *etcdWay) dial(ctx context.Context, node string) (net.Conn, error) {
	pod := staticPodName(Etcd, node)
	raw, err := w.forward(ctx, pod, etcdPort)
	if err != nil {
		return nil, err
	}
	config := verifiedTLS(w.authority, node, pod)
	config.ServerName, config.NextProtos = pod, []string{"h2"}
	config.Certificates = []tls.Certificate{w.certificate}
	return secure(ctx, raw, config)
}
