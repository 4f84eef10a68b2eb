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

	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/engine"
	"github.com/capfoo/cluster-api-provider-foo/internal/cloud/local/store"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

const machineIDLength = 32

// writeIdentity writes the files that tell the instance who it is. What is in /etc is the uppermost layer of its root, so that nothing in
// a disk that was kept, such as a link, leads the host elsewhere when it writes.
func (d *Driver) writeIdentity(spec engine.MachineSpec) error {
	m, gateway := metadataOf(spec), store.Gateway(d.options.Network).String()
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
		// CoreDNS wants a name server. Where none answers, look-ups fail at once.
		{filepath.Join(identityFolder, "etc/resolv.conf"), []byte("nameserver " + gateway + "\n"), publicFileMode},
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
		// What is in a layer belongs to the instance by how that is mounted.
		if filepath.Dir(file.path) != runFolder {
			continue
		}
		if err := giveTo(first, path); err != nil {
			return fmt.Errorf("write /%s of the instance: %w", file.path, err)
		}
	}
	return nil
}

// mirror tells containerd where to pull images from before it asks the registry of an image itself.
func (d *Driver) mirror() []identityFile {
	if d.options.Mirror == nil {
		return nil
	}
	// A registry with a folder of its own is not one of these.
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

// kernelConfiguration says how the kernel was built, which kubeadm's checks read. Distributions leave it in /boot where the kernel does
// not tell by itself.
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

// machineID returns an ID that differs between instances and stays the same for one.
func machineID(id string) string {
	sum := sha256.Sum256([]byte("foo instance " + id))
	return hex.EncodeToString(sum[:])[:machineIDLength]
}
