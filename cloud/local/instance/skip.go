// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/capfoo/cluster-api-provider-foo/cloud/local/engine"
)

// maxShown is how many bytes before the end of a log a reader can start. Logs are rotated before they
// are that large, but the file that root of an instance puts in the place of one can have any size.
const maxShown = 16 << 20

// skip moves to where a reader wants a log to start.
func skip(file io.ReadSeeker, log engine.Log) error {
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	first := max(0, size-maxShown)
	if _, err := file.Seek(first, io.SeekStart); err != nil {
		return err
	}
	if log.Tail == nil && log.Since.IsZero() {
		return nil
	}
	start, err := startOf(io.LimitReader(file, maxShown), log)
	if err != nil {
		return fmt.Errorf("find the start: %w", err)
	}
	_, err = file.Seek(first+start, io.SeekStart)
	return err
}

// startOf returns the offset of the first line to show; the end if there is none.
func startOf(content io.Reader, log engine.Log) (int64, error) {
	lines := bufio.NewReader(content)
	var offset int64
	// starts holds where the lines to show begin; only the first if all are shown.
	var starts []int64
	recent, complete := log.Since.IsZero(), true
	for {
		line, err := lines.ReadSlice('\n')
		if complete && len(line) > 0 {
			recent = recent || !written(line, log.Since).Before(log.Since)
			if recent {
				starts = trim(append(starts, offset), log.Tail)
			}
		}
		offset += int64(len(line))
		complete = !errors.Is(err, bufio.ErrBufferFull)
		switch {
		case errors.Is(err, io.EOF) && len(starts) == 0:
			return offset, nil
		case errors.Is(err, io.EOF):
			return starts[0], nil
		case err != nil && complete:
			return 0, err
		}
	}
}

func trim(starts []int64, tail *int) []int64 {
	if tail == nil {
		return starts[:1]
	}
	return starts[max(0, len(starts)-*tail):]
}

var (
	// logfmtTime is how slog and containerd start a line.
	logfmtTime = regexp.MustCompile(`^time="?([^" ]+)`)
	// klogTime is how Kubernetes starts a line. It names no year.
	klogTime = regexp.MustCompile(`^[IWEF](\d{4} \d{2}:\d{2}:\d{2}\.\d{6})`)
)

// written returns the time at the start of a line, or the zero time. A time without a year is the
// one that is closest to near, in UTC, which instances use.
func written(line []byte, near time.Time) time.Time {
	if match := logfmtTime.FindSubmatch(line); match != nil {
		stamp, err := time.Parse(time.RFC3339, string(match[1]))
		if err == nil {
			return stamp
		}
	}
	match := klogTime.FindSubmatch(bytes.TrimRight(line, "\n"))
	if match == nil {
		return time.Time{}
	}
	var closest time.Time
	for year := near.Year() - 1; year <= near.Year()+1; year++ {
		stamp, err := time.Parse("2006 0102 15:04:05.000000", fmt.Sprintf("%d %s", year, match[1]))
		if err == nil && (closest.IsZero() || near.Sub(stamp).Abs() < near.Sub(closest).Abs()) {
			closest = stamp
		}
	}
	return closest
}
