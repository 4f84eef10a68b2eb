// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestWriteConfig(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "kubelet.conf.d")
	path := filepath.Join(folder, "10-foo.conf")
	for _, before := range []string{"", "old"} {
		if before != "" {
			if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := WriteConfig(folder, ""); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		APIVersion                  string            `json:"apiVersion"`
		Kind                        string            `json:"kind"`
		FailCgroupV1                *bool             `json:"failCgroupV1"`
		ImageGCHighThresholdPercent int               `json:"imageGCHighThresholdPercent"`
		EvictionHard                map[string]string `json:"evictionHard"`
	}
	if err := yaml.UnmarshalStrict(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.APIVersion != "kubelet.config.k8s.io/v1beta1" || got.Kind != "KubeletConfiguration" {
		t.Errorf("the file is %s %s", got.APIVersion, got.Kind)
	}
	if got.FailCgroupV1 == nil || *got.FailCgroupV1 || got.ImageGCHighThresholdPercent != 100 {
		t.Errorf("the file sets %+v", got)
	}
	want := map[string]string{
		"memory.available": "100Mi", "nodefs.available": "0%", "nodefs.inodesFree": "0%", "imagefs.available": "0%", "imagefs.inodesFree": "0%",
	}
	if !maps.Equal(got.EvictionHard, want) {
		t.Errorf("the file evicts at %v, want %v", got.EvictionHard, want)
	}
}

func TestAKubeletThatMayNotProtectItselfDoesNotTry(t *testing.T) {
	folder := t.TempDir()
	if err := WriteConfig(folder, Unprotected); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, configName))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		OOMScoreAdj *int32 `json:"oomScoreAdj"`
	}
	if err := yaml.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.OOMScoreAdj == nil || *got.OOMScoreAdj != 0 {
		t.Errorf("the file sets %+v", got)
	}
}

func TestWriteConfigLeavesAFileThatIsRight(t *testing.T) {
	folder := t.TempDir()
	if err := WriteConfig(folder, ""); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, configName)
	before, err := os.Stat(path)
	if err != nil || before.Mode().Perm() != 0o644 {
		t.Fatalf("the file is %v, %v", before, err)
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	if err := WriteConfig(folder, ""); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(path); err != nil || !after.ModTime().Equal(before.ModTime()) || after.Mode().Perm() != 0o400 {
		t.Errorf("the file is %v, %v", after, err)
	}
}
