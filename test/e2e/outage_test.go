//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/capfoo/cluster-api-provider-foo/test/e2e/stopwatch"
)

// longestOutage is how long a cluster may give no successful response through its load balancer
// while programs die and machines are replaced.
const longestOutage = 2 * time.Second

// patience is how long a client waits for a response.
const patience = 5 * time.Second

// answer is the result of one request.
type answer struct {
	start, end time.Time
	err        error
}

// repeat makes requests at a steady rate without waiting for earlier ones. The returned function
// stops the requests and returns all answers.
func repeat(ctx context.Context, every time.Duration, request func(context.Context) error) func() []answer {
	asking, stop := context.WithCancel(ctx)
	DeferCleanup(stop)
	var answers []answer
	var mu sync.Mutex
	var group sync.WaitGroup
	one := func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(asking), patience)
		defer cancel()
		got := answer{start: time.Now()}
		got.err = request(ctx)
		got.end = time.Now()
		mu.Lock()
		defer mu.Unlock()
		answers = append(answers, got)
	}
	group.Go(func() {
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-asking.Done():
				return
			case <-ticker.C:
				group.Go(one)
			}
		}
	})
	return func() []answer {
		stop()
		group.Wait()
		return answers
	}
}

// poll makes ten requests a second to the workload cluster's API that require etcd, each over a new
// connection.
func (c *cluster) poll(ctx context.Context) func() []answer {
	GinkgoHelper()
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig)
	Expect(err).NotTo(HaveOccurred())
	tlsConfig, err := rest.TLSConfigFor(config)
	Expect(err).NotTo(HaveOccurred())
	http1 := &http.Client{Transport: &http.Transport{TLSClientConfig: tlsConfig, DisableKeepAlives: true}}
	return repeat(ctx, 100*time.Millisecond, func(ctx context.Context) error {
		return ask(ctx, http1, config.Host+"/api/v1/namespaces/kube-system")
	})
}

func ask(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	if response.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("the API answered %s", response.Status))
	}
	return errors.Join(err, response.Body.Close())
}

// outage is a period without any successful response.
type outage struct {
	since    time.Time
	duration time.Duration
	// ofMachine is the part of it that was caused by the test's machine and not by the cluster.
	ofMachine time.Duration
	// err is the error of the first failed request in that time; nil if all were only slow.
	err error
}

// ofCluster is the part of the outage that the cluster caused.
func (o outage) ofCluster() time.Duration { return o.duration - o.ofMachine }

func (o outage) String() string {
	return fmt.Sprintf("longest time without a successful response %s from %s on, %s of it because the machine itself was held up, first error: %v",
		o.duration.Round(time.Millisecond), o.since.Format("15:04:05.000"), o.ofMachine.Round(time.Millisecond), o.err)
}

// longest returns the worst outage of the cluster: between two consecutive successful responses,
// before the first or after the last one.
func longest(answers []answer, watch *stopwatch.Stopwatch) outage {
	if len(answers) == 0 {
		return outage{}
	}
	byEnd := slices.SortedFunc(slices.Values(answers), func(a, b answer) int { return a.end.Compare(b.end) })
	var worst outage
	now := outage{since: byEnd[0].start}
	for index, one := range byEnd {
		if one.err != nil && now.err == nil {
			now.err = one.err
		}
		if one.err != nil && index < len(byEnd)-1 {
			continue
		}
		now.duration, now.ofMachine = one.end.Sub(now.since), watch.HeldUp(now.since, one.end)
		if now.ofCluster() > worst.ofCluster() {
			worst = now
		}
		now = outage{since: one.end}
	}
	return worst
}
