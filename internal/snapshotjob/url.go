// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshotjob

import (
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// FolderScheme is the scheme of folders.
const FolderScheme = "file"

// Refusal is what is wrong with a snapshot or a URL. Its text is always the same for the same
// snapshot, and quotes no credentials.
type Refusal string

// Error implements error.
func (r Refusal) Error() string { return string(r) }

// Schemes returns the schemes of URLs of buckets.
func Schemes() []string { return []string{FolderScheme, "s3", "gs", "azblob"} }

// CheckURL returns what is wrong with the URL of a bucket. The error quotes only the scheme and the
// names of parameters.
func CheckURL(text string) error {
	_, err := ParseURL(text)
	return err
}

// ParseURL parses the URL of a bucket.
func ParseURL(text string) (*url.URL, error) {
	parsed, err := url.Parse(text)
	switch {
	case err != nil:
		// The parser quotes its input, which may hold a password.
		return nil, Refusal("it is not a URL")
	case !slices.Contains(Schemes(), parsed.Scheme):
		return nil, Refusal("its scheme is " + strconv.Quote(parsed.Scheme) + ", but must be one of " + strings.Join(Schemes(), ", "))
	case parsed.User != nil:
		return nil, Refusal("it must not contain a user name or password: credentials come from the Secret that snapshotCredentials names")
	case parsed.Scheme != FolderScheme && parsed.Host == "":
		return nil, Refusal("it names no bucket; use " + parsed.Scheme + "://bucket")
	case parsed.Scheme == FolderScheme:
		return parsed, checkFolder(parsed)
	case parsed.Query().Has("key"):
		return nil, Refusal("it has the parameter \"key\", which would store all snapshots in one blob")
	}
	return parsed, nil
}

func checkFolder(parsed *url.URL) error {
	if parsed.Host != "" || !path.IsAbs(parsed.Path) || path.Clean(parsed.Path) == "/" {
		return Refusal("it names no absolute folder; use file:///folder")
	}
	for parameter := range parsed.Query() {
		if parameter != "prefix" {
			return Refusal("it has the parameter " + strconv.Quote(parameter) + ", but may only have prefix for a folder")
		}
	}
	return nil
}

// Folder returns the folder that the URL of a bucket names. It is empty if the URL names no folder.
func Folder(text string) string {
	parsed, err := ParseURL(text)
	if err != nil || parsed.Scheme != FolderScheme {
		return ""
	}
	return path.Clean(parsed.Path)
}

// Location returns the URL of a bucket, including the folder that the prefix parameter names. It
// omits the user, the password and the query, which may hold credentials.
func Location(text string) string {
	parsed, err := ParseURL(text)
	if err != nil {
		return ""
	}
	where := &url.URL{Scheme: parsed.Scheme, Host: parsed.Host, Path: parsed.Path}
	if prefix := Prefix(parsed); prefix != "" {
		where.Path = strings.TrimSuffix(where.Path, "/") + "/" + prefix
	}
	return where.String()
}

// Prefix returns the folder in a bucket that the prefix parameter names, without a slash at its end; empty if it
// names none. In a folder of a machine, only a clean path can be listed.
func Prefix(parsed *url.URL) string {
	prefix := parsed.Query().Get("prefix")
	if parsed.Scheme == FolderScheme {
		return strings.TrimPrefix(path.Clean("/"+prefix), "/")
	}
	return strings.TrimRight(prefix, "/")
}
