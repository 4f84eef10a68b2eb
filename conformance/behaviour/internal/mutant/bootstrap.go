// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package mutant

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// actConfig writes the bootstrap data.
func (o *object) actConfig(ctx context.Context) (bool, error) {
	name := o.GetName() + "-data"
	if o.violates("data-secret-name") {
		name = o.GetName() + "-" + string(o.GetUID())
	}
	data := "runcmd: [touch /run/cluster-api/bootstrap-success.complete]"
	if o.violates("sentinel-file") {
		data = "runcmd: []"
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: o.GetNamespace(), Name: name, OwnerReferences: []metav1.OwnerReference{o.owner(true)},
			Labels: map[string]string{clusterv1.ClusterNameLabel: o.cluster.Name},
		},
		Type: secretType, StringData: map[string]string{"value": data},
	}
	if o.violates("in-place-changes") {
		secret.StringData["value"] += "# " + o.text("spec", "knob")
	}
	if o.violates("data-secret-format") {
		secret.Labels = nil
	}
	if err := o.create(ctx, secret); err != nil && !apierrors.IsAlreadyExists(err) {
		return false, err
	}
	if err := o.writeAgain(ctx, secret); err != nil {
		return false, err
	}
	if !o.violates("data-secret") {
		o.set(name, "status", "dataSecretName")
	}
	o.complete("dataSecretCreated")
	return true, nil
}

// writeAgain writes the bootstrap data of a changed object, which no provider may.
func (o *object) writeAgain(ctx context.Context, wanted *corev1.Secret) error {
	if !o.violates("in-place-changes") {
		return nil
	}
	secret := &corev1.Secret{}
	err := o.provider.Get(ctx, client.ObjectKeyFromObject(wanted), secret)
	if err != nil || len(wanted.StringData) == 0 || string(secret.Data["value"]) == wanted.StringData["value"] {
		return err // or it was created just now
	}
	o.changed = true
	secret.StringData = wanted.StringData
	return o.provider.Update(ctx, secret)
}
