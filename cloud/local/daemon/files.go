// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"
	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/klog/v2"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/internal/rules"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/config"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/durable"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/instance"
	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

const (
	stateFile = "state.db"
	lockFile  = "lock"
	tokenFile = "token"
	// spaceFile is what the cloud's network namespace is mounted on.
	spaceFile = "network"
	// agentFolder holds a folder for each node agent that was installed.
	agentFolder = "agent"

	hashLength = 16

	// nodeProgram is the program that an image must contain.
	nodeProgram = "kubernetes"
)

// Modes of files.
const (
	secretMode os.FileMode = 0o600
	// publicMode is for files that clients of any user read.
	publicMode os.FileMode = 0o644
	// programMode is for files that instances execute.
	programMode os.FileMode = 0o755
)

// lock locks the state folder for this process until the returned file is closed.
func lock(stateDir string) (*os.File, error) {
	path := filepath.Join(stateDir, lockFile)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, secretMode)
	if err != nil {
		return nil, fmt.Errorf("lock the state folder: %w", err)
	}
	err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		owner, _ := io.ReadAll(file)
		_ = file.Close()
		return nil, refuse(fmt.Errorf("state folder %s is in use by another foocloud (process %s): stop that one first", stateDir, strings.TrimSpace(string(owner))))
	}
	if err == nil {
		err = writePID(file)
	}
	// On a full disk, the lock is as good without the number.
	if err != nil && !errors.Is(err, unix.ENOSPC) {
		_ = file.Close()
		return nil, fmt.Errorf("lock the state folder %s: %w", stateDir, err)
	}
	return file, nil
}

func writePID(file *os.File) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	return err
}

// images returns the images of new instances, oldest version first and then by name: those in the images
// folder whose container images are in the operating system. After an upgrade, the folder also has versions of
// the earlier release, which the new operating system lacks. A daemon that still runs sees new versions, which
// its own operating system lacks.
func (o Options) images() ([]cloud.Image, error) {
	entries, err := os.ReadDir(o.ImagesDir)
	if err != nil {
		return nil, fmt.Errorf("read the images: %w", err)
	}
	stored, err := contract.StoredVersions(o.SystemDir)
	if err != nil {
		return nil, fmt.Errorf("--system-dir: %w; name the folder system of a release, or what `make node` builds", err)
	}
	var list []cloud.Image
	for _, entry := range entries {
		info, err := os.Stat(filepath.Join(o.ImagesDir, entry.Name(), nodeProgram))
		image := instance.ImageOf(entry.Name())
		offered := semver.IsValid(image.KubernetesVersion) && stored(image.KubernetesVersion)
		named := entry.Name() == image.KubernetesVersion || len(validation.IsDNS1123Label(image.Name)) == 0
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o100 != 0 && offered && named {
			list = append(list, image)
		}
	}
	rules.SortImages(list)
	return list, nil
}

// agentDir returns the folder of the node agent for new instances. On a full disk, that may be the
// agent of an earlier start.
func (o Options) agentDir() (string, error) {
	folder, err := installAgent(o.StateDir, o.Agent)
	if !o.full(err) {
		return folder, err
	}
	earlier := newestAgent(o.StateDir)
	if earlier == "" {
		return "", err
	}
	klog.Background().Info("The disk of the state folder is full; until the next start, new instances get the node agent of an earlier start",
		"folder", earlier, "reason", err.Error())
	return earlier, nil
}

// newestAgent returns the folder of the complete agent that was installed last; empty if there is none.
func newestAgent(stateDir string) string {
	entries, _ := os.ReadDir(filepath.Join(stateDir, agentFolder))
	newest, installed := "", time.Time{}
	for _, entry := range entries {
		folder := filepath.Join(stateDir, agentFolder, entry.Name())
		program, err := os.Open(filepath.Join(folder, contract.AgentDir, contract.AgentName))
		if err != nil {
			continue
		}
		info, err := program.Stat()
		name, _, unreadable := hash(program)
		_ = program.Close()
		if errors.Join(err, unreadable) == nil && name == entry.Name() && info.ModTime().After(installed) {
			newest, installed = folder, info.ModTime()
		}
	}
	return newest
}

