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

package instance

import (
	"encoding/json"

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud"
)

// Subcommand is the hidden subcommand of foocloud that runs Init.
const Subcommand = "instance-init"

// File descriptors that the child inherits.
const (
	controlFD = 3
	statusFD  = 4
)

// goAhead is the byte that tells the child that its identity is stored and its network card is there.
const goAhead = 'g'

// Paths in an instance; the node agent knows them too.
const (
	agentDir      = "/opt/foo/bin"
	agentPath     = agentDir + "/foonode"
	kubernetesDir = "/opt/foo/kubernetes"
	runtimeDir    = "/run/foo"
	reportDir     = runtimeDir + "/report"
	searchPath    = kubernetesDir + ":" + agentDir + ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// privateDirs are folders of the instance that start empty and lie on the state folder's disk, by the name of the
// folder that holds each.
var privateDirs = map[string]string{
	"kubernetes": "/etc/kubernetes",
	"kubelet":    "/var/lib/kubelet",
	"etcd":       "/var/lib/etcd",
	"log":        "/var/log",
}

// card is the name of the network card in an instance.
const card = "eth0"

// config is what the child is told.
type config struct {
	// Folder of the instance on the host.
	Folder string `json:"folder"`
	// StateDir of the daemon, which is hidden in the instance.
	StateDir string `json:"stateDir"`
	// AgentDir and ImageDir are the host's folders that become agentDir and kubernetesDir.
	AgentDir string `json:"agentDir"`
	ImageDir string `json:"imageDir"`
	// Address with the length of the network's prefix, and Gateway of the network.
	Address string `json:"address"`
	Gateway string `json:"gateway"`
	// Metadata is what the node agent reads of its instance.
	Metadata metadata `json:"metadata"`
	// UserData is the bootstrap data.
	UserData []byte `json:"userData"`
}

// metadata is the content of /run/foo/instance.json.
type metadata struct {
	ID                string     `json:"id"`
	Name              string     `json:"name"`
	Hostname          string     `json:"hostname"`
	ProviderID        string     `json:"providerID"`
	Zone              string     `json:"zone"`
	Type              string     `json:"type"`
	CPUs              int        `json:"cpus"`
	MemoryBytes       int64      `json:"memoryBytes"`
	Runtime           string     `json:"runtime"`
	KubernetesVersion string     `json:"kubernetesVersion"`
	Address           string     `json:"address"`
	Tags              cloud.Tags `json:"tags"`
}

// report is the content of status.json, which the node agent writes.
type report struct {
	Phase     string          `json:"phase"`
	Bootstrap cloud.Bootstrap `json:"bootstrap"`
}

func parseReport(text []byte) (report, error) {
	var r report
	err := json.Unmarshal(text, &r)
	return r, err
}
