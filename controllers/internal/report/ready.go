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

package report

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// Ready returns the Ready condition that follows from others with positive polarity, the most important of which comes
// first: it is true when all of them are, and otherwise repeats the first one that is not, so that whoever looks at Ready
// alone learns what is wrong.
func Ready(dependencies ...metav1.Condition) metav1.Condition {
	for _, c := range dependencies {
		if c.Status != metav1.ConditionTrue {
			return metav1.Condition{Type: clusterv1.ReadyCondition, Status: c.Status, Reason: c.Reason, Message: c.Message}
		}
	}
	return metav1.Condition{Type: clusterv1.ReadyCondition, Status: metav1.ConditionTrue, Reason: clusterv1.ReadyReason}
}
