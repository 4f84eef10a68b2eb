#!/usr/bin/env bash
# Builds the programs of all images for one architecture: hack/build-programs.sh arm64 bin/programs/arm64 v1.36.3...
# If it names Kubernetes versions, it also builds Kubernetes in each of them, and containerd.
set -euo pipefail

architecture=$1
output=$(realpath -m "$2")
shift 2
cd "$(dirname "$0")/.."
. hack/reproducible.sh
export GOOS=linux GOARCH=$architecture

mkdir -p "$output/kubernetes"
go build -trimpath -ldflags '-s -w' -o "$output/manager" .
go build -trimpath -ldflags '-s -w' -o "$output/" ./cmd/runtime-extension ./cmd/etcd-snapshot
(cd node/agent && go build -trimpath -ldflags '-s -w' -o "$output/foonode" .)
if [[ $# -gt 0 ]]; then
  hack/build-runtime.sh "$output/runtime"
fi
for version in "$@"; do
  hack/build-node.sh "$version" "$output/kubernetes/$version"
done
