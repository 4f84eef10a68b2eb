// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package conformance_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/capfoo/cluster-api-provider-foo/conformance"
)

const (
	clusterAPI = "sigs.k8s.io/cluster-api"
	// lastWithV1Beta1 is a version of Cluster API whose pages are about the contract v1beta1. They do not change any more.
	lastWithV1Beta1 = "v1.10.7"
)

// page is a page of Cluster API's book.
type page struct {
	// path below the book; a pattern.
	path string
	// kind is what the page calls the kind of its contract. Sentences of several pages differ only in it.
	kind, contract string
}

var pages = []page{
	{"developer/providers/contracts/control-plane.md", "ControlPlane", "control-plane"},
	{"developer/providers/contracts/infra-cluster.md", "InfraCluster", "infrastructure-cluster"},
	{"developer/providers/contracts/infra-machine.md", "InfraMachine", "infrastructure-machine"},
	{"developer/providers/contracts/infra-machinepool.md", "InfraMachinePool", "infrastructure-machinepool"},
	{"developer/providers/contracts/bootstrap-config.md", "BootstrapConfig", "bootstrap"},
	{"developer/providers/contracts/clusterctl.md", "", ""},
	{"tasks/experimental-features/runtime-sdk/*.md", "", ""},
}

// listed is what docs/sentences.yaml says about a sentence.
type listed struct {
	Sentence string   `json:"sentence"`
	Rules    []string `json:"rules,omitempty"`
	Untested string   `json:"untested,omitempty"`
	// Since is the version of the contract that has it. Older pages only announce it.
	Since string `json:"since,omitempty"`
}

func TestEverySentenceOfTheContractsHasARule(t *testing.T) {
	g := NewWithT(t)
	data, err := os.ReadFile("docs/sentences.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	var list []listed
	g.Expect(yaml.UnmarshalStrict(data, &list)).To(Succeed())
	known := map[string]listed{}
	for _, one := range list {
		g.Expect(known).NotTo(HaveKey(one.Sentence))
		if (one.Untested == "") != (len(one.Rules) > 0) {
			t.Errorf("want rules, or why there are none: %s", one.Sentence)
		}
		known[one.Sentence] = one
	}
	current, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Version}}", clusterAPI+"/api").Output()
	g.Expect(err).NotTo(HaveOccurred())
	said := map[string]bool{}
	complete := true
	for contract, version := range map[string]string{"v1beta1": lastWithV1Beta1, "v1beta2": strings.TrimSpace(string(current))} {
		t.Run(contract, func(t *testing.T) {
			folder, err := download(t, version)
			if err != nil {
				complete = false
				t.Skipf("the pages of Cluster API %s cannot be had: %v", version, err)
			}
			for _, page := range pages {
				page.compare(t, folder, contract, known, said)
			}
		})
	}
	for sentence := range known {
		if complete && !said[sentence] {
			t.Errorf("docs/sentences.yaml has a sentence that no page has: %s", sentence)
		}
	}
}

// download returns the folder with a version of Cluster API's module.
func download(t *testing.T, version string) (string, error) {
	command := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", clusterAPI+"@"+version)
	command.Dir = t.TempDir() // it must not change this module
	output, err := command.Output()
	if err != nil {
		return "", err
	}
	var module struct{ Dir string }
	err = json.Unmarshal(output, &module)
	return module.Dir, err
}

// compare compares what a page says with the list, and notes it as said.
func (p page) compare(t *testing.T, folder, contract string, known map[string]listed, said map[string]bool) {
	g := NewWithT(t)
	files, err := filepath.Glob(filepath.Join(folder, "docs/book/src", p.path))
	g.Expect(err).NotTo(HaveOccurred())
	if len(files) == 0 && contract != "v1beta1" { // the page about pools is newer
		t.Errorf("there is no page %s", p.path)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		for _, sentence := range p.demands(string(content)) {
			said[sentence] = true
			one, found := known[sentence]
			switch {
			case !found:
				t.Errorf("%s demands what docs/sentences.yaml does not have: %s", filepath.Base(file), sentence)
			case one.Untested == "" && contract >= one.Since && !p.covered(g, contract, one.Rules):
				t.Errorf("%s: none of the rules %v has the version %s: %s", filepath.Base(file), one.Rules, contract, sentence)
			}
		}
	}
}

