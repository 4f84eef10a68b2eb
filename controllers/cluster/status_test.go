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

package cluster

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "github.com/capfoo/cluster-api-provider-foo/api/v1beta2/infrastructure"
)

func TestKubeconfigWait(t *testing.T) {
	readySince := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, test := range map[string]struct {
		missing bool
		ready   metav1.ConditionStatus
		after   time.Duration
		want    time.Duration
	}{
		"kubeconfig is there":               {ready: metav1.ConditionTrue},
		"not ready, so nothing to wait for": {missing: true, ready: metav1.ConditionFalse},
		"just ready":                        {missing: true, ready: metav1.ConditionTrue, want: kubeconfigGrace},
		"ready for a while":                 {missing: true, ready: metav1.ConditionTrue, after: kubeconfigGrace / 2, want: kubeconfigGrace / 2},
		"ready for too long":                {missing: true, ready: metav1.ConditionTrue, after: 2 * kubeconfigGrace},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := &scope{fooCluster: &infrav1.FooCluster{}, now: readySince.Add(test.after), kubeconfigMissing: test.missing}
			s.fooCluster.Status.Conditions = []metav1.Condition{{
				Type: infrav1.FooClusterReadyCondition, Status: test.ready, LastTransitionTime: metav1.NewTime(readySince),
			}}
			g.Expect(kubeconfigWait(s)).To(Equal(test.want))
		})
	}
}
