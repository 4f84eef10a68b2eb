//go:build host

// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// archives are the images that make images writes.
const archives = "../../bin/images/images/"

// unpackRoot unpacks an image to a folder that is removed after the test.
func unpackRoot(t *testing.T, image v1.Image) string {
	t.Helper()
	g := NewWithT(t)
	root := filepath.Join(t.TempDir(), "root")
	g.Expect(os.Mkdir(root, 0o755)).To(Succeed())
	content := mutate.Extract(image)
	defer func() { _ = content.Close() }()
	reader := tar.NewReader(content)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return root
		}
		g.Expect(err).NotTo(HaveOccurred())
		path := filepath.Join(root, filepath.Clean("/"+header.Name))
		if header.Typeflag == tar.TypeDir {
			g.Expect(os.MkdirAll(path, 0o755)).To(Succeed())
		} else {
			content, err := io.ReadAll(reader)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(os.WriteFile(path, content, 0o600)).To(Succeed())
		}
		g.Expect(os.Chmod(path, header.FileInfo().Mode())).To(Succeed())
	}
}

// TestProgramsRun runs each program as its Pod does: from the image alone, as the image's user, on
// a root that is read-only.
func TestProgramsRun(t *testing.T) {
	for name, arguments := range map[string][]string{"manager": {"--providers=control-plane"}, "runtime-extension": nil} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			root, config := readOnlyRoot(t, name)
			g.Expect(os.WriteFile(filepath.Join(root, "tmp", "file"), nil, 0o600)).To(MatchError(unix.EROFS))
			output, err := inside(t, root, config, "--help")
			g.Expect(err).NotTo(HaveOccurred(), output)
			g.Expect(output).To(ContainSubstring("--diagnostics-address"))

			// It gets as far as in a Pod without a service account.
			output, err = inside(t, root, config, arguments...)
			var exit *exec.ExitError
			g.Expect(errors.As(err, &exit)).To(BeTrue(), "%v", err)
			g.Expect(output).To(ContainSubstring("no configuration has been provided"))
		})
	}
}

// readOnlyRoot mounts the content of a program's image until the test ends.
func readOnlyRoot(t *testing.T, name string) (string, *v1.ConfigFile) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(os.Getuid()).To(BeZero(), "this test needs root to change the root folder")
	archive, err := os.ReadFile(archives + name + "-v0.1.0.tar")
	g.Expect(err).NotTo(HaveOccurred(), "make images writes it")
	image := imagesOf(t, archive)[runtime.GOARCH]
	config, err := image.ConfigFile()
	g.Expect(err).NotTo(HaveOccurred())
	root := unpackRoot(t, image)
	g.Expect(unix.Mount(root, root, "", unix.MS_BIND, "")).To(Succeed())
	t.Cleanup(func() { NewWithT(t).Expect(unix.Unmount(root, unix.MNT_DETACH)).To(Succeed()) })
	g.Expect(unix.Mount("", root, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, "")).To(Succeed())
	return root, config
}

// inside runs the image's entry point in a root, as the image's user and without this program's
// environment.
func inside(t *testing.T, root string, config *v1.ConfigFile, arguments ...string) (string, error) {
	t.Helper()
	g := NewWithT(t)
	user, group, _ := strings.Cut(config.Config.User, ":")
	uid, err := strconv.ParseUint(user, 10, 32)
	g.Expect(err).NotTo(HaveOccurred())
	gid, err := strconv.ParseUint(group, 10, 32)
	g.Expect(err).NotTo(HaveOccurred())
	var output bytes.Buffer
	command := &exec.Cmd{
		Path: config.Config.Entrypoint[0], Args: append(config.Config.Entrypoint, arguments...), Env: []string{"PATH=/"}, Dir: "/",
		Stdout: &output, Stderr: &output,
		SysProcAttr: &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}},
	}
	err = command.Run()
	return output.String(), err
}
