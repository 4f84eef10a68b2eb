// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/client"
)

// Console lines before and after kubeadm init, each followed by nanoseconds.
const (
	kubeadmBegan = "bench-kubeadm-began"
	kubeadmEnded = "bench-kubeadm-ended"
)

const (
	// unitOrder is the time from creating the instance until its user data is done, and unitKubeadm
	// that from the start to the end of kubeadm init.
	unitOrder   = "user-data-done-s"
	unitKubeadm = "kubeadm-init-s"
)

// bareRun measures one bare kubeadm init in an instance, without Cluster API.
func bareRun(ctx context.Context, env *environment, turn int, results *results) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, env.timeout, errSlow)
	defer cancel()
	name := fmt.Sprintf("bare-%d", turn)
	userData, err := bareUserData(ctx, name, env.kubernetesVersion)
	if err != nil {
		return err
	}
	run := newMeasurement(benchmarkBare)
	began := time.Now()
	made, err := env.cloud.EnsureInstance(ctx, cloud.InstanceSpec{Name: name, Hostname: name, InstanceTemplate: cloud.InstanceTemplate{
		Type: "small", KubernetesVersion: env.kubernetesVersion, UserData: userData,
	}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, env.removeInstance(ctx, made.ID)) }()
	if err := env.bootstrapped(ctx, made.ID); err != nil {
		return err
	}
	run.addSeconds(unitOrder, time.Since(began))
	console, err := env.console(ctx, made.ID)
	if err != nil {
		return err
	}
	kubeadm, err := kubeadmTime(console)
	if err != nil {
		return err
	}
	run.addSeconds(unitKubeadm, kubeadm)
	results.add(run)
	return nil
}

// console returns the output of an instance's first process and of its bootstrap commands.
func (e *environment) console(ctx context.Context, id string) (string, error) {
	log, err := e.cloud.Log(ctx, id, client.LogOptions{})
	if err != nil {
		return "", err
	}
	defer func() { _ = log.Close() }()
	text, err := io.ReadAll(log)
	return string(text), err
}

// bootstrapped waits until an instance has processed its user data.
func (e *environment) bootstrapped(ctx context.Context, id string) error {
	return e.until(ctx, func() (bool, error) {
		now, err := e.cloud.GetInstance(ctx, id)
		if err != nil {
			return false, err
		}
		if now.Bootstrap.State == cloud.BootstrapFailed || now.State == cloud.InstanceFailed || now.State == cloud.InstanceStopped {
			return false, fmt.Errorf("instance %s is %s: %s; bootstrap is %s: %s", id, now.State, now.Message, now.Bootstrap.State, now.Bootstrap.Message)
		}
		return now.Bootstrap.State == cloud.BootstrapSucceeded, nil
	})
}

// removeInstance deletes an instance and waits until it is gone, even if the user has interrupted
// the measurement.
func (e *environment) removeInstance(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return e.until(ctx, func() (bool, error) {
		err := e.cloud.DeleteInstance(ctx, id)
		if cloud.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
}

// until checks now and after each event of the cloud, until done returns true or an error.
func (e *environment) until(ctx context.Context, done func() (bool, error)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	events, err := e.cloud.Watch(ctx)
	if err != nil {
		return fmt.Errorf("watch the cloud: %w", err)
	}
	for range events { // the first is Synced: later events are not missed
		if ok, err := done(); ok || err != nil {
			return err
		}
	}
	return errors.Join(context.Cause(ctx), errors.New("the watch of the cloud has ended"))
}

var (
	beganPattern = regexp.MustCompile(`(?m)^` + kubeadmBegan + ` (\d+)$`)
	endedPattern = regexp.MustCompile(`(?m)^` + kubeadmEnded + ` (\d+)$`)
)

// kubeadmTime reads from a console how long kubeadm init took.
func kubeadmTime(console string) (time.Duration, error) {
	began, err := nanoseconds(console, beganPattern)
	if err != nil {
		return 0, err
	}
	ended, err := nanoseconds(console, endedPattern)
	return ended - began, err
}

func nanoseconds(console string, pattern *regexp.Regexp) (time.Duration, error) {
	found := pattern.FindStringSubmatch(console)
	if found == nil {
		return 0, fmt.Errorf("the console has no line like %s", pattern)
	}
	number, err := strconv.ParseInt(found[1], 10, 64)
	return time.Duration(number), err
}
