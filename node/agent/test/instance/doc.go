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

// Package instance boots real instances with the built programs and looks at what they do. Its tests need root, overlayfs, and
// bin/foonode, bin/kubernetes/<version> and bin/images of the repository; they are built with the tag "integration".
//
// Each instance has namespaces and a copy-on-write root of its own, as the local cloud makes them, and nothing is left of it. The
// root is a view of the host's, or of what is in the image of a node. The
// network namespace is not connected to any other.
package instance
