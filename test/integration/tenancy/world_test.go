//go:build integration

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package tenancy

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/fake"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	machinefake "github.com/capfoo/cluster-api-provider-foo/cloud/local/engine/fake"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/server"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/store"
	"github.com/capfoo/cluster-api-provider-foo/controllers/cluster"
	"github.com/capfoo/cluster-api-provider-foo/controllers/clusteridentity"
	"github.com/capfoo/cluster-api-provider-foo/controllers/machine"
	"github.com/capfoo/cluster-api-provider-foo/controllers/machinepool"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudidentity"
	"github.com/capfoo/cluster-api-provider-foo/internal/clouds"
	"github.com/capfoo/cluster-api-provider-foo/internal/infratest"
	envtestenv "github.com/capfoo/cluster-api-provider-foo/test/envtest"
)

var (
	env *envtestenv.Environment
	c   client.Client
	// shared is the manager's own cloud, which no cluster in these tests uses.
	shared = fake.New(fake.Options{})
	// foocloud is the cloud that the tenants share.
	foocloud *served
)

func TestTenancy(t *testing.T) {
	envtestenv.Run(t, "Tenants", &env, envtestenv.Start, func(ctx context.Context) {
		c = env.Client
		foocloud = serve()
		startManager(ctx)
	})
}

// served is a cloud served by its API.
type served struct {
	engine   *engine.Engine
	machines *machinefake.Machines
	handler  atomic.Pointer[server.Server]
	// down is true while the API answers nobody.
	down atomic.Bool
	web  *httptest.Server
}

// quotaOfGreen is how many instances the tenant green may have.
const quotaOfGreen = 1

func serve() *served {
	GinkgoHelper()
	state, err := store.Open(filepath.Join(GinkgoT().TempDir(), "state.db"))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(state.Close)
	s := &served{machines: machinefake.NewMachines()}
	s.engine = engine.New(engine.Options{
		Store: state, Machines: s.machines, Balancers: machinefake.NewBalancers(), Network: netip.MustParsePrefix("10.91.0.0/24"),
		Zones:         []cloud.Zone{{Name: "zone-a", ControlPlane: true}},
		InstanceTypes: []cloud.InstanceType{{Name: "small", CPUs: 2, MemoryBytes: 1 << 31}},
		Images: func() ([]cloud.Image, error) {
			return []cloud.Image{{KubernetesVersion: infratest.KubernetesVersion}}, nil
		},
		Limits: map[string]cloud.Resources{"green": {Instances: quotaOfGreen}},
	})
	ctx, stop := context.WithCancel(context.Background())
	Expect(s.engine.Start(ctx)).To(Succeed())
	s.setTokens(map[string]string{"red": "token-of-red", "blue": "token-of-blue"})
	s.web = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.down.Load() {
			if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
				_ = conn.Close()
			}
			return
		}
		s.handler.Load().ServeHTTP(w, r)
	}))
	DeferCleanup(func() {
		s.web.CloseClientConnections()
		s.web.Close()
		stop()
		s.engine.Wait()
	})
	return s
}

// setTokens makes these the only tokens that the cloud accepts.
func (s *served) setTokens(tokens map[string]string) {
	GinkgoHelper()
	var tenants []server.Tenant
	for name, token := range tokens {
		tenants = append(tenants, server.Tenant{Name: name, Token: token, Backend: s.engine.Tenant(name)})
	}
	handler, err := server.New(tenants)
	Expect(err).NotTo(HaveOccurred())
	s.handler.Store(handler)
}

func (s *served) certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.web.Certificate().Raw})
}

// startManager runs the infrastructure controllers like the manager.
func startManager(ctx context.Context) {
	GinkgoHelper()
	mgr, err := env.NewManager()
	Expect(err).NotTo(HaveOccurred())
	events := cloudevents.New(shared, nil, wait.Backoff{Duration: 10 * time.Millisecond, Factor: 1, Steps: 1})
	Expect(mgr.Add(events)).To(Succeed())
	resolver := cloudidentity.NewResolver(cloudidentity.Options{
		Client: mgr.GetClient(), Secrets: mgr.GetAPIReader(), Default: shared, Follow: events.Follow,
		Connect: clouds.ConnectAndManage,
	})
	Expect(mgr.Add(resolver)).To(Succeed())
	Expect(clusteridentity.SetupWithManager(ctx, mgr, clusteridentity.Options{Checker: resolver})).To(Succeed())
	Expect(cluster.SetupWithManager(ctx, mgr, cluster.Options{Clouds: resolver, Events: events})).To(Succeed())
	Expect(machine.SetupWithManager(ctx, mgr, machine.Options{Clouds: resolver, Events: events})).To(Succeed())
	Expect(machinepool.SetupWithManager(ctx, mgr, machinepool.Options{Clouds: resolver, Events: events})).To(Succeed())
	envtestenv.RunManager(mgr)
}
