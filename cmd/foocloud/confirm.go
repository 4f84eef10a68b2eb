// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/capfoo/cluster-api-provider-foo/internal/cli"
)

var errNotConfirmed = errors.New("nothing was done: it was not confirmed")

// confirm asks the user whether to do something that cannot be undone. Without a terminal to ask
// on, it returns a usage error.
func confirm(command *cobra.Command, question string) error {
	input, ok := command.InOrStdin().(*os.File)
	if !ok || !term.IsTerminal(int(input.Fd())) {
		return cli.Usage(command, errors.New("nothing was done: there is no terminal to confirm this on; add --yes"))
	}
	if _, err := fmt.Fprintf(command.ErrOrStderr(), "%s [y/N] ", question); err != nil {
		return err
	}
	answer, err := readLine(command.Context(), input)
	if err != nil && !errors.Is(err, io.EOF) { // Ctrl-D is no answer
		return fmt.Errorf("read the answer: %w", err)
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "y" && answer != "yes" {
		return cli.Usage(command, errNotConfirmed)
	}
	return nil
}

// readLine reads a line until ctx ends: Ctrl-C does not end a read.
func readLine(ctx context.Context, input io.Reader) (string, error) {
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := bufio.NewReader(input).ReadString('\n')
		read <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case got := <-read:
		return got.text, got.err
	}
}
