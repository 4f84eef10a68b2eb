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

package management

import (
	"context"
	"fmt"
	"net"
	"strconv"
)

const loopback = "127.0.0.1"

// freePorts returns count TCP ports that nothing listens on at this moment.
func freePorts(ctx context.Context, count int) ([]int, error) {
	ports := make([]int, 0, count)
	for range count {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", hostPort(0))
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		// Kept open until all are found, or the same port could be found twice.
		defer func() { _ = listener.Close() }()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

func hostPort(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

func secureURL(port int) string { return "https://" + hostPort(port) }
