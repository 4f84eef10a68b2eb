// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshotjob

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Files of the Job's container.
const (
	// EtcdCA, EtcdCertificate and EtcdKey are etcd's CA and a client's certificate and key.
	EtcdCA          = "/var/run/secrets/foo-etcd/ca.crt"
	EtcdCertificate = "/var/run/secrets/foo-etcd/client.crt"
	EtcdKey         = "/var/run/secrets/foo-etcd/client.key"
	// BucketFolder is the folder with the values of the Secret for the bucket. They are environment
	// variables too.
	BucketFolder = "/var/run/secrets/foo-snapshot"
	// TerminationMessage is where the answer is written.
	TerminationMessage = "/dev/termination-log"
	// Temporary is the folder of the snapshot's temporary file.
	Temporary = "/tmp"
)

// Endpoint is the etcd member on the Job's machine.
const Endpoint = "https://127.0.0.1:2379"

// maxText is how much of a text from a workload cluster is shown, in bytes.
const maxText = 512

// Request asks for a snapshot.
type Request struct {
	// URL is the bucket that stores it.
	URL string `json:"url"`
	// Name of the snapshot.
	Name Name `json:"name"`
	// Since is when the snapshot was requested, or when the deletion began that it is for. One that was
	// stored earlier is taken again.
	Since time.Time `json:"since"`
	// Keep is how many of the newest snapshots of the cluster are kept.
	Keep int `json:"keep"`
}

// Argument returns the argument of the Job's program.
func (r Request) Argument() (string, error) {
	text, err := json.Marshal(r)
	return string(text), err
}

// ParseRequest returns the request in the arguments of the Job's program.
func ParseRequest(arguments []string) (Request, error) {
	var request Request
	if len(arguments) != 1 {
		return request, fmt.Errorf("%d arguments, but there must be one: a request in JSON, as the runtime extension writes it", len(arguments))
	}
	if err := json.Unmarshal([]byte(arguments[0]), &request); err != nil {
		return request, fmt.Errorf("the argument is not a request in JSON: %w", err)
	}
	return request, nil
}

// Answer is the result of a request.
type Answer struct {
	// Snapshot is the record of the stored snapshot. It is nil if there is none.
	Snapshot *Snapshot `json:"snapshot,omitempty"`
	// Problem is why there is no snapshot, or why old ones could not be deleted.
	Problem string `json:"problem,omitempty"`
}

// Encode returns the termination message.
func (a Answer) Encode() ([]byte, error) { return json.Marshal(a) }

// DecodeAnswer returns the answer in a termination message, and reports whether there is one. Anybody
// who may create Pods in the workload cluster can write such a message, so its text is made safe to
// show: one line, of limited length.
func DecodeAnswer(message string) (Answer, bool) {
	var answer Answer
	if err := json.Unmarshal([]byte(message), &answer); err != nil {
		return Answer{}, false
	}
	answer.Problem = line(answer.Problem)
	if snapshot := answer.Snapshot; snapshot != nil {
		snapshot.SHA256, snapshot.Hash, snapshot.EtcdVersion = line(snapshot.SHA256), line(snapshot.Hash), line(snapshot.EtcdVersion)
		for i := range snapshot.Members {
			snapshot.Members[i] = line(snapshot.Members[i])
		}
	}
	return answer, true
}

func line(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return strings.ToValidUTF8(text[:min(len(text), maxText)], "")
}
