//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/test/e2e/stopwatch"
)

// ledgerNamespace is the namespace in a workload cluster that a ledger writes to.
const ledgerNamespace = "ledger"

// ledger is a client that writes to a workload cluster through its load balancer and remembers
// every acknowledged write: none of them may ever be lost.
type ledger struct {
	*cluster
	// client keeps its connections, like a user's client.
	client client.Client

	mu           sync.Mutex
	next         int
	acknowledged map[string]string
}

func (c *cluster) newLedger(ctx context.Context) *ledger {
	GinkgoHelper()
	l := &ledger{cluster: c, client: newClient(c.kubeconfig), acknowledged: map[string]string{}}
	Expect(l.client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ledgerNamespace}})).To(Succeed())
	return l
}

// during writes 20 keys a second, and reads 10 times a second over new connections, while an
// operation runs, and expects that every acknowledged write exists afterwards. It returns the
// longest times without a successful response.
func (l *ledger) during(ctx context.Context, do func()) (writes, reads outage) {
	GinkgoHelper()
	watch := stopwatch.Start(ctx)
	stopReads, stopWrites := l.poll(ctx), repeat(ctx, time.Second/20, l.write)
	do()
	written, read := stopWrites(), stopReads()
	writes, reads = longest(written, watch), longest(read, watch)
	AddReportEntry("writes through the load balancer", fmt.Sprintf("%d, %d failed; %s", len(written), failures(written), writes))
	AddReportEntry("reads through the load balancer", fmt.Sprintf("%d, %d failed; %s", len(read), failures(read), reads))
	l.expectAll(ctx)
	return writes, reads
}

// underLoad runs an operation while all ledgers write, and expects that no cluster was without
// service for long.
func underLoad(ctx context.Context, ledgers []*ledger, do func()) {
	GinkgoHelper()
	if len(ledgers) == 0 {
		do()
		return
	}
	expectNoGap(ledgers[0].during(ctx, func() { underLoad(ctx, ledgers[1:], do) }))
}

// write writes a new key.
func (l *ledger) write(ctx context.Context) error {
	l.mu.Lock()
	l.next++
	key, value := "key-"+strconv.Itoa(l.next), time.Now().Format(time.RFC3339Nano)
	l.mu.Unlock()
	object := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: ledgerNamespace, Name: key}, Data: map[string]string{"value": value},
	}
	if err := l.client.Create(ctx, object); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acknowledged[key] = value
	return nil
}

// expectAll reads every acknowledged write back.
func (l *ledger) expectAll(ctx context.Context) {
	GinkgoHelper()
	var list corev1.ConfigMapList
	Eventually(func() error {
		return l.workload.List(ctx, &list, client.InNamespace(ledgerNamespace))
	}).WithContext(ctx).Should(Succeed(), "the writes cannot be read")
	found := make(map[string]string, len(list.Items))
	for _, object := range list.Items {
		found[object.Name] = object.Data["value"]
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var lost []string
	for key, value := range l.acknowledged {
		if found[key] != value {
			lost = append(lost, fmt.Sprintf("%s of %s, now %q", key, value, found[key]))
		}
	}
	Expect(l.acknowledged).NotTo(BeEmpty(), "nothing was written")
	Expect(lost).To(BeEmpty(), "acknowledged writes are lost, of %d", len(l.acknowledged))
}

func failures(answers []answer) int {
	count := 0
	for _, one := range answers {
		if one.err != nil {
			count++
		}
	}
	return count
}

// expectNoGap expects that a cluster was never without service for long.
func expectNoGap(writes, reads outage) {
	GinkgoHelper()
	Expect(writes.ofCluster()).To(BeNumerically("<=", longestOutage), "writes through the load balancer: %s", writes)
	Expect(reads.ofCluster()).To(BeNumerically("<=", longestOutage), "reads through the load balancer: %s", reads)
}
