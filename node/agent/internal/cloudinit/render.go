// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/nikolalohinski/gonja/v2"
	"github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/loaders"
)

// Metadata is the data that a template of bootstrap data can refer to.
type Metadata struct {
	// InstanceID is ds.meta_data.instance_id.
	InstanceID string
	// Hostname is ds.meta_data.local_hostname and ds.meta_data.hostname.
	Hostname string
	// Address is ds.meta_data.local_ipv4 (or local_ipv6).
	Address string
	// Zone is ds.meta_data.availability_zone.
	Zone string
	// ProviderID is ds.meta_data.provider_id.
	ProviderID string
	// InstanceType is ds.meta_data.instance_type.
	InstanceType string
}

const cloudName = "foo"

// values returns the variables of a template, under the names that cloud-init gives them.
func (m Metadata) values() map[string]any {
	address := "local_ipv4"
	if strings.Contains(m.Address, ":") {
		address = "local_ipv6"
	}
	data := map[string]any{
		"instance_id":       m.InstanceID,
		"instance-id":       m.InstanceID,
		"local_hostname":    m.Hostname,
		"local-hostname":    m.Hostname,
		"hostname":          m.Hostname,
		"availability_zone": m.Zone,
		"availability-zone": m.Zone,
		"provider_id":       m.ProviderID,
		"instance_type":     m.InstanceType,
		"instance-type":     m.InstanceType,
		address:             m.Address,
		"cloud_name":        cloudName,
	}
	standard := map[string]any{
		"instance_id":       m.InstanceID,
		"local_hostname":    m.Hostname,
		"availability_zone": m.Zone,
		"cloud_name":        cloudName,
		"platform":          cloudName,
	}
	values := map[string]any{
		"ds": map[string]any{"meta_data": data},
		"v1": standard,
	}
	for key, value := range standard {
		values[key] = value // cloud-init also provides the standard ones under their short names
	}
	return values
}

const templateName = "/user-data"

// render expands a jinja template, without its first line, which only marks it as a template. An
// undefined variable is an error. cloud-init would insert a placeholder, and the problem would only
// show up later and elsewhere.
func render(data []byte, meta Metadata) ([]byte, error) {
	_, body, _ := bytes.Cut(data, []byte("\n"))
	if !bytes.Contains(body, []byte("{{")) && !bytes.Contains(body, []byte("{%")) && !bytes.Contains(body, []byte("{#")) {
		return body, nil
	}
	settings := config.New()
	settings.StrictUndefined = true
	settings.KeepTrailingNewline = true
	loader, err := loaders.NewMemoryLoader(map[string]string{templateName: string(body)})
	if err != nil {
		return nil, fmt.Errorf("bootstrap data as a template: %w", err)
	}
	template, err := exec.NewTemplate(templateName, settings, loader, gonja.DefaultEnvironment)
	if err != nil {
		return nil, templateError(err)
	}
	out, err := template.ExecuteToBytes(exec.NewContext(meta.values()))
	if err != nil {
		return nil, templateError(err)
	}
	return out, nil
}

var (
	lineNumber      = regexp.MustCompile(`(?i)\bline:? (\d+)`)
	failingVariable = regexp.MustCompile(`Unable to render expression at line \d+: ([\w.\[\]'"-]+): `)
)

// templateError reports where a template is wrong and which variable is undefined. It omits the
// engine's own message, which may quote the data.
func templateError(err error) error {
	text := "bootstrap data is not a valid jinja template"
	if found := lineNumber.FindStringSubmatch(err.Error()); found != nil {
		if line, aerr := strconv.Atoi(found[1]); aerr == nil {
			text += fmt.Sprintf(", see line %d", line+1) // plus the line that marks it as a template
		}
	}
	if found := failingVariable.FindStringSubmatch(err.Error()); found != nil {
		text += fmt.Sprintf(": {{ %s }} has no value", found[1])
	}
	return errors.New(text)
}
