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

// Package debian makes the files of an image's root from Debian packages: a short list of them, each with the reason for it
// (packages.yaml), in versions with checksums that are recorded (packages.lock), so that the same sources give the same root.
//
// apt fetches the packages and checks who signed them; dpkg-deb reads them. Neither needs root or touches the machine's own
// packages, and it does not matter which architecture the machine has, since nothing of a package is run.
//
// Limits: it needs apt-get and dpkg-deb, and the keys of Debian's archive. Dependencies are not resolved, and packages for
// all architectures are refused. Packages come from the mirrors that this machine's apt has. These keep only the newest version of
// each package: what a lock names is then found in the cache folder, or in an archive of Debian that the user names.
package debian
