// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package management

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/capfoo/cluster-api-provider-foo/internal/supervisor"
)

// Names of the processes and of their logs.
const (
	etcdProcess              = "management-etcd"
	apiServerProcess         = "management-apiserver"
	controllerManagerProcess = "management-controller-manager"
)

// Options of a management cluster. All except Port are required.
type Options struct {
	// Programs is the folder that holds etcd, kube-apiserver and kube-controller-manager.
	Programs string
	// Dir holds the data and the certificates. Data from an earlier start is used again.
	Dir string
	// Kubeconfig is the path that the administrator's kubeconfig is written to.
	Kubeconfig string
	// Port of the API server on 127.0.0.1; any free one if zero.
	Port int
	// Supervisor runs the processes.
	Supervisor *supervisor.Supervisor
}

// Cluster is a management cluster whose API server answers.
type Cluster struct {
	options   Options
	authority *authority
	url       string
	admin     *rest.Config
	// http presents the administrator's certificate, which etcd accepts too.
	http *http.Client
	// aggregated lists the installed ClusterRoles whose rules a controller collects from others.
	aggregated sets.Set[string]
}

// Start brings up etcd and the API server, and writes the administrator's kubeconfig.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	ports, err := freePorts(ctx, 3)
	if err != nil {
		return nil, err
	}
	if options.Port != 0 {
		ports[2] = options.Port
	}
	ca, err := newAuthority("foo-quickstart-management")
	if err != nil {
		return nil, err
	}
	c := &Cluster{options: options, authority: ca, url: secureURL(ports[2]), aggregated: sets.New[string]()}
	if err := c.writePKI(); err != nil {
		return nil, err
	}
	if c.admin, err = c.writeKubeconfig(options.Kubeconfig, "foo-quickstart", "system:masters"); err != nil {
		return nil, err
	}
	if c.http, err = rest.HTTPClientFor(c.admin); err != nil {
		return nil, err
	}
	if err := options.Supervisor.Start(ctx, c.etcd(ports[0], ports[1])); err != nil {
		return nil, err
	}
	return c, options.Supervisor.Start(ctx, c.apiServer(ports[0], ports[2]))
}

// Config returns the administrator's client configuration, without rate limits. The caller may
// change it.
func (c *Cluster) Config() *rest.Config { return rest.CopyConfig(c.admin) }

// Context is the name of the context in the kubeconfigs of a management cluster.
const Context = "foo-management"

// writeKubeconfig writes a kubeconfig for a user with these groups to path, readable by its owner only, and
// returns the same as a client configuration.
func (c *Cluster) writeKubeconfig(path, user string, groups ...string) (*rest.Config, error) {
	id, err := c.authority.client(user, groups...)
	if err != nil {
		return nil, err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters[Context] = &clientcmdapi.Cluster{Server: c.url, CertificateAuthorityData: c.authority.pem()}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{ClientCertificateData: id.cert, ClientKeyData: id.key}
	config.Contexts[Context] = &clientcmdapi.Context{Cluster: Context, AuthInfo: user, Namespace: "default"}
	config.CurrentContext = Context
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return nil, fmt.Errorf("write kubeconfig of %s: %w", user, err)
	}
	restConfig, err := clientcmd.NewDefaultClientConfig(*config, nil).ClientConfig()
	if err != nil {
		return nil, err
	}
	restConfig.QPS = -1
	return restConfig, nil
}

// pki returns the path of a file with a certificate or a key of etcd, the API server or the controller manager.
func (c *Cluster) pki(name string) string { return filepath.Join(c.options.Dir, "pki", name) }

func (c *Cluster) writePKI() error {
	for name, issue := range map[string]func(name string) (identity, error){
		"etcd":                       c.authority.server,
		"kube-apiserver":             c.authority.server,
		"kube-apiserver-etcd-client": func(name string) (identity, error) { return c.authority.client(name) },
		"kube-controller-manager":    c.authority.server,
		"service-account":            c.authority.server,
	} {
		id, err := issue(name)
		if err != nil {
			return err
		}
		if err := id.write(c.pki(""), name); err != nil {
			return err
		}
	}
	return os.WriteFile(c.pki("ca.crt"), c.authority.pem(), 0o600)
}

func (c *Cluster) program(name string) string { return filepath.Join(c.options.Programs, name) }

