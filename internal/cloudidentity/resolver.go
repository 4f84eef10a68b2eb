// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudidentity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/infrastructure/v1beta2"
	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloudevents"
)

// Account is a tenant of a cloud, and its credentials.
type Account struct {
	// Cloud is the kind of the cloud.
	Cloud infrav1.CloudKind
	// Endpoint is the endpoint of the cloud.
	Endpoint string
	// CA holds the certificates, in PEM format, that verify the endpoint, or CAFile does; the system's
	// if both are empty.
	CA     []byte
	CAFile string
	// Tenant is the tenant that the token must belong to; of a Kubernetes cluster, the namespace. Any
	// tenant of a local cloud if it is empty.
	Tenant string
	// Token is the token of the tenant, or TokenFile holds it and is read again.
	Token, TokenFile string
}

// Connection is a cloud that can be closed.
type Connection interface {
	cloud.Cloud
	// Check asks the cloud whether it accepts the credentials, and permits what Foo needs.
	Check(ctx context.Context) error
	// Close releases what the connection holds.
	Close()
}

// Options configures a Resolver. All fields are required, except for AlwaysReadSecrets.
type Options struct {
	// Client reads FooClusterIdentities, FooClusters and Namespaces; it may cache them.
	Client client.Reader
	// Secrets reads Secrets, and must not cache them.
	Secrets client.Reader
	// AlwaysReadSecrets makes each use of an identity read its Secret, so that changed credentials
	// are used even if nobody calls Check.
	AlwaysReadSecrets bool
	// Default is the cloud of clusters that name no identity.
	Default cloud.Cloud
	// Connect creates a connection. It need not call the cloud; its error describes what is wrong
	// with the account.
	Connect func(Account) (Connection, error)
	// Follow reports the events of a cloud to the controllers of the objects in the scope, until
	// stop is called.
	Follow func(cloudevents.Watcher, cloudevents.Scope) (stop func())
}

// Resolver implements Clouds by the identities that FooClusters name. It is safe for concurrent
// use.
type Resolver struct {
	Options

	mu    sync.Mutex
	known map[string]*connected
}

var (
	_ Clouds           = &Resolver{}
	_ manager.Runnable = &Resolver{}
)

// connected is a connection, and what it was created from.
type connected struct {
	Connection

	identity, secret string
	stop             func()
}

func (c *connected) close() {
	c.stop()
	c.Close()
}

// NewResolver returns a Resolver without connections.
func NewResolver(options Options) *Resolver {
	return &Resolver{Options: options, known: map[string]*connected{}}
}

// OfFooCluster implements Clouds.
func (r *Resolver) OfFooCluster(ctx context.Context, fooCluster *infrav1.FooCluster) cloud.Cloud {
	if !fooCluster.Spec.IdentityRef.IsDefined() {
		return r.Default
	}
	found, err := r.resolve(ctx, fooCluster)
	if err != nil {
		return refusal{err}
	}
	return found
}

// OfCluster implements Clouds.
func (r *Resolver) OfCluster(ctx context.Context, key client.ObjectKey) cloud.Cloud {
	if key.Name == "" {
		return r.ofRemains(ctx, key)
	}
	cluster := &clusterv1.Cluster{}
	err := r.Client.Get(ctx, key, cluster)
	if apierrors.IsNotFound(err) {
		return r.ofRemains(ctx, key)
	}
	if err != nil {
		return refusal{fmt.Errorf("getting Cluster %s, which determines the cloud: %w", key.Name, err)}
	}
	fooCluster, err := fooClusterOf(ctx, r.Client, cluster)
	switch {
	case apierrors.IsNotFound(err) && !cluster.DeletionTimestamp.IsZero():
		return r.ofRemains(ctx, key)
	case err != nil:
		return refusal{fmt.Errorf("finding the cloud: %w", err)}
	case fooCluster == nil:
		return r.Default
	default:
		return r.OfFooCluster(ctx, fooCluster)
	}
}

