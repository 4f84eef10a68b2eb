// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	coreclient "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
)

const (
	// requestTimeout is how long a call may take. A watch may take forever.
	requestTimeout = 30 * time.Second
	// requestsPerSecond and requestsInBurst limit the requests to the outer cluster.
	requestsPerSecond = 100
	requestsInBurst   = 200

	// askAgain is how often to ask for a permission that the account may get later.
	askAgain = time.Minute

	userAgent = "foo-cloud"
)

// Options defines which outer cluster to use, and as which tenant.
type Options struct {
	// Endpoint is https://host:port of the API server.
	Endpoint string
	// Namespace of the tenant.
	Namespace string
	// Token of a service account. Empty if TokenFile is set.
	Token string
	// TokenFile holds the token. It is read again as time passes, so the token can be replaced.
	TokenFile string
	// CA holds the certificates, in PEM format, that verify the endpoint; the system's if empty.
	CA []byte
	// CAFile holds the same in a file. Empty if CA is set.
	CAFile string
}

// Cloud is a namespace of an outer cluster.
type Cloud struct {
	namespace, endpoint string
	// api is for calls, which end in time, and streams for watches.
	api, streams coreclient.CoreV1Interface
	reviews      authorizationclient.AuthorizationV1Interface
	// choosing is held from the choice of a zone for an instance until the instance exists.
	choosing sync.Mutex
	// starting is true while load balancers may have holders, or no ready backend yet.
	starting atomic.Bool
	// askAgain is how often to ask whether Nodes may be watched by now.
	askAgain time.Duration
	stop     context.CancelFunc
	done     chan struct{}
}

var _ cloud.Cloud = &Cloud{}

// New returns a cloud. It does not connect yet. It returns an error if the options are invalid.
func New(options Options) (*Cloud, error) {
	if (options.Token == "") == (options.TokenFile == "") {
		return nil, errors.New("give either a token or a token file")
	}
	endpoint, err := url.Parse(options.Endpoint)
	if err != nil || endpoint.Scheme != "https" || endpoint.Host == "" {
		return nil, fmt.Errorf("endpoint %q: must be https://host:port of a Kubernetes API server", options.Endpoint)
	}
	return NewForConfig(&rest.Config{
		Host: options.Endpoint, BearerToken: options.Token, BearerTokenFile: options.TokenFile,
		TLSClientConfig: rest.TLSClientConfig{CAData: options.CA, CAFile: options.CAFile},
	}, options.Namespace)
}

// NewForConfig returns a cloud in a namespace of the cluster that the configuration is for.
func NewForConfig(config *rest.Config, namespace string) (*Cloud, error) {
	if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
		return nil, fmt.Errorf("namespace %q: %s", namespace, problems[0])
	}
	stream := rest.CopyConfig(config)
	stream.UserAgent, stream.QPS, stream.Burst = userAgent, requestsPerSecond, requestsInBurst
	call := rest.CopyConfig(stream)
	call.Timeout = requestTimeout
	call.Wrap(func(next http.RoundTripper) http.RoundTripper { return &silence{next: next} })
	c := &Cloud{namespace: namespace, endpoint: config.Host, askAgain: askAgain}
	var err error
	if c.api, err = coreclient.NewForConfig(call); err != nil {
		return nil, fmt.Errorf("client of %s: %w", config.Host, err)
	}
	if c.streams, err = coreclient.NewForConfig(stream); err != nil {
		return nil, fmt.Errorf("client of %s: %w", config.Host, err)
	}
	if c.reviews, err = authorizationclient.NewForConfig(call); err != nil {
		return nil, fmt.Errorf("client of %s: %w", config.Host, err)
	}
	return c, nil
}

// Manage calls Run in the background until Close.
func (c *Cloud) Manage() {
	ctx, stop := context.WithCancel(context.Background())
	c.stop, c.done = stop, make(chan struct{})
	go func() {
		defer close(c.done)
		c.Run(ctx)
	}()
}

// Close ends what Manage began.
func (c *Cloud) Close() {
	if c.stop != nil {
		c.stop()
		<-c.done
	}
}

func (c *Cloud) pods() coreclient.PodInterface { return c.api.Pods(c.namespace) }

func (c *Cloud) secrets() coreclient.SecretInterface { return c.api.Secrets(c.namespace) }

func (c *Cloud) services() coreclient.ServiceInterface { return c.api.Services(c.namespace) }

// merge merges a change into an object, unless that is gone.
func (c *Cloud) merge(ctx context.Context, resource, name string, change map[string]any) error {
	patch, err := json.Marshal(change)
	if err != nil {
		return fmt.Errorf("encode a change of %s %s: %w", resource, name, err)
	}
	// Read the answer: one that is no object did not come from an API server.
	_, err = c.api.RESTClient().Patch(types.MergePatchType).Namespace(c.namespace).Resource(resource).Name(name).Body(patch).Do(ctx).Get()
	if isGone(err) {
		return nil
	}
	return c.translate(err)
}

// mark sets one of the labels or annotations, as the field says, of exactly this Pod. If the value is
// nil, it removes the key.
func (c *Cloud) mark(ctx context.Context, pod *corev1.Pod, field, key string, value any) error {
	return c.merge(ctx, "pods", pod.Name, map[string]any{"metadata": map[string]any{"uid": pod.UID, field: map[string]any{key: value}}})
}

// verify returns an error if the namespace is not set up for Foo, or does not stay. What a cluster
// answers to be missing means nothing then: it may be another cluster behind the same address.
func (c *Cloud) verify(ctx context.Context) error {
	if _, err := c.config(ctx); err != nil {
		return err
	}
	return c.stays(ctx)
}

// stays returns an error if the namespace is being deleted. Its Pods go first then, in any order, and
// its ConfigMap goes later.
func (c *Cloud) stays(ctx context.Context) error {
	namespace, err := c.api.Namespaces().Get(ctx, c.namespace, metav1.GetOptions{})
	if err == nil && !namespace.DeletionTimestamp.IsZero() {
		return &cloud.UnauthorizedError{Message: fmt.Sprintf("namespace %s of the cluster at %s is being deleted", c.namespace, c.endpoint)}
	}
	return c.translate(err)
}

// missing returns a NotFoundError for something that the API server does not have, or the error of
// verify.
func (c *Cloud) missing(ctx context.Context, kind, name string) error {
	if err := c.verify(ctx); err != nil {
		return err
	}
	return &cloud.NotFoundError{Kind: kind, Name: name}
}

// isDeleting reports whether an object is being deleted.
func isDeleting(pod *corev1.Pod) bool { return !pod.DeletionTimestamp.IsZero() }
