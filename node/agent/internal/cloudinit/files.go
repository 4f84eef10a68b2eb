// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	defaultFileMode   fs.FileMode = 0o644
	defaultFolderMode fs.FileMode = 0o755
	maxFileMode                   = 0o7777
)

// File is an entry of write_files.
type File struct {
	// Path is the absolute path of the file.
	Path string
	// Content is the decoded content.
	Content []byte
	// Mode is the mode of the file in chmod(2)'s format, including the set-user-ID, set-group-ID
	// and sticky bits.
	Mode uint32
	// Owner is user, user:group or empty. Each part is a name or a number.
	Owner string
	// Append adds the content to an existing file.
	Append bool
	// Defer writes the file after all files without Defer.
	Defer bool
}

type fileEntry struct {
	Path        string          `json:"path"`
	Content     string          `json:"content"`
	Encoding    string          `json:"encoding"`
	Owner       string          `json:"owner"`
	Permissions json.RawMessage `json:"permissions"`
	Append      bool            `json:"append"`
	Defer       bool            `json:"defer"`
	Source      json.RawMessage `json:"source"`
}

func parseFiles(raw json.RawMessage) ([]File, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(raw, &entries); err != nil {
		return nil, errors.New("write_files must be a list of files")
	}
	var now, later []File
	for i, entry := range entries {
		file, err := parseFile(entry)
		if err != nil {
			return nil, fmt.Errorf("write_files[%d]: %w", i, err)
		}
		if file.Defer {
			later = append(later, file)
		} else {
			now = append(now, file)
		}
	}
	return append(now, later...), nil
}

func parseFile(raw json.RawMessage) (File, error) {
	var entry fileEntry
	if err := json.Unmarshal(raw, &entry); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return File{}, fmt.Errorf("field %s must be a %s, but is a %s", wrong.Field, wrong.Type, wrong.Value)
		}
		return File{}, errors.New("must be an object with path and content")
	}
	if !filepath.IsAbs(entry.Path) {
		return File{}, fmt.Errorf("path is %q, but must be an absolute path", entry.Path)
	}
	if len(entry.Source) > 0 && string(entry.Source) != "null" {
		return File{}, fmt.Errorf("%s: source is not supported, give the content instead", entry.Path)
	}
	content, err := decode(entry.Encoding, entry.Content)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", entry.Path, err)
	}
	mode, err := parseMode(entry.Permissions)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", entry.Path, err)
	}
	return File{
		Path:    filepath.Clean(entry.Path),
		Content: content,
		Mode:    mode,
		Owner:   entry.Owner,
		Append:  entry.Append,
		Defer:   entry.Defer,
	}, nil
}

// decode decodes the encodings that cloud-init supports, under all of their names.
func decode(encoding, content string) ([]byte, error) {
	switch strings.ToLower(strings.TrimSpace(encoding)) {
	case "", "text/plain":
		return []byte(content), nil
	case "b64", "base64":
		return unbase64(content)
	case "gz", "gzip":
		return gunzip([]byte(content))
	case "gz+b64", "gz+base64", "gzip+b64", "gzip+base64":
		packed, err := unbase64(content)
		if err != nil {
			return nil, err
		}
		return gunzip(packed)
	}
	return nil, fmt.Errorf("encoding is %q, allowed are text/plain, base64, gzip and gzip+base64", encoding)
}

func unbase64(content string) ([]byte, error) {
	out, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(content), ""))
	if err != nil {
		return nil, errors.New("content is not valid base64")
	}
	return out, nil
}

// parseMode parses permissions: an octal string, or a number, which YAML has already read as octal
// if it starts with 0.
func parseMode(raw json.RawMessage) (uint32, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return uint32(defaultFileMode), nil
	}
	var number uint32
	if json.Unmarshal(raw, &number) == nil && number <= maxFileMode {
		return number, nil
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return uint32(defaultFileMode), nil
		}
		value, err := strconv.ParseUint(strings.TrimPrefix(text, "0o"), 8, 32)
		if err == nil && value <= maxFileMode {
			return uint32(value), nil
		}
	}
	return 0, fmt.Errorf("permissions is %s, but must be an octal number such as '0640'", raw)
}

// Write writes the file, and creates missing folders above it.
func (f File) Write() error {
	if err := os.MkdirAll(filepath.Dir(f.Path), defaultFolderMode); err != nil {
		return fmt.Errorf("write_files: %w", err)
	}
	if err := f.writeContent(); err != nil {
		return fmt.Errorf("write_files: %w", err)
	}
	uid, gid, err := parseOwner(f.Owner)
	if err != nil {
		return fmt.Errorf("write_files: %s: %w", f.Path, err)
	}
	if uid < 0 && gid < 0 {
		return nil
	}
	if err := os.Chown(f.Path, uid, gid); err != nil {
		return fmt.Errorf("write_files: %w", err)
	}
	return nil
}

func (f File) writeContent() error {
	how := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if f.Append {
		how = os.O_CREATE | os.O_WRONLY | os.O_APPEND
	}
	// Set the mode before writing the content, so that nobody can read a key in between.
	file, err := os.OpenFile(f.Path, how, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := file.Chmod(fileMode(f.Mode)); err != nil {
		return err
	}
	if _, err := file.Write(f.Content); err != nil {
		return err
	}
	return file.Close()
}

// fileMode converts a mode from chmod(2)'s format to Go's.
func fileMode(mode uint32) fs.FileMode {
	out := fs.FileMode(mode) & fs.ModePerm
	for bit, flag := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if mode&bit != 0 {
			out |= flag
		}
	}
	return out
}

// parseOwner returns the user and group ID of an owner; -1 leaves an ID unchanged.
func parseOwner(owner string) (uid, gid int, err error) {
	uid, gid = -1, -1
	name, group, _ := strings.Cut(owner, ":")
	if name != "" {
		if uid, err = lookup(name, userID); err != nil {
			return 0, 0, fmt.Errorf("owner %q: user %q is unknown", owner, name)
		}
	}
	if group != "" {
		if gid, err = lookup(group, groupID); err != nil {
			return 0, 0, fmt.Errorf("owner %q: group %q is unknown", owner, group)
		}
	}
	return uid, gid, nil
}

func lookup(name string, find func(string) (string, error)) (int, error) {
	if number, err := strconv.Atoi(name); err == nil {
		return number, nil
	}
	found, err := find(name)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(found)
}

func userID(name string) (string, error) {
	found, err := user.Lookup(name)
	if err != nil {
		return "", err
	}
	return found.Uid, nil
}

func groupID(name string) (string, error) {
	found, err := user.LookupGroup(name)
	if err != nil {
		return "", err
	}
	return found.Gid, nil
}