// covered reports whether one of the rules, which are patterns, belongs to the page and the version of the contract.
// What the pages without a kind demand may be a rule of each kind.
func (p page) covered(g Gomega, contract string, patterns []string) bool {
	rules, err := conformance.Rules()
	g.Expect(err).NotTo(HaveOccurred())
	covered := false
	for _, pattern := range patterns {
		found := false
		for _, rule := range rules {
			matched, err := path.Match(pattern, rule.ID)
			g.Expect(err).NotTo(HaveOccurred())
			found = found || matched
			covered = covered || matched && slices.Contains(rule.Versions, contract) && (p.contract == "" || p.contract == rule.Contract)
		}
		g.Expect(found).To(BeTrue(), "there is no rule %s", pattern)
	}
	return covered
}

// demand finds what a page demands.
var demand = regexp.MustCompile(`(?i)\b(must|should|expected to|recommended|is required)\b`)

var (
	link     = regexp.MustCompile(`\[([^\]]*)\](\([^)]*\))?`)
	item     = regexp.MustCompile(`^\s*([-*]|\d+\.)\s+`)
	ending   = regexp.MustCompile(`[.!?]\s+`)
	unmarked = strings.NewReplacer("`", "", "**", "", "_temporarily_", "temporarily", "_all_", "all", "’", "'", "“", `"`, "”", `"`, "&lt;", "<")
)

// demands returns the sentences that demand something, without their markup and with {Kind} instead of the kind's name.
func (p page) demands(content string) []string {
	read := &reader{}
	for line := range strings.SplitSeq(content, "\n") {
		read.line(line)
	}
	read.end()
	var found []string
	for _, text := range read.paragraphs {
		text = unmarked.Replace(link.ReplaceAllString(text, "$1"))
		if p.kind != "" {
			text = regexp.MustCompile(`\b(Foo)?`+p.kind).ReplaceAllString(text, "${1}{Kind}")
		}
		found = append(found, slices.DeleteFunc(split(text), func(s string) bool { return !demand.MatchString(s) })...)
	}
	return found
}

// split splits a paragraph into sentences.
func split(text string) []string {
	var sentences []string
	start := 0
	for _, at := range ending.FindAllStringIndex(text, -1) {
		end, next := at[0]+1, text[at[1]:]
		sentence := text[start:end]
		capital := next != "" && next[0] >= 'A' && next[0] <= 'Z'
		if strings.HasSuffix(sentence, "e.g.") || strings.HasSuffix(sentence, "i.e.") || strings.HasSuffix(sentence, "etc.") && !capital {
			continue
		}
		sentences = append(sentences, sentence)
		start = at[1]
	}
	return append(sentences, strings.TrimSpace(text[start:]))
}

// reader finds the paragraphs, the items of lists and the comments of a page.
type reader struct {
	paragraphs []string
	current    string
	code       bool
	// demanded says that the line before a list demands what its items say.
	demanded bool
}

func (r *reader) line(line string) {
	trimmed := strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(trimmed, "```"):
		r.end()
		r.code = !r.code
	case r.code:
		r.comment(trimmed)
	case trimmed == "", strings.ContainsRune("#|<", rune(trimmed[0])):
		r.end()
	case item.MatchString(line), strings.HasPrefix(trimmed, "NOTE:"):
		r.end()
		r.current = line
	default:
		r.current += " " + trimmed
	}
}

// comment reads a line of code.
func (r *reader) comment(line string) {
	text, found := strings.CutPrefix(line, "//")
	if !found || strings.HasPrefix(text, " +") || strings.TrimSpace(text) == "" {
		r.end()
		return
	}
	r.current += " " + text
}

// end ends a paragraph.
func (r *reader) end() {
	text := strings.Join(strings.Fields(r.current), " ")
	r.current = ""
	switch {
	case text == "":
		return
	case !item.MatchString(text):
		r.demanded = strings.HasSuffix(text, ":") && demand.MatchString(text)
	default:
		text = item.ReplaceAllString(text, "")
		if r.demanded {
			text = "Must: " + text
		}
	}
	r.paragraphs = append(r.paragraphs, text)
}
