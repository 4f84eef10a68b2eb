// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package client

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"k8s.io/client-go/tools/remotecommand"
	clientspdy "k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
)

// pingPeriod is the time between signs of life on a connection of a command.
const pingPeriod = 5 * time.Second

// ExecOptions is a command to run in an instance, and how to connect it.
type ExecOptions struct {
	// Command is the program, a path or a name to look up in the instance, and its arguments.
	Command []string
	// Stdin is what the command reads; nothing if nil.
	Stdin io.Reader
	// Stdout and Stderr receive the command's output. At least one of the three streams is needed.
	Stdout, Stderr io.Writer
	// Terminal makes the command run in a terminal. Its output is then all on Stdout.
	Terminal bool
	// Sizes delivers the sizes of the caller's terminal; nil if there is none.
	Sizes remotecommand.TerminalSizeQueue
}

// Exec runs a command in an instance and returns when it has ended. An exit code other than 0 is an
// ExitError of package k8s.io/client-go/util/exec. The command is killed when ctx ends.
func (c *Client) Exec(ctx context.Context, id string, options ExecOptions) error {
	if err := c.pace.admit(time.Now()); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	upgrader, err := spdy.NewRoundTripperWithConfig(spdy.RoundTripperConfig{UpgradeTransport: c.transportUntil(ctx), PingPeriod: pingPeriod})
	if err != nil {
		return fmt.Errorf("prepare the stream: %w", err)
	}
	address, err := url.Parse(c.base + execPath(id, options))
	if err != nil {
		return fmt.Errorf("instance %q: %w", id, err)
	}
	opening := &opening{client: c, upgrader: upgrader}
	executor, err := remotecommand.NewSPDYExecutorForTransports(opening, clientspdy.NewUpgraderForStreaming(upgrader), http.MethodPost, address)
	if err != nil {
		return fmt.Errorf("prepare the stream: %w", err)
	}
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{
		Stdin: options.Stdin, Stdout: options.Stdout, Stderr: options.Stderr, Tty: options.Terminal, TerminalSizeQueue: options.Sizes,
	})
	switch {
	case opening.err != nil:
		return opening.err
	case ctx.Err() != nil:
		return ctx.Err() // the library can mistake the end of the connection for the end of the command
	default:
		return err
	}
}

// transportUntil returns a transport whose connections are closed when ctx ends. The library waits
// without end for an answer, and for a command to read its input.
func (c *Client) transportUntil(ctx context.Context) http.RoundTripper {
	transport := c.transport.Clone()
	dial := transport.DialContext // NewClient has set it
	transport.DialContext = func(dialing context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(dialing, network, address)
		if err == nil {
			context.AfterFunc(ctx, func() { _ = conn.Close() })
		}
		return conn, err
	}
	return transport
}

func execPath(id string, options ExecOptions) string {
	values := url.Values{api.ParameterCommand: options.Command}
	for parameter, set := range map[string]bool{
		api.ParameterInput: options.Stdin != nil, api.ParameterOutput: options.Stdout != nil,
		api.ParameterError: options.Stderr != nil && !options.Terminal, api.ParameterTerminal: options.Terminal,
	} {
		if set {
			values.Set(parameter, "1")
		}
	}
	return named(api.PathInstances, id) + api.SuffixExec + "?" + values.Encode()
}

// opening is the request that opens a stream. It keeps the typed error if the cloud refuses the
// request, because the library returns only its text.
type opening struct {
	client   *Client
	upgrader http.RoundTripper
	err      error
}

// RoundTrip implements http.RoundTripper.
func (o *opening) RoundTrip(request *http.Request) (*http.Response, error) {
	if o.err = o.client.authorize(request); o.err != nil {
		return nil, o.err
	}
	response, err := o.upgrader.RoundTrip(request)
	if err != nil {
		o.err = o.client.transportError(request.Context(), err)
		return nil, o.err
	}
	if response.StatusCode >= http.StatusBadRequest {
		defer func() { _ = response.Body.Close() }()
		o.err = decodeError(response)
		return nil, o.err
	}
	return response, nil
}
