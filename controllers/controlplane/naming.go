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

package controlplane

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation"

	controlplanev1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/controlplane"
)

const (
	defaultNameTemplate = "{{ .fooControlPlane.name }}-{{ .random }}"
	randomLength        = 5
	// maxNameLength keeps the name usable as a host name and as a label value.
	maxNameLength = validation.DNS1123LabelMaxLength
)

// machineName returns a new name by spec.machineNaming. A name that is too long is cut, and keeps its random part.
func machineName(controlPlane *controlplanev1.FooControlPlane, cluster string) (string, error) {
	text := controlPlane.Spec.MachineNaming.Template
	if text == "" {
		text = defaultNameTemplate
	}
	if !strings.Contains(strings.ReplaceAll(text, " ", ""), "{{.random}}") {
		return "", fmt.Errorf("spec.machineNaming.template %q: it must contain {{ .random }}", text)
	}
	parsed, err := template.New("machineNaming").Option("missingkey=error").Parse(text)
	if err != nil {
		return "", fmt.Errorf("spec.machineNaming.template %q: %w", text, err)
	}
	random := rand.String(randomLength)
	self := map[string]string{"name": controlPlane.Name}
	var name bytes.Buffer
	// The second name of the control plane lets a template of a KubeadmControlPlane be used as it is.
	err = parsed.Execute(&name, map[string]any{
		"cluster":             map[string]string{"name": cluster},
		"fooControlPlane":     self,
		"kubeadmControlPlane": self,
		"random":              random,
	})
	if err != nil {
		return "", fmt.Errorf("spec.machineNaming.template %q: %w", text, err)
	}
	return validName(name.String(), random, text)
}

func validName(name, random, text string) (string, error) {
	if len(name) > maxNameLength {
		name = name[:maxNameLength-randomLength] + random
	}
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return "", fmt.Errorf("spec.machineNaming.template %q gives %q: %s", text, name, strings.Join(problems, ", "))
	}
	return name, nil
}
