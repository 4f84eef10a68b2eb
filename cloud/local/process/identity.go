// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// Identity identifies one process of this machine.
type Identity struct {
	// PID is the process ID in the PID namespace of foocloud.
	PID int `json:"pid"`
	// StartTime is field 22 of /proc/<pid>/stat: clock ticks since the machine started.
	StartTime uint64 `json:"startTime"`
	// BootID is the boot ID of the kernel that ran the process.
	BootID string `json:"bootID"`
}

// Identify returns the identity of the process that has the PID now.
func Identify(pid int) (Identity, error) {
	boot, err := bootID()
	if err != nil {
		return Identity{}, err
	}
	stat, err := readStat(pid)
	if err != nil {
		return Identity{}, err
	}
	return Identity{PID: pid, StartTime: stat.startTime, BootID: boot}, nil
}

// Alive reports whether the process is running; a zombie is not. It returns an error if it cannot
// tell, for example because this program has too many open files.
func (id Identity) Alive() (bool, error) {
	boot, err := bootID()
	if err != nil || boot != id.BootID {
		return false, err
	}
	stat, err := readStat(id.PID)
	if isGone(err) {
		return false, nil
	}
	return err == nil && stat.startTime == id.StartTime && stat.state != stateZombie && stat.state != 'X', err
}

// isGone reports whether a process could not be read because it does not exist or has just ended.
func isGone(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ESRCH)
}

// SameBoot reports whether the machine has not rebooted since the process was started.
func (id Identity) SameBoot() bool {
	boot, err := bootID()
	return err == nil && boot == id.BootID
}

func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read the kernel's boot ID: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

type stat struct {
	state     byte
	startTime uint64
	// exit is how a zombie ended.
	exit syscall.WaitStatus
}

// startTimeField is the index of the start time, counted from field 3 of the file, which follows
// the command.
const startTimeField = 22 - 3

// exitField is the index of the exit code, counted like startTimeField. It is only set once the
// process has ended.
const exitField = 52 - 3

// stateZombie is a process that has ended but that its parent has not reaped.
const stateZombie = 'Z'

func readStat(pid int) (stat, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, fmt.Errorf("read the state of process %d: %w", pid, err)
	}
	return parseStat(text)
}

func parseStat(text []byte) (stat, error) {
	// The command is in parentheses and may itself contain spaces and parentheses.
	end := bytes.LastIndexByte(text, ')')
	if end < 0 {
		return stat{}, fmt.Errorf("no command in process state %q", text)
	}
	fields := strings.Fields(string(text[end+1:]))
	if len(fields) <= startTimeField {
		return stat{}, fmt.Errorf("only %d fields in process state %q", len(fields), text)
	}
	start, err := strconv.ParseUint(fields[startTimeField], 10, 64)
	if err != nil {
		return stat{}, fmt.Errorf("start time in process state: %w", err)
	}
	parsed := stat{state: fields[0][0], startTime: start}
	if parsed.state != stateZombie || len(fields) <= exitField {
		return parsed, nil
	}
	code, err := strconv.Atoi(fields[exitField])
	if err != nil {
		return stat{}, fmt.Errorf("exit in process state: %w", err)
	}
	parsed.exit = syscall.WaitStatus(code)
	return parsed, nil
}
