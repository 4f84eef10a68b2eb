/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package cause_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/capfoo/cluster-api-provider-foo/extensions/cause"
)

// get asks a server, and returns why it did not answer.
func get(ctx context.Context, t *testing.T, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func TestOfConnections(t *testing.T) {
	g := NewWithT(t)
	ctx := context.Background()
	untrusted := httptest.NewTLSServer(http.NotFoundHandler())
	defer untrusted.Close()
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) { <-request.Context().Done() }))
	defer slow.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()

	g.Expect(cause.Of(get(ctx, t, untrusted.URL))).To(Equal("the certificate is not trusted"))
	g.Expect(cause.Of(get(short, t, slow.URL))).To(Equal("no answer in time"))
	g.Expect(cause.Of(get(ctx, t, gone.URL))).To(Equal("connection refused"))
}

func TestOf(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for want, err := range map[string]error{
		"Forbidden":                             fmt.Errorf("listing: %w", apierrors.NewForbidden(pods, "a", errors.New("no"))),
		"the API server failed":                 &apierrors.StatusError{},
		"the API server does not know the kind": fmt.Errorf("mapping: %w", &meta.NoKindMatchError{}),
		"the name of the host is unknown":       &net.OpError{Op: "dial", Err: &net.DNSError{Name: "a.invalid", IsNotFound: true}},
		"the certificate is not trusted":        &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}},
		"an error that the log describes":       errors.New("read 10.0.0.1:40512: something"),
	} {
		t.Run(want, func(t *testing.T) {
			NewWithT(t).Expect(cause.Of(err)).To(Equal(want))
		})
	}
}
