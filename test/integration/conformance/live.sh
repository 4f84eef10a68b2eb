#!/usr/bin/env bash
# Checks Foo with real clusters, in a management cluster of Pods that ends with it:
#   test/integration/conformance/live.sh bin v1.35.4 v1.36.3 v0.1.0 v0.2.0 --output=live.yaml...
# A cluster begins with the first version of Kubernetes, and is upgraded to the second one. clusterctl installs the first
# release of Foo, and upgrades it to the second one. The rest are flags of capi-conformance.
set -euo pipefail
umask 077

bin=$1
from=$2
to=$3
previous=$4
release=$5
shift 5
state=/var/lib/foo-contract
kubectl=("$bin/kubernetes/$to/kubectl" "--kubeconfig=$state/hub.kubeconfig")

trap '"$bin/foo" quickstart delete --state-dir="$state"' EXIT
"$bin/foo" quickstart --management --detach --state-dir="$state" --kubernetes-version="$to"
"${kubectl[@]}" apply --filename="$bin/management/runtime-extension-foo/$previous/extensionconfig.yaml"

# The quick start has installed all providers from its own repository. The suite is to install these itself.
sed -E "s#/management/(control-plane|infrastructure)-foo/$previous/#/release/\1-foo/$release/#" "$state/clusterctl.yaml" > "$state/contract.yaml"
for provider in control-plane infrastructure; do
  # One at a time: clusterctl fails if it lists the objects of a CRD that it deleted just before.
  "$bin/tools/clusterctl" delete --config="$state/clusterctl.yaml" --kubeconfig="$state/hub.kubeconfig" "--$provider=foo" --include-crd --include-namespace
  "${kubectl[@]}" wait --for=delete --timeout=2m "namespace/$provider-foo-system"
  "${kubectl[@]}" wait --for=delete --timeout=2m customresourcedefinitions "--selector=cluster.x-k8s.io/provider=$provider-foo"
done
(
  set -a
  # shellcheck disable=SC1091 # it is written above
  . "$state/env"
  "$bin/foocloud" image load "$bin/management/images/manager-$previous.tar" --name="ghcr.io/capfoo/cluster-api-provider-foo/manager:$release"
)

# Its metrics show which hooks it calls.
"${kubectl[@]}" get --namespace=capi-system deployment/capi-controller-manager --output=yaml | sed 's/--insecure-diagnostics=false/--insecure-diagnostics=true/' |
  "${kubectl[@]}" replace --filename=-
"${kubectl[@]}" rollout status --namespace=capi-system deployment/capi-controller-manager --timeout=2m

# Some flavors need the last two variables.
KUBERNETES_VERSION=$from FOO_ETCD_ENDPOINTS='["https://192.0.2.1:2379"]' FOO_CLUSTER_IDENTITY=outer \
  "$bin/capi-conformance" test --live --verbose --kubeconfig="$state/hub.kubeconfig" --provider=control-plane-foo,infrastructure-foo,runtime-extension-foo \
  --clusterctl="$bin/tools/clusterctl" --clusterctl-config="$state/contract.yaml" \
  --previous-release="control-plane-foo=$previous,infrastructure-foo=$previous" --release="control-plane-foo=$release,infrastructure-foo=$release" \
  --template="$bin/release/infrastructure-foo/$release/cluster-template.yaml" --upgrade-to="$to" --hooks-address=10.77.0.2:9453 \
  --topology-template="$bin/release/infrastructure-foo/$release/cluster-template-topology.yaml,$bin/release/infrastructure-foo/$release/clusterclass-foo.yaml" "$@"
