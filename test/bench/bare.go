// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"
)

// Console lines before and after kubeadm init, each followed by nanoseconds.
const (
	kubeadmBegan = "bench-kubeadm-began"
	kubeadmEnded = "bench-kubeadm-ended"
)

// bareRun measures one bare kubeadm init in an instance, without Cluster API.
func bareRun(ctx context.Context, options options, env *environment, turn int, results *results) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, options.timeout, errSlow)
	defer cancel()
	name := fmt.Sprintf("bare-%d", turn)
	userData, err := bareUserData(name, options.kubernetesVersion)
	if err != nil {
		return err
	}
	run := bareTimes{Load: loadAverage()}
	began := time.Now()
	made, err := env.cloud.order(ctx, instanceOrder{
		Name: name, Hostname: name, Type: "small", KubernetesVersion: options.kubernetesVersion, UserData: userData,
	})
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, env.cloud.remove(ctx, made.ID))
	}()
	if err := env.cloud.bootstrapped(ctx, made.ID); err != nil {
		return err
	}
	run.Order = time.Since(began)
	console, err := env.cloud.console(ctx, made.ID)
	if err != nil {
		return err
	}
	if run.Kubeadm, err = kubeadmTime(console); err != nil {
		return err
	}
	results.Bare = append(results.Bare, run)
	progress("bare kubeadm init, run %d: %s from creation, kubeadm itself %s (load %.1f)",
		turn, seconds(run.Order), seconds(run.Kubeadm), run.Load)
	return nil
}

// bootstrapped waits until an instance has processed its user data.
func (c *cloudClient) bootstrapped(ctx context.Context, id string) error {
	return c.until(ctx, func() (bool, error) {
		var now instance
		if err := c.read(ctx, "/v1/instances/"+id, &now); err != nil {
			return false, err
		}
		if now.Bootstrap.State == "Failed" || now.State == "Failed" || now.State == "Stopped" {
			return false, fmt.Errorf("instance %s is %s: %s; bootstrap is %s: %s", id, now.State, now.Message, now.Bootstrap.State, now.Bootstrap.Message)
		}
		return now.Bootstrap.State == "Succeeded", nil
	})
}

// remove deletes an instance and waits until it is gone, even if the user has interrupted the
// measurement.
func (c *cloudClient) remove(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return c.until(ctx, func() (bool, error) {
		body, err := c.do(ctx, http.MethodDelete, "/v1/instances/"+id, nil)
		var status *statusError
		if errors.As(err, &status) && status.code == http.StatusNotFound {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		return false, body.Close()
	})
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
