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

package kubelet

import (
	"context"
	"fmt"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/kubelet"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/util/oom"
	"k8s.io/kubernetes/pkg/volume/util/hostutil"
	"k8s.io/kubernetes/pkg/volume/util/subpath"
	"k8s.io/mount-utils"
)

// dependencies are the release's own, with those that would touch the machine replaced.
func dependencies(ctx context.Context, server *options.KubeletServer) (*kubelet.Dependencies, error) {
	deps, err := app.UnsecuredDependencies(ctx, server, utilfeature.DefaultFeatureGate)
	if err != nil {
		return nil, fmt.Errorf("kubelet dependencies: %w", err)
	}
	info, err := newMachine()
	if err != nil {
		return nil, err
	}
	deps.CAdvisorInterface = info
	deps.ContainerManager = containers{cm.NewStubContainerManager()}
	deps.OOMAdjuster = oom.NewFakeOOMAdjuster()
	deps.Mounter = mount.NewFakeMounter(nil)
	deps.Subpather = &subpath.FakeSubpath{}
	deps.HostUtil = host{hostutil.NewHostUtil()}
	return deps, nil
}
