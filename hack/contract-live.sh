#!/usr/bin/env bash
# Checks Foo with a real cluster, in a management cluster that ends with it:
#   hack/contract-live.sh bin v1.35.4 v1.36.3 cluster-template.yaml --output=live.yaml...
# The cluster begins with the first version of Kubernetes, and is upgraded to the second one. The rest are flags of
# capi-conformance.
set -euo pipefail

bin=$1
from=$2
to=$3
template=$4
shift 4
state=/var/lib/foo-contract

trap '"$bin/foo" quickstart delete --state-dir="$state"' EXIT
"$bin/foo" quickstart --management-only --detach --extension --manager-per-provider --state-dir="$state" --kubernetes-version="$to"
KUBERNETES_VERSION=$from "$bin/capi-conformance" test --live --verbose --kubeconfig="$state/management.kubeconfig" --template="$template" \
  --provider=control-plane-foo,infrastructure-foo --upgrade-to="$to" "$@"
