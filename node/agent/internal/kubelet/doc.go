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

// Package kubelet knows how the kubelet of an instance is called and set up.
//
// Its flags are those of kubeadm's drop-in for systemd, from the same files, plus provider ID and host name of the instance
// where these are not given, and a folder of configuration that changes what kubeadm has written. The package writes the first file there,
// with what every instance needs.
package kubelet
