// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

// clusterAPI is the module whose CRDs are installed, and the folders in it that have them.
const clusterAPI = "sigs.k8s.io/cluster-api@v1.14.2"

var clusterAPIFolders = []string{"core/config/crd/bases", "bootstrap/kubeadm/config/crd/bases"}

// standIns are kinds that the suite itself plays: the infrastructure of control planes.
//
//go:embed standins.yaml
var standIns []byte

// startTime bounds the start of the kube-apiserver and of each program.
const startTime = 2 * time.Minute

// Environment is a kube-apiserver with Cluster API's kinds and the provider's.
type Environment struct {
	// Client reads and writes without a cache, with all permissions.
	Client client.Client
	// Config connects to the kube-apiserver with all permissions.
	Config *rest.Config

	server *envtest.Environment
	crds   map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition
}

// Start starts a kube-apiserver with the CRDs of Cluster API. Its programs are in the folder that
// KUBEBUILDER_ASSETS names. The caller must Stop it.
func Start(ctx context.Context) (*Environment, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	// What controller-runtime would log is in the errors, too.
	log.SetLogger(logr.Discard())
	server := &envtest.Environment{Scheme: scheme, ControlPlaneStartTimeout: startTime, ControlPlaneStopTimeout: startTime}
	config, err := server.Start()
	if err != nil {
		return nil, fmt.Errorf("start a kube-apiserver of the folder that KUBEBUILDER_ASSETS names (%q): %w", os.Getenv("KUBEBUILDER_ASSETS"), err)
	}
	config.QPS, config.WarningHandler = -1, rest.NoWarnings{}
	e := &Environment{Config: config, server: server, crds: map[schema.GroupKind]*apiextensionsv1.CustomResourceDefinition{}}
	e.Client, err = client.New(config, client.Options{Scheme: scheme})
	if err == nil {
		err = e.installClusterAPI(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return e, nil
}

// Stop stops the kube-apiserver.
func (e *Environment) Stop() error { return e.server.Stop() }

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, rbacv1.AddToScheme, apiextensionsv1.AddToScheme, clusterv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// installClusterAPI installs the CRDs of Cluster API's module, which Go downloads unless it is
// there.
func (e *Environment) installClusterAPI(ctx context.Context) error {
	command := exec.CommandContext(ctx, "go", "mod", "download", "-json", clusterAPI)
	command.Dir, command.Env = os.TempDir(), append(os.Environ(), "GOFLAGS=")
	answer, err := command.Output()
	var module struct{ Dir, Error string }
	if parseErr := json.Unmarshal(answer, &module); err != nil || parseErr != nil || module.Error != "" {
		return fmt.Errorf("go mod download %s: %w", clusterAPI, errors.Join(err, parseErr, errors.New(module.Error)))
	}
	var paths []string
	for _, folder := range clusterAPIFolders {
		paths = append(paths, filepath.Join(module.Dir, folder))
	}
	objects, err := readManifests(paths)
	if err != nil {
		return err
	}
	standing, err := decode(standIns)
	if err != nil {
		return err
	}
	for _, object := range objects {
		labelContracts(object)
	}
	return e.install(ctx, append(objects, standing...))
}

// labelContracts adds the labels that Cluster API's CRDs get only from kustomize.
func labelContracts(crd *unstructured.Unstructured) {
	labels := map[string]string{}
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, version := range versions {
		if name, ok := fields.Get(version, "name").(string); ok && strings.HasPrefix(name, "v1beta") {
			labels[clusterv1.GroupVersion.Group+"/"+name] = name
		}
	}
	crd.SetLabels(labels)
}

// install applies objects, and returns once the CRDs among them are served.
func (e *Environment) install(ctx context.Context, objects []*unstructured.Unstructured) error {
	var crds []*apiextensionsv1.CustomResourceDefinition
	var others []*unstructured.Unstructured
	for _, object := range objects {
		if object.GetKind() != "CustomResourceDefinition" {
			others = append(others, object)
			continue
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, crd); err != nil {
			return fmt.Errorf("CustomResourceDefinition %s: %w", object.GetName(), err)
		}
		e.crds[schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}] = crd
		crds = append(crds, crd)
	}
	if _, err := envtest.InstallCRDs(e.Config, envtest.CRDInstallOptions{CRDs: crds, MaxTime: startTime}); err != nil {
		return fmt.Errorf("install CRDs: %w", err)
	}
	for _, object := range others {
		if err := e.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), fieldOwner, client.ForceOwnership); err != nil {
			return fmt.Errorf("install %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

// version returns the version of a kind that Cluster API uses for a version of the contract: the
// newest one that the CRD's label lists.
func (e *Environment) version(kind schema.GroupKind, contract string) (schema.GroupVersionKind, error) {
	crd := e.crds[kind]
	if crd == nil {
		return schema.GroupVersionKind{}, fmt.Errorf("no CustomResourceDefinition of %s is among the components", kind)
	}
	label := clusterv1.GroupVersion.Group + "/" + contract
	value := crd.Labels[label]
	if value == "" {
		return schema.GroupVersionKind{}, fmt.Errorf("CustomResourceDefinition %s has no label %s", crd.Name, label)
	}
	return kind.WithVersion(slices.MaxFunc(strings.Split(value, "_"), apiversion.CompareKubeAwareVersionStrings)), nil
}
