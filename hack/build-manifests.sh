#!/usr/bin/env bash
# Writes the components that the quickstart installs, named as in a clusterctl repository:
#   hack/build-manifests.sh bin/manifests bin/kubernetes/v1.36.3/kubectl [in-memory|test-extension]
# A third argument writes only the components of that provider, which only tests use. The components of Cluster API come from
# the module that the programs are built from, so they have its version.
set -euo pipefail

output=$(realpath -m "$1")
kubectl=$(realpath "$2")
cd "$(dirname "$0")/.."

# module prints the folder of a module of a mod file. Go downloads the module unless it is there.
module() {
  cd "$(dirname "$1")"
  go mod download -modfile="$(basename "$1")" "$2"
  go list -modfile="$(basename "$1")" -m -f '{{.Dir}}' "$2"
}

# write writes a file: a copy of another one, or what a kustomization builds.
write() {
  mkdir -p "$output/$(dirname "$1")"
  if [[ -d $2 ]]; then
    "$kubectl" kustomize "$2" >"$output/$1"
  else
    install -m 0644 "$2" "$output/$1"
  fi
}

capi=$(module go.mod sigs.k8s.io/cluster-api)
case ${3-} in
in-memory)
  tests=$(module hack/tools/inmemory.mod sigs.k8s.io/cluster-api/test)
  write infrastructure-in-memory/infrastructure-components.yaml "$tests/infrastructure/docker/config/default"
  ;;
test-extension)
  tests=$(module test/upstream/go.mod sigs.k8s.io/cluster-api/test)
  write runtime-extension-test-extension/runtime-extension-components.yaml "$tests/extension/config/default"
  write runtime-extension-test-extension/metadata.yaml "$capi/metadata.yaml"
  ;;
*)
  # All of Foo, for one manager that runs both providers, and each provider alone.
  write foo/foo-components.yaml config/default
  write control-plane-foo/control-plane-components.yaml config/control-plane
  write infrastructure-foo/infrastructure-components.yaml config/infrastructure
  write runtime-extension-foo/runtime-extension-components.yaml config/runtime-extension
  write runtime-extension-foo/extensionconfig.yaml config/extensionconfig/extensionconfig.yaml
  write cluster-api/core-components.yaml "$capi/core/config/default"
  write bootstrap-kubeadm/bootstrap-components.yaml "$capi/bootstrap/kubeadm/config/default"
  write control-plane-kubeadm/control-plane-components.yaml "$capi/controlplane/kubeadm/config/default"
  for provider in cluster-api bootstrap-kubeadm control-plane-kubeadm; do
    write "$provider/metadata.yaml" "$capi/metadata.yaml"
  done
  ;;
esac
