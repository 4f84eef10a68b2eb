// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package clouds connects to clouds of every kind: the local cloud, and namespaces of Kubernetes
// clusters. The programs that choose a cloud share it.
//
// Limits: other code knows only the interface in package cloud. To add a kind, add a case to Connect,
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
	found, err := Connect(cloudidentity.Account{
		Cloud: opts.Cloud, Endpoint: opts.CloudEndpoint, Tenant: opts.CloudNamespace, TokenFile: opts.CloudTokenFile, CAFile: opts.CloudCAFile,
	})
	if err != nil {
		return nil, fmt.Errorf("cloud: %w", err)
	}
	return found, nil
}

// Connect returns the cloud of an account. It does not connect yet. Its error describes what is wrong
// with the account. If there is one, the cloud must not be used, not even compared with nil.
func Connect(of cloudidentity.Account) (cloudidentity.Connection, error) {
	switch of.Cloud {
	case infrav1.CloudKubernetes:
		return kubernetes.New(kubernetes.Options{
			Endpoint: of.Endpoint, Namespace: of.Tenant, Token: of.Token, TokenFile: of.TokenFile, CA: of.CA, CAFile: of.CAFile,
		})
	case infrav1.CloudLocal, "":
		return local.NewClient(local.Options{
			Endpoint: of.Endpoint, Tenant: of.Tenant, Token: of.Token, TokenFile: of.TokenFile, CA: of.CA, CAFile: of.CAFile,
		})
	default:
		return nil, fmt.Errorf("cloud %q is unknown; it must be %s or %s", of.Cloud, infrav1.CloudLocal, infrav1.CloudKubernetes)
	}
}

// ConnectAndManage is like Connect, and also does the work that a cloud leaves to its users, until
// the connection is closed. Use it where controllers run.
func ConnectAndManage(of cloudidentity.Account) (cloudidentity.Connection, error) {
	found, err := Connect(of)
	if err != nil {
		return nil, err
	}
	if managed, ok := found.(Managed); ok {
		managed.Manage()
	}
	return found, nil
}

// Managed is a cloud that leaves some work to its users, such as filling pools.
type Managed interface {
	// Manage does the work in the background until the connection is closed.
	Manage()
}

var _ Managed = &kubernetes.Cloud{}
