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
	"slices"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg/proxy"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

const (
	etcdPort = 2379
	// etcdTimeout bounds all that is asked of one member at once.
	etcdTimeout = 5 * time.Second
)

// observeEtcd asks the first member that answers.
func (c *Connections) observeEtcd(ctx context.Context, cluster client.ObjectKey, nodes []Node) EtcdState {
	var problems []error
	for _, node := range nodes {
		// A member that is not there yet would cost the wait for a timeout, and can say nothing.
		if state := node.Pods[Etcd].State; state != PodRunning {
			problems = append(problems, fmt.Errorf("etcd on node %s: its pod is in state %s", node.Name, state))
			continue
		}
		state, err := c.askEtcd(ctx, cluster, node.Name)
		if err == nil {
			return state
		}
		problems = append(problems, fmt.Errorf("etcd on node %s: %w", node.Name, err))
	}
	return EtcdState{Problem: errors.Join(problems...).Error()}
}

func (c *Connections) askEtcd(ctx context.Context, cluster client.ObjectKey, node string) (EtcdState, error) {
	var state EtcdState
	err := c.withEtcd(ctx, cluster, node, func(ctx context.Context, etcd *clientv3.Client) error {
		status, err := etcd.Status(ctx, etcd.Endpoints()[0])
		if err != nil {
			return fmt.Errorf("asking for its status: %w", err)
		}
		members, err := etcd.MemberList(ctx)
		if err != nil {
			return fmt.Errorf("asking for its members: %w", err)
		}
		alarms, err := etcd.AlarmList(ctx)
		if err != nil {
			return fmt.Errorf("asking for its alarms: %w", err)
		}
		state = newEtcdState(status.Leader, members.Members, alarms.Alarms)
		return nil
	})
	return state, err
}

func newEtcdState(leader uint64, members []*etcdserverpb.Member, alarms []*etcdserverpb.AlarmMember) EtcdState {
	state := EtcdState{Leader: leader, Members: make([]Member, 0, len(members))}
	for _, member := range members {
		converted := Member{ID: member.GetID(), Name: member.GetName(), Learner: member.GetIsLearner()}
		for _, alarm := range alarms {
			if alarm.GetMemberID() == member.GetID() && alarm.GetAlarm() != etcdserverpb.AlarmType_NONE {
				converted.Alarms = append(converted.Alarms, alarm.GetAlarm().String())
			}
		}
		state.Members = append(state.Members, converted)
	}
	slices.SortFunc(state.Members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return state
}

// MoveEtcdLeader implements Access. Only the leader can hand over, so it is the one that is asked.
func (c *Connections) MoveEtcdLeader(ctx context.Context, cluster client.ObjectKey, from, to Member) error {
	err := c.withEtcd(ctx, cluster, from.Name, func(ctx context.Context, etcd *clientv3.Client) error {
		_, err := etcd.MoveLeader(ctx, to.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("moving the leadership of etcd from %s to %s: %w", from.Name, to.Name, err)
	}
	return nil
}

// RemoveEtcdMember implements Access.
func (c *Connections) RemoveEtcdMember(ctx context.Context, cluster client.ObjectKey, member, via Member) error {
	err := c.withEtcd(ctx, cluster, via.Name, func(ctx context.Context, etcd *clientv3.Client) error {
		_, err := etcd.MemberRemove(ctx, member.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("removing member %s from etcd: %w", member.Name, err)
	}
	return nil
}

// withEtcd runs do with a client of the etcd member on a node, for at most etcdTimeout.
func (c *Connections) withEtcd(ctx context.Context, cluster client.ObjectKey, node string, do func(context.Context, *clientv3.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, etcdTimeout)
	defer cancel()
	connection, err := c.direct.connect(ctx, cluster)
	if err != nil {
		return err
	}
	tlsConfig, err := c.etcdTLS(ctx, cluster)
	if err != nil {
		return err
	}
	dialer, err := proxy.NewDialer(proxy.Proxy{
		Kind:       "pods",
		Namespace:  metav1.NamespaceSystem,
		KubeConfig: rest.CopyConfig(connection.config),
		Port:       etcdPort,
	})
	if err != nil {
		return fmt.Errorf("preparing the port-forward: %w", err)
	}
	etcd, err := clientv3.New(clientv3.Config{
		Context: ctx,
		// The name in the endpoint is what the serving certificate is checked against: kubeadm gives it its node's name,
		// so it proves which member answers, whichever way the connection went. The way is the dialer's.
		Endpoints:   []string{"https://" + net.JoinHostPort(node, strconv.Itoa(etcdPort))},
		DialTimeout: etcdTimeout,
		TLS:         tlsConfig,
		Logger:      zap.NewNop(),
		DialOptions: []grpc.DialOption{grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return dialer.DialContextWithAddr(ctx, staticPodName(Etcd, node))
		})},
	})
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	return errors.Join(do(ctx, etcd), etcd.Close())
}

// etcdTLS makes a client certificate for one use.
func (c *Connections) etcdTLS(ctx context.Context, cluster client.ObjectKey) (*tls.Config, error) {
	authority, err := c.direct.secrets.get(ctx, cluster, secret.EtcdCA)
	if err != nil {
		return nil, err
	}
	certificate, err := signClient(authority.Data[secret.TLSCrtDataName], authority.Data[secret.TLSKeyDataName])
	if err != nil {
		return nil, fmt.Errorf("secret %s: %w", authority.Name, err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority.Data[secret.TLSCrtDataName])
	return &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{certificate},
		RootCAs:      roots,
	}, nil
}

func signClient(authorityPEM, keyPEM []byte) (tls.Certificate, error) {
	authority, err := certs.DecodeCertPEM(authorityPEM)
	if err != nil || authority == nil {
		return tls.Certificate{}, fmt.Errorf("data[%q] is not a PEM certificate", secret.TLSCrtDataName)
	}
	authorityKey, err := certs.DecodePrivateKeyPEM(keyPEM)
	if err != nil || authorityKey == nil {
		return tls.Certificate{}, fmt.Errorf("data[%q] is not a PEM private key", secret.TLSKeyDataName)
	}
	// An elliptic-curve key costs next to nothing to make, and an authority of any kind may sign it.
	key, err := certs.NewSigner(bootstrapv1.EncryptionAlgorithmECDSAP256)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("making a client key: %w", err)
	}
	config := certs.Config{CommonName: "foo-control-plane", Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	signed, err := config.NewSignedCert(key, authority, authorityKey)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("signing a client certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{signed.Raw}, PrivateKey: key}, nil
}
