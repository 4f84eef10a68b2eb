// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

var webhookChecks = map[string]releaseCheck{
	"conversionWebhook": eachThat("CustomResourceDefinition", convertsByWebhook, checkConversionWebhook),
	"webhookService":    checkAdmissionServices,
	"webhookBackend":    checkWebhookBackend,
	"webhookCA":         checkWebhookCA,
	"certificateNames":  checkCertificateNames,
	"certificateIssuer": each("Certificate", checkCertificateIssuer),
	"certificateMount":  eachThat("Deployment", servesWebhooks, checkCertificateMount),
}

// webhook is a call of the API server to a Service.
type webhook struct {
	name, namespace, service string
	port                     int64
	bundle                   bool
}

// webhooks returns the webhooks of an object.
func webhooks(object Object) []webhook {
	var all []webhook
	for _, entry := range object.objects("webhooks") {
		name, _ := entry["name"].(string)
		config, _ := entry["clientConfig"].(map[string]any)
		all = append(all, newWebhook(name, config))
	}
	if config, ok, _ := unstructured.NestedMap(object.Object, "spec", "conversion", "webhook", "clientConfig"); ok {
		all = append(all, newWebhook("conversion", config))
	}
	return slices.DeleteFunc(all, func(w webhook) bool { return w.service == "" })
}

func newWebhook(name string, config map[string]any) webhook {
	w := webhook{name: name, port: 443}
	w.namespace, _, _ = unstructured.NestedString(config, "service", "namespace")
	w.service, _, _ = unstructured.NestedString(config, "service", "name")
	if port, ok, _ := unstructured.NestedFieldNoCopy(config, "service", "port"); ok {
		w.port = number(port)
	}
	bundle, _ := config["caBundle"].(string)
	w.bundle = bundle != "" && bundle != "Cg==" // what controller-gen writes for nothing
	return w
}

func admission(r *Release) []Object {
	return append(r.objects("ValidatingWebhookConfiguration"), r.objects("MutatingWebhookConfiguration")...)
}

// callsServices reports whether an object has webhooks whose Services the release must have. CRDs or webhooks
// alone come without Services.
func callsServices(r *Release, object Object) bool {
	return len(webhooks(object)) > 0 && (r.installable() || len(r.objects("Service")) > 0)
}

func checkAdmissionServices(r *Release) []subject {
	var subjects []subject
	for _, object := range admission(r) {
		if callsServices(r, object) {
			subjects = append(subjects, of(object, checkWebhookService(r, object)...))
		}
	}
	return subjects
}

func convertsByWebhook(r *Release, crd Object) bool {
	return crd.string("spec", "conversion", "strategy") == "Webhook" && (len(webhooks(crd)) == 0 || callsServices(r, crd))
}

func checkConversionWebhook(r *Release, crd Object) []string {
	if len(webhooks(crd)) == 0 && crd.string("spec", "conversion", "webhook", "clientConfig", "url") == "" {
		return []string{"has the conversion strategy Webhook and names no Service"}
	}
	return checkWebhookService(r, crd)
}

func checkWebhookService(r *Release, object Object) []string {
	var messages []string
	for _, w := range webhooks(object) {
		service := r.object("Service", w.namespace, w.service)
		switch {
		case service == nil:
			messages = append(messages, fmt.Sprintf("webhook %s calls the Service %s/%s, which the components do not have", w.name, w.namespace, w.service))
		case !hasPort(*service, w.port):
			messages = append(messages, fmt.Sprintf("webhook %s calls port %d, which the Service %s does not have", w.name, w.port, w.service))
		}
	}
	return messages
}

func hasPort(service Object, port int64) bool {
	return slices.ContainsFunc(service.objects("spec", "ports"), func(p map[string]any) bool { return number(p["port"]) == port })
}

// callers returns the objects with webhooks.
func (r *Release) callers() []Object {
	return append(admission(r), r.objects("CustomResourceDefinition")...)
}

// called returns the Services that webhooks and extensions call, with the names that they use.
func (r *Release) called() []Object {
	names := map[string]bool{}
	for _, object := range r.callers() {
		for _, w := range webhooks(object) {
			names[w.namespace+"/"+w.service] = true
		}
	}
	for _, config := range r.objects("ExtensionConfig") {
		names[config.string("spec", "clientConfig", "service", "namespace")+"/"+config.string("spec", "clientConfig", "service", "name")] = true
	}
	return slices.DeleteFunc(r.objects("Service"), func(s Object) bool { return !names[s.GetNamespace()+"/"+s.GetName()] })
}

