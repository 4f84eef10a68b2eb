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

// maxDataSize bounds what gzipped data may unpack to.
const maxDataSize = 16 << 20

// Config is the part of a #cloud-config document that is worked on.
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

// Command is one entry of bootcmd or runcmd.
type Command struct {
	// Args to execute; a string of the document is run by a shell.
	Args []string
	// Line is the command as the document has it.
	Line string
}

// Parse reads bootstrap data. Its errors name what is wrong in words fit for a user and quote none of the data.
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

// cutTemplateHeader returns the first line that says the format, and whether a line before it says that this is a template.
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
		return errors.New(`bootstrap data is empty or begins with an empty line; want "#cloud-config" in its first line`)
	case strings.HasPrefix(header, "{"):
		return errors.New(`bootstrap data is JSON, perhaps Ignition; only "#cloud-config" is supported (set format: cloud-config)`)
	case strings.HasPrefix(header, "#!"):
		return errors.New(`bootstrap data is a script; only "#cloud-config" is supported`)
	case strings.HasPrefix(strings.ToLower(header), "content-type:") || strings.HasPrefix(strings.ToLower(header), "mime-version:"):
		return errors.New(`bootstrap data is a MIME archive; only "#cloud-config" is supported`)
	}
	return errors.New(`bootstrap data is of an unknown format; want "#cloud-config" in its first line, or in its second after "## template: jinja"`)
}

// modules that are worked on; every other key of a document is reported as skipped.
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

// withoutContent keeps the place that a YAML error names and drops what it quotes, which may be a secret.
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
			text = string(word) // a number or a boolean, as it is written
		}
		args = append(args, text)
	}
	return Command{Args: args, Line: strings.Join(args, " ")}, nil
}