// hash returns the name of the folder for a program, and the program's size.
func hash(program io.Reader) (name string, size int64, err error) {
	sum := sha256.New()
	size, err = io.Copy(sum, program)
	return hex.EncodeToString(sum.Sum(nil))[:hashLength], size, err
}

// installAgent copies the node agent into a subfolder of the state folder, laid out as in an
// instance. The subfolder's name depends on the agent's content, so running instances keep the
// agent that they were created with.
func installAgent(stateDir, agent string) (string, error) {
	source, err := os.Open(agent)
	if err != nil {
		return "", fmt.Errorf("install the node agent: %w", err)
	}
	defer func() { _ = source.Close() }()
	name, size, err := hash(source)
	if err != nil {
		return "", fmt.Errorf("install the node agent: %w", err)
	}
	folder := filepath.Join(stateDir, agentFolder, name)
	// An existing folder is complete, since it is renamed last, unless the power failed before its
	// program was on disk.
	info, err := os.Stat(filepath.Join(folder, contract.AgentDir, contract.AgentName))
	if err == nil && info.Size() == size {
		return folder, nil
	}
	partial := filepath.Join(stateDir, agentFolder, "new")
	programs := filepath.Join(partial, contract.AgentDir)
	for _, step := range []func() error{
		func() error { return os.RemoveAll(partial) },
		func() error { return os.MkdirAll(programs, programMode) },
		func() error { return copyProgram(filepath.Join(programs, contract.AgentName), source) },
		func() error { return os.Symlink(contract.AgentName, filepath.Join(programs, "systemctl")) },
		func() error { return os.RemoveAll(folder) },
		func() error { return os.Rename(partial, folder) },
	} {
		if err := step(); err != nil {
			return "", errors.Join(fmt.Errorf("install the node agent: %w", err), os.RemoveAll(partial))
		}
	}
	return folder, nil
}

func copyProgram(to string, source *os.File) error {
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, programMode)
	if err != nil {
		return err
	}
	_, err = source.Seek(0, io.SeekStart)
	if err == nil {
		_, err = io.Copy(target, source)
	}
	return errors.Join(err, target.Close())
}

// TokenFile returns where the daemon keeps the default tenant's token if no token file is
// configured.
func TokenFile(stateDir string) string { return filepath.Join(stateDir, tokenFile) }

// ViewerTokenFile returns where the daemon keeps the viewer token of a tenant whose token it keeps in
// tokenFile.
func ViewerTokenFile(tokenFile string) string {
	return filepath.Join(filepath.Dir(tokenFile), "viewer-"+filepath.Base(tokenFile))
}

// tokens returns a tenant's token and its viewer token. It generates each at most once. On a full disk
// there may be no viewer token.
func (o Options) tokens(tenant config.Tenant) (full, viewer string, err error) {
	generated := TokenFile(o.StateDir)
	if tenant.Name != config.DefaultTenant {
		generated += "-" + tenant.Name
	}
	if full, err = token(tenant.Name, tenant.TokenFile, generated); err != nil {
		return "", "", err
	}
	viewer, err = token(tenant.Name, tenant.ViewerTokenFile, ViewerTokenFile(generated))
	if o.full(err) {
		klog.Background().Info("The disk of the state folder is full; a tenant has no viewer token until the next start", "tenant", tenant.Name)
		return full, "", nil
	}
	return full, viewer, err
}

// token reads a token from the configured file, or from the generated one if none is configured.
func token(tenant, path, generated string) (string, error) {
	if path == "" {
		path = generated
		if err := makeToken(path); err != nil {
			return "", err
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the token of tenant %q: %w", tenant, err)
	}
	value := strings.TrimSpace(string(text))
	if value == "" {
		return "", fmt.Errorf("the token file %s of tenant %q is empty", path, tenant)
	}
	return value, nil
}

// makeToken makes a token, unless there is one.
func makeToken(path string) error {
	token, err := kept(path)
	if err == nil && len(token) == 0 {
		err = durable.WriteFile(path, []byte(rand.Text()+"\n"), secretMode)
	}
	if err != nil {
		return fmt.Errorf("make a token: %w", err)
	}
	return nil
}

// kept returns what is in a file that the daemon has made; nothing if there is no such file, or if a power
// failure has emptied it. With an error, clients may still know what is in it, so it must not be replaced.
func kept(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return content, err
}
