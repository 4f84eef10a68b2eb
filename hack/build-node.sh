#!/usr/bin/env bash
# Builds the node binaries of one Kubernetes version:
#   hack/build-node.sh v1.36.3 bin/kubernetes/v1.36.3
set -euo pipefail

version=$1
output=$(realpath -m "$2")
cd "$(dirname "$0")/../node/kubernetes"
. ../../hack/reproducible.sh

modfile=$(grep -lE "k8s.io/kubernetes ${version//./\\.}$" ./*.mod || true)
if [[ -z $modfile ]]; then
  known=$(sed -nE 's/^(require )?[[:space:]]*k8s.io\/kubernetes (v[0-9.]+)$/\2/p' ./*.mod | sort -V | paste -sd' ')
  echo "no node binaries can be built for Kubernetes version '$version': node/kubernetes has module files for $known" >&2
  exit 2
fi

IFS=. read -r major minor _ <<<"${version#v}"
package=k8s.io/component-base/version
if [[ ! -e $output/kubernetes ]]; then
  echo "building the node binaries of Kubernetes $version: the first time takes 6 to 7 minutes on 2 cores"
fi
mkdir -p "$output"
new=$(mktemp -d "$(dirname "$output")/.new-XXXXXX")
trap 'rm -rf "$new"' EXIT
# A rename does not disturb a running program, and the file is never missing.
build() {
  go build -modfile="$modfile" -trimpath -o "$new/$1" -ldflags "-s -w \
    -X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor -X $package.gitTreeState=clean" "$2"
  mv -f "$new/$1" "$output/$1"
}
build kubectl k8s.io/kubernetes/cmd/kubectl
build etcd go.etcd.io/etcd/server/v3
build etcdctl go.etcd.io/etcd/etcdctl/v3
for name in kube-apiserver kube-controller-manager kube-proxy kube-scheduler kubelet kubeadm; do
  ln -sfn kubernetes "$output/$name"
done
# This comes last: its existence shows that everything is built.
build kubernetes .
