// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package checks

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"k8s.io/client-go/rest"
)

const (
	readyPath = "/readyz"
	livePath  = "/livez"
	// mostOfProbe bounds how much of each answer is read, in bytes.
	mostOfProbe = 1 << 20

	metricsPath = "/metrics"

	// deprecatedMetric lists the deprecated APIs that were requested since the API server
	// started.
	deprecatedMetric = "apiserver_requested_deprecated_apis"
	// mostMetrics bounds how much of the metrics is read, in bytes. The API server of a big
	// cluster has tens of megabytes.
	mostMetrics = 256 << 20
	// longestLine bounds one line of the metrics, in bytes.
	longestLine = 1 << 20
)

// server requests paths of an API server that are not objects. The answers are plain text, which
// clients for objects treat as an error.
type server struct {
	client *http.Client
	base   *url.URL
}

func newServer(config *rest.Config) (server, error) {
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return server{}, fmt.Errorf("the address of the API server: %w", err)
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return server{}, fmt.Errorf("creating a client for the API server: %w", err)
	}
	return server{client: client, base: base}, nil
}

// get requests a path. It returns no error for any status code. The caller must close the body.
func (s server) get(ctx context.Context, path string) (*http.Response, error) {
	address := s.base.JoinPath(path)
	address.RawQuery = "verbose"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, err
	}
	return s.client.Do(request)
}

// answers returns an error if nothing answers.
func (s server) answers(ctx context.Context) error {
	response, err := s.get(ctx, livePath)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func readProbes(ctx context.Context, from source, into *observation) error {
	for _, path := range []string{readyPath, livePath} {
		if err := readProbe(ctx, from.server, path, into); err != nil {
			return err
		}
	}
	return nil
}

func readProbe(ctx context.Context, from server, path string, into *observation) error {
	response, err := from.get(ctx, path)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, mostOfProbe))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	switch response.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusInternalServerError:
		into.failed = append(into.failed, failedProbe{path: path, checks: failedChecks(body)})
		return nil
	default:
		return refused(path, response)
	}
}

func refused(path string, response *http.Response) error {
	return fmt.Errorf("the API server answered %s for %s", http.StatusText(response.StatusCode), path)
}

// failedChecks returns the names of the checks that an API server lists as failed.
func failedChecks(body []byte) []string {
	var names []string
	for line := range strings.Lines(string(body)) {
		if rest, ok := strings.CutPrefix(line, "[-]"); ok {
			name, _, _ := strings.Cut(rest, " ")
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

func readDeprecated(ctx context.Context, from source, into *observation) error {
	response, err := from.server.get(ctx, metricsPath)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.Join(refused(metricsPath, response), response.Body.Close())
	}
	into.deprecated, err = deprecatedAPIs(io.LimitReader(response.Body, mostMetrics))
	return errors.Join(err, response.Body.Close())
}

// deprecatedAPIs reads the deprecated APIs from metrics in the text format. It skips all other
// metrics without parsing them.
func deprecatedAPIs(metrics io.Reader) ([]deprecatedAPI, error) {
	lines := bufio.NewScanner(metrics)
	lines.Buffer(nil, longestLine)
	var wanted bytes.Buffer
	for lines.Scan() {
		if bytes.HasPrefix(lines.Bytes(), []byte(deprecatedMetric+"{")) {
			wanted.Write(lines.Bytes())
			wanted.WriteByte('\n')
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the metrics: %w", err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(&wanted)
	if err != nil {
		return nil, fmt.Errorf("metric %s: %w", deprecatedMetric, err)
	}
	samples, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, slices.Collect(maps.Values(families))...)
	if err != nil {
		return nil, fmt.Errorf("metric %s: %w", deprecatedMetric, err)
	}
	var apis []deprecatedAPI
	for _, sample := range samples {
		if label := sample.Metric; sample.Value != 0 {
			apis = append(apis, deprecatedAPI{
				group: string(label["group"]), version: string(label["version"]), resource: string(label["resource"]), removed: string(label["removed_release"]),
			})
		}
	}
	return apis, nil
}
