// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

const machineIDLength = 32

// describe returns what the cloud tells the instance about itself, with its address.
func describe(identity, address string) (*contract.Instance, error) {
	path := filepath.Join(identity, contract.IdentityInstance)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("instance description: %w", err)
	}
	instance := &contract.Instance{}
	if err := json.Unmarshal(text, instance); err != nil {
		return nil, fmt.Errorf("instance description %s: %w", path, err)
	}
	if address == "" {
		return nil, fmt.Errorf("environment variable %s is empty, but must be the address of the Pod", contract.AddressVariable)
	}
	instance.Address = address
	return instance, nil
}

// identify writes the files that tell the programs below the root which instance this is.
func identify(root string, instance *contract.Instance, identity string) error {
	description, err := json.Marshal(instance)
	if err != nil {
		return fmt.Errorf("encode the instance description: %w", err)
	}
	userData, err := os.ReadFile(filepath.Join(identity, contract.IdentityUserData))
	if err != nil {
		return fmt.Errorf("user data: %w", err)
	}
	sum := sha256.Sum256([]byte("foo instance " + instance.ID))
	for path, file := range map[string]struct {
		text []byte
		mode os.FileMode
	}{
		contract.InstanceFile: {description, 0o644},
		contract.UserDataFile: {userData, 0o600},
		"/etc/machine-id":     {[]byte(hex.EncodeToString(sum[:])[:machineIDLength] + "\n"), 0o644},
	} {
		path = filepath.Join(root, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, file.text, file.mode)); err != nil {
			return err
		}
	}
	return nameHost(filepath.Join(root, "/etc/hosts"), instance)
}

// nameHost adds the host name of the instance to a file that has the Pod's, if they differ.
func nameHost(path string, instance *contract.Instance) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == instance.Address && strings.Contains(line, instance.Hostname) {
			return nil
		}
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	short, _, _ := strings.Cut(instance.Hostname, ".")
	_, err = fmt.Fprintf(file, "%s\t%s %s\n", instance.Address, instance.Hostname, short)
	return errors.Join(err, file.Close())
}

// Started returns an error unless the report in the folder says that the bootstrap data has
// succeeded.
func Started(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, contract.ReportFile))
	if err != nil {
		return err
	}
	report := contract.Report{}
	if err := json.Unmarshal(text, &report); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if report.Bootstrap.State != contract.BootstrapSucceeded {
		return fmt.Errorf("the bootstrap data is %s", report.Bootstrap.State)
	}
	return nil
}
