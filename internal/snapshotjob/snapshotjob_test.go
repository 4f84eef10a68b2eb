// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshotjob

import (
	"encoding/json"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestCheckURL(t *testing.T) {
	for given, want := range map[string]string{
		"file:///var/snapshots":                "",
		"file:///var/snapshots?prefix=here":    "",
		"s3://bucket?region=eu-west-1":         "",
		"gs://bucket":                          "",
		"azblob://container?storage_account=a": "",
		"":                                     `its scheme is ""`,
		"/var/snapshots":                       `its scheme is ""`,
		"http://user:hunter2@host":             `its scheme is "http", but must be one of file, s3, gs, azblob`,
		"mem://":                               `its scheme is "mem"`,
		"s3://user:hunter2@bucket":             "it must not contain a user name or password",
		"s3://":                                "names no bucket",
		"s3://bucket?key=one":                  "all snapshots in one blob",
		"file://var/snapshots":                 "no absolute folder",
		"file://./snapshots":                   "no absolute folder",
		"file:///":                             "no absolute folder",
		"file:///a?secret_key_path=hunter2":    `parameter "secret_key_path"`,
		"s3://user:hunter2@bucket\x00?also=hunter2": "it is not a URL",
	} {
		t.Run(given, func(t *testing.T) {
			g := NewWithT(t)
			err := CheckURL(given)
			if want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(And(ContainSubstring(want), Not(ContainSubstring("hunter2")))))
		})
	}
}

func TestLocationHoldsNoCredentials(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Location("s3://bucket/path?region=r&secret=hunter2#hunter2")).To(Equal("s3://bucket/path"))
	g.Expect(Location("s3://bucket?prefix=prod/&secret=hunter2")).To(Equal("s3://bucket/prod"))
	g.Expect(Location("s3://bucket?prefix=prod//")).To(Equal("s3://bucket/prod"))
	g.Expect(Location("file:///var/snapshots?prefix=a/b")).To(Equal("file:///var/snapshots/a/b"))
	g.Expect(Location("s3://key:hunter2@bucket")).To(BeEmpty())
}

func TestRequestAndAnswer(t *testing.T) {
	g := NewWithT(t)
	request := Request{URL: "s3://bucket", Name: Name{UID: "u", Version: "v1"}, Keep: 3}
	argument, err := request.Argument()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(ParseRequest([]string{argument})).To(Equal(request))
	_, err = ParseRequest([]string{"--help"})
	g.Expect(err).To(MatchError(ContainSubstring("is not a request in JSON")))
	_, err = ParseRequest(nil)
	g.Expect(err).To(MatchError(ContainSubstring("0 arguments, but there must be one")))

	text, err := Answer{Snapshot: &Snapshot{Revision: 3}}.Encode()
	g.Expect(err).NotTo(HaveOccurred())
	answer, ok := DecodeAnswer(string(text))
	g.Expect(ok).To(BeTrue())
	g.Expect(answer.Snapshot.Revision).To(BeEquivalentTo(3))
	_, ok = DecodeAnswer("no JSON")
	g.Expect(ok).To(BeFalse())
}

// Anybody who may create Pods in a workload cluster can write an answer.
func TestAnswersAreMadeSafeToShow(t *testing.T) {
	g := NewWithT(t)
	long := "a\nb" + strings.Repeat("\u00e4", 10_000)
	text, err := json.Marshal(Answer{Problem: long, Snapshot: &Snapshot{SHA256: long, Hash: long, EtcdVersion: long, Members: []string{long}}})
	g.Expect(err).NotTo(HaveOccurred())
	answer, ok := DecodeAnswer(string(text))
	g.Expect(ok).To(BeTrue())
	for _, shown := range []string{answer.Problem, answer.Snapshot.SHA256, answer.Snapshot.Hash, answer.Snapshot.EtcdVersion, answer.Snapshot.Members[0]} {
		g.Expect(shown).To(And(HavePrefix("a b"), Satisfy(func(text string) bool { return len(text) <= maxText })))
	}
}
