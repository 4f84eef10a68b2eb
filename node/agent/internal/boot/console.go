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

// consolePatience is how long a write to the console waits for the cloud to read it. After that,
// the output is dropped: the instance must not block because the cloud does, or because somebody
// floods the console.
const consolePatience = 100 * time.Millisecond

// Console returns the writer for the instance's own log.
func Console() io.Writer {
	// Open it again, because other processes share the file status flags of standard error.
	file, err := os.OpenFile("/proc/self/fd/2", os.O_WRONLY|os.O_APPEND|unix.O_NONBLOCK, 0)
	if err != nil {
		return os.Stderr
	}
	return patient{file}
}

type patient struct{ file *os.File }

// Write writes data, and drops what cannot be written within consolePatience.
func (p patient) Write(data []byte) (int, error) {
	// A file that is not a pipe has no deadline and needs none.
	_ = p.file.SetWriteDeadline(time.Now().Add(consolePatience))
	count, err := p.file.Write(data)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return len(data), nil
	}
	return count, err
}

// maxConsoleOutput is how many bytes of the output of bootstrap commands go to the console. A
// command may leave a daemon behind that writes for as long as the instance lives.
const maxConsoleOutput = 4 << 20

// limited passes on what is written to it, up to limit bytes in total, and then prints once where
// to find the rest. It is not safe for concurrent use.
type limited struct {
	output io.Writer
	limit  int
	full   bool
}

// Write passes data on if all of it fits. Dropped data counts as written, because other writers may
// get it as well.
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
