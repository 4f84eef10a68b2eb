// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clouds connects to clouds of every kind: the local cloud, and namespaces of Kubernetes
// clusters. The programs that choose a cloud share it.
//
// Limits: other code knows only the interface in package cloud. To add a kind, add a case to connect,
// and its name to the API.
package clouds

import (
	"fmt"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud/kubernetes"
	local "github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/manager"
)

// OfFlags returns the cloud that the flags name. It does not connect yet. Its error describes what
// is wrong with the flags or the files that they name.
func OfFlags(opts *manager.Options) (cloudidentity.Connection, error) {
	found, err := connect(opts.Cloud, account{
		endpoint: opts.CloudEndpoint, tokenFile: opts.CloudTokenFile, caFile: opts.CloudCAFile, namespace: opts.CloudNamespace,
	})
	if err != nil {
		return nil, fmt.Errorf("cloud: %w", err)
	}
	return found, nil
}

// Connect returns the cloud of an identity. It does not connect yet. Its error describes what is wrong
// with the account.
func Connect(of cloudidentity.Account) (cloudidentity.Connection, error) {
	return connect(of.Cloud, account{
		endpoint: of.Endpoint, ca: of.CA, tenant: of.Tenant, token: of.Token, namespace: of.Tenant,
	})
}

// ConnectAndManage is like Connect, and also does the work that a cloud leaves to its users, until
// the connection is closed. Use it where controllers run.
func ConnectAndManage(of cloudidentity.Account) (cloudidentity.Connection, error) {
	found, err := Connect(of)
	if managed, ok := found.(Managed); ok && err == nil {
		managed.Manage()
	}
	return found, err
}

// Managed is a cloud that leaves some work to its users, such as filling pools.
type Managed interface {
	// Manage does the work in the background until the connection is closed.
	Manage()
}

var _ Managed = &kubernetes.Cloud{}

// account is where a cloud is, and the credentials for it.
type account struct {
	endpoint, token, tokenFile, caFile, tenant, namespace string
	ca                                                    []byte
}

func connect(kind infrav1.CloudKind, of account) (cloudidentity.Connection, error) {
	switch kind {
	case infrav1.CloudKubernetes:
		found, err := kubernetes.New(kubernetes.Options{
			Endpoint: of.endpoint, Namespace: of.namespace, Token: of.token, TokenFile: of.tokenFile, CA: of.ca, CAFile: of.caFile,
		})
		if err != nil {
			return nil, err
		}
		return found, nil
	case infrav1.CloudLocal, "":
		found, err := local.NewClient(local.Options{
			Endpoint: of.endpoint, Token: of.token, TokenFile: of.tokenFile, CA: of.ca, CAFile: of.caFile, Tenant: of.tenant,
		})
		if err != nil {
			return nil, err
		}
		return found, nil
	default:
		return nil, fmt.Errorf("cloud %q is unknown; it must be %s or %s", kind, infrav1.CloudLocal, infrav1.CloudKubernetes)
	}
}
