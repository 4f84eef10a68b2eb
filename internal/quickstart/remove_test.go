// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quickstart

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/capfoo/cluster-api-provider-foo/internal/management"
)

// withoutClusters runs a management cluster of the state folder that has no clusters. It knows the kinds of
// the template, and has one object of the kind that is left, which can be deleted.
func withoutClusters(t *testing.T, config Config, left string) {
	t.Helper()
	g := NewWithT(t)
	objects, err := renderTemplate(t.Context(), config)
	g.Expect(err).NotTo(HaveOccurred())
	var groups metav1.APIGroupList
	answers := map[string]any{"/api": metav1.APIVersions{Versions: []string{"v1"}}, "/apis/" + clusterv1.GroupVersion.String() + "/clusters": clusterv1.ClusterList{}}
	for _, object := range objects {
		kind := object.GroupVersionKind()
		version, plural := kind.GroupVersion().String(), strings.ToLower(kind.Kind)+"s"
		path := "/apis/" + version
		if kind.Group == "" {
			path = "/api/" + version
		}
		list, known := answers[path].(metav1.APIResourceList)
		if !known && kind.Group != "" {
			groups.Groups = append(groups.Groups, metav1.APIGroup{Name: kind.Group, Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: version, Version: kind.Version}}})
		}
		list.GroupVersion = version
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: plural, Kind: kind.Kind, Namespaced: true, Verbs: metav1.Verbs{"list", "delete"}})
		answers[path] = list
		if kind.Kind == left {
			answers[path+"/namespaces/"+object.GetNamespace()+"/"+plural+"/"+object.GetName()] = metav1.Status{Status: metav1.StatusSuccess}
		}
	}
	answers["/apis"] = groups
	serve(t, config, answers)
}

// serve runs a management cluster of the state folder that gives these answers.
func serve(t *testing.T, config Config, answers map[string]any) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, known := answers[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer) // the caller reports what it did not get
	}))
	t.Cleanup(server.Close)
	known := clientcmdapi.NewConfig()
	known.Clusters[management.Context] = &clientcmdapi.Cluster{Server: server.URL}
	known.Contexts[management.Context] = &clientcmdapi.Context{Cluster: management.Context}
	NewWithT(t).Expect(clientcmd.WriteToFile(*known, config.managementKubeconfig())).To(Succeed())
}

// A management cluster without clusters is still in use if clusterctl has moved them, for example into one
// of them: its cloud has their machines.
func TestMovedClustersAreNotDeleted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can remove a management cluster")
	}
	g := NewWithT(t)
	config := validConfig(filepath.Join(t.TempDir(), "state"))
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	defer state.close()
	withoutClusters(t, config, "")
	instances := filepath.Join(config.cloudDir(), instanceFolder)
	g.Expect(os.MkdirAll(filepath.Join(instances, "i-1"), 0o700)).To(Succeed())

	// The removal would wait for this process to end.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var said bytes.Buffer
	g.Expect(RemoveUnused(ctx, config, &said)).To(BeFalse())
	g.Expect(said.String()).To(Equal("The management cluster and the cloud stay: the cloud still has instances, perhaps of clusters that were moved; delete everything with: " + config.removeCommand() + "\n"))
	g.Expect(config.owner()).To(Equal(os.Getpid()))

	err = DeleteCluster(ctx, config, io.Discard)
	moved := `cluster "demo" does not exist here, and there are no others, but the cloud has instances; ` +
		"look for it where clusters were moved to, or delete everything with: " + config.removeCommand()
	g.Expect(err).To(And(Satisfy(IsMissing), MatchError(moved)))
	file := filepath.Join(t.TempDir(), "config")
	config.Kubeconfig = file
	g.Expect(AlreadyDeleted(config, kubeconfigFiles(file, ""), err)).To(Equal(err))
	g.Expect(mergeKubeconfig(kubeconfigFiles(file, ""), "foo-demo", config.StateDir, administrator(t, "https://a"))).To(Succeed())
	g.Expect(AlreadyDeleted(config, kubeconfigFiles(file, ""), err)).To(And(Satisfy(IsInvalid),
		MatchError(moved+"; if it is deleted, remove its context with: "+config.Kubectl()+" --kubeconfig="+file+" config delete-context foo-demo")))

	withoutClusters(t, config, "FooCluster")
	_, err = config.findOrDeleteRest(ctx)
	g.Expect(err).NotTo(HaveOccurred(), "a creation that was interrupted has left something")
	withoutClusters(t, config, "")

	// What cannot be read is not taken for nothing.
	g.Expect(os.RemoveAll(instances)).To(Succeed())
	g.Expect(os.WriteFile(instances, nil, 0o600)).To(Succeed())
	_, err = RemoveUnused(ctx, config, io.Discard)
	g.Expect(err).To(MatchError(HavePrefix("the management cluster stays, because the cloud's instances cannot be listed: ")))
	g.Expect(config.StateDir).To(BeADirectory())

	g.Expect(os.Remove(instances)).To(Succeed())
	_, _, err = config.find(ctx)
	g.Expect(err).To(And(Satisfy(IsMissing), MatchError(HaveSuffix("foo quickstart delete --state-dir="+config.StateDir))))
}

