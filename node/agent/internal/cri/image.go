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

package cri

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// imageSize is what an image is said to take, in bytes. Clients take zero for a broken answer.
const imageSize = 1

// images are the names that were pulled.
type images struct {
	runtimeapi.UnimplementedImageServiceServer

	mu    sync.Mutex
	names map[string]struct{}
}

func newImages() *images { return &images{names: map[string]struct{}{}} }

// imageID makes an ID of an image's name: the same name is the same image.
func imageID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func image(name string) *runtimeapi.Image {
	out := &runtimeapi.Image{Id: imageID(name), Size: imageSize, Spec: &runtimeapi.ImageSpec{Image: name}}
	if strings.Contains(name, "@") {
		out.RepoDigests = []string{name}
	} else {
		out.RepoTags = []string{name}
	}
	return out
}

// find returns the name of an image by name or ID. It needs the lock.
func (i *images) find(ref string) (string, bool) {
	if _, ok := i.names[ref]; ok {
		return ref, true
	}
	for name := range i.names {
		if imageID(name) == ref {
			return name, true
		}
	}
	return "", false
}

// ListImages lists what was pulled.
func (i *images) ListImages(_ context.Context, req *runtimeapi.ListImagesRequest) (*runtimeapi.ListImagesResponse, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	resp := &runtimeapi.ListImagesResponse{}
	wanted := req.GetFilter().GetImage().GetImage()
	for name := range i.names {
		if wanted == "" || wanted == name || wanted == imageID(name) {
			resp.Images = append(resp.Images, image(name))
		}
	}
	return resp, nil
}

// ImageStatus tells of one image; an unknown one has none.
func (i *images) ImageStatus(_ context.Context, req *runtimeapi.ImageStatusRequest) (*runtimeapi.ImageStatusResponse, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	name, ok := i.find(req.GetImage().GetImage())
	if !ok {
		return &runtimeapi.ImageStatusResponse{}, nil
	}
	return &runtimeapi.ImageStatusResponse{Image: image(name)}, nil
}

// PullImage notes the name; nothing is fetched.
func (i *images) PullImage(_ context.Context, req *runtimeapi.PullImageRequest) (*runtimeapi.PullImageResponse, error) {
	name := req.GetImage().GetImage()
	if name == "" {
		return nil, status.Error(codes.InvalidArgument, "the image has no name")
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.names[name] = struct{}{}
	return &runtimeapi.PullImageResponse{ImageRef: imageID(name)}, nil
}

// RemoveImage forgets an image. An unknown one is removed already.
func (i *images) RemoveImage(_ context.Context, req *runtimeapi.RemoveImageRequest) (*runtimeapi.RemoveImageResponse, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if name, ok := i.find(req.GetImage().GetImage()); ok {
		delete(i.names, name)
	}
	return &runtimeapi.RemoveImageResponse{}, nil
}

// ImageFsInfo tells of the disk that images would be on.
func (i *images) ImageFsInfo(context.Context, *runtimeapi.ImageFsInfoRequest) (*runtimeapi.ImageFsInfoResponse, error) {
	usage, err := filesystem(stateFolder)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &runtimeapi.ImageFsInfoResponse{
		ImageFilesystems:     []*runtimeapi.FilesystemUsage{usage},
		ContainerFilesystems: []*runtimeapi.FilesystemUsage{usage},
	}, nil
}