// ofRemains returns the cloud of what is left of a Cluster that is gone, or whose FooCluster is. A
// FooCluster that still exists determines the cloud. Without one, only a manager without identities
// can know the cloud: any other cloud would answer that nothing is left.
func (r *Resolver) ofRemains(ctx context.Context, cluster client.ObjectKey) cloud.Cloud {
	fooClusters := &infrav1.FooClusterList{}
	if err := r.Client.List(ctx, fooClusters, client.InNamespace(cluster.Namespace)); err != nil {
		return refusal{fmt.Errorf("listing FooClusters: %w", err)}
	}
	for i := range fooClusters.Items {
		if cluster.Name != "" && ClusterOf(&fooClusters.Items[i]) == cluster {
			return r.OfFooCluster(ctx, &fooClusters.Items[i])
		}
	}
	identities := &infrav1.FooClusterIdentityList{}
	if err := r.Client.List(ctx, identities, client.Limit(1)); err != nil {
		return refusal{fmt.Errorf("listing FooClusterIdentities: %w", err)}
	}
	if len(identities.Items) > 0 {
		return refusal{unauthorized("the FooCluster is gone, so it is unknown which FooClusterIdentity was used; create the Cluster and its " +
			"FooCluster again, or remove the finalizer once nothing is left in the cloud")}
	}
	return r.Default
}

func unauthorized(format string, arguments ...any) error {
	return &cloud.UnauthorizedError{Message: fmt.Sprintf(format, arguments...)}
}

func (r *Resolver) resolve(ctx context.Context, fooCluster *infrav1.FooCluster) (cloud.Cloud, error) {
	name := fooCluster.Spec.IdentityRef.Name
	identity := &infrav1.FooClusterIdentity{}
	err := r.Client.Get(ctx, client.ObjectKey{Name: name}, identity)
	if apierrors.IsNotFound(err) {
		return nil, unauthorized("spec.identityRef of FooCluster %s: there is no FooClusterIdentity %s", fooCluster.Name, name)
	}
	if err != nil {
		return nil, fmt.Errorf("getting FooClusterIdentity %s: %w", name, err)
	}
	allowed, err := Allows(ctx, r.Client, identity, fooCluster.Namespace)
	if err != nil {
		return nil, err
	}
	if !allowed {
		return nil, unauthorized("spec.identityRef of FooCluster %s: FooClusterIdentity %s does not allow namespace %s; see its spec.allowedNamespaces",
			fooCluster.Name, name, fooCluster.Namespace)
	}
	if known := r.lookup(identity); known != nil && !r.AlwaysReadSecrets {
		return known, nil
	}
	return r.connect(ctx, identity)
}

func (r *Resolver) lookup(identity *infrav1.FooClusterIdentity) *connected {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.known[identity.Name]
	if !ok || known.identity != versionOf(identity) {
		return nil
	}
	return known
}

// versionOf identifies everything in an identity that a connection is created from, except the
// Secret.
func versionOf(identity *infrav1.FooClusterIdentity) string {
	return fmt.Sprintf("%s/%d", identity.UID, identity.Generation)
}

// connect reads the Secret, and creates a connection unless there is one for the same identity and
// Secret.
func (r *Resolver) connect(ctx context.Context, identity *infrav1.FooClusterIdentity) (*connected, error) {
	secret, err := r.secret(ctx, identity)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	version := versionOf(identity)
	known, ok := r.known[identity.Name]
	if ok && known.identity == version && known.secret == secret.ResourceVersion {
		return known, nil
	}
	made, err := r.Connect(Account{
		Cloud:    identity.Spec.Cloud,
		Endpoint: identity.Spec.Endpoint, CA: identity.Spec.CABundle, Tenant: identity.Spec.Tenant, Token: token(secret),
	})
	if err != nil {
		return nil, unauthorized("FooClusterIdentity %s: %v", identity.Name, err)
	}
	if ok {
		known.close()
	}
	r.known[identity.Name] = &connected{
		Connection: made, identity: version, secret: secret.ResourceVersion, stop: r.Follow(made, Scope(r.Client, identity.Name)),
	}
	return r.known[identity.Name], nil
}

