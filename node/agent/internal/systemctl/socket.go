// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package systemctl

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

// Socket is where the first process of an instance listens.
const Socket = contract.RunDir + "/systemctl.sock"

// Server answers calls of systemctl.
type Server struct {
	listener net.Listener
	answerer answerer
	log      *slog.Logger
}

// Listen opens the socket for calls about the units. Calls wait until Serve runs.
func Listen(socket string, units []Known, log *slog.Logger) (*Server, error) {
	if err := os.MkdirAll(filepath.Dir(socket), 0o750); err != nil {
		return nil, fmt.Errorf("systemctl socket: %w", err)
	}
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("systemctl socket: %w", err)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("systemctl socket: %w", err)
	}
	// Only root may stop a unit.
	if err := os.Chmod(socket, 0o600); err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("systemctl socket: %w", err)
	}
	return &Server{listener: listener, answerer: answerer{units: units}, log: log}, nil
}

// Serve answers calls until ctx is done.
func (s *Server) Serve(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { _ = s.listener.Close() })
	defer stop()
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			if ctx.Err() == nil {
				s.log.Error("Cannot answer systemctl", "error", err)
			}
			return
		}
		go s.handle(ctx, conn)
	}
}

func (s *Server) handle(ctx context.Context, conn net.Conn) {
	defer func() { _ = conn.Close() }()
	var req Request
	if err := json.NewDecoder(conn).Decode(&req); err != nil {
		s.log.Warn("Cannot read call of systemctl", "error", err)
		return
	}
	resp := s.answerer.answer(ctx, req)
	s.log.Info("Answered systemctl", "args", req.Args, "exit", resp.Exit)
	if err := json.NewEncoder(conn).Encode(resp); err != nil {
		s.log.Warn("Cannot answer systemctl", "error", err)
	}
}

// Main is the systemctl client: it passes on the arguments, prints the answer and returns the exit
// code.
func Main(socket string, args []string, stdout, stderr io.Writer) int {
	resp, err := ask(socket, Request{Args: args})
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "Failed to connect to the instance's first process: %s\n", err)
		return exitFailure
	}
	_, _ = fmt.Fprint(stdout, resp.Stdout)
	_, _ = fmt.Fprint(stderr, resp.Stderr)
	return resp.Exit
}

func ask(socket string, req Request) (Response, error) {
	var resp Response
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return resp, err
	}
	defer func() { _ = conn.Close() }()
	if err := json.NewEncoder(conn).Encode(req); err != nil {
		return resp, err
	}
	return resp, json.NewDecoder(conn).Decode(&resp)
}
