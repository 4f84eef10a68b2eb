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

package simulate

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// serve returns the address of an answerer that runs until the test ends.
func serve(t *testing.T) string {
	t.Helper()
	answerer, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		answerer.Serve(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return fmt.Sprintf("127.0.0.1:%d", answerer.Port())
}

func TestAnswersHTTP(t *testing.T) {
	address := serve(t)
	client := &http.Client{
		Timeout:   10 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	}
	for _, url := range []string{"http://" + address + "/healthz", "https://" + address + "/any/path?x=y"} {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
			req, err := http.NewRequest(method, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if err != nil || resp.StatusCode != http.StatusOK {
				t.Errorf("%s %s: %s, %v", method, url, resp.Status, err)
			}
			if method != http.MethodHead && string(body) != notice {
				t.Errorf("%s %s: body is %q", method, url, body)
			}
		}
	}
}

func TestAnswersHealthChecksOfAnyService(t *testing.T) {
	conn, err := grpc.NewClient(serve(t), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for _, service := range []string{"", "my.Service"} {
		resp, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{Service: service})
		if err != nil || resp.GetStatus() != healthpb.HealthCheckResponse_SERVING {
			t.Errorf("service %q: %v, %v", service, resp, err)
		}
	}
}

func TestAcceptsConnectionsThatSayNothing(t *testing.T) {
	address := serve(t)
	conn, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}
