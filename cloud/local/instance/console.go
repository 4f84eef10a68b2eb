// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/time/rate"
	"k8s.io/klog/v2"
)

const (
	// maxConsoleLog is the size in bytes at which the console log is rotated. One rotated log is
	// kept.
	maxConsoleLog = 10 << 20
	// consoleRate is how many bytes of an instance's console are read per second, and consoleBurst
	// how many may be read at a time. An instance that writes faster has to wait, which costs the
	// host nothing.
	consoleRate  = 1 << 20
	consoleBurst = 4 << 20
	consoleChunk = 64 << 10
	// consoleRest is how many bytes are kept of what an instance that has ended left in the pipe. A
	// pipe has room for less, unless root in the instance made it larger.
	consoleRest = 4 * consoleChunk
)

// console copies what an instance writes to its console from a pipe to a log. What the pipe holds
// counts as memory of the instance. Output written while no daemon runs waits in the pipe, as far
// as there is room. Output that cannot be written to the log, such as while the disk is full, is
// lost: the instance would wait for room in a pipe that nobody reads.
type console struct {
	folder string
	limit  *rate.Limiter
	log    *os.File
	size   int64
	// failing is true if the last output could not be written.
	failing bool
}

// makeConsole creates the pipe and returns the instance's end.
func makeConsole(folder string) (*os.File, error) {
	path := filepath.Join(folder, consolePipe)
	if err := unix.Mkfifo(path, uint32(fileMode)); err != nil && !errors.Is(err, unix.EEXIST) {
		return nil, fmt.Errorf("make the console: %w", err)
	}
	return openConsole(folder)
}

// openConsole opens the pipe in both directions, so that it stays open when one side ends.
func openConsole(folder string) (*os.File, error) {
	pipe, err := os.OpenFile(filepath.Join(folder, consolePipe), os.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open the console: %w", err)
	}
	return pipe, nil
}

// followConsole starts to copy the instance's console output to its log. It closes the returned
// channel once ended is closed and the remaining output is copied.
func followConsole(folder string, ended <-chan struct{}) (<-chan struct{}, error) {
	done := make(chan struct{})
	pipe, err := openConsole(folder)
	if errors.Is(err, os.ErrNotExist) {
		// The instance was started by an earlier version and writes to the log itself.
		close(done)
		return done, nil
	}
	if err != nil {
		return nil, err
	}
	c := &console{folder: folder, limit: rate.NewLimiter(consoleRate, consoleBurst)}
	go func() {
		defer close(done)
		defer func() { _ = pipe.Close() }()
		stop := make(chan struct{})
		go func() {
			select {
			case <-ended:
				// This interrupts a blocked read.
				_ = pipe.SetReadDeadline(time.Now())
			case <-stop:
			}
		}()
		err := errors.Join(c.copy(pipe), c.rest(pipe))
		close(stop)
		if c.log != nil {
			err = errors.Join(err, c.log.Close())
		}
		if err != nil {
			klog.Background().Error(err, "Keeping an instance's console failed", "folder", folder)
		}
	}()
	return done, nil
}

// copy copies the output until the pipe's read deadline.
func (c *console) copy(pipe *os.File) error {
	buffer := make([]byte, consoleChunk)
	for {
		count, err := pipe.Read(buffer)
		if err == nil {
			err = c.write(buffer[:count])
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// rest copies what is left in the pipe, at most consoleRest bytes, without waiting for more.
func (c *console) rest(pipe *os.File) error {
	if err := pipe.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	conn, err := pipe.SyscallConn()
	if err != nil {
		return err
	}
	buffer := make([]byte, consoleChunk)
	for kept := 0; kept < consoleRest; {
		count := 0
		var failed error
		if err := conn.Read(func(fd uintptr) bool {
			count, failed = unix.Read(int(fd), buffer)
			return true
		}); err != nil {
			return err
		}
		if errors.Is(failed, unix.EAGAIN) || failed == nil && count == 0 {
			return nil
		}
		if failed != nil {
			return failed
		}
		if err := c.write(buffer[:count]); err != nil {
			return err
		}
		kept += count
	}
	return nil
}

// write waits until the instance may write so much, and appends it to the log. It reports only the
// first of consecutive failures of the log.
func (c *console) write(text []byte) error {
	if err := c.limit.WaitN(context.Background(), len(text)); err != nil {
		return err
	}
	err := c.keep(text)
	if err != nil && !c.failing {
		klog.Background().Error(err, "Keeping an instance's console failed", "folder", c.folder)
	}
	c.failing = err != nil
	return nil
}

func (c *console) keep(text []byte) error {
	path := filepath.Join(c.folder, consoleFile)
	if c.log != nil && c.size >= maxConsoleLog {
		// The log is absent if a user removed it.
		if err := os.Rename(path, path+".1"); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		_ = c.log.Close() // it is complete
		c.log = nil
	}
	if c.log == nil {
		log, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, fileMode)
		if err != nil {
			return err
		}
		info, err := log.Stat()
		if err != nil {
			return errors.Join(err, log.Close())
		}
		c.log, c.size = log, info.Size()
	}
	count, err := c.log.Write(text)
	c.size += int64(count)
	return err
}
