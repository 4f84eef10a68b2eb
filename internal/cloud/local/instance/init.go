/*
Copyright 2026 The Foo Authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package instance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// Init is the child side: it builds the instance's root from within the new namespaces, waits until the daemon has
// stored its identity, and becomes the node agent. It returns only an error, which it also tells the daemon.
func Init() error {
	status := os.NewFile(statusFD, "status")
	err := initialize(os.NewFile(controlFD, "control"))
	// Nobody is left to be told when the daemon is gone.
	_, _ = fmt.Fprintln(status, err)
	return err
}

func initialize(control *os.File) error {
	// Nothing that the child inherited or opens may reach the node agent.
	if err := unix.CloseRange(controlFD, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return fmt.Errorf("mark the files to be closed: %w", err)
	}
	decoder := json.NewDecoder(control)
	var c config
	if err := decoder.Decode(&c); err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	if err := buildRoot(c); err != nil {
		return err
	}
	if err := unix.Sethostname([]byte(c.Metadata.Hostname)); err != nil {
		return fmt.Errorf("set the host name %q: %w", c.Metadata.Hostname, err)
	}
	if err := awaitGoAhead(io.MultiReader(decoder.Buffered(), control)); err != nil {
		return err
	}
	if err := setUpNetwork(c); err != nil {
		return err
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := unix.Exec(agentPath, []string{"foonode", "init"}, []string{"PATH=" + searchPath}); err != nil {
		return fmt.Errorf("execute %s: %w", agentPath, err)
	}
	return nil
}

// awaitGoAhead returns an error when the daemon ended before it stored this process: nobody would ever find it again.
func awaitGoAhead(control io.Reader) error {
	buffer := make([]byte, 1)
	for {
		_, err := io.ReadFull(control, buffer)
		if errors.Is(err, io.EOF) {
			return errors.New("the daemon ended while the instance was made")
		}
		if err != nil {
			return fmt.Errorf("wait for the daemon: %w", err)
		}
		if buffer[0] == goAhead {
			return nil
		}
	}
}

// droppedCapabilities are those with which root in an instance would change the host as a whole by mistake.
var droppedCapabilities = []uintptr{
	unix.CAP_SYS_MODULE, unix.CAP_SYS_TIME, unix.CAP_SYS_RAWIO, unix.CAP_SYS_BOOT, unix.CAP_MKNOD, unix.CAP_MAC_ADMIN,
}

func dropCapabilities() error {
	for _, capability := range droppedCapabilities {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil {
			return fmt.Errorf("drop capability %d: %w", capability, err)
		}
	}
	return nil
}
