// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Command kubernetes combines the Kubernetes components that instances run in one binary, which is
// called by several names.
//
// The programs are the unmodified ones of k8s.io/kubernetes. The name in argv[0] selects the
// program: kube-apiserver, kube-controller-manager, kube-proxy, kube-scheduler, kubelet or kubeadm.
// All processes of all instances on a machine share the binary's code pages. etcd and kubectl are
// not included: they have little in common with the others, and would slow down the start of each.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // the JSON log format of the components
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics of the components
	_ "k8s.io/component-base/metrics/prometheus/version"  // build_info of the components
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubeadm "k8s.io/kubernetes/cmd/kubeadm/app"
	kubeadmerrors "k8s.io/kubernetes/cmd/kubeadm/app/util/errors"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"

	"github.com/capfoo/cluster-api-provider-foo/node/kubernetes/preflight"
)

// programs maps each name that the binary can be called by to the program that it runs.
var programs = map[string]func(){
	"kube-apiserver":          func() { os.Exit(cli.Run(apiserver.NewAPIServerCommand())) },
	"kube-controller-manager": func() { os.Exit(cli.Run(controllermanager.NewControllerManagerCommand())) },
	"kube-scheduler":          func() { os.Exit(cli.Run(scheduler.NewSchedulerCommand())) },
	"kube-proxy":              func() { os.Exit(cli.Run(proxy.NewProxyCommand())) },
	"kubelet":                 func() { os.Exit(cli.Run(kubelet.NewKubeletCommand(context.Background()))) },
	"kubeadm":                 runKubeadm,
}

func main() {
	name := filepath.Base(os.Args[0])
	run, ok := programs[name]
	if !ok {
		names := make([]string, 0, len(programs))
		for n := range programs {
			names = append(names, n)
		}
		slices.Sort(names)
		fmt.Fprintf(os.Stderr, "this binary was called as %q; call it through a link with one of the names %s\n",
			name, strings.Join(names, ", "))
		os.Exit(2)
	}
	run()
}

func runKubeadm() {
	os.Args = preflight.Arguments(os.Args)
	kubeadmerrors.HandleError(kubeadm.Run())
}
