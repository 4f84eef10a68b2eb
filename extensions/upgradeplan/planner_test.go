// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package upgradeplan_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	"sigs.k8s.io/cluster-api/exp/topology/desiredstate"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/upgradeplan"
)

// offering is a source with the given versions.
func offering(versions ...string) upgradeplan.Source {
	return func(context.Context, client.ObjectKey) ([]string, error) { return versions, nil }
}

// asking is a request for an upgrade.
func asking(from, workers, to string) *runtimehooksv1.GenerateUpgradePlanRequest {
	return &runtimehooksv1.GenerateUpgradePlanRequest{
		Cluster:                           clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo"}},
		FromControlPlaneKubernetesVersion: from, FromWorkersKubernetesVersion: workers, ToKubernetesVersion: to,
	}
}

func planned(t testing.TB, source upgradeplan.Source, request *runtimehooksv1.GenerateUpgradePlanRequest) *runtimehooksv1.GenerateUpgradePlanResponse {
	t.Helper()
	response := &runtimehooksv1.GenerateUpgradePlanResponse{}
	upgradeplan.Planner{Source: source}.GenerateUpgradePlan(t.Context(), request, response)
	return response
}

func steps(response *runtimehooksv1.GenerateUpgradePlanResponse) []string {
	var versions []string
	for _, step := range response.ControlPlaneUpgrades {
		versions = append(versions, step.Version)
	}
	return versions
}

func TestPlans(t *testing.T) {
	for name, test := range map[string]struct {
		there             []string
		from, workers, to string
		want, wantWorkers []string
	}{
		"one minor version": {
			there: []string{"v1.35.4", "v1.36.3"},
			from:  "v1.35.4", workers: "v1.35.4", to: "v1.36.3", want: []string{"v1.36.3"}, wantWorkers: []string{"v1.36.3"},
		},
		"the newest of each minor version, from one that is not there": {
			there: []string{"v1.36.0", "v1.35.10", "v1.34.1", "v1.35.9", "v1.37.0", "v1.36.3"},
			from:  "v1.33.7", workers: "v1.33.7", to: "v1.36.0",
			want: []string{"v1.34.1", "v1.35.10", "v1.36.0"}, wantWorkers: []string{"v1.36.0"},
		},
		"workers once for three minor versions": {
			there: []string{"v1.31.0", "v1.32.0", "v1.33.0", "v1.34.0", "v1.35.0", "v1.36.0", "v1.37.0"},
			from:  "v1.30.0", workers: "v1.30.0", to: "v1.37.0",
			want:        []string{"v1.31.0", "v1.32.0", "v1.33.0", "v1.34.0", "v1.35.0", "v1.36.0", "v1.37.0"},
			wantWorkers: []string{"v1.33.0", "v1.36.0", "v1.37.0"},
		},
		"workers that lag behind": {
			there: []string{"v1.36.0", "v1.37.0", "v1.38.0"},
			from:  "v1.36.0", workers: "v1.33.0", to: "v1.38.0",
			want: []string{"v1.37.0", "v1.38.0"}, wantWorkers: []string{"v1.36.0", "v1.38.0"},
		},
		"only workers": {there: []string{"v1.36.3"}, from: "v1.36.3", workers: "v1.35.4", to: "v1.36.3", wantWorkers: []string{"v1.36.3"}},
		"no workers":   {there: []string{"v1.36.3"}, from: "v1.35.4", to: "v1.36.3", want: []string{"v1.36.3"}},
		"a patch":      {there: []string{"v1.36.9", "v1.36.3"}, from: "v1.36.1", to: "v1.36.3", want: []string{"v1.36.3"}},
		"pre-releases only at the end": {
			there: []string{"v1.37.0-rc.1", "v1.36.0-rc.1", "v1.36.0-beta.2", "v1.36.0", "v1.36.1-rc.0"},
			from:  "v1.35.0", to: "v1.37.0-rc.1", want: []string{"v1.36.0", "v1.37.0-rc.1"},
		},
		"builds": {
			there: []string{"v1.36.0+10", "v1.36.0+9", "v1.37.0+vendor"},
			from:  "v1.35.0+1", to: "v1.37.0+vendor", want: []string{"v1.36.0+10", "v1.37.0+vendor"},
		},
		"another build": {there: []string{"v1.36.0+b"}, from: "v1.36.0+a", workers: "v1.36.0+a", to: "v1.36.0+b", want: []string{"v1.36.0+b"}, wantWorkers: []string{"v1.36.0+b"}},
		"what is not a version is passed over": {
			there: []string{"latest", "", "1.36.3", "v1.36", "v1.36.3"},
			from:  "v1.35.4", to: "v1.36.3", want: []string{"v1.36.3"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			response := planned(t, offering(test.there...), asking(test.from, test.workers, test.to))
			g.Expect(response.Message).To(BeEmpty())
			g.Expect(response.Status).To(Equal(runtimehooksv1.ResponseStatusSuccess))
			g.Expect(steps(response)).To(Equal(test.want))
			g.Expect(response.WorkersUpgrades).To(BeEmpty())
			workers, err := desiredstate.DefaultAndValidateUpgradePlans(test.to, test.from, test.workers, steps(response), nil)
			g.Expect(err).NotTo(HaveOccurred(), "Cluster API takes the plan")
			g.Expect(workers).To(Equal(test.wantWorkers))
		})
	}
}

