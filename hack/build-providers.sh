#!/usr/bin/env bash
# Lays out what a management cluster consists of besides Foo, as in a clusterctl repository, and the programs of the images,
# each named as its image:
#   hack/build-providers.sh arm64 bin/manifests bin/programs/arm64 [PROVIDER...]
# Without providers: cert-manager, Cluster API's core and the kubeadm bootstrap provider. bin/programs/arm64/tools has the
# programs of Cluster API. It writes bin/programs/arm64/providers.
set -euo pipefail

architecture=$1
manifests=$(realpath "$2")
programs=$(realpath "$3")
shift 3
[[ $# -gt 0 ]] || set -- cert-manager cluster-api bootstrap-kubeadm
cd "$(dirname "$0")/.."
. hack/reproducible.sh

output=$programs/providers
rm -rf "$output"
mkdir -p "$output"/{programs,repository}
cluster_api=$(go list -m -f '{{.Version}}' sigs.k8s.io/cluster-api)

# A release of Cluster API makes the same replacements.
provider() {
  mkdir -p "$output/repository/$1"
  cp -r "$manifests/$1" "$output/repository/$1/$cluster_api"
  sed -i "s#gcr.io/k8s-staging-cluster-api/$2:main#registry.k8s.io/cluster-api/$2:$cluster_api#; s#imagePullPolicy: Always#imagePullPolicy: IfNotPresent#" \
    "$output/repository/$1/$cluster_api"/*-components.yaml
  ln -s "../../tools/$3" "$output/programs/$2"
}

cert_manager() {
  hack/build-cert-manager.sh "$architecture" "$programs/cert-manager"
  local version
  version=$(<"$programs/cert-manager/version")
  mkdir -p "$output/repository/cert-manager/$version"
  cp "$programs/cert-manager/cert-manager.yaml" "$output/repository/cert-manager/$version"
  ln -s ../../cert-manager/cert-manager-{controller,webhook,cainjector} "$output/programs"
}

for name in "$@"; do
  case $name in
  cert-manager) cert_manager ;;
  cluster-api) provider "$name" cluster-api-controller core ;;
  bootstrap-kubeadm) provider "$name" kubeadm-bootstrap-controller kubeadm-bootstrap ;;
  control-plane-kubeadm) provider "$name" kubeadm-control-plane-controller kubeadm-control-plane ;;
  runtime-extension-test-extension) provider "$name" test-extension test-extension ;;
  *)
    echo "provider is '$name', want cert-manager, cluster-api, bootstrap-kubeadm, control-plane-kubeadm or runtime-extension-test-extension" >&2
    exit 2
    ;;
  esac
done