func (c *Cluster) etcd(clientPort, peerPort int) supervisor.Process {
	return supervisor.Process{
		Name: etcdProcess,
		Path: c.program("etcd"),
		Args: []string{
			"--name=management", "--data-dir=" + filepath.Join(c.options.Dir, "etcd"),
			"--listen-client-urls=" + secureURL(clientPort), "--advertise-client-urls=" + secureURL(clientPort),
			"--listen-peer-urls=" + secureURL(peerPort), "--initial-advertise-peer-urls=" + secureURL(peerPort),
			"--initial-cluster=management=" + secureURL(peerPort),
			"--client-cert-auth", "--trusted-ca-file=" + c.pki("ca.crt"), "--cert-file=" + c.pki("etcd.crt"), "--key-file=" + c.pki("etcd.key"),
			"--peer-client-cert-auth", "--peer-trusted-ca-file=" + c.pki("ca.crt"),
			"--peer-cert-file=" + c.pki("etcd.crt"), "--peer-key-file=" + c.pki("etcd.key"),
			"--unsafe-no-fsync", "--log-level=warn",
		},
		Ready: probe(c.http, secureURL(clientPort)+"/readyz"),
	}
}

func (c *Cluster) apiServer(etcdPort, port int) supervisor.Process {
	return supervisor.Process{
		Name: apiServerProcess,
		Path: c.program("kube-apiserver"),
		Args: []string{
			"--etcd-servers=" + secureURL(etcdPort), "--etcd-cafile=" + c.pki("ca.crt"),
			"--etcd-certfile=" + c.pki("kube-apiserver-etcd-client.crt"), "--etcd-keyfile=" + c.pki("kube-apiserver-etcd-client.key"),
			"--bind-address=" + loopback, "--advertise-address=" + loopback, "--secure-port=" + strconv.Itoa(port),
			"--tls-cert-file=" + c.pki("kube-apiserver.crt"), "--tls-private-key-file=" + c.pki("kube-apiserver.key"),
			"--client-ca-file=" + c.pki("ca.crt"), "--authorization-mode=RBAC", "--anonymous-auth=false",
			"--service-account-issuer=https://kubernetes.default.svc",
			"--service-account-key-file=" + c.pki("service-account.crt"),
			"--service-account-signing-key-file=" + c.pki("service-account.key"),
			"--service-cluster-ip-range=10.96.0.0/16",
			// No proxy for Services runs here, so the API server calls a webhook's Service at its
			// endpoints.
			"--enable-aggregator-routing=true",
			// There is only one API server, and nobody looks it up through the kubernetes Service.
			"--endpoint-reconciler-type=none",
			"--profiling=false",
		},
		// With Go's default, it would spend a third of its time at startup on garbage collection. The
		// limit keeps the garbage from growing with the clusters: after 20, it had 3.5 GiB.
		Env:   []string{"GOGC=400", "GOMEMLIMIT=1GiB"},
		Ready: probe(c.http, c.url+"/readyz"),
	}
}

// controllerManager runs the controllers that Cluster API relies on: they delete owned objects and
// namespaces, and build the role of Cluster API's core from the roles of its providers.
func (c *Cluster) controllerManager(kubeconfig string, port int) (supervisor.Process, error) {
	// It may refuse the certificates of clients until it knows their authority.
	anonymous, err := rest.HTTPClientFor(rest.AnonymousClientConfig(c.admin))
	if err != nil {
		return supervisor.Process{}, err
	}
	return supervisor.Process{
		Name: controllerManagerProcess,
		Path: c.program("kube-controller-manager"),
		Args: []string{
			"--kubeconfig=" + kubeconfig, "--authentication-kubeconfig=" + kubeconfig, "--authorization-kubeconfig=" + kubeconfig,
			"--bind-address=" + loopback, "--secure-port=" + strconv.Itoa(port),
			"--tls-cert-file=" + c.pki("kube-controller-manager.crt"), "--tls-private-key-file=" + c.pki("kube-controller-manager.key"),
			"--controllers=garbage-collector-controller,namespace-controller,clusterrole-aggregation-controller",
			"--use-service-account-credentials", "--leader-elect=false", "--profiling=false",
		},
		Ready: probe(anonymous, secureURL(port)+"/healthz"),
	}, nil
}

// StartControllerManager starts the garbage collector and other controllers, and returns once the
// providers have their permissions. Call it between installing and starting the providers: it
// discovers later CRDs only every 30 s.
func (c *Cluster) StartControllerManager(ctx context.Context) error {
	ports, err := freePorts(ctx, 1)
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(c.options.Dir, "kube-controller-manager.kubeconfig")
	if _, err := c.writeKubeconfig(kubeconfig, "system:kube-controller-manager"); err != nil {
		return err
	}
	process, err := c.controllerManager(kubeconfig, ports[0])
	if err != nil {
		return err
	}
	if err := c.options.Supervisor.Start(ctx, process); err != nil {
		return err
	}
	kube, err := c.client()
	if err != nil {
		return err
	}
	return waitAggregated(ctx, kube, c.aggregated)
}
