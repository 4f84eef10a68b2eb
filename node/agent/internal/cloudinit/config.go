// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// maxDataSize is the maximum size in bytes of gzipped data once it is unpacked.
const maxDataSize = 16 << 20

// Config is the part of a #cloud-config document that is processed.
type Config struct {
	// BootCommands run first.
	BootCommands []Command
	// Files are written next.
	Files []File
	// RunCommands run last.
	RunCommands []Command
	// Skipped names the document's other modules, sorted.
	Skipped []string
}

// Command is an entry of bootcmd or runcmd.
type Command struct {
	// Args are the program and its arguments; a shell runs an entry that is a string.
	Args []string
	// Line is the command as written in the document.
	Line string
}

// Parse parses bootstrap data. Its errors describe the problem in words fit for a user and do not
// quote the data.
func Parse(data []byte, meta Metadata) (*Config, error) {
	data, err := unpack(data)
	if err != nil {
		return nil, err
	}
	header, isTemplate := cutTemplateHeader(data)
	if err := checkFormat(header); err != nil {
		return nil, err
	}
	if isTemplate {
		if data, err = render(data, meta); err != nil {
			return nil, err
		}
	}
	return parseDocument(data)
}

func unpack(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return data, nil
	}
	return gunzip(data)
}

func gunzip(data []byte) ([]byte, error) {
	reader, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	defer func() { _ = reader.Close() }()
	out, err := io.ReadAll(io.LimitReader(reader, maxDataSize+1))
	if err != nil {
		return nil, fmt.Errorf("gzip: %w", err)
	}
	if len(out) > maxDataSize {
		return nil, fmt.Errorf("gzip: content is larger than the allowed %d bytes", maxDataSize)
	}
	return out, nil
}

// cutTemplateHeader returns the line that names the format, and whether a line before it marks the
// data as a template.
func cutTemplateHeader(data []byte) (header string, isTemplate bool) {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	line := strings.TrimSpace(string(first))
	engine, isTemplate := strings.CutPrefix(strings.ReplaceAll(line, " ", ""), "##template:")
	if !isTemplate {
		return line, false
	}
	if engine != "jinja" {
		return line, false
	}
	second, _, _ := bytes.Cut(rest, []byte("\n"))
	return strings.TrimSpace(string(second)), true
}

func checkFormat(header string) error {
	switch {
	case header == "#cloud-config" || strings.HasPrefix(header, "#cloud-config "):
		return nil
	case header == "":
		return errors.New(`bootstrap data is empty or begins with an empty line; its first line must be "#cloud-config"`)
	case strings.HasPrefix(header, "{"):
		return errors.New(`bootstrap data is JSON, perhaps Ignition; only "#cloud-config" is supported (set format: cloud-config)`)
	case strings.HasPrefix(header, "#!"):
		return errors.New(`bootstrap data is a script; only "#cloud-config" is supported`)
	case strings.HasPrefix(strings.ToLower(header), "content-type:") || strings.HasPrefix(strings.ToLower(header), "mime-version:"):
		return errors.New(`bootstrap data is a MIME archive; only "#cloud-config" is supported`)
	}
	return errors.New(`bootstrap data is of an unknown format; "#cloud-config" must be its first line, or its second after "## template: jinja"`)
}

// modules are the modules that are processed. Every other key of a document is reported as skipped.
var modules = []string{"bootcmd", "write_files", "runcmd"}

func parseDocument(data []byte) (*Config, error) {
	document := map[string]json.RawMessage{}
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, fmt.Errorf("bootstrap data is not valid YAML: %s", withoutContent(err))
	}
	config := &Config{}
	var errs []error
	var err error
	if config.BootCommands, err = parseCommands("bootcmd", document["bootcmd"]); err != nil {
		errs = append(errs, err)
	}
	if config.RunCommands, err = parseCommands("runcmd", document["runcmd"]); err != nil {
		errs = append(errs, err)
	}
	if config.Files, err = parseFiles(document["write_files"]); err != nil {
		errs = append(errs, err)
	}
	for key := range document {
		if !slices.Contains(modules, key) {
			config.Skipped = append(config.Skipped, key)
		}
	}
	slices.Sort(config.Skipped)
	return config, errors.Join(errs...)
}

// withoutContent keeps the position in a YAML error and removes what the error quotes, which may be
// a secret.
func withoutContent(err error) string {
	text := err.Error()
	for _, quote := range []string{"`", `"`} {
		if before, _, found := strings.Cut(text, quote); found {
			text = strings.TrimSpace(before) + " ..."
		}
	}
	return strings.TrimPrefix(text, "error converting YAML to JSON: ")
}

func parseCommands(module string, raw json.RawMessage) ([]Command, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var entries []json.RawMessage
	if err := json.Unmarshal(raw, &entries); err != nil {
		return nil, fmt.Errorf("%s must be a list of commands", module)
	}
	commands := make([]Command, 0, len(entries))
	for i, entry := range entries {
		if string(entry) == "null" {
			continue
		}
		command, err := parseCommand(entry)
		if err != nil {
			return nil, fmt.Errorf("%s[%d]: %w", module, i, err)
		}
		commands = append(commands, command)
	}
	return commands, nil
}

func parseCommand(entry json.RawMessage) (Command, error) {
	var line string
	if json.Unmarshal(entry, &line) == nil {
		return Command{Args: []string{"/bin/sh", "-c", line}, Line: line}, nil
	}
	var words []json.RawMessage
	if err := json.Unmarshal(entry, &words); err != nil || len(words) == 0 {
		return Command{}, errors.New("must be a string or a list of at least one string")
	}
	args := make([]string, 0, len(words))
	for _, word := range words {
		var text string
		if json.Unmarshal(word, &text) != nil {
			text = string(word) // a number or a boolean, as written
		}
		args = append(args, text)
	}
	return Command{Args: args, Line: strings.Join(args, " ")}, nil
}
