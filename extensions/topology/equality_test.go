// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package topology_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"unicode"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// both loads the class with inline patches and the class with external ones.
func both(t *testing.T) (inline, external *class) {
	t.Helper()
	g := NewWithT(t)
	inline, err := loadClass(t.Context(), "foo", nil)
	g.Expect(err).NotTo(HaveOccurred())
	external, err = loadClass(t.Context(), "foo-extension", nil)
	g.Expect(err).NotTo(HaveOccurred())
	return inline, external
}

func TestEachVariableDoesWhatItDoesInline(t *testing.T) {
	inline, external := both(t)
	plain, err := inline.compute(t.Context(), small())
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	arguments := `[{"name":"v","value":"4"},{"name":"empty","value":""},{"name":"v","value":"5"}]`
	values := map[string]string{
		"identity":                   `"team-a"`,
		"zones":                      `[{"name":"zone-a","controlPlane":false},{"name":"zone-b"}]`,
		"loadBalancerPort":           `443`,
		"additionalTags":             `{"team":"red","cost":"7"}`,
		"controlPlaneImage":          `"gpu"`,
		"controlPlaneRootDiskGiB":    `40`,
		"workerImage":                `"gpu"`,
		"workerRootDiskGiB":          `80`,
		"workerInterruptible":        `true`,
		"imageRepository":            `"registry.example.com/kubernetes"`,
		"files":                      `[{"path":"/etc/motd","content":"hello","owner":"root:root","permissions":"0644"}]`,
		"rollout":                    `{"maxSurge":0,"certificatesExpiryDays":30}`,
		"remediation":                `{"maxRetry":3,"retryPeriodSeconds":60,"minHealthyPeriodSeconds":600}`,
		"controlPlaneInstanceType":   `"large"`,
		"workerInstanceType":         `"medium"`,
		"certificateSANs":            `["api.example.com","*.example.com","192.0.2.1"]`,
		"apiServerExtraArgs":         arguments,
		"controllerManagerExtraArgs": arguments,
		"schedulerExtraArgs":         arguments,
		"kubeletExtraArgs":           arguments,
		"etcdExtraArgs":              arguments,
		"externalEtcdEndpoints":      `["https://192.0.2.1:2379","https://192.0.2.2:2379"]`,
		"fast":                       `true`,
		"poolStrategy":               `{"maxSurge":"50%","maxUnavailable":2,"deletePolicy":"Newest"}`,
	}
	for _, definition := range inline.object.Spec.Variables {
		t.Run(definition.Name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(values).To(HaveKey(definition.Name), "say here what a value of it looks like")
			wanted := small(variable(definition.Name, values[definition.Name]))
			want, err := inline.compute(t.Context(), wanted)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(specs(want)).NotTo(Equal(specs(plain)), "the variable changes something")
			got, err := external.compute(t.Context(), wanted)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(specs(got)).To(Equal(specs(want)))
		})
	}
}

func TestRandomVariablesDoWhatTheyDoInline(t *testing.T) {
	inline, external := both(t)
	rapid.Check(t, func(t *rapid.T) {
		wanted := small(drawVariables(t, "variables")...)
		wanted.ControlPlane.Variables.Overrides = drawVariables(t, "control plane")
		wanted.Workers.MachineDeployments[0].Variables.Overrides = drawVariables(t, "deployment")
		wanted.Workers.MachinePools[0].Variables.Overrides = drawVariables(t, "pool")
		want, err := inline.compute(t.Context(), wanted)
		if err != nil {
			t.Fatal(err)
		}
		got, err := external.compute(t.Context(), wanted)
		if err != nil {
			t.Fatal(err)
		}
		NewWithT(t).Expect(specs(got)).To(Equal(specs(want)))
	})
}

func drawZones() *rapid.Generator[[]map[string]any] {
	zone := rapid.Custom(func(t *rapid.T) map[string]any {
		return map[string]any{"name": rapid.StringMatching(`[a-z]{1,8}`).Draw(t, "name"), "controlPlane": rapid.Bool().Draw(t, "controlPlane")}
	})
	return rapid.SliceOfNDistinct(zone, 0, 3, func(zone map[string]any) any { return zone["name"] })
}