func checkWebhookBackend(r *Release) []subject {
	var subjects []subject
	for _, service := range r.called() {
		selector, _, _ := unstructured.NestedStringMap(service.Object, "spec", "selector")
		if len(selector) == 0 || slices.ContainsFunc(r.objects("Deployment"), func(d Object) bool { return selects(selector, d) }) {
			subjects = append(subjects, of(service))
		} else {
			subjects = append(subjects, of(service, "selects the Pods of no Deployment"))
		}
	}
	return subjects
}

func selects(selector map[string]string, deployment Object) bool {
	labels, _, _ := unstructured.NestedStringMap(deployment.Object, "spec", "template", "metadata", "labels")
	for name, value := range selector {
		if labels[name] != value {
			return false
		}
	}
	return true
}

const injectAnnotation = "cert-manager.io/inject-ca-from"

func checkWebhookCA(r *Release) []subject {
	if r.Cluster || !r.installable() {
		return nil
	}
	var subjects []subject
	for _, object := range r.callers() {
		all := webhooks(object)
		if len(all) == 0 {
			continue
		}
		annotations := object.GetAnnotations()
		from, injected := annotations[injectAnnotation]
		namespace, name, _ := strings.Cut(from, "/")
		_, secret := annotations["cert-manager.io/inject-ca-from-secret"]
		_, server := annotations["cert-manager.io/inject-apiserver-ca"]
		switch {
		case injected && r.object("Certificate", namespace, name) == nil:
			subjects = append(subjects, of(object, fmt.Sprintf("annotation %s names the Certificate %q, which the components do not have", injectAnnotation, from)))
		case injected, secret, server, !slices.ContainsFunc(all, func(w webhook) bool { return !w.bundle }):
			subjects = append(subjects, of(object))
		default:
			subjects = append(subjects, of(object, fmt.Sprintf("has webhooks without caBundle and without the annotation %s", injectAnnotation)))
		}
	}
	return subjects
}

// checkCertificateNames checks the Certificates whose authority is injected for a Service.
func checkCertificateNames(r *Release) []subject {
	var subjects []subject
	for _, object := range r.callers() {
		namespace, name, _ := strings.Cut(object.GetAnnotations()[injectAnnotation], "/")
		certificate := r.object("Certificate", namespace, name)
		if certificate == nil {
			continue
		}
		names, _, _ := unstructured.NestedStringSlice(certificate.Object, "spec", "dnsNames")
		for _, w := range webhooks(object) {
			if want := w.service + "." + w.namespace + ".svc"; !slices.Contains(names, want) {
				subjects = append(subjects, of(*certificate, fmt.Sprintf("spec.dnsNames does not have %s", want)))
			} else {
				subjects = append(subjects, of(*certificate))
			}
		}
	}
	return subjects
}

func checkCertificateIssuer(r *Release, certificate Object) []string {
	kind, name := certificate.string("spec", "issuerRef", "kind"), certificate.string("spec", "issuerRef", "name")
	if kind == "ClusterIssuer" || r.Cluster || r.object("Issuer", certificate.GetNamespace(), name) != nil {
		return nil
	}
	return []string{fmt.Sprintf("names the Issuer %q, which the components do not have", name)}
}

func servesWebhooks(r *Release, _ Object) bool { return !r.Cluster && len(r.called()) > 0 }

// checkCertificateMount looks at Secrets for certificates by their name: a Deployment may mount
// other Secrets that a user creates.
func checkCertificateMount(r *Release, deployment Object) []string {
	secrets := map[string]bool{}
	for _, certificate := range r.objects("Certificate") {
		secrets[certificate.string("spec", "secretName")] = true
	}
	for _, secret := range r.objects("Secret") {
		secrets[secret.GetName()] = true
	}
	var messages []string
	for _, volume := range deployment.objects("spec", "template", "spec", "volumes") {
		name, _, _ := unstructured.NestedString(volume, "secret", "secretName")
		optional, _, _ := unstructured.NestedBool(volume, "secret", "optional")
		if strings.Contains(name, "cert") && !optional && !secrets[name] {
			messages = append(messages, fmt.Sprintf("mounts the Secret %s, which no Certificate of the components creates", name))
		}
	}
	return messages
}
