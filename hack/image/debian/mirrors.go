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

package debian

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// suite is the release of Debian that the packages are from. The machine that builds images may have another one.
const suite = "trixie"

// mirrors returns where packages of the suite are, in the form of apt's .sources files: at the mirrors of Debian that this
// machine's apt has.
func mirrors(ctx context.Context) ([]byte, error) {
	release, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return nil, fmt.Errorf("release of this machine: %w", err)
	}
	targets, err := run(exec.CommandContext(ctx, "apt-get", "indextargets", "--format", "$(RELEASE) $(SITE)", "Created-By: Packages"))
	if err != nil {
		return nil, err
	}
	return mirrorsOf(string(release), string(targets))
}

var errNoDebian = errors.New("apt on this machine has no mirrors of Debian: name a file with sources, DEBIAN_SOURCES=<file>")

// mirrorsOf finds the mirrors among the suites and sites that apt has.
func mirrorsOf(release, targets string) ([]byte, error) {
	words := map[string]string{}
	for line := range strings.Lines(release) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		words[name] = strings.Trim(value, `"`)
	}
	codename := words["VERSION_CODENAME"]
	sites := map[string]string{}
	for line := range strings.Lines(targets) {
		found, site, _ := strings.Cut(strings.TrimSpace(line), " ")
		sites[found] = site
	}
	main, security := sites[codename], sites[codename+"-security"]
	if words["ID"] != "debian" || main == "" {
		return nil, errNoDebian
	}
	var sources bytes.Buffer
	stanza := func(site string, suites ...string) {
		fmt.Fprintf(&sources, "Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: /usr/share/keyrings/debian-archive-keyring.gpg\n\n", site, strings.Join(suites, " "))
	}
	stanza(main, suite, suite+"-updates")
	if security != "" {
		stanza(security, suite+"-security")
	}
	return sources.Bytes(), nil
}
