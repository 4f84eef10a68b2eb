// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package behaviour

import (
	"errors"
	"fmt"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/capfoo/cluster-api-provider-foo/conformance/internal/fields"
)

func controlPlaneScenarios() []scenario {
	return []scenario{
		{lifeOf + "a control plane", ControlPlane, MachinesCreated, []string{
			"machine-label", "machine-owner", "infrastructure-ref", "version", "machine-placement", "template-owner",
			"replicas", "selector", "ready-replicas", "available-replicas", "up-to-date-replicas", "status-version", "status-versions", "status-versions-entries",
			"kubeconfig", "certificates", "conditions", "conditions-implemented", "ready-condition", "available-condition", "scaling-conditions",
		}, lifeOfControlPlane},
		{"version without a prefix", ControlPlane, MachinesCreated, []string{"version-prefix"}, versionWithoutPrefix},
		{"scale subresource", ControlPlane, MachinesCreated, []string{"scale"}, scaleSubresource},
		{"changes in place", ControlPlane, MachinesCreated, []string{
			"metadata-propagation", "infrastructure-metadata", "in-place-propagation", "deletion-timeouts", "readiness-gates", "taints", "min-ready-seconds-in-place",
		}, changesInPlace},
		{"endpoint comes late", ControlPlane, MachinesCreated, []string{"waits-for-endpoint"}, endpointLate},
		{"certificates of the user", ControlPlane, MachinesCreated, []string{"user-certificates"}, certificatesOfUser},
		{"unhealthy Machine", ControlPlane, MachinesCreated, []string{"remediation"}, unhealthyMachine},
	}
}

func lifeOfControlPlane(s *story) error {
	object, err := s.ready()
	if object != nil && err != nil {
		s.check("machine-label", err)
	}
	if err != nil {
		return err
	}
	machine, err := s.firstMachine()
	if err != nil {
		return err
	}
	s.checkFirstMachine(object, machine)
	s.checkSecrets(object)
	s.checkTemplateOwner(object)
	return errors.Join(s.checkReplicas(object, machine), s.checkControlPlaneConditions(object))
}

// checkFirstMachine checks how the provider made a Machine.
func (s *story) checkFirstMachine(object *unstructured.Unstructured, machine *clusterv1.Machine) {
	var problem error
	if value, ok := machine.Labels[clusterv1.MachineControlPlaneLabel]; !ok || value != "" || machine.Labels[clusterv1.ClusterNameLabel] != s.namespace {
		problem = fmt.Errorf("its Machine has the labels %s, want %s without a value and %s=%s",
			fields.Show(machine.Labels), clusterv1.MachineControlPlaneLabel, clusterv1.ClusterNameLabel, s.namespace)
	}
	s.check("machine-label", problem)
	owner := metav1.GetControllerOf(machine)
	problem = nil
	if owner == nil || owner.UID != object.GetUID() {
		problem = fmt.Errorf("its Machine has the owner references %s, want it as the controller", fields.Show(machine.OwnerReferences))
	}
	s.check("machine-owner", problem)
	s.check("infrastructure-ref", s.checkInfraRef(machine))
	problem = nil
	if version := fields.Text(object, "spec.version"); !fields.SameVersion(machine.Spec.Version, version) {
		problem = fmt.Errorf("spec.version is %q, and spec.version of its Machine is %q", version, machine.Spec.Version)
	}
	s.check("version", problem)
	problem = nil
	if domain := machine.Spec.FailureDomain; domain != domainOfControlPlanes {
		problem = fmt.Errorf("its Machine is in the failure domain %q, and the only one for control planes is %q", domain, domainOfControlPlanes)
	}
	s.check("machine-placement", problem)
}

