// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
)

// ListContainerImages returns the container images that were loaded into the cloud's registry.
func (c *Client) ListContainerImages(ctx context.Context) ([]api.ContainerImage, error) {
	return list[api.ContainerImage](ctx, c, api.PathContainerImages)
}

// LoadContainerImages loads the images of an archive and returns them. The name is for an image
// that has none in the archive. The archive is sent only once and may take as long as ctx lasts.
func (c *Client) LoadContainerImages(ctx context.Context, archive io.Reader, name string) ([]api.ContainerImage, error) {
	if err := c.pace.admit(time.Now()); err != nil {
		return nil, err
	}
	path := query(api.PathContainerImages, nil, map[string]string{api.ParameterName: name})
	// With Expect, the archive is not sent if the cloud refuses the request before reading it.
	headers := map[string]string{"Content-Type": api.Tar, "Expect": "100-continue"}
	response, err := c.sendContent(ctx, http.MethodPost, path, io.NopCloser(archive), headers)
	c.pace.note(err, time.Now())
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	var loaded api.ContainerImages
	if err := json.NewDecoder(response.Body).Decode(&loaded); err != nil {
		return nil, c.transportError(ctx, fmt.Errorf("read the answer: %w", err))
	}
	return loaded.Items, nil
}

// DeleteContainerImage deletes a container image from the cloud's registry.
func (c *Client) DeleteContainerImage(ctx context.Context, name string) error {
	return c.order(ctx, http.MethodDelete, query(api.PathContainerImages, nil, map[string]string{api.ParameterName: name}))
}
