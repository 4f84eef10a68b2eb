// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/capfoo/cluster-api-provider-foo/cloud"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/api"
	"github.com/capfoo/cluster-api-provider-foo/cloud/local/console"
	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
)

// consoleHeaderTimeout is how long a browser may take to send the header of a call.
const consoleHeaderTimeout = 10 * time.Second

func newConsoleCommand() *cobra.Command {
	c := &connection{}
	var options consoleOptions
	command := &cobra.Command{
		Use:   "console",
		Short: "Serve the web console to a browser on this host until interrupted",
		Long: `Serve the web console to a browser on this host until interrupted.

The command prints an address with a key that is only valid until the command ends. The browser gets the key
instead of the tenant's token. Without --write, the console is read-only.`,
		Example: `  foocloud console
  foocloud console --write
  ssh -t -L 8765:localhost:8765 root@cloud.example.com foocloud console --port=8765`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return serveConsole(command, c, options)
		},
	}
	c.addFlags(command)
	c.addTenantFlag(command)
	command.Flags().BoolVar(&options.write, "write", false, "permit the console to operate instances and to inject faults")
	command.Flags().Uint16Var(&options.port, "port", 0, "port on localhost (default: any free port)")
	return command
}

// consoleOptions are the flags of the console besides those of the connection.
type consoleOptions struct {
	write bool
	port  uint16
}

func serveConsole(command *cobra.Command, c *connection, options consoleOptions) error {
	ctx := command.Context()
	c.viewer = !options.write && !command.Flags().Changed("token-file")
	foocloud, err := c.client()
	if err != nil {
		return err
	}
	tenant, err := foocloud.Tenant(ctx)
	if err != nil {
		return err
	}
	if !options.write && !tenant.ReadOnly {
		return cli.Usage(command, fmt.Errorf("the token in %s permits changes: add --write to let the console make them, or name the file of a viewer token",
			c.options.TokenFile))
	}
	next, err := foocloud.Forward()
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(options.port))))
	if err != nil {
		return fmt.Errorf("--port: %w", err)
	}
	key := rand.Text()
	permits := "operate what it shows"
	if tenant.ReadOnly {
		permits = "only look"
	}
	if _, err := fmt.Fprintf(command.OutOrStdout(), "Open http://%s%s#token=%s\nThe console shows tenant %s, and can %s. Ctrl-C ends it.\n",
		listener.Addr(), console.Path, key, tenant.Name, permits); err != nil {
		return errors.Join(err, listener.Close())
	}
	return serveUntilInterrupted(ctx, listener, guard(key, next))
}

func serveUntilInterrupted(ctx context.Context, listener net.Listener, handler http.Handler) error {
	web := &http.Server{Handler: handler, ReadHeaderTimeout: consoleHeaderTimeout}
	defer context.AfterFunc(ctx, func() { _ = web.Close() })()
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// guard passes on calls that carry the key, and calls for the page itself, which everybody may have.
func guard(key string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		ofPage := strings.HasPrefix(path.Clean(r.URL.Path)+"/", console.Path)
		if ofPage || subtle.ConstantTimeCompare([]byte(given), []byte(key)) == 1 {
			next.ServeHTTP(w, r)
			return
		}
		sent := api.NewError(&cloud.UnauthorizedError{Message: "the key is not valid; open the address that foocloud console printed last"})
		_ = api.Send(w, sent.Status(), sent) // the caller has gone if this fails
	})
}
