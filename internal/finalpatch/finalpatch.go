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

// Package finalpatch tells the failure of a patch from the patch of an object that is gone already: a controller that
// lets go of an object may see it once more in its cache, and then patches what is no longer there.
//
// Limits: it is for the patch helper of Cluster API, which joins the errors of several requests.
package finalpatch

import (
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kerrors "k8s.io/apimachinery/pkg/util/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// IgnoreGone returns the error of a patch, or nil when all that failed is that the object is gone and it was to go: it is
// being deleted, and no finalizer holds it.
func IgnoreGone(err error, object client.Object) error {
	if object.GetDeletionTimestamp().IsZero() || len(object.GetFinalizers()) > 0 {
		return err
	}
	var joined kerrors.Aggregate
	if errors.As(err, &joined) {
		if kerrors.FilterOut(joined, apierrors.IsNotFound) == nil {
			return nil
		}
		return err
	}
	return client.IgnoreNotFound(err)
}
