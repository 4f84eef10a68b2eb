// Copyright 2026 The Foo Authors.
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"context"
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	extensionv1 "github.com/capfoo/cluster-api-provider-foo/api/extension/v1alpha1"
	"github.com/capfoo/cluster-api-provider-foo/extensions/hooks"
)

func TestAHangingCloudKeepsOnlyOneWorker(t *testing.T) {
	g := NewWithT(t)
	checking := &task{}
	checking.mu.Lock() // as during a check whose cloud does not answer
	g.Expect(checking.Run(t.Context(), hooks.Job{})).To(Equal(hooks.Outcome{Message: "waiting for the quota check of another Cluster", RetryAfter: lookAgain}))
}

// A message that is another one each time would be written and announced each time.
func TestTheSameFailureIsNamedEachTime(t *testing.T) {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(clusterv1.AddToScheme(scheme)).To(Succeed())
	g.Expect(extensionv1.AddToScheme(scheme)).To(Succeed())
	reader := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return apierrors.NewServiceUnavailable("later")
		},
	}).Build()
	checking := &task{Options: Options{Client: reader}, granted: map[types.UID]bool{}}
	others := map[types.UID]*clusterv1.Cluster{}
	for i := range 10 {
		cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprint("cluster-", i)}}
		cluster.Spec.Topology = clusterv1.Topology{ClassRef: clusterv1.ClusterClassRef{Name: fmt.Sprint("class-", i)}, Version: "v1.36.3"}
		uid := types.UID(cluster.Name)
		others[uid], checking.granted[uid] = cluster, true
	}
	messages := sets.New[string]()
	for range 20 {
		_, err := checking.claims(t.Context(), newClasses(reader), others, "default")
		g.Expect(err).To(MatchError(ContainSubstring("later")))
		messages.Insert(err.Error())
	}
	g.Expect(messages).To(HaveLen(1))
}
