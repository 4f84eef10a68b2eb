// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

const machineIDLength = 32

// writeIdentity writes the files that tell the instance who it is. The files in /etc form the
// uppermost read-only layer of its root, so the host never writes through a link that an instance
// left on a disk that was kept.
func (d *Driver) writeIdentity(spec engine.MachineSpec) error {
	m := metadataOf(spec)
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode the instance's metadata: %w", err)
	}
	files := []identityFile{
		{filepath.Join(runFolder, filepath.Base(contract.InstanceFile)), text, publicFileMode},
		{filepath.Join(runFolder, filepath.Base(contract.UserDataFile)), spec.UserData, fileMode},
		{filepath.Join(identityFolder, "etc/hosts"), []byte(hosts(m)), publicFileMode},
		{filepath.Join(identityFolder, "etc/hostname"), []byte(m.Hostname + "\n"), publicFileMode},
		{filepath.Join(identityFolder, "etc/machine-id"), []byte(machineID(m.ID) + "\n"), publicFileMode},
		// CoreDNS needs a name server. Look-ups fail immediately if none answers there.
		{filepath.Join(identityFolder, "etc/resolv.conf"), []byte("nameserver " + d.options.Nameserver.String() + "\n"), publicFileMode},
	}
	first, err := d.usersOf(spec.ID)
	if err != nil {
		return err
	}
	for _, file := range slices.Concat(files, d.mirror(), kernelConfiguration()) {
		path := filepath.Join(d.folder(spec.ID), file.path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), publicMode), os.WriteFile(path, file.text, file.mode)); err != nil {
			return fmt.Errorf("write /%s of the instance: %w", file.path, err)
		}
		// The files in a layer belong to the instance through the way that the layer is mounted.
		if filepath.Dir(file.path) != runFolder {
			continue
		}
		if err := giveTo(first, path); err != nil {
			return fmt.Errorf("write /%s of the instance: %w", file.path, err)
		}
	}
	return nil
}

// mirror returns the files that tell containerd to try the mirror before an image's own registry.
func (d *Driver) mirror() []identityFile {
	if d.options.Mirror == nil {
		return nil
	}
	// _default does not apply to registries that have a folder of their own.
	folder := filepath.Join(identityFolder, "etc/containerd/certs.d/_default")
	hosts := fmt.Sprintf("[host.%q]\n  capabilities = [\"pull\", \"resolve\"]\n  ca = \"ca.crt\"\n", d.options.Mirror.Endpoint)
	return []identityFile{
		{filepath.Join(folder, "hosts.toml"), []byte(hosts), publicFileMode},
		{filepath.Join(folder, "ca.crt"), d.options.Mirror.CA, publicFileMode},
	}
}

// identityFile is a file of an instance's folder.
type identityFile struct {
	path string
	text []byte
	mode os.FileMode
}

// kernelConfiguration returns the configuration that the kernel was built with, which kubeadm's
// preflight checks read. Distributions put it in /boot if the kernel itself does not expose it.
func kernelConfiguration() []identityFile {
	var uname unix.Utsname
	if err := unix.Uname(&uname); err != nil {
		return nil
	}
	path := "/boot/config-" + unix.ByteSliceToString(uname.Release[:])
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return []identityFile{{filepath.Join(identityFolder, path), text, publicFileMode}}
}

// hosts returns the instance's /etc/hosts.
func hosts(m contract.Instance) string {
	names := m.Hostname
	if short, _, found := strings.Cut(m.Hostname, "."); found {
		names += " " + short
	}
	return "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n" + m.Address + " " + names + "\n"
}

// machineID returns a stable ID that is unique per instance.
func machineID(id string) string {
	sum := sha256.Sum256([]byte("foo instance " + id))
	return hex.EncodeToString(sum[:])[:machineIDLength]
}
