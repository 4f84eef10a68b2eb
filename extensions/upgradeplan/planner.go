// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package upgradeplan

import (
	"context"
	"errors"
	"fmt"
	"time"

	runtimehooksv1 "sigs.k8s.io/cluster-api/api/runtime/hooks/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

// Source returns the Kubernetes versions that are available for the machines of a cluster, such as
// v1.36.3, in any order, or nil if they are unknown. Texts that are not versions are ignored.
type Source func(ctx context.Context, cluster client.ObjectKey) ([]string, error)

// Planner answers the hook GenerateUpgradePlan.
type Planner struct {
	// Source is asked if no setting names versions. It may be nil.
	Source Source
}

var errUnknown = errors.New("the available Kubernetes versions are unknown: list them in the setting kubernetesVersions of the ExtensionConfig")

// patience is how long a source may take. Cluster API waits longer, and keeps plans for 10 minutes.
const patience = 5 * time.Second

// GenerateUpgradePlan plans the steps of the control plane, and leaves the steps of the workers to
// Cluster API. If required versions are not available, the response is a Failure that names them.
func (p Planner) GenerateUpgradePlan(ctx context.Context, request *runtimehooksv1.GenerateUpgradePlanRequest, response *runtimehooksv1.GenerateUpgradePlanResponse) {
	steps, err := p.steps(ctx, request)
	if err != nil {
		response.SetStatus(runtimehooksv1.ResponseStatusFailure)
		response.SetMessage(hooks.Message(err))
		return
	}
	for _, step := range steps {
		response.ControlPlaneUpgrades = append(response.ControlPlaneUpgrades, runtimehooksv1.UpgradeStep{Version: step})
	}
	response.SetStatus(runtimehooksv1.ResponseStatusSuccess)
}

func (p Planner) steps(ctx context.Context, request *runtimehooksv1.GenerateUpgradePlanRequest) ([]string, error) {
	wanted, err := readUpgrade(request.FromControlPlaneKubernetesVersion, request.FromWorkersKubernetesVersion, request.ToKubernetesVersion)
	if err != nil {
		return nil, err
	}
	there, err := p.versions(ctx, request)
	if err != nil {
		return nil, err
	}
	return wanted.plan(readVersions(there))
}

// versions returns the available versions.
func (p Planner) versions(ctx context.Context, request *runtimehooksv1.GenerateUpgradePlanRequest) ([]string, error) {
	settings, err := hooks.ParseSettings(request.Settings)
	if err != nil || len(settings.KubernetesVersions) > 0 {
		return settings.KubernetesVersions, err
	}
	if p.Source == nil {
		return nil, errUnknown
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	there, err := p.Source(ctx, client.ObjectKeyFromObject(&request.Cluster))
	if err != nil {
		return nil, fmt.Errorf("the available Kubernetes versions are unknown: %w", err)
	}
	if there == nil {
		return nil, errUnknown
	}
	return there, nil
}