// checkInfraRef checks that the Machine's infrastructure is made from the template.
func (s *story) checkInfraRef(machine *clusterv1.Machine) error {
	infra := s.standIn(standInMachine)
	if got := machine.Spec.InfrastructureRef; got.Kind != standInMachine || got.APIGroup != infraGroup {
		return fmt.Errorf("spec.infrastructureRef of its Machine is %s, want a %s", fields.Show(got), standInMachine)
	}
	infra.SetName(machine.Spec.InfrastructureRef.Name)
	if err := s.read(infra); err != nil {
		return fmt.Errorf("spec.infrastructureRef of its Machine: %w", err)
	}
	if from := fields.Text(infra, "spec."+templateMark); from != s.namespace {
		return fmt.Errorf("the infrastructure machine has the spec %s, which is not the template's", fields.Show(infra.Object["spec"]))
	}
	return nil
}

// checkSecrets checks the Secrets that a control plane keeps.
func (s *story) checkSecrets(object *unstructured.Unstructured) {
	var authority error
	if s.wants("certificates") {
		authority = s.until("certificates", func() error { _, err := s.clusterSecret("ca", "tls.crt"); return err })
	}
	s.check("kubeconfig", s.until("kubeconfig", func() error { return s.checkKubeconfig(object) }))
	s.check("certificates", errors.Join(authority, s.checkOtherCertificates()))
}

