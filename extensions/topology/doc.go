// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

// Package topology is the ClusterClass foo as code: its variables, how they change the templates,
// and what a topology of the class must be like. Cluster API calls it for Clusters of a class whose
// patches are external, such as foo-extension.
//
// There is one small type for each hook. Each hook is a pure function of its request: it reads no
// objects, asks no cloud, and returns the same bytes for the same templates and variables, in
// whatever order they come. The variables are read from the ClusterClass foo itself, so both
// classes have the same variables.
//
// Cluster API's package topologymutation merges the variables and computes the patches. Templates
// are patched in the versions v1beta1 and v1beta2, because a class may refer to either. They
// represent arguments differently. Other versions and kinds are left alone, and so are fields
// that this code does not know.
//
// Limits: in templates of v1beta1 only the instance types are checked, because the rules of Foo's
// webhooks are for v1beta2. A request holds the templates, the variables and a few facts about the
// topology. It does not hold the failure domains of workers, their timeouts, labels and taints, so
// these are not checked. Cluster API's upgrade plan ensures that workers are not too old for their
// control plane. Refusing such workers here would keep them from catching up.
package topology
