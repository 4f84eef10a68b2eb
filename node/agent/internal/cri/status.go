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

package cri

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Version tells the runtime's name and version.
func (r *Runtime) Version(context.Context, *runtimeapi.VersionRequest) (*runtimeapi.VersionResponse, error) {
	return &runtimeapi.VersionResponse{
		Version:           kubeletAPIVersion,
		RuntimeName:       Name,
		RuntimeVersion:    Version,
		RuntimeApiVersion: apiVersion,
	}, nil
}

// Status tells that the runtime is ready, and whether pods can have addresses (see networkGate).
func (r *Runtime) Status(context.Context, *runtimeapi.StatusRequest) (*runtimeapi.StatusResponse, error) {
	r.mu.Lock()
	ready := r.gate.ready(time.Now())
	r.mu.Unlock()
	network := &runtimeapi.RuntimeCondition{Type: runtimeapi.NetworkReady, Status: ready}
	if !ready {
		network.Reason, network.Message = reasonNoRange, "the node has no pod address range yet"
	}
	return &runtimeapi.StatusResponse{
		Status: &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{
			{Type: runtimeapi.RuntimeReady, Status: true},
			network,
		}},
		RuntimeHandlers: []*runtimeapi.RuntimeHandler{{Name: ""}},
		Features:        &runtimeapi.RuntimeFeatures{},
	}, nil
}

// RuntimeConfig tells the cgroup driver. No cgroup is used, so it is the one that kubeadm configures.
func (r *Runtime) RuntimeConfig(context.Context, *runtimeapi.RuntimeConfigRequest) (*runtimeapi.RuntimeConfigResponse, error) {
	return &runtimeapi.RuntimeConfigResponse{
		Linux: &runtimeapi.LinuxRuntimeConfiguration{CgroupDriver: runtimeapi.CgroupDriver_SYSTEMD},
	}, nil
}

// UpdateRuntimeConfig takes the address ranges of this node's pods.
func (r *Runtime) UpdateRuntimeConfig(_ context.Context, req *runtimeapi.UpdateRuntimeConfigRequest) (*runtimeapi.UpdateRuntimeConfigResponse, error) {
	ranges, err := parseRanges(req.GetRuntimeConfig().GetNetworkConfig().GetPodCidr())
	if err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "pod address range: %s", err)
	}
	if len(ranges) == 0 || !r.config.Addresses.SetRanges(ranges) {
		return &runtimeapi.UpdateRuntimeConfigResponse{}, nil
	}
	defer r.openGate() // after the addresses answer
	if err := r.config.Network.Serve(ranges); err != nil {
		r.config.Log.Warn("Addresses of pods do not answer", "ranges", ranges, "error", err)
	}
	return &runtimeapi.UpdateRuntimeConfigResponse{}, nil
}

func (r *Runtime) openGate() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gate.hasRange = true
}

func parseRanges(list string) ([]netip.Prefix, error) {
	var ranges []netip.Prefix
	for text := range strings.SplitSeq(list, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, prefix.Masked())
	}
	return ranges, nil
}
