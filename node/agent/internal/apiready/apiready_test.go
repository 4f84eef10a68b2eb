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

package apiready

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

func write(t *testing.T, server string, authority []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`current-context: b
contexts:
- {name: a, context: {cluster: other}}
- {name: b, context: {cluster: mine}}
clusters:
- {name: other, cluster: {server: "https://192.0.2.1:1"}}
- {name: mine, cluster: {server: %q, certificate-authority-data: %s}}
`, server, base64.StdEncoding.EncodeToString(authority))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWait(t *testing.T) {
	for _, last := range []int{http.StatusOK, http.StatusUnauthorized} {
		var asked atomic.Int32
		server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			switch {
			case req.URL.Path != "/readyz":
				w.WriteHeader(http.StatusNotFound)
			case asked.Add(1) < 3:
				w.WriteHeader(http.StatusInternalServerError)
			default:
				w.WriteHeader(last)
			}
		}))
		defer server.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
		if err := Wait(ctx, write(t, server.URL, authority)); err != nil || asked.Load() != 3 {
			t.Errorf("status %d: asked %d times, %v", last, asked.Load(), err)
		}
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*interval)
	defer cancel()
	server := httptest.NewTLSServer(nil)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	server.Close()
	if err := Wait(ctx, write(t, server.URL, authority)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error is %v", err)
	}
}

func TestWaitRefusesAFileWithoutServer(t *testing.T) {
	if err := Wait(context.Background(), write(t, "", nil)); err == nil {
		t.Error("no error")
	}
	if err := Wait(context.Background(), write(t, "https://127.0.0.1:1", nil)); err == nil {
		t.Error("no error without authority")
	}
	if err := Wait(context.Background(), "/no/such/file"); err == nil {
		t.Error("no error")
	}
}