func TestWhatCannotBePlanned(t *testing.T) {
	for name, test := range map[string]struct {
		source            upgradeplan.Source
		settings          map[string]string
		from, workers, to string
		want              string
	}{
		"a version that is not there": {
			source: offering("v1.36.3", "v1.35.4"), from: "v1.35.4", to: "v1.37.0",
			want: "version v1.37.0 is not available; available: v1.35.4, v1.36.3",
		},
		"minor versions that are not there": {
			source: offering("v1.33.0", "v1.36.3", "v1.35.0-rc.1"), from: "v1.32.0", to: "v1.36.3",
			want: "an upgrade from v1.32.0 to v1.36.3 must pass through releases of v1.34, v1.35, which are not available; available: v1.33.0, v1.35.0-rc.1, v1.36.3",
		},
		"no versions": {source: offering([]string{}...), from: "v1.35.4", to: "v1.36.3", want: "version v1.36.3 is not available; available: none"},
		"the way back": {
			source: offering("v1.35.4"), from: "v1.36.3", to: "v1.35.4",
			want: "the version to upgrade to is v1.35.4, but must be at least v1.36.3, the version of the control plane",
		},
		"another major version": {
			source: offering("v2.0.0"), from: "v1.36.3", to: "v2.0.0",
			want: "the version to upgrade to is v2.0.0, but must have the major version of the control plane, which has v1.36.3",
		},
		"workers that are too old": {
			source: offering("v1.36.3"), from: "v1.35.4", workers: "v1.31.0", to: "v1.36.3",
			want: "the oldest workers have v1.31.0, but must be at most 3 minor versions below the control plane, which has v1.35.4",
		},
		"no version of the control plane": {source: offering(), to: "v1.36.3", want: `the version of the control plane is "", but must be a semantic version such as v1.35.4`},
		"no version to upgrade to":        {source: offering(), from: "v1.35.4", to: "x", want: `the version to upgrade to is "x", but must be a semantic version such as v1.36.3`},
		"no version of the workers": {
			source: offering(), from: "v1.35.4", workers: "old", to: "v1.36.3",
			want: `the version of the workers is "old", but must be a semantic version such as v1.35.4`,
		},
		"nobody to ask": {
			from: "v1.35.4", to: "v1.36.3",
			want: "the available Kubernetes versions are unknown: list them in the setting kubernetesVersions of the ExtensionConfig",
		},
		"a source that fails": {
			source: func(context.Context, client.ObjectKey) ([]string, error) {
				return nil, fmt.Errorf("images: %w", &net.OpError{Op: "dial", Net: "tcp", Source: &net.TCPAddr{Port: 54321}, Err: errors.New("connection refused")})
			},
			from: "v1.35.4", to: "v1.36.3",
			want: "the available Kubernetes versions are unknown: images: no connection",
		},
		"a source that does not know the infrastructure": {
			source: offering(), from: "v1.35.4", to: "v1.36.3",
			want: "the available Kubernetes versions are unknown: list them in the setting kubernetesVersions of the ExtensionConfig",
		},
		"a setting that is none": {
			source: offering("v1.36.3"), settings: map[string]string{"kubernetesVersions": "v1.35.4,1.36.3"}, from: "v1.35.4", to: "v1.36.3",
			want: `setting kubernetesVersions of the ExtensionConfig is "v1.35.4,1.36.3", but must be a comma-separated list of semantic versions that begin with v, such as v1.35.4,v1.36.3`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			request := asking(test.from, test.workers, test.to)
			request.SetSettings(test.settings)
			response := planned(t, test.source, request)
			g.Expect(response.Status).To(Equal(runtimehooksv1.ResponseStatusFailure))
			g.Expect(response.Message).To(Equal(test.want))
			g.Expect(response.ControlPlaneUpgrades).To(BeEmpty())
		})
	}
}

func TestTheSettingComesBeforeTheSource(t *testing.T) {
	g := NewWithT(t)
	request := asking("v1.34.0", "", "v1.36.3")
	request.SetSettings(map[string]string{"kubernetesVersions": "v1.35.4, v1.36.3", "addons": "Enabled"})
	refusing := func(context.Context, client.ObjectKey) ([]string, error) { return nil, errors.New("it was asked") }
	g.Expect(steps(planned(t, refusing, request))).To(Equal([]string{"v1.35.4", "v1.36.3"}))
}

