// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/capfoo/cluster-api-provider-foo/node/contract"
)

// Files that kubeadm and its packages agree on.
const (
	// ConfigFile is written by kubeadm. The kubelet cannot start without it.
	ConfigFile = "/var/lib/kubelet/config.yaml"
	// ConfigFolder holds files that override single fields of ConfigFile, in the order of their
	// names.
	ConfigFolder = "/etc/kubernetes/kubelet.conf.d"
	// Kubeconfig is the kubelet's kubeconfig, written by kubeadm init or by the kubelet's TLS
	// bootstrap.
	Kubeconfig = "/etc/kubernetes/kubelet.conf"
	// BootstrapKubeconfig is what TLS bootstrap starts from, written by kubeadm join.
	BootstrapKubeconfig = "/etc/kubernetes/bootstrap-kubelet.conf"
	// FlagsFile holds KUBELET_KUBEADM_ARGS, written by kubeadm.
	FlagsFile = "/var/lib/kubelet/kubeadm-flags.env"
	// DefaultsFile holds KUBELET_EXTRA_ARGS, written by a user.
	DefaultsFile = "/etc/default/kubelet"
)

// Names of variables in FlagsFile and DefaultsFile.
const (
	kubeadmArgs = "KUBELET_KUBEADM_ARGS"
	extraArgs   = "KUBELET_EXTRA_ARGS"
)

// Configured reports whether kubeadm has written what the kubelet needs.
func Configured() bool {
	return exists(ConfigFile) && (exists(Kubeconfig) || exists(BootstrapKubeconfig))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Flags returns the kubelet's flags, as kubeadm and users currently specify them.
func Flags(inst *contract.Instance) ([]string, error) {
	flagsContent, err := readOptional(FlagsFile)
	if err != nil {
		return nil, err
	}
	defaultsContent, err := readOptional(DefaultsFile)
	if err != nil {
		return nil, err
	}
	return flags(inst, flagsContent, defaultsContent), nil
}

// flags returns the kubelet's flags from the contents of FlagsFile and DefaultsFile.
func flags(inst *contract.Instance, flagsFile, defaultsFile string) []string {
	given := slices.Concat(
		splitWords(parseEnvironment(flagsFile)[kubeadmArgs]),
		splitWords(parseEnvironment(defaultsFile)[extraArgs]),
	)
	out := []string{
		"--bootstrap-kubeconfig=" + BootstrapKubeconfig,
		"--kubeconfig=" + Kubeconfig,
		"--config=" + ConfigFile,
		"--config-dir=" + ConfigFolder,
	}
	if !hasFlag(given, "provider-id") && inst.ProviderID != "" {
		out = append(out, "--provider-id="+inst.ProviderID)
	}
	if !hasFlag(given, "hostname-override") {
		out = append(out, "--hostname-override="+inst.Hostname)
	}
	return append(out, given...)
}

func hasFlag(args []string, name string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		flag, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		return strings.HasPrefix(arg, "-") && strings.ReplaceAll(flag, "_", "-") == name
	})
}

// parseEnvironment parses an EnvironmentFile as systemd does: NAME=value lines, comments, quoted
// values.
func parseEnvironment(content string) map[string]string {
	values := map[string]string{}
	for line := range strings.Lines(content) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		if name, value, ok := strings.Cut(line, "="); ok {
			values[strings.TrimSpace(name)] = unquote(strings.TrimSpace(value))
		}
	}
	return values
}

func unquote(value string) string {
	for _, quote := range []string{`"`, `'`} {
		if len(value) >= 2 && strings.HasPrefix(value, quote) && strings.HasSuffix(value, quote) {
			return value[1 : len(value)-1]
		}
	}
	return value
}

// word is a run of characters that are not white space. Quoted white space is part of the word.
var word = regexp.MustCompile(`(?:[^\s"']|"[^"]*"|'[^']*')+`)

// splitWords splits text at white space outside of quotes, and removes the quotes.
func splitWords(text string) []string {
	words := word.FindAllString(text, -1)
	for i := range words {
		words[i] = quotes.ReplaceAllString(words[i], "$1$2")
	}
	return words
}

var quotes = regexp.MustCompile(`"([^"]*)"|'([^']*)'`)

// readOptional returns the content of a file, or "" if it does not exist.
func readOptional(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("kubelet flags: %w", err)
	}
	return string(data), nil
}
