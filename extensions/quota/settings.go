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

package quota

import "github.com/capfoo/cluster-api-provider-foo/extensions/settings"

var quotaCheck = settings.Switch("quotaCheck", "Hold a new Cluster of Foo's infrastructure back until the cloud's quota has room for the instances, CPUs, memory and load balancer that its topology asks for.")

// Settings returns the settings that the package reads.
func Settings() []settings.Doc { return []settings.Doc{quotaCheck.Doc()} }