// A removal that was interrupted, perhaps by a kill, has destroyed an unknown part of the cloud.
func TestInterruptedRemovalContinues(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can remove a management cluster")
	}
	for name, again := range map[string]func(context.Context, Config, io.Writer) error{"cluster": DeleteCluster, "everything": Remove} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			config := built(t)
			config.Keep = true
			keep(g, config)
			works, err := os.ReadFile(config.program("foocloud"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(os.WriteFile(config.program("foocloud"), []byte("#!/bin/sh\nexit 1\n"), 0o700)).To(Succeed())
			g.Expect(Remove(t.Context(), config, io.Discard)).NotTo(Succeed())
			g.Expect(os.WriteFile(config.program("foocloud"), works, 0o700)).To(Succeed())

			half := And(Satisfy(IsInvalid), MatchError("the removal of "+config.StateDir+" was interrupted; continue it with: foo quickstart delete --state-dir="+config.StateDir))
			g.Expect(Up(t.Context(), config, io.Discard)).To(half)
			_, err = ListClusters(t.Context(), config)
			g.Expect(err).To(half)
			kept := config
			kept.KeepManagement = true
			g.Expect(DeleteCluster(t.Context(), kept, io.Discard)).To(half)
			g.Expect(again(t.Context(), config, io.Discard)).To(Succeed())
			g.Expect(config.StateDir).NotTo(BeADirectory())
		})
	}
}

// Nothing is destroyed yet while the programs stop, but nobody needs them any more.
func TestRemovalThatIsInterruptedWhileProgramsStopContinues(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can remove a management cluster")
	}
	g := NewWithT(t)
	config := built(t)
	config.Keep = true
	state, err := openState(config)
	g.Expect(err).NotTo(HaveOccurred())
	withoutClusters(t, config, "")
	g.Expect(os.Mkdir(config.cloudDir(), 0o700)).To(Succeed())
	interrupted, end := signal.NotifyContext(t.Context(), unix.SIGTERM) // this process owns the folder
	defer end()
	_, err = RemoveUnused(interrupted, config, io.Discard)
	g.Expect(err).To(MatchError(errLeft))
	state.close()

	var said bytes.Buffer
	g.Expect(DeleteCluster(t.Context(), config, &said)).To(Succeed())
	g.Expect(said.String()).To(Equal("Continuing to delete the management cluster and the cloud.\n"))
	g.Expect(config.StateDir).NotTo(BeADirectory())
}

// If the creation of the first cluster is interrupted or fails in time for the cluster, but too late for the
// management cluster, the user learns that this runs.
func TestFailureBetweenStartAndCreation(t *testing.T) {
	g := NewWithT(t)
	config := validConfig(t.TempDir())
	interrupted, cancel := context.WithCancel(t.Context())
	cancel()
	const says, remedy = "interrupted; cluster demo was not created", "delete it with: foo quickstart delete --state-dir=/state"
	const runs = "; the management cluster runs: " + remedy
	g.Expect(config.notBegun(interrupted, context.Canceled, "")).To(MatchError(says))
	g.Expect(config.notBegun(interrupted, context.Canceled, remedy)).To(MatchError(says + runs))
	refused := invalid("choose another name")
	g.Expect(config.notBegun(t.Context(), refused, "")).To(Equal(refused))
	g.Expect(config.notBegun(t.Context(), refused, remedy)).To(And(Not(Satisfy(IsInvalid)), MatchError("choose another name"+runs)), "something was done")
}
