#!/usr/bin/env bash
# Lays out what a management cluster consists of besides Foo: cert-manager, Cluster API's core and the kubeadm bootstrap
# provider, as in a clusterctl repository, and the programs of their images, each named as its image:
#   hack/build-providers.sh arm64 bin/manifests bin/programs/arm64
# bin/programs/arm64/tools has the programs of Cluster API. It writes bin/programs/arm64/providers.
set -euo pipefail

architecture=$1
manifests=$(realpath "$2")
programs=$(realpath "$3")
cd "$(dirname "$0")/.."
. hack/reproducible.sh

hack/build-cert-manager.sh "$architecture" "$programs/cert-manager"
output=$programs/providers
rm -rf "$output"
mkdir -p "$output"/{programs,repository}

# A release of Cluster API makes the same replacements.
version=$(go list -m -f '{{.Version}}' sigs.k8s.io/cluster-api)
provider() {
  mkdir -p "$output/repository/$1"
  cp -r "$manifests/$1" "$output/repository/$1/$version"
  sed -i "s#gcr.io/k8s-staging-cluster-api/$2:main#registry.k8s.io/cluster-api/$2:$version#; s#imagePullPolicy: Always#imagePullPolicy: IfNotPresent#" \
    "$output/repository/$1/$version"/*-components.yaml
  ln -s "../../tools/$3" "$output/programs/$2"
}
provider cluster-api cluster-api-controller core
provider bootstrap-kubeadm kubeadm-bootstrap-controller kubeadm-bootstrap

version=$(<"$programs/cert-manager/version")
mkdir -p "$output/repository/cert-manager/$version"
cp "$programs/cert-manager/cert-manager.yaml" "$output/repository/cert-manager/$version"
ln -s ../../cert-manager/cert-manager-{controller,webhook,cainjector} "$output/programs"
