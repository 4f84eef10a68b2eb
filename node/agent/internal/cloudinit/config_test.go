// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package cloudinit

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
)

var meta = Metadata{InstanceID: "i1", Hostname: "node-1", Address: "10.90.0.5", Zone: "a", ProviderID: "foo:///a/i1", InstanceType: "small"}

func pack(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	if _, err := writer.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func mustParse(t *testing.T, data string) *Config {
	t.Helper()
	config, err := Parse([]byte(data), meta)
	if err != nil {
		t.Fatalf("Parse: %s", err)
	}
	return config
}

// kubeadmData has the structure of data from Cluster API's kubeadm bootstrap provider.
const kubeadmData = `## template: jinja
#cloud-config

write_files:
-   path: /etc/kubernetes/pki/ca.crt
    owner: root:root
    permissions: '0640'
    content: |
      certificate
-   path: /run/kubeadm/kubeadm.yaml
    owner: root:root
    permissions: '0640'
    content: |
      ---
      nodeRegistration:
        name: '{{ ds.meta_data.local_hostname }}'
        kubeletExtraArgs:
        - name: provider-id
          value: '{{ ds.meta_data["provider_id"] }}'
-   path: /run/cluster-api/placeholder
    owner: root:root
    permissions: '0640'
    content: "placeholder"
bootcmd:
  - "echo boot"
runcmd:
  - "echo \"{{ v1.instance_id }}\""
  - 'kubeadm init --config /run/kubeadm/kubeadm.yaml  && echo success > /run/cluster-api/bootstrap-success.complete'
  - [echo, a b, 7, true]
ntp:
  enabled: true
users:
  - name: capi
`

func TestParseOfKubeadmData(t *testing.T) {
	config := mustParse(t, kubeadmData)
	if len(config.Files) != 3 || len(config.BootCommands) != 1 || len(config.RunCommands) != 3 {
		t.Fatalf("got %d files, %d bootcmd, %d runcmd", len(config.Files), len(config.BootCommands), len(config.RunCommands))
	}
	kubeadm := string(config.Files[1].Content)
	for _, want := range []string{"name: 'node-1'\n", "value: 'foo:///a/i1'\n"} {
		if !strings.Contains(kubeadm, want) {
			t.Errorf("rendered file lacks %q:\n%s", want, kubeadm)
		}
	}
	if got := config.Files[0]; got.Mode != 0o640 || got.Owner != "root:root" || string(got.Content) != "certificate\n" {
		t.Errorf("first file is %+v", got)
	}
	if got := config.RunCommands[0].Args; !slices.Equal(got, []string{"/bin/sh", "-c", `echo "i1"`}) {
		t.Errorf("string command became %q", got)
	}
	if got := config.RunCommands[2].Args; !slices.Equal(got, []string{"echo", "a b", "7", "true"}) {
		t.Errorf("list command became %q", got)
	}
	if !slices.Equal(config.Skipped, []string{"ntp", "users"}) {
		t.Errorf("skipped modules are %q", config.Skipped)
	}
}

func TestParseLeavesTextAloneThatIsNoTemplate(t *testing.T) {
	config := mustParse(t, "#cloud-config\nruncmd:\n- echo '{{ ds.meta_data.hostname }}'\n")
	if got := config.RunCommands[0].Line; got != "echo '{{ ds.meta_data.hostname }}'" {
		t.Errorf("command became %q", got)
	}
}

func TestParseUnpacksGzip(t *testing.T) {
	config := mustParse(t, string(pack(t, kubeadmData)))
	if len(config.Files) != 3 {
		t.Errorf("got %d files", len(config.Files))
	}
}

func TestDecode(t *testing.T) {
	encode := base64.StdEncoding.EncodeToString
	packed := pack(t, "text")
	cases := map[string]string{
		"":           "text",
		"text/plain": "text",
		"b64":        encode([]byte("text")) + "\n",
		"base64":     encode([]byte("text")),
		"gzip":       string(packed),
		"gz+b64":     encode(packed),
		"gzip+base64": func() string {
			whole := encode(packed)
			return whole[:10] + "\n  " + whole[10:]
		}(),
	}
	for encoding, content := range cases {
		got, err := decode(encoding, content)
		if err != nil || string(got) != "text" {
			t.Errorf("decode(%q) = %q, %v", encoding, got, err)
		}
	}
}

func TestParseOrdersDeferredFilesLast(t *testing.T) {
	config := mustParse(t, "#cloud-config\nwrite_files:\n- {path: /a, defer: true}\n- {path: /b}\n")
	if config.Files[0].Path != "/b" || config.Files[1].Path != "/a" {
		t.Errorf("files are written as %s, %s", config.Files[0].Path, config.Files[1].Path)
	}
}

func TestParseMode(t *testing.T) {
	cases := map[string]uint32{`"0600"`: 0o600, `"755"`: 0o755, `416`: 0o640, ``: 0o644, `null`: 0o644, `"0o640"`: 0o640, `"4755"`: 0o4755}
	for raw, want := range cases {
		if got, err := parseMode([]byte(raw)); err != nil || got != want {
			t.Errorf("parseMode(%s) = %o, %v, want %o", raw, got, err, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	secret := "hunter2hunter2"
	cases := map[string]struct{ data, want string }{
		"nothing":            {"", "empty"},
		"ignition":           {`{"ignition":{"version":"3.0.0"}}`, "Ignition"},
		"script":             {"#!/bin/sh\necho " + secret, "script"},
		"archive":            {"Content-Type: multipart/mixed", "MIME"},
		"other":              {"#include\nhttp://x", "unknown format"},
		"other template":     {"## template: erb\n#cloud-config\n", "unknown format"},
		"broken YAML":        {"#cloud-config\nruncmd: [a\nx: `" + secret, "not valid YAML"},
		"broken template":    {"## template: jinja\n#cloud-config\nx: {{ " + secret, "jinja"},
		"unknown variable":   {"## template: jinja\n#cloud-config\nx: {{ ds.meta_data.nope }}\ny: " + secret, "line 3: {{ ds.meta_data.nope }} has no value"},
		"runcmd no list":     {"#cloud-config\nruncmd: " + secret, "runcmd must be a list"},
		"command is map":     {"#cloud-config\nruncmd:\n- {a: " + secret + "}", "runcmd[0]"},
		"relative path":      {"#cloud-config\nwrite_files:\n- {path: a, content: " + secret + "}", "absolute"},
		"unknown encoding":   {"#cloud-config\nwrite_files:\n- {path: /a, encoding: rot13, content: " + secret + "}", "rot13"},
		"broken base64":      {"#cloud-config\nwrite_files:\n- {path: /a, encoding: b64, content: '" + secret + "!'}", "base64"},
		"broken gzip":        {"#cloud-config\nwrite_files:\n- {path: /a, encoding: gz, content: " + secret + "}", "gzip"},
		"broken permissions": {"#cloud-config\nwrite_files:\n- {path: /a, permissions: rw}", "octal"},
		"source":             {"#cloud-config\nwrite_files:\n- {path: /a, source: {uri: 'http://x'}}", "source"},
		"wrong type":         {"#cloud-config\nwrite_files:\n- {path: /a, append: " + secret + "}", "append"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.data), meta)
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q lacks %q", err, c.want)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("error %q quotes the data", err)
			}
		})
	}
}

