// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"bufio"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
)

// taken is a connection that a handler can take over.
type taken struct {
	http.ResponseWriter
	conn net.Conn
}

// Hijack implements http.Hijacker.
func (t taken) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return t.conn, bufio.NewReadWriter(bufio.NewReader(t.conn), bufio.NewWriter(t.conn)), nil
}

func TestAConnectionThatWasTakenOverIsClosedInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		conn, caller := net.Pipe()
		gone := false
		upgraded := &upgradable{ResponseWriter: taken{conn: conn}, gone: func() { gone = true }}
		_, _, err := upgraded.Hijack()
		g.Expect(err).NotTo(HaveOccurred())

		upgraded.close()
		<-time.After(lastAnswerTime - 1)
		synctest.Wait()
		g.Expect(gone).To(BeFalse(), "the caller has time to read the last answer")
		g.Expect(caller.SetReadDeadline(time.Now().Add(time.Minute))).To(Succeed())
		_, err = caller.Read(make([]byte, 1))
		g.Expect(err).To(MatchError("EOF"))
		synctest.Wait()
		g.Expect(gone).To(BeTrue())
	})
}