// drawVariables returns some of the variables, with values that their schemas allow and that do not
// contradict each other.
func drawVariables(t *rapid.T, label string) []clusterv1.ClusterVariable {
	// Control characters are left out: inline templates are YAML, which does not allow them, so
	// they would fail.
	text := rapid.StringOfN(rapid.RuneFrom([]rune(` <>&"'{}:`), unicode.L, unicode.N, unicode.P), 0, 8, -1)
	argument := rapid.Custom(func(t *rapid.T) map[string]string {
		return map[string]string{"name": rapid.StringMatching(`[a-z][a-z-]{0,8}`).Draw(t, "name"), "value": text.Draw(t, "value")}
	})
	arguments := rapid.SliceOfN(argument, 0, 3).AsAny()
	instanceType := rapid.StringMatching(`[a-z0-9.]{1,8}`).AsAny()
	image, disk := rapid.StringMatching(`([a-z0-9]{1,8})?`).AsAny(), rapid.IntRange(0, 8192).AsAny()
	portion := rapid.OneOf(rapid.IntRange(1, 10).AsAny(), rapid.Map(rapid.IntRange(1, 100), func(percent int) string { return jsonOf(percent) + "%" }).AsAny())
	// fields draws some of the fields.
	fields := func(from map[string]*rapid.Generator[any]) *rapid.Generator[any] {
		return rapid.Custom(func(t *rapid.T) map[string]any {
			drawn := map[string]any{}
			for _, name := range slices.Sorted(maps.Keys(from)) {
				if rapid.Bool().Draw(t, "with "+name) {
					drawn[name] = from[name].Draw(t, name)
				}
			}
			return drawn
		}).AsAny()
	}
	file := rapid.Custom(func(t *rapid.T) map[string]string {
		return map[string]string{"path": rapid.StringMatching(`/etc/[a-z]{1,8}`).Draw(t, "path"), "content": text.Draw(t, "content")}
	})
	var drawn []clusterv1.ClusterVariable
	for _, one := range []struct {
		name   string
		values *rapid.Generator[any]
	}{
		{"identity", rapid.StringMatching(`([a-z]{1,8})?`).AsAny()},
		{"zones", drawZones().AsAny()},
		{"loadBalancerPort", rapid.IntRange(0, 65535).AsAny()},
		{"additionalTags", rapid.MapOfN(rapid.StringMatching(`[a-z]{1,8}`), text, 0, 3).AsAny()},
		{"controlPlaneImage", image}, {"workerImage", image}, {"controlPlaneRootDiskGiB", disk}, {"workerRootDiskGiB", disk},
		{"workerInterruptible", rapid.Bool().AsAny()}, {"fast", rapid.Bool().AsAny()},
		{"imageRepository", rapid.StringMatching(`([a-z]{1,8}\.example\.com)?`).AsAny()},
		{"files", rapid.SliceOfNDistinct(file, 0, 3, func(file map[string]string) string { return file["path"] }).AsAny()},
		{"rollout", fields(map[string]*rapid.Generator[any]{"maxSurge": rapid.IntRange(0, 1).AsAny(), "certificatesExpiryDays": rapid.IntRange(7, 90).AsAny()})},
		{"remediation", fields(map[string]*rapid.Generator[any]{
			"maxRetry": rapid.IntRange(0, 3).AsAny(), "retryPeriodSeconds": rapid.IntRange(0, 60).AsAny(), "minHealthyPeriodSeconds": rapid.IntRange(0, 60).AsAny(),
		})},
		{"controlPlaneInstanceType", instanceType}, {"workerInstanceType", instanceType},
		{"certificateSANs", rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,8}\.example\.com`), 0, 3).AsAny()},
		{"apiServerExtraArgs", arguments},
		{"controllerManagerExtraArgs", arguments},
		{"schedulerExtraArgs", arguments},
		{"kubeletExtraArgs", arguments},
		{"etcdExtraArgs", arguments},
		{"externalEtcdEndpoints", rapid.SliceOfNDistinct(rapid.StringMatching(`https://[a-z]{1,8}:2379`), 0, 3, rapid.ID).AsAny()},
		{"poolStrategy", fields(map[string]*rapid.Generator[any]{
			"maxSurge": portion, "maxUnavailable": portion, "deletePolicy": rapid.SampledFrom([]string{"Random", "Newest", "Oldest"}).AsAny(),
		})},
	} {
		if rapid.Bool().Draw(t, label+" with "+one.name) {
			drawn = append(drawn, variable(one.name, jsonOf(one.values.Draw(t, label+" "+one.name))))
		}
	}
	return drawn
}

func jsonOf(value any) string {
	content, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(content)
}
