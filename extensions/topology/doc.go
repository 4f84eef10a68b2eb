// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package topology is the ClusterClass foo as code: its variables, what they change in the templates, and what a topology of it
// must be like. Cluster API asks it for Clusters of a class whose patches are external, such as foo-extension.
//
// There is one small type for each hook. Each is a pure function of its request: it reads no object, asks no cloud, and gives
// the same bytes for the same templates and variables, in whatever order they come. The variables are read from the ClusterClass
// foo itself, so both classes have the same.
//
// Templates are patched in the versions v1beta1 and v1beta2, since a class may refer to either; they differ in how arguments are
// written. Other versions and kinds are left alone, and so are fields that this code does not know.
//
// Limits: of templates of v1beta1 only the instance types are checked, since the rules of Foo's webhooks are those of v1beta2.
// A request holds the templates, the variables and a few facts of the topology. It does not hold the failure domains
// of workers, their timeouts, labels and taints, so nothing is said of those. That workers are not too old for their control
// plane is for Cluster API's upgrade plan to see to: to refuse them here would keep them from catching up.
package topology
