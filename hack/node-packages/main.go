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

// Command node-packages fetches the newest version of each Debian package of node images, for all their architectures, and
// records them in hack/image/debian/packages.lock. Run it in the root folder of the sources.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/hack/image/debian"
)

const header = `# Which packages node images are made of: architecture, name, version and SHA-256 sum. Written by make node-packages.
`

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "node-packages:", err)
		os.Exit(1)
	}
}

func run() error {
	sources := flag.String("sources", "", "files that say where packages come from, in the form of apt's .sources; without any, the mirrors of Debian that this machine's apt has")
	architectures := flag.String("architectures", "amd64 arm64", "architectures of the images, separated by spaces")
	lock := flag.String("output", "hack/image/debian/packages.lock", "file to write")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
	defer stop()
	return write(ctx, debian.Fetcher{Sources: strings.Fields(*sources)}, strings.Fields(*architectures), *lock)
}

func write(ctx context.Context, fetcher debian.Fetcher, architectures []string, lock string) error {
	packages, err := debian.Packages()
	if err != nil {
		return err
	}
	content := bytes.NewBufferString(header)
	for _, architecture := range architectures {
		pins, err := fetcher.Resolve(ctx, architecture, packages)
		if err != nil {
			return err
		}
		for _, pin := range pins {
			fmt.Fprintln(content, pin)
		}
	}
	return os.WriteFile(filepath.Clean(lock), content.Bytes(), 0o600)
}
