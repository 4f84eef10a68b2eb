//go:build e2e

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// The files that the story puts on the host as bait for the instance, and other files that it must
// not change.
const (
	bait      = "/usr/local/share/foo-e2e"
	baitInEtc = "/etc/foo-e2e.conf"
	intruder  = "/etc/foo-e2e-intruder"
)

// watched are the folders of the host that are compared before and after.
var watched = []string{"/etc", "/usr/local/share", "/usr/share/doc", "/usr/sbin"}

// rudeToFiles are commands that run before kubeadm. Kubeadm does not run, and the cluster never comes
// up, unless all of them succeed.
func (m *management) rudeToFiles() []string {
	return []string{
		// Nothing of the host is visible, neither its files nor the cloud's data about other
		// instances.
		"test ! -e " + bait + " -a ! -e " + baitInEtc + " -a ! -e " + m.state,
		"echo intruder > " + intruder,
		"echo changed >> " + baitInEtc,
		"chmod 0777 " + baitInEtc,
		"rm -rf " + bait,
		"mv /usr/share/doc /usr/share/spoilt",
		"ln -sfn " + intruder + " /usr/local/share/foo-e2e-link",
		"grep -q intruder " + intruder,
		"grep -q changed " + baitInEtc,
		"test ! -e " + bait + " -a ! -e /usr/share/doc",
	}
}

// putBait puts files on the host until the end of the story.
func putBait() {
	GinkgoHelper()
	DeferCleanup(os.RemoveAll, bait)
	DeferCleanup(os.RemoveAll, baitInEtc)
	Expect(os.MkdirAll(bait, 0o755)).To(Succeed())
	Expect(os.WriteFile(filepath.Join(bait, "precious"), []byte("the host's\n"), 0o644)).To(Succeed())
	Expect(os.WriteFile(baitInEtc, []byte("the host's\n"), 0o644)).To(Succeed())
}

// fingerprints returns a fingerprint of every file in the watched folders: its mode, and its
// content or link target.
func fingerprints() map[string]string {
	GinkgoHelper()
	found := map[string]string{}
	for _, folder := range watched {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			found[path], err = fingerprint(path, entry)
			return err
		})
		Expect(err).NotTo(HaveOccurred())
	}
	Expect(found).To(HaveKey(filepath.Join(bait, "precious")))
	return found
}

func fingerprint(path string, entry fs.DirEntry) (string, error) {
	info, err := entry.Info()
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("%s %d", info.Mode(), info.ModTime().UnixNano())
	switch {
	case entry.Type() == fs.ModeSymlink:
		target, err := os.Readlink(path)
		return text + " " + target, err
	case entry.Type().IsRegular():
		content, err := os.ReadFile(path)
		return fmt.Sprintf("%s %x", text, sha256.Sum256(content)), err
	default:
		return text, nil
	}
}
