#!/usr/bin/env bash
# Builds containerd, CoreDNS and flannel:
#   hack/build-runtime.sh bin/runtime
set -euo pipefail

output=$(realpath -m "$1")
cd "$(dirname "$0")/../node/runtime"
. ../../hack/reproducible.sh

package=github.com/containerd/containerd/v2
version=$(go list -m -f '{{.Version}}' $package)
tags=urfave_cli_no_docs,osusergo,netgo,static_build,no_btrfs,no_devmapper,no_zfs,no_tracing
[[ -e $output/containerd ]] || echo "building containerd $version: the first time takes about two minutes on 2 cores"
mkdir -p "$output"
# Nodes show the version as containerd://2.4.2.
flags="-s -w -X $package/version.Version=${version#v} -X $package/version.Package=$package -X $package/version.Revision="
go build -trimpath -tags "$tags" -ldflags "$flags" -o "$output/" $package/cmd/containerd $package/cmd/ctr
# The shim uses ttrpc only, and one shim stays in memory per pod, so gRPC is left out.
go build -trimpath -tags "$tags,no_grpc" -ldflags "$flags" -o "$output/" $package/cmd/containerd-shim-runc-v2

# Each version of CoreDNS that kubeadm requires has a module file.
cd ../coredns
for modfile in *.mod; do
  version=$(go list -modfile="$modfile" -m -f '{{.Version}}' github.com/coredns/coredns)
  [[ -e $output/coredns/$version ]] || echo "building CoreDNS $version"
  go build -modfile="$modfile" -trimpath -ldflags '-s -w' -o "$output/coredns/$version/coredns" .
done

cd ../flannel
version=$(go list -m -f '{{.Version}}' github.com/flannel-io/flannel)
[[ -e $output/flannel/$version ]] || echo "building flannel $version"
go build -trimpath -ldflags '-s -w' -o "$output/flannel/$version/flanneld" .
