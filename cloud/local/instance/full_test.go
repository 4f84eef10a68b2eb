// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// An instance that has its data on the disk would start without them.
func TestNoLayerInMemoryBecauseTheDiskIsFull(t *testing.T) {
	g := NewWithT(t)
	system, state := t.TempDir(), ownDisk(t, "size=64k,nr_inodes=32")
	layer, err := probeHere(newFolder(g, state), system)
	g.Expect(err).NotTo(HaveOccurred())
	if layer != LayerInStateDir {
		t.Skip("this kernel has no overlays on a tmpfs")
	}
	var filled []string
	for err == nil {
		filled = append(filled, filepath.Join(state, fmt.Sprintf("fill-%d", len(filled))))
		err = os.Mkdir(filled[len(filled)-1], 0o700)
	}
	for free, path := range filled[:16] {
		g.Expect(os.Remove(path)).To(Succeed())
		folder := newFolder(g, state)
		layer, err := probeHere(folder, system)
		if err != nil {
			g.Expect(err).To(Or(MatchError(unix.ENOSPC), MatchError(unix.EROFS)))
		} else {
			g.Expect(layer).To(Equal(LayerInStateDir), "%d", free)
		}
		g.Expect(os.RemoveAll(folder)).To(Succeed())
	}
}

func newFolder(g Gomega, state string) string {
	folder, err := os.MkdirTemp(state, RootCheckPrefix)
	g.Expect(err).NotTo(HaveOccurred())
	return folder
}
