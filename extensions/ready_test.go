// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package extensions

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	runtimeserver "sigs.k8s.io/cluster-api/exp/runtime/server"
)

// A Deployment that is updated stops an old Pod once a new one is ready.
func TestAServerIsNotReadyBeforeItServesWithItsCertificate(t *testing.T) {
	g := NewWithT(t)
	server, err := NewServer(runtimeserver.Options{CertDir: t.TempDir(), CertName: "tls.crt", KeyName: "tls.key"})
	g.Expect(err).NotTo(HaveOccurred())
	ready := server.StartedChecker()
	g.Expect(ready(nil)).NotTo(Succeed(), "nobody has started it")
	g.Expect(server.Start(context.Background())).To(MatchError(ContainSubstring("tls.crt")), "without a certificate, the Pod starts again")
	g.Expect(ready(nil)).NotTo(Succeed())
}
