// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command etcd-snapshot is the program of the Job with which the runtime extension takes an etcd
// snapshot. It runs in the workload cluster, on a control plane machine: it reads the snapshot from
// the etcd member beside it, checks it, and stores it in a bucket. Only this program contains the
// libraries of object stores and opens etcd's databases.
//
// Its argument is a snapshotjob.Request. It writes a snapshotjob.Answer to its termination message,
// and details of errors to its log.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/capfoo/cluster-api-provider-foo/internal/etcdsnapshot"
	"github.com/capfoo/cluster-api-provider-foo/internal/snapshotjob"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "etcd-snapshot:", etcdsnapshot.Detail(err))
		os.Exit(1)
	}
}

func run(ctx context.Context, arguments []string) error {
	request, err := snapshotjob.ParseRequest(arguments)
	if err != nil {
		return err
	}
	etcd, err := connect()
	if err != nil {
		return err
	}
	answer, err := etcdsnapshot.Run(ctx, etcd, snapshotjob.Endpoint, request)
	said := say(answer)
	if answer.Snapshot == nil {
		return errors.Join(err, said, etcd.Close())
	}
	fmt.Println("stored", answer.Snapshot.Key)
	if err != nil {
		// Anybody can delete old snapshots later.
		fmt.Fprintln(os.Stderr, "etcd-snapshot:", etcdsnapshot.Detail(err))
	}
	return errors.Join(said, etcd.Close())
}

// connect returns a client for the etcd member on this machine.
func connect() (*clientv3.Client, error) {
	files := transport.TLSInfo{TrustedCAFile: snapshotjob.EtcdCA, CertFile: snapshotjob.EtcdCertificate, KeyFile: snapshotjob.EtcdKey}
	config, err := files.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the certificates of etcd: %w", err)
	}
	return clientv3.New(clientv3.Config{Endpoints: []string{snapshotjob.Endpoint}, TLS: config, Logger: zap.NewNop()})
}

// say writes the answer to the termination message.
func say(answer snapshotjob.Answer) error {
	text, err := answer.Encode()
	if err != nil {
		return err
	}
	file, err := os.OpenFile(snapshotjob.TerminationMessage, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}
