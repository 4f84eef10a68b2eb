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
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg/etcd"
	"sigs.k8s.io/cluster-api/controlplane/kubeadm/pkg/proxy"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

const (
	etcdPort        = 2379
	etcdCallTimeout = 5 * time.Second
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
	err := c.withEtcd(ctx, cluster, node, func(etcdClient *etcd.Client) error {
		members, err := etcdClient.Members(ctx)
		if err != nil {
			return err
		}
		alarms, err := etcdClient.Alarms(ctx)
		if err != nil {
			return err
		}
		state = newEtcdState(members, alarms, etcdClient.LeaderID)
		return nil
	})
	return state, err
}

func newEtcdState(members []*etcd.Member, alarms []etcd.MemberAlarm, leader uint64) EtcdState {
	state := EtcdState{Leader: leader, Members: make([]Member, 0, len(members))}
	for _, member := range members {
		converted := Member{ID: member.ID, Name: member.Name, Learner: member.IsLearner}
		for _, alarm := range alarms {
			if alarm.MemberID == member.ID && alarm.Type != etcd.AlarmOK {
				converted.Alarms = append(converted.Alarms, etcd.AlarmTypeName[alarm.Type])
			}
		}
		state.Members = append(state.Members, converted)
	}
	slices.SortFunc(state.Members, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return state
}

// MoveEtcdLeader implements Access. Only the leader can hand over, so it is the one that is asked.
func (c *Connections) MoveEtcdLeader(ctx context.Context, cluster client.ObjectKey, from, to Member) error {
	err := c.withEtcd(ctx, cluster, from.Name, func(etcdClient *etcd.Client) error {
		return etcdClient.MoveLeader(ctx, to.ID)
	})
	if err != nil {
		return fmt.Errorf("moving the leadership of etcd from %s to %s: %w", from.Name, to.Name, err)
	}
	return nil
}

// RemoveEtcdMember implements Access.
func (c *Connections) RemoveEtcdMember(ctx context.Context, cluster client.ObjectKey, member, via Member) error {
	err := c.withEtcd(ctx, cluster, via.Name, func(etcdClient *etcd.Client) error {
		return etcdClient.RemoveMember(ctx, member.ID)
	})
	if err != nil {
		return fmt.Errorf("removing member %s from etcd: %w", member.Name, err)
	}
	return nil
}

// withEtcd runs do with a client of the etcd member on a node.
func (c *Connections) withEtcd(ctx context.Context, cluster client.ObjectKey, node string, do func(*etcd.Client) error) error {
	connection, err := c.direct.connect(ctx, cluster)
	if err != nil {
		return err
	}
	tlsConfig, err := c.etcdTLS(ctx, cluster, node)
	if err != nil {
		return err
	}
	etcdClient, err := etcd.NewClient(ctx, etcd.ClientConfiguration{
		Endpoint: staticPodName(Etcd, node),
		Proxy: proxy.Proxy{
			Kind:       "pods",
			Namespace:  metav1.NamespaceSystem,
			KubeConfig: rest.CopyConfig(connection.config),
			Port:       etcdPort,
		},
		TLSConfig:   tlsConfig,
		DialTimeout: etcdCallTimeout,
		CallTimeout: etcdCallTimeout,
	})
	if err != nil {
		return err
	}
	return errors.Join(do(etcdClient), etcdClient.Close())
}

// etcdTLS makes a client certificate for one use. kubeadm gives the serving certificate its node's name, so the
// certificate proves which member answers, whichever way the connection went.
func (c *Connections) etcdTLS(ctx context.Context, cluster client.ObjectKey, node string) (*tls.Config, error) {
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
		ServerName:   node,
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