// checkOtherCertificates checks certificates that not every control plane has.
func (s *story) checkOtherCertificates() error {
	var errs []error
	for _, name := range []string{"etcd", "proxy", "sa"} {
		if _, err := s.clusterSecret(name, "tls.crt"); !apierrors.IsNotFound(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// clusterSecret reads a Secret that the contract names.
func (s *story) clusterSecret(purpose, key string) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	name := s.namespace + "-" + purpose
	if err := s.Get(s.ctx, client.ObjectKey{Namespace: s.namespace, Name: name}, secret); err != nil {
		return nil, err
	}
	if secret.Type != clusterv1.ClusterSecretType {
		return nil, fmt.Errorf("secret %s has the type %q, want %q", name, secret.Type, clusterv1.ClusterSecretType)
	}
	if got := secret.Labels[clusterv1.ClusterNameLabel]; got != s.namespace {
		return nil, fmt.Errorf("secret %s has the label %s=%q, want %q", name, clusterv1.ClusterNameLabel, got, s.namespace)
	}
	if len(secret.Data[key]) == 0 {
		return nil, fmt.Errorf("secret %s has no key %s", name, key)
	}
	return secret, nil
}

// endpoint returns the endpoint of the control plane if it has to provide one, and otherwise the Cluster's.
func (s *story) endpoint(object *unstructured.Unstructured) (clusterv1.APIEndpoint, error) {
	if s.checker.Config.has(ControlPlane, endpointFeature) {
		if err := s.read(object); err != nil {
			return clusterv1.APIEndpoint{}, err
		}
		if own := endpointOf(object); own.IsValid() {
			return own, nil
		}
	}
	return s.cluster.Spec.ControlPlaneEndpoint, nil
}

func (s *story) checkKubeconfig(object *unstructured.Unstructured) error {
	secret, err := s.clusterSecret("kubeconfig", "value")
	if err != nil {
		return err
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(secret.Data["value"])
	if err != nil {
		return fmt.Errorf("secret %s: value is no kubeconfig: %w", secret.Name, err)
	}
	endpoint, err := s.endpoint(object)
	if err != nil {
		return err
	}
	if want := "https://" + endpoint.String(); config.Host != want {
		return fmt.Errorf("the kubeconfig has the server %q, and the endpoint of the Cluster is %q", config.Host, want)
	}
	return nil
}

func (s *story) checkTemplateOwner(object *unstructured.Unstructured) {
	if s.wants("template-owner") {
		s.check("template-owner", s.until("the template that it uses", func() error { return s.checkLinkOfTemplate(object) }))
	}
}

// checkLinkOfTemplate returns an error unless the owner of the template is the Cluster, or the control plane, whose
// owner is the Cluster.
func (s *story) checkLinkOfTemplate(object *unstructured.Unstructured) error {
	template := s.standIn(standInMachine + "Template")
	if err := s.read(template); err != nil {
		return err
	}
	_, direct := fields.OwnedBy(template, s.cluster)
	if _, indirect := fields.OwnedBy(template, object); indirect == nil {
		return nil
	}
	return direct
}

// checkReplicas checks what the status counts. In v1beta2 a Machine counts as ready if its condition
// says so. In fields.V1Beta1 only a Machine with a Node does, so the check is made before there is any.
func (s *story) checkReplicas(object *unstructured.Unstructured, machine *clusterv1.Machine) error {
	counters := []counter{
		{"replicas", "status.replicas", 1}, {"ready-replicas", "status.readyReplicas", 1},
		{"available-replicas", "status.availableReplicas", 1}, {"up-to-date-replicas", "status.upToDateReplicas", 1},
	}
	if s.contract == fields.V1Beta1 {
		counters = []counter{
			{"replicas", "status.replicas", 1}, {"ready-replicas", "status.readyReplicas", 0},
			{"available-replicas", "status.unavailableReplicas", 1}, {"up-to-date-replicas", "status.updatedReplicas", 1},
		}
	} else if err := s.markReady(machine); err != nil {
		return err
	}
	for _, counter := range counters {
		if s.wants(counter.rule) {
			s.check(counter.rule, s.until("with one Machine", func() error { return s.counted(object, counter) }))
		}
	}
	if s.wants("selector") {
		s.check("selector", s.until("with one Machine", func() error { return s.selects(object, machine) }))
	}
	s.checkVersions(object)
	return nil
}

// checkVersions checks what the status says about the version. A provider that reports none at all
// breaks only the first rule.
func (s *story) checkVersions(object *unstructured.Unstructured) {
	for _, rule := range []string{"status-version", "status-versions", "status-versions-entries"} {
		if !s.wants(rule) {
			continue
		}
		problem := s.until("with one Machine", func() error {
			if rule == "status-versions-entries" {
				return s.entriesOfVersions(object)
			}
			return s.reportsVersion(object, rule)
		})
		s.check(rule, problem)
		if problem != nil {
			return
		}
	}
}

// counter is a field that counts Machines.
type counter struct {
	rule, path string
	want       int64
}

func (s *story) counted(object *unstructured.Unstructured, counter counter) error {
	if err := s.read(object); err != nil {
		return err
	}
	// Zero may be left out.
	if got := max(fields.Number(object, counter.path), 0); got != counter.want {
		return fmt.Errorf("%s is %s, want %d", counter.path, fields.Show(fields.At(object, counter.path)), counter.want)
	}
	return nil
}

// markReady sets the conditions of a Machine that core sets once its Node is ready.
func (s *story) markReady(machine *clusterv1.Machine) error {
	return s.changeStatus(machine, func() {
		for _, kind := range []string{clusterv1.ReadyCondition, clusterv1.AvailableCondition} {
			meta.SetStatusCondition(&machine.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: "Conformance"})
		}
	})
}

func (s *story) selects(object *unstructured.Unstructured, machine *clusterv1.Machine) error {
	if err := s.read(object); err != nil {
		return err
	}
	selector, err := labels.Parse(fields.Text(object, "status.selector"))
	if err != nil {
		return fmt.Errorf("status.selector: %w", err)
	}
	if selector.Empty() || !selector.Matches(labels.Set(machine.Labels)) {
		return fmt.Errorf("status.selector is %q, which does not select its Machine with the labels %s", fields.Text(object, "status.selector"), fields.Show(machine.Labels))
	}
	return nil
}

func (s *story) reportsVersion(object *unstructured.Unstructured, rule string) error {
	if err := s.read(object); err != nil {
		return err
	}
	want := fields.Text(object, "spec.version")
	list, _ := fields.At(object, "status.versions").([]any)
	listed := slices.ContainsFunc(list, func(item any) bool {
		name, _ := fields.Get(item, "version").(string)
		return fields.SameVersion(name, want)
	})
	if listed || rule == "status-version" && fields.SameVersion(fields.Text(object, "status.version"), want) {
		return nil
	}
	return fmt.Errorf("status.version is %s and status.versions is %s, want %s", fields.Show(fields.At(object, "status.version")), fields.Show(list), want)
}

// entriesOfVersions reads a control plane with one Machine, and checks what its status says for each version.
func (s *story) entriesOfVersions(object *unstructured.Unstructured) error {
	if err := s.read(object); err != nil {
		return err
	}
	list, _ := fields.At(object, "status.versions").([]any)
	if len(list) == 0 {
		return errors.New("status.versions is empty")
	}
	for _, item := range list {
		name, _ := fields.Get(item, "version").(string)
		if _, err := version.ParseSemantic(name); err != nil {
			return fmt.Errorf("status.versions is %s, want a semantic version in each entry: %w", fields.Show(list), err)
		}
		if replicas := fields.Get(item, "replicas"); s.checker.Config.has(ControlPlane, "replicas") && replicas != int64(1) {
			return fmt.Errorf("status.versions is %s; replicas of %s is %s, want 1", fields.Show(list), name, fields.Show(replicas))
		}
	}
	return nil
}

func (s *story) checkControlPlaneConditions(object *unstructured.Unstructured) error {
	if err := errors.Join(s.settle(), s.read(object)); err != nil {
		return err
	}
	all := fields.Conditions(object, "status.conditions")
	if len(all) == 0 {
		s.check("conditions-implemented", errors.New("status.conditions is empty"))
		return nil
	}
	s.check("conditions-implemented", nil)
	s.check("conditions", fields.CheckConditions(all))
	for rule, kinds := range map[string][]string{
		"ready-condition":     {clusterv1.ReadyCondition},
		"available-condition": {clusterv1.AvailableCondition},
		"scaling-conditions":  {clusterv1.RollingOutCondition, clusterv1.ScalingUpCondition, clusterv1.ScalingDownCondition},
	} {
		var missing []error
		for _, kind := range kinds {
			if fields.StatusOf(object, kind) == "" {
				missing = append(missing, fmt.Errorf("status.conditions has no condition %s", kind))
			}
		}
		s.check(rule, errors.Join(missing...))
	}
	return nil
}

// scaleSubresource reads and writes the replicas as kubectl scale and autoscalers do.
func scaleSubresource(s *story) error {
	object, err := s.ready()
	if err != nil {
		return err
	}
	if err := s.until("status.selector", func() error { return s.scalable(object) }); err != nil {
		return err
	}
	scale := &unstructured.Unstructured{}
	scale.SetGroupVersionKind(autoscalingv1.SchemeGroupVersion.WithKind("Scale"))
	if err := s.SubResource("scale").Get(s.ctx, object, scale); err != nil {
		s.check("scale", fmt.Errorf("reading the subresource scale: %w", err))
		return nil
	}
	var problem error
	if fields.Number(scale, "spec.replicas") != 1 || fields.Number(scale, "status.replicas") != 1 || fields.Text(scale, "status.selector") != fields.Text(object, "status.selector") {
		problem = fmt.Errorf("with one Machine, the subresource scale has the spec %s and the status %s", fields.Show(scale.Object["spec"]), fields.Show(scale.Object["status"]))
	}
	// The provider may write the object in between.
	if err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		if err := s.SubResource("scale").Get(s.ctx, object, scale); err != nil {
			return err
		}
		scale.Object["spec"] = map[string]any{"replicas": int64(3)}
		return s.SubResource("scale").Update(s.ctx, object, client.WithSubResourceBody(scale))
	}); err != nil {
		problem = errors.Join(problem, fmt.Errorf("scaling to 3: %w", err))
	} else if err := s.read(object); err != nil {
		return err
	} else if got := fields.Number(object, "spec.replicas"); got != 3 {
		problem = errors.Join(problem, fmt.Errorf("after scaling to 3, spec.replicas is %d", got))
	}
	s.check("scale", problem)
	return nil
}

// scalable reads an object, and returns nil once its status has what the subresource scale shows.
func (s *story) scalable(object *unstructured.Unstructured) error {
	if err := s.read(object); err != nil {
		return err
	}
	if fields.Text(object, "status.selector") == "" || fields.Number(object, "status.replicas") != 1 {
		return errors.New("status.selector or status.replicas is not set")
	}
	return nil
}
