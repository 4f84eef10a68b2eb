// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"sigs.k8s.io/cluster-api/util/secret"

	"github.com/capfoo/cluster-api-provider-foo/internal/certs"
)

// Whoever may write the Secret of a cluster must get neither the manager's token nor its rights.
func TestAKubeconfigRunsAndReadsNothing(t *testing.T) {
	folder := t.TempDir()
	token, ran := filepath.Join(folder, "token"), filepath.Join(folder, "ran")
	NewWithT(t).Expect(os.WriteFile(token, []byte("of the manager"), 0o600)).To(Succeed())
	for name, user := range map[string]*api.AuthInfo{
		"exec": {Exec: &api.ExecConfig{
			Command: "touch", Args: []string{ran}, APIVersion: "client.authentication.k8s.io/v1", InteractiveMode: api.NeverExecInteractiveMode,
		}},
		"tokenFile":                  {TokenFile: token},
		"tokenFile as well as token": {TokenFile: token, Token: "of the user"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var sent []string
			server := httptest.NewTLSServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
				sent = append(sent, request.Header.Get("Authorization"))
				response.WriteHeader(http.StatusNotFound)
			}))
			t.Cleanup(server.Close)
			data, err := clientcmd.Write(api.Config{
				Clusters:       map[string]*api.Cluster{"c": {Server: server.URL, InsecureSkipTLSVerify: true}},
				AuthInfos:      map[string]*api.AuthInfo{"u": user},
				Contexts:       map[string]*api.Context{"x": {Cluster: "c", AuthInfo: "u"}},
				CurrentContext: "x",
			})
			g.Expect(err).NotTo(HaveOccurred())
			secrets := fake.NewClientBuilder().WithObjects(testSecret(secret.Kubeconfig, map[string][]byte{secret.KubeconfigDataName: data})).Build()
			connections := NewConnections(nil, secrets, secrets, 0)
			unhurried(connections)

			_, err = connections.Initialized(context.Background(), testCluster, ConfigUploaded)
			var unusable *certs.UnusableError
			g.Expect(errors.As(err, &unusable)).To(BeTrue(), "%v", err)
			g.Expect(ran).NotTo(BeAnExistingFile())
			g.Expect(sent).To(BeEmpty())
			_, err = connections.Config(context.Background(), testCluster)
			g.Expect(errors.As(err, &unusable)).To(BeTrue(), "%v", err)
		})
	}
}