// SecretError reports what is wrong with the Secret of an identity. It wraps an UnauthorizedError
// of the cloud.
type SecretError struct {
	// Reason is one of the reasons of FooClusterIdentity's Ready condition.
	Reason string
	// Message names the Secret and the problem.
	Message string
}

func (e *SecretError) Error() string { return e.Message }

// Unwrap returns an UnauthorizedError.
func (e *SecretError) Unwrap() error { return &cloud.UnauthorizedError{Message: e.Message} }

func (r *Resolver) secret(ctx context.Context, identity *infrav1.FooClusterIdentity) (*corev1.Secret, error) {
	reference := identity.Spec.CredentialsRef
	key := client.ObjectKey{Namespace: reference.Namespace, Name: reference.Name}
	secret := &corev1.Secret{}
	err := r.Secrets.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		r.Forget(identity.Name)
		return nil, &SecretError{
			Reason:  infrav1.FooClusterIdentitySecretMissingReason,
			Message: fmt.Sprintf("spec.credentialsRef of FooClusterIdentity %s: there is no Secret %s", identity.Name, key),
		}
	}
	if err != nil {
		return nil, fmt.Errorf("getting Secret %s of FooClusterIdentity %s: %w", key, identity.Name, err)
	}
	if problem := malformed(secret); problem != "" {
		r.Forget(identity.Name)
		return nil, &SecretError{
			Reason:  infrav1.FooClusterIdentitySecretMalformedReason,
			Message: fmt.Sprintf("spec.credentialsRef of FooClusterIdentity %s: Secret %s %s", identity.Name, key, problem),
		}
	}
	return secret, nil
}

// malformed returns why a Secret cannot be an identity's; empty if it can. A Secret of another type
// has its token for another purpose.
func malformed(secret *corev1.Secret) string {
	switch {
	case secret.Type != infrav1.FooClusterIdentitySecretType:
		return fmt.Sprintf("has the type %s, but must have %s; the type of a Secret is immutable, so delete it and create it again", secret.Type, infrav1.FooClusterIdentitySecretType)
	case token(secret) == "":
		return "has no token under the key " + infrav1.FooClusterIdentityTokenKey
	}
	return ""
}

func token(secret *corev1.Secret) string {
	return strings.TrimSpace(string(secret.Data[infrav1.FooClusterIdentityTokenKey]))
}

// Check reads the Secret of an identity again, starts using it if it has changed, and asks the
// cloud whether it accepts the token. The error is a SecretError, a cloud error, or an API server
// error.
func (r *Resolver) Check(ctx context.Context, identity *infrav1.FooClusterIdentity) error {
	connection, err := r.connect(ctx, identity)
	if err != nil {
		return err
	}
	return connection.Check(ctx)
}

// Forget closes the connection of an identity.
func (r *Resolver) Forget(identity string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.known[identity]; ok {
		known.close()
		delete(r.known, identity)
	}
}

// Start implements manager.Runnable: it closes all connections when ctx ends, since they would go on
// following events and managing pools.
func (r *Resolver) Start(ctx context.Context) error {
	<-ctx.Done()
	r.mu.Lock()
	defer r.mu.Unlock()
	for identity, known := range r.known {
		known.close()
		delete(r.known, identity)
	}
	return nil
}

// Allows reports whether an identity allows FooClusters of a namespace to use it.
func Allows(ctx context.Context, reader client.Reader, identity *infrav1.FooClusterIdentity, namespace string) (bool, error) {
	allowed := identity.Spec.AllowedNamespaces
	switch {
	case slices.Contains(allowed.List, namespace):
		return true, nil
	case allowed.Selector == nil:
		return false, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(allowed.Selector)
	if err != nil {
		return false, fmt.Errorf("spec.allowedNamespaces.selector of FooClusterIdentity %s: %w", identity.Name, err)
	}
	object := &corev1.Namespace{}
	if err := reader.Get(ctx, client.ObjectKey{Name: namespace}, object); err != nil {
		return false, fmt.Errorf("getting the labels of namespace %s: %w", namespace, err)
	}
	return selector.Matches(labels.Set(object.Labels)), nil
}
