// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

const (
	etcdPort = 2379
	// etcdTimeout is the default limit for one round of requests to a member, including the
	// connection.
	etcdTimeout = 5 * time.Second
)

// MoveEtcdLeader implements Access. The request goes to the leader, because only the leader can
// transfer leadership.
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

// withEtcd runs do with a client for the etcd member on a node, limited by the timeout of etcd.
func (c *Connections) withEtcd(ctx context.Context, cluster client.ObjectKey, node string, do func(context.Context, *clientv3.Client) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.etcd.timeout)
	defer cancel()
	members, err := c.etcdOf(ctx, cluster)
	if err != nil {
		return err
	}
	return members.with(ctx, node, do)
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
	// An elliptic-curve key is cheap to create, and an authority with a key of any kind can sign
	// its certificate.
	key, err := certs.NewSigner(bootstrapv1.EncryptionAlgorithmECDSAP256)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("creating a client key: %w", err)
	}
	config := certs.Config{CommonName: "foo-control-plane", Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	signed, err := config.NewSignedCert(key, authority, authorityKey)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("signing a client certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{signed.Raw}, PrivateKey: key}, nil
}

// TakeLeadership implements Access.
func (c *Connections) TakeLeadership(ctx context.Context, cluster client.ObjectKey, gone []string) error {
	return c.write(ctx, cluster, func(ctx context.Context, direct client.Client) error { return takeLeadership(ctx, direct, gone) })
}

// takeLeadership clears the holder of the controller manager's lease if it ran on one of the hosts.
// A holder's identity is its host name followed by a random part.
func takeLeadership(ctx context.Context, c client.Client, gone []string) error {
	lease := &coordinationv1.Lease{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: string(ControllerManager)}
	if err := c.Get(ctx, key, lease); err != nil {
		return client.IgnoreNotFound(err)
	}
	holder := ptr.Deref(lease.Spec.HolderIdentity, "")
	if !slices.ContainsFunc(gone, func(host string) bool { return strings.HasPrefix(holder, host+"_") }) {
		return nil
	}
	before := lease.DeepCopy()
	lease.Spec.HolderIdentity = ptr.To("")
	// The optimistic lock protects a lease that another controller manager has acquired meanwhile.
	if err := c.Patch(ctx, lease, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("taking the leadership from %s, whose machine is gone: %w", holder, err)
	}
	return nil
}
