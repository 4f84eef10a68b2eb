// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package image

// programUser is the non-root user that images of Kubernetes programs commonly use.
const programUser = "65532:65532"

// Release identifies the release and the sources of an image.
type Release struct {
	// Repository is where images are published, without name and tag and with a trailing slash.
	Repository string
	// Version of the release.
	Version string
	// Source is the address of the sources.
	Source string
}

// Program returns the image of one static program, given for each architecture, with certificate
// authorities and nothing else. It runs as a non-root user, and its root can be read-only. It has
// no shell, no libraries and no time zones.
func Program(release Release, name string, programs map[string][]byte) Image {
	image := Image{
		Title:     name,
		Reference: release.Repository + name + ":" + release.Version, Version: release.Version, Source: release.Source,
		User: programUser, Entrypoint: []string{"/" + name},
		Layers: map[string][]*Layer{},
	}
	for architecture, program := range programs {
		image.Layers[architecture] = []*Layer{{
			Content: name + " and certificate authorities", Files: append(foundation(), Regular(name, programMode, program)),
		}}
	}
	return image
}

// foundation returns the files that programs expect in an image without an operating system.
func foundation() []File {
	return []File{
		Regular("etc/group", fileMode, []byte("root:x:0:\nnonroot:x:65532:\n")),
		Regular("etc/passwd", fileMode, []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")),
		authorities(),
		Folder("tmp", 0o1777),
	}
}
