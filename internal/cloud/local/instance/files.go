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
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

const machineIDLength = 32

// writeIdentity writes the files that tell the instance who it is.
func writeIdentity(r root, c config) error {
	text, err := json.Marshal(c.Metadata)
	if err != nil {
		return fmt.Errorf("encode the instance's metadata: %w", err)
	}
	for _, file := range []struct {
		path string
		text []byte
		mode os.FileMode
	}{
		{runtimeDir + "/instance.json", text, 0o644},
		{runtimeDir + "/user-data", c.UserData, fileMode},
		{"/etc/hosts", []byte(hosts(c.Metadata)), 0o644},
		// Without name servers, look-ups fail at once instead of after seconds.
		{"/etc/resolv.conf", nil, 0o644},
		{"/etc/hostname", []byte(c.Metadata.Hostname + "\n"), 0o644},
		{"/etc/machine-id", []byte(machineID(c.Metadata.ID) + "\n"), 0o444},
	} {
		// What the host has there may be a link to somewhere else.
		if err := os.Remove(r.path(file.path)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("replace %s: %w", file.path, err)
		}
		if err := os.WriteFile(r.path(file.path), file.text, file.mode); err != nil {
			return fmt.Errorf("write %s: %w", file.path, err)
		}
	}
	return nil
}

// hosts returns the instance's /etc/hosts.
func hosts(m metadata) string {
	names := m.Hostname
	if short, _, found := strings.Cut(m.Hostname, "."); found {
		names += " " + short
	}
	return "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n" + m.Address + " " + names + "\n"
}

// machineID returns an ID that differs between instances and stays the same for one.
func machineID(id string) string {
	sum := sha256.Sum256([]byte("foo instance " + id))
	return hex.EncodeToString(sum[:])[:machineIDLength]
}