func TestSummary(t *testing.T) {
	cases := map[string]struct {
		lines []string
		want  string
	}{
		"nothing":  {nil, "it wrote nothing"},
		"last":     {[]string{"a", "b"}, "b"},
		"error":    {[]string{"error: disk is full", "see the manual"}, "error: disk is full"},
		"kubeadm":  {[]string{"[ERROR Port-6443]: Port 6443 is in use", "error: error execution phase preflight", "To see the stack trace"}, "[ERROR Port-6443]: Port 6443 is in use"},
		"too long": {[]string{strings.Repeat("x", 1000)}, strings.Repeat("x", maxQuote) + "..."},
	}
	for name, c := range cases {
		if got := summary(c.lines); got != c.want {
			t.Errorf("%s: summary is %q, want %q", name, got, c.want)
		}
	}
}

func TestRedact(t *testing.T) {
	key := strings.Repeat("0123456789abcdef", 4)
	cases := map[string]string{
		"kubeadm join --token abcdef.0123456789abcdef x":     "kubeadm join --token <redacted> x",
		"--discovery-token-ca-cert-hash sha256:" + key:       "--discovery-token-ca-cert-hash sha256:" + key,
		"--certificate-key " + key:                           "--certificate-key <redacted>",
		"mysql --password=s3cret -v":                         "mysql --password=<redacted> -v",
		"the key is " + key + ".":                            "the key is <redacted>.",
		"kubeadm init --config /run/kubeadm/kubeadm.yaml ok": "kubeadm init --config /run/kubeadm/kubeadm.yaml ok",
	}
	for text, want := range cases {
		if got := redact(text); got != want {
			t.Errorf("redact(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestRedactorSeesSecretsThatComeInPieces(t *testing.T) {
	var out bytes.Buffer
	r := &redactor{output: &out}
	for _, piece := range []string{"token abcdef.01234", "56789abcdef end\nnext", "\n"} {
		if _, err := r.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.String(); got != "token <redacted> end\nnext\n" {
		t.Errorf("wrote %q", got)
	}
}
