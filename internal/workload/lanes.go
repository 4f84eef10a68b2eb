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

package workload

import (
	"errors"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// slowAfter is how long a call may take before its cluster counts as slow. It is longer than a look for an API server
	// that is starting takes at most.
	slowAfter = 3 * time.Second
	// slowPlaces is how many calls to slow clusters run at the same time.
	slowPlaces = 3
)

// ErrBusy is returned for a cluster that did not answer in time before, while other such clusters are being tried again.
var ErrBusy = errors.New("the workload cluster did not answer in time before, and is tried again soon: others like it are being tried now")

// lanes keep clusters that do not answer from holding up the others: all calls to clusters that have been slow share a few
// places. A cluster that answers in time again is slow no more.
type lanes struct {
	after  time.Duration
	places chan struct{}

	mu   sync.Mutex
	slow map[client.ObjectKey]bool
}

func newLanes(after time.Duration, places int) *lanes {
	return &lanes{after: after, places: make(chan struct{}, places), slow: map[client.ObjectKey]bool{}}
}

// run calls do, or returns ErrBusy at once if the cluster has been slow and no place is free.
func (l *lanes) run(cluster client.ObjectKey, do func() error) error {
	if l.isSlow(cluster) {
		select {
		case l.places <- struct{}{}:
			defer func() { <-l.places }()
		default:
			return ErrBusy
		}
	}
	began := time.Now()
	err := do()
	if time.Since(began) < l.after {
		l.forget(cluster)
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slow[cluster] = true
	return err
}

func (l *lanes) isSlow(cluster client.ObjectKey) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.slow[cluster]
}

// forget takes a cluster for one that is not slow.
func (l *lanes) forget(cluster client.ObjectKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.slow, cluster)
}
