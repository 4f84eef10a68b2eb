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

package options

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

func TestValidate(t *testing.T) {
	cloud := []string{"--cloud-endpoint=unix:///run/foo.sock", "--cloud-token-file=/run/token"}
	tests := []struct {
		name string
		args []string
		want string
	}{
		{name: "both roles with a cloud", args: cloud},
		{name: "control plane alone needs no cloud", args: []string{"--providers=control-plane"}},
		{name: "infrastructure needs a cloud", args: nil, want: `--cloud-endpoint is ""`},
		{name: "plain http is refused", args: []string{"--cloud-endpoint=http://host", "--cloud-token-file=t"}, want: "want unix:///path or https://host:port"},
		{name: "a cloud needs a token", args: cloud[:1], want: "--cloud-token-file is unset"},
		{name: "a cloud that nothing uses", args: append([]string{"--providers=control-plane"}, cloud...), want: "--providers has no infrastructure"},
		{name: "unknown role", args: append([]string{"--providers=control-plane,storage"}, cloud...), want: `--providers has "storage"`},
		{name: "no role", args: append([]string{"--providers="}, cloud...), want: "--providers is empty"},
		{name: "no workers", args: append([]string{"--concurrency=0"}, cloud...), want: "--concurrency is 0, want at least 1"},
		{name: "no webhooks", args: append([]string{"--webhook-port=0"}, cloud...)},
		{name: "no port", args: append([]string{"--webhook-port=65536"}, cloud...), want: "--webhook-port is 65536, want 0 to 65535"},
		{name: "impossible leader election", args: append([]string{"--leader-elect", "--leader-elect-lease-duration=5s"}, cloud...), want: "lease duration > renew deadline"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := New()
			fs := pflag.NewFlagSet(t.Name(), pflag.ContinueOnError)
			o.AddFlags(fs)
			if err := fs.Parse(tt.args); err != nil {
				t.Fatalf("parsing %v: %v", tt.args, err)
			}
			err := o.Validate()
			if tt.want == "" && err != nil {
				t.Fatalf("unexpected error: %v", err)
			}
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Fatalf("error is %v, want it to say %q", err, tt.want)
			}
		})
	}
}
