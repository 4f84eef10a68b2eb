// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

func TestForeignAnswersAreTyped(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		want   cloud.Reason
	}{
		"throttled by a proxy":                 {http.StatusTooManyRequests, cloud.ReasonThrottled},
		"refused by a proxy":                   {http.StatusUnauthorized, cloud.ReasonUnauthorized},
		"no backend":                           {http.StatusBadGateway, cloud.ReasonUnavailable},
		"an error of the server":               {http.StatusInternalServerError, cloud.ReasonUnavailable},
		"a 404 that the cloud did not give":    {http.StatusNotFound, cloud.ReasonUnknown},
		"a 410 says nothing of an instance":    {http.StatusGone, cloud.ReasonUnknown},
		"a refusal that nobody has a type for": {http.StatusTeapot, cloud.ReasonUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			recorder := httptest.NewRecorder()
			recorder.Header().Set("Content-Type", "text/html")
			recorder.Header().Set("Retry-After", "7")
			recorder.WriteHeader(test.status)
			_, err := recorder.WriteString("<html>a proxy</html>")
			g.Expect(err).NotTo(HaveOccurred())
			response := recorder.Result()
			g.Expect(response.Body.Close()).To(Succeed())
			got := decodeError(response)
			g.Expect(cloud.ReasonFor(got)).To(Equal(test.want), "%v", got)
			if after, throttled := cloud.RetryAfter(got); throttled {
				g.Expect(after).To(Equal(7 * time.Second))
			}
		})
	}
}

func TestRetryAfterHeader(t *testing.T) {
	now := time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                              0,
		"0":                             0,
		"90":                            90 * time.Second,
		"-1":                            0,
		"1.5":                           0,
		"99999999999999999999":          0,
		"soon":                          0,
		"Thu, 01 Jan 2026 12:00:30 GMT": 30 * time.Second,
		"Thu, 01 Jan 2026 11:59:30 GMT": 0,
	} {
		t.Run(value, func(t *testing.T) {
			NewWithT(t).Expect(retryAfter(http.Header{"Retry-After": {value}}, now)).To(Equal(want))
		})
	}
}

// Only the owner may use the socket: to start the cloud would not help others.
func TestSocketOfAnotherUser(t *testing.T) {
	g := NewWithT(t)
	c := &Client{options: Options{Endpoint: "unix:///run/foocloud.sock"}}
	for errno, want := range map[syscall.Errno]cloud.Reason{syscall.EACCES: cloud.ReasonUnauthorized, syscall.ECONNREFUSED: cloud.ReasonUnavailable} {
		err := c.transportError(t.Context(), &url.Error{Op: "Get", URL: "/v1", Err: &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", errno)}})
		g.Expect(cloud.ReasonFor(err)).To(Equal(want))
		g.Expect(err).To(MatchError(ContainSubstring("endpoint unix:///run/foocloud.sock: ")))
	}
}
