// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var extensionChecks = map[string]releaseCheck{
	"extensionVersion":    each("ExtensionConfig", checkExtensionVersion),
	"extensionEndpoint":   each("ExtensionConfig", checkExtensionEndpoint),
	"extensionURL":        eachClaiming(hasField("url"), checkExtensionURL),
	"extensionService":    checkExtensionServices,
	"extensionPort":       eachClaiming(hasField("service"), checkExtensionPort),
	"extensionCA":         each("ExtensionConfig", checkExtensionCA),
	"extensionCASecret":   eachClaiming(injectsCA, checkExtensionCASecret),
	"extensionSettings":   eachThat("ExtensionConfig", hasSettings, checkExtensionSettings),
	"failurePolicy":       checkFailurePolicies,
	"inPlaceHandlers":     checkInPlaceHandlers,
	"extensionPrivileges": checkExtensionPrivileges,
	"extensionIdentity":   checkExtensionIdentity,
}

// eachClaiming applies a check to the extensions that claim its feature.
func eachClaiming(claims func(Object) bool, check func(*Release, Object) []string) releaseCheck {
	return func(r *Release) []subject {
		configs := r.objects("ExtensionConfig")
		subjects := make([]subject, 0, len(configs))
		for _, config := range configs {
			s := subject{object: config, notClaimed: !claims(config)}
			if !s.notClaimed {
				s.messages = check(r, config)
			}
			subjects = append(subjects, s)
		}
		return subjects
	}
}

// hasField returns whether the client configuration of an extension has a field.
func hasField(name string) func(Object) bool {
	return func(config Object) bool {
		_, found := clientConfig(config, name)
		return found
	}
}

func checkExtensionVersion(r *Release, config Object) []string {
	_, version, _ := strings.Cut(config.GetAPIVersion(), "/")
	if version == "v1beta2" || version == "v1alpha1" && !r.claims("v1beta2") {
		return nil
	}
	return []string{fmt.Sprintf("has the apiVersion %s, want runtime.cluster.x-k8s.io/v1beta2", config.GetAPIVersion())}
}

func clientConfig(config Object, field string) (any, bool) {
	value, found, _ := unstructured.NestedFieldNoCopy(config.Object, "spec", "clientConfig", field)
	return value, found
}

func checkExtensionEndpoint(_ *Release, config Object) []string {
	hasURL := hasField("url")(config)
	if hasURL != hasField("service")(config) {
		return nil
	}
	if hasURL {
		return []string{"spec.clientConfig has both url and service"}
	}
	return []string{"spec.clientConfig has neither url nor service"}
}

func checkExtensionURL(_ *Release, config Object) []string {
	value, _ := clientConfig(config, "url")
	text, _ := value.(string)
	parsed, err := url.Parse(text)
	switch {
	case err != nil:
		return []string{fmt.Sprintf("spec.clientConfig.url is no URL: %v", err)}
	case parsed.Scheme != "https":
		return []string{fmt.Sprintf("spec.clientConfig.url has the scheme %q, want https", parsed.Scheme)}
	case parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "":
		return []string{"spec.clientConfig.url has a user, a query or a fragment"}
	case parsed.Host == "":
		return []string{"spec.clientConfig.url has no host"}
	default:
		return nil
	}
}

// extensionService returns the Service that the configuration names, if the release has it, and its name.
func extensionService(r *Release, config Object) (service *Object, name string) {
	namespace, name := config.string("spec", "clientConfig", "service", "namespace"), config.string("spec", "clientConfig", "service", "name")
	return r.object("Service", namespace, name), namespace + "/" + name
}

// checkExtensionServices looks for Services, unless only the configuration is checked.
func checkExtensionServices(r *Release) []subject {
	if len(r.objects("Service")) == 0 && !r.installable() {
		return nil
	}
	return eachClaiming(hasField("service"), func(r *Release, config Object) []string {
		service, name := extensionService(r, config)
		if service != nil {
			return nil
		}
		return []string{fmt.Sprintf("names the Service %s, which the components do not have", name)}
	})(r)
}

func checkExtensionPort(r *Release, config Object) []string {
	service, name := extensionService(r, config)
	port := int64(443)
	if value, found, _ := unstructured.NestedFieldNoCopy(config.Object, "spec", "clientConfig", "service", "port"); found {
		port = number(value)
	}
	if port < 1 || port > 65535 {
		return []string{fmt.Sprintf("spec.clientConfig.service.port is %d, want 1 to 65535", port)}
	}
	if service != nil && !hasPort(*service, port) {
		return []string{fmt.Sprintf("names port %d, which the Service %s does not have", port, name)}
	}
	return nil
}

const injectSecret = "runtime.cluster.x-k8s.io/inject-ca-from-secret"

func checkExtensionCA(_ *Release, config Object) []string {
	if hasField("caBundle")(config) || injectsCA(config) {
		return nil
	}
	return []string{fmt.Sprintf("has neither spec.clientConfig.caBundle nor the annotation %s", injectSecret)}
}

