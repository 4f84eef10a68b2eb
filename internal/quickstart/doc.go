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

// Package quickstart brings up a management cluster, a Foo cloud and one workload cluster on this machine, shows how
// far it is, and takes everything down again.
//
// All that it makes lies in one state folder, except the bridge and the namespaces of the cloud, which the cloud
// removes itself. What can be known to be wrong is said before anything is started.
//
// Limits: Linux and root only. One state folder, bridge and network per running quickstart.
package quickstart
