// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

func TestClustersAreShown(t *testing.T) {
	list := &clusterv1.ClusterList{Items: []clusterv1.Cluster{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "demo", CreationTimestamp: metav1.Now()},
		Spec:       clusterv1.ClusterSpec{ControlPlaneEndpoint: clusterv1.APIEndpoint{Host: "10.77.0.3", Port: 6443}},
		Status: clusterv1.ClusterStatus{
			Phase: "Provisioned", Conditions: []metav1.Condition{{Type: clusterv1.ClusterAvailableCondition, Status: metav1.ConditionTrue}},
			ControlPlane: &clusterv1.ClusterControlPlaneStatus{
				ReadyReplicas: ptr.To[int32](1), DesiredReplicas: ptr.To[int32](3), Versions: []clusterv1.StatusVersion{{Version: "v1.36.3"}},
			},
		},
	}}}
	for format, want := range map[string]string{
		"": `demo +v1\.36\.3 +1/3 +0/0 +Provisioned +true`, "wide": `default +10\.77\.0\.3:6443 +foo-demo`,
		"name": `^demo\n$`, "yaml": `kind: ClusterList`, "json": `"kind": "ClusterList"`,
	} {
		t.Run(format, func(t *testing.T) {
			g := NewWithT(t)
			printer, err := printerFor(format)
			g.Expect(err).NotTo(HaveOccurred())
			var out bytes.Buffer
			g.Expect(printer.PrintObj(list, &out)).To(Succeed())
			g.Expect(out.String()).To(MatchRegexp(want))
		})
	}
	_, err := printerFor("xml")
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("wide, json, yaml or name")))
}

func TestWrongUsage(t *testing.T) {
	for arguments, want := range map[string]string{
		"create cluster":          "see: foo create cluster --help",
		"create custer demo":      `unknown command "custer"; see: foo create --help`,
		"delete cluster a b":      "accepts 1 arg(s), received 2",
		"get clusters --nonsense": "unknown flag: --nonsense; see: foo get clusters --help",
		"get clusters -o xml":     "want wide, json, yaml or name",
		"quickstart up":           "--help",
	} {
		t.Run(arguments, func(t *testing.T) {
			g := NewWithT(t)
			command := newCommand()
			command.SetArgs(strings.Fields(arguments))
			err := command.ExecuteContext(t.Context())
			g.Expect(err).To(MatchError(errUsage))
			g.Expect(err).To(MatchError(ContainSubstring(want)))
		})
	}
}

func TestEveryCommandHasAnExample(t *testing.T) {
	g := NewWithT(t)
	var visit func(*cobra.Command)
	visit = func(command *cobra.Command) {
		g.Expect(command.Short != "" && command.Example != "").To(BeTrue(), command.CommandPath())
		for _, child := range command.Commands() {
			visit(child)
		}
	}
	visit(newCommand())
}