func injectsCA(config Object) bool {
	_, found := config.GetAnnotations()[injectSecret]
	return found
}

func checkExtensionCASecret(r *Release, config Object) []string {
	value := config.GetAnnotations()[injectSecret]
	namespace, name, _ := strings.Cut(value, "/")
	if namespace == "" || name == "" || strings.Contains(name, "/") {
		return []string{fmt.Sprintf("annotation %s is %q, want NAMESPACE/NAME", injectSecret, value)}
	}
	certificates := r.objects("Certificate")
	created := slices.ContainsFunc(certificates, func(c Object) bool {
		return c.GetNamespace() == namespace && c.string("spec", "secretName") == name
	})
	if len(certificates) == 0 || created || r.object("Secret", namespace, name) != nil {
		return nil
	}
	return []string{fmt.Sprintf("annotation %s names %s, which no Certificate of the components creates", injectSecret, value)}
}

func hasSettings(_ *Release, config Object) bool {
	settings, _, _ := unstructured.NestedFieldNoCopy(config.Object, "spec", "settings")
	return settings != nil
}

func checkExtensionSettings(_ *Release, config Object) []string {
	settings, _, _ := unstructured.NestedFieldNoCopy(config.Object, "spec", "settings")
	values, ok := settings.(map[string]any)
	if !ok {
		return []string{"spec.settings is no map"}
	}
	var messages []string
	for name, value := range values {
		if _, ok := value.(string); !ok {
			messages = append(messages, fmt.Sprintf("spec.settings.%s is %v, want a string", name, value))
		}
	}
	slices.Sort(messages)
	return messages
}

// handler is what a discovered extension says about one of its handlers. Cluster API has accepted its name,
// timeout and hook, or there would be no status.
type handler struct{ name, hook, policy string }

func handlers(config Object) []handler {
	entries := config.objects("status", "handlers")
	all := make([]handler, 0, len(entries))
	for _, entry := range entries {
		h := handler{}
		h.name, _ = entry["name"].(string)
		h.policy, _ = entry["failurePolicy"].(string)
		h.hook, _, _ = unstructured.NestedString(entry, "requestHook", "hook")
		all = append(all, h)
	}
	return all
}

// blockingHooks hold a cluster back until the extension answers.
var blockingHooks = []string{
	"BeforeClusterCreate", "BeforeClusterUpgrade", "BeforeControlPlaneUpgrade", "AfterControlPlaneUpgrade",
	"BeforeWorkersUpgrade", "AfterWorkersUpgrade", "AfterClusterUpgrade", "BeforeClusterDelete", "UpdateMachine",
}

var inPlaceHooks = []string{"CanUpdateMachine", "CanUpdateMachineSet", "UpdateMachine"}

// checkFailurePolicies looks at the handlers in the status, which only a cluster has.
func checkFailurePolicies(r *Release) []subject {
	var subjects []subject
	for _, config := range r.objects("ExtensionConfig") {
		for _, h := range handlers(config) {
			if h.policy == "Ignore" && slices.Contains(blockingHooks, h.hook) {
				subjects = append(subjects, of(config, fmt.Sprintf("handler %s has the failure policy Ignore for the hook %s, which can block", h.name, h.hook)))
			} else {
				subjects = append(subjects, of(config))
			}
		}
	}
	return subjects
}

func checkInPlaceHandlers(r *Release) []subject {
	var subjects []subject
	seen := map[string]string{}
	for _, config := range r.objects("ExtensionConfig") {
		for _, h := range handlers(config) {
			if !slices.Contains(inPlaceHooks, h.hook) {
				continue
			}
			if other := seen[h.hook]; other != "" {
				subjects = append(subjects, of(config, fmt.Sprintf("handler %s is for %s, which handler %s is also for", h.name, h.hook, other)))
			} else {
				subjects = append(subjects, of(config))
			}
			seen[h.hook] = h.name
		}
	}
	return subjects
}

// checkExtensionPrivileges looks at what the Services of the extensions select.
func checkExtensionPrivileges(r *Release) []subject { return eachBackend(r, privileges) }

func privileges(deployment Object) []string {
	var messages []string
	pod, _, _ := unstructured.NestedMap(deployment.Object, "spec", "template", "spec")
	for _, field := range []string{"hostNetwork", "hostPID", "hostIPC"} {
		if set, _ := pod[field].(bool); set {
			messages = append(messages, "its Pods have "+field)
		}
	}
	for _, volume := range objectsIn(pod, "volumes") {
		if _, ok := volume["hostPath"]; ok {
			messages = append(messages, fmt.Sprintf("its Pods mount a hostPath as %v", volume["name"]))
		}
	}
	for _, container := range append(objectsIn(pod, "containers"), objectsIn(pod, "initContainers")...) {
		if set, _, _ := unstructured.NestedBool(container, "securityContext", "privileged"); set {
			messages = append(messages, fmt.Sprintf("its container %v is privileged", container["name"]))
		}
	}
	return messages
}
