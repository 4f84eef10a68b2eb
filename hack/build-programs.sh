#!/usr/bin/env bash
# Builds the programs of a release for one architecture:
#   hack/build-programs.sh arm64 bin/programs/arm64 v0.1.0 v1.36.3...
# The first version is Foo's own. The others are versions of Kubernetes; without them, it builds only what has an image of its own.
set -euo pipefail

architecture=$1
output=$(realpath -m "$2")
version=$3
shift 3
cd "$(dirname "$0")/.."
. hack/reproducible.sh
export GOOS=linux GOARCH=$architecture
flags="-X k8s.io/component-base/version.gitVersion=$version -X main.version=$version"
build() { go build -trimpath -ldflags "-s -w $flags" -o "$output/$1" "$2"; }

mkdir -p "$output"
build manager .
build runtime-extension ./cmd/runtime-extension
build etcd-snapshot ./cmd/etcd-snapshot
(cd conformance && build capi-conformance ./cmd/capi-conformance)
[[ $# -gt 0 ]] || exit 0

build foo ./cmd/foo
build foocloud ./cmd/foocloud
(cd node/agent && build foonode .)
hack/build-runtime.sh "$output/runtime"
for kubernetes in "$@"; do
  hack/build-node.sh "$kubernetes" "$output/kubernetes/$kubernetes"
done
cd hack/tools
flags="-X sigs.k8s.io/cluster-api/version.gitVersion=$(go list -m -f '{{.Version}}' sigs.k8s.io/cluster-api)"
echo "building Cluster API ($architecture): the first time takes about 3 minutes on 2 cores"
build tools/core sigs.k8s.io/cluster-api/core
build tools/kubeadm-bootstrap sigs.k8s.io/cluster-api/bootstrap/kubeadm
build tools/kubeadm-control-plane sigs.k8s.io/cluster-api/controlplane/kubeadm
build tools/clusterctl sigs.k8s.io/cluster-api/cmd/clusterctl
