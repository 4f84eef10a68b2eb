// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package boot

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// consolePatience is how long what is said waits for the cloud to take it. Then it is lost: the instance must not stand still because the
// cloud does, or because somebody floods the console.
const consolePatience = 100 * time.Millisecond

// Console returns where the instance says what it does.
func Console() io.Writer {
	// Opened anew, since others share the way in which the standard error is open.
	file, err := os.OpenFile("/proc/self/fd/2", os.O_WRONLY|os.O_APPEND|unix.O_NONBLOCK, 0)
	if err != nil {
		return os.Stderr
	}
	return patient{file}
}

type patient struct{ file *os.File }

// Write writes, or loses what cannot be written soon.
func (p patient) Write(data []byte) (int, error) {
	// A file that is no pipe has no deadline, and needs none.
	_ = p.file.SetWriteDeadline(time.Now().Add(consolePatience))
	count, err := p.file.Write(data)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return len(data), nil
	}
	return count, err
}

// maxConsoleOutput is how much of the output of bootstrap commands goes to the console, in bytes. That is a file of the host
// which nothing shortens, and a command may leave a daemon behind that writes for as long as the instance lives.
const maxConsoleOutput = 4 << 20

// limited passes on what is written to it until that is limit bytes in all, then says once where the rest is. It is not safe
// for use by several goroutines.
type limited struct {
	output io.Writer
	limit  int
	full   bool
}

// Write passes data on if all of it fits. What is left out counts as written, since other writers may get it as well.
func (l *limited) Write(data []byte) (int, error) {
	if l.full {
		return len(data), nil
	}
	if len(data) > l.limit {
		l.full = true
		_, err := fmt.Fprintf(l.output, "cloud-init: more output of commands is only in %s of the instance\n", outputPath)
		return len(data), err
	}
	n, err := l.output.Write(data)
	l.limit -= n
	return n, err
}