// Cluster API waits 10 seconds for an answer.
func TestASourceThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		began := time.Now()
		response := planned(t, func(ctx context.Context, _ client.ObjectKey) ([]string, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, asking("v1.35.4", "", "v1.36.3"))
		g.Expect(time.Since(began)).To(Equal(5 * time.Second))
		g.Expect(response.Status).To(Equal(runtimehooksv1.ResponseStatusFailure))
		g.Expect(response.Message).To(Equal("the available Kubernetes versions are unknown: no answer in time"))
	})
}

func TestTheSourceIsAskedForTheCluster(t *testing.T) {
	var asked client.ObjectKey
	planned(t, func(_ context.Context, cluster client.ObjectKey) ([]string, error) {
		asked = cluster
		return nil, nil
	}, asking("v1.35.4", "", "v1.36.3"))
	NewWithT(t).Expect(asked).To(Equal(client.ObjectKey{Namespace: "default", Name: "demo"}))
}

// Whatever versions there are, Cluster API accepts each plan and rolls the workers as rarely as
// possible.
func TestEveryPlanIsTaken(t *testing.T) {
	release := rapid.Custom(func(t *rapid.T) string {
		text := fmt.Sprintf("v1.%d.%d", rapid.IntRange(20, 28).Draw(t, "minor"), rapid.IntRange(0, 12).Draw(t, "patch"))
		return text + rapid.SampledFrom([]string{"", "", "", "-rc.1", "+build.2", "+build.10", "+other"}).Draw(t, "suffix")
	})
	rapid.Check(t, func(t *rapid.T) {
		there := rapid.SliceOfN(release, 20, 80).Draw(t, "there")
		from, to := release.Draw(t, "from"), rapid.OneOf(rapid.SampledFrom(there), release).Draw(t, "to")
		workers := rapid.OneOf(rapid.Just(""), rapid.Just(from), release).Draw(t, "workers")
		response, again := &runtimehooksv1.GenerateUpgradePlanResponse{}, &runtimehooksv1.GenerateUpgradePlanResponse{}
		upgradeplan.Planner{Source: offering(there...)}.GenerateUpgradePlan(t.Context(), asking(from, workers, to), response)
		upgradeplan.Planner{Source: offering(rapid.Permutation(there).Draw(t, "shuffled")...)}.GenerateUpgradePlan(t.Context(), asking(from, workers, to), again)
		g := NewWithT(t)
		g.Expect(again).To(Equal(response), "the order of the versions says nothing")
		if response.Status == runtimehooksv1.ResponseStatusFailure {
			g.Expect(response.Message).NotTo(BeEmpty())
			return
		}
		for _, step := range steps(response) {
			g.Expect(there).To(ContainElement(step))
		}
		if workers != "" && newer(workers, from) {
			// Cluster API never has such workers, and accepts no plan for them.
			return
		}
		rollouts, err := desiredstate.DefaultAndValidateUpgradePlans(to, from, workers, steps(response), nil)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(rollouts).To(HaveLen(fewest(workers, to)))
	})
}

// newer compares versions by minor version and patch.
func newer(a, b string) bool {
	minorA, patchA := numbers(a)
	minorB, patchB := numbers(b)
	return minorA > minorB || minorA == minorB && patchA > patchB
}

func numbers(version string) (minor, patch int) {
	if _, err := fmt.Sscanf(version, "v1.%d.%d", &minor, &patch); err != nil {
		return -1, -1
	}
	return minor, patch
}

// fewest is the minimum number of rollouts of the workers, if each covers at most three minor
// versions.
func fewest(workers, to string) int {
	if workers == "" || workers == to {
		return 0
	}
	from, _ := numbers(workers)
	until, _ := numbers(to)
	return max(1, (until-from+2)/3)
}

func FuzzGenerateUpgradePlan(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"cluster":null,"fromControlPlaneKubernetesVersion":"v1.35.4","toKubernetesVersion":"v1.36.3"}`,
		`{"fromControlPlaneKubernetesVersion":"v1.0.0","fromWorkersKubernetesVersion":"v0.1.0","toKubernetesVersion":"v1.18446744073709551615.0"}`,
		`{"settings":{"kubernetesVersions":"v1.36.0+1,v1.36.0+01"},"fromControlPlaneKubernetesVersion":"v1.35.4","toKubernetesVersion":"1.36"}`,
	} {
		f.Add([]byte(seed), "v1.35.4,v1.36.3")
	}
	f.Fuzz(func(t *testing.T, content []byte, there string) {
		var request runtimehooksv1.GenerateUpgradePlanRequest
		if json.Unmarshal(content, &request) != nil {
			return
		}
		g := NewWithT(t)
		response := planned(t, offering(strings.Split(there, ",")...), &request)
		if response.Status == runtimehooksv1.ResponseStatusSuccess {
			_, err := desiredstate.DefaultAndValidateUpgradePlans(request.ToKubernetesVersion, request.FromControlPlaneKubernetesVersion, "", steps(response), nil)
			g.Expect(err).NotTo(HaveOccurred())
			return
		}
		g.Expect(response.Status).To(Equal(runtimehooksv1.ResponseStatusFailure))
		g.Expect(response.Message).NotTo(BeEmpty())
	})
}
