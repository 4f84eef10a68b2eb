/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

// Command kubernetes is every Kubernetes program that an instance needs, in one binary that is called by several names.
//
// The programs are the unmodified ones of k8s.io/kubernetes and etcd; the name in argv[0] chooses which one runs:
// etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubelet, kubeadm or kubectl. One binary shares its
// code pages between all processes of all instances on a machine.
//
// Limits: only the kubelet differs from its release, and only in what it is given to work on (see package kubelet);
// there is no kube-proxy, since nothing in an instance of the process runtime sends packets to a Service.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.etcd.io/etcd/server/v3/etcdmain"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // kubectl's authentication plugins
	"k8s.io/component-base/cli"
	"k8s.io/component-base/logs"
	_ "k8s.io/component-base/logs/json/register"          // the JSON log format of the components
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client metrics of the components
	_ "k8s.io/component-base/metrics/prometheus/version"  // build_info of the components
	kubectlcmd "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubeadm "k8s.io/kubernetes/cmd/kubeadm/app"
	kubeadmerrors "k8s.io/kubernetes/cmd/kubeadm/app/util/errors"

	"github.com/capfoo/cluster-api-provider-foo/node/kubernetes/kubelet"
)

// programs maps each name the binary answers to onto the program it runs.
var programs = map[string]func(){
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          func() { os.Exit(cli.Run(apiserver.NewAPIServerCommand())) },
	"kube-controller-manager": func() { os.Exit(cli.Run(controllermanager.NewControllerManagerCommand())) },
	"kube-scheduler":          func() { os.Exit(cli.Run(scheduler.NewSchedulerCommand())) },
	"kubelet":                 func() { os.Exit(cli.Run(kubelet.NewCommand())) },
	"kubeadm":                 func() { kubeadmerrors.HandleError(kubeadm.Run()) },
	"kubectl":                 runKubectl,
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

func runKubectl() {
	// kubectl reads its verbosity before cobra parses flags, so that building its command can already log.
	if _, err := logs.GlogSetter(kubectlcmd.GetLogVerbosity(os.Args)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err := cli.RunNoErrOutput(kubectlcmd.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err)
	}
}
