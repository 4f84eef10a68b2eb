#!/usr/bin/env bash
# Writes the flavors of Cluster API's specs, and the same with a KubeadmControlPlane, next to a release
# of Foo:
#   test/upstream/flavors.sh bin/upstream v0.2.0 bin/kubernetes/v1.36.3/kubectl
set -euo pipefail

output=$(realpath "$1")
kubectl=$(realpath "$3")
release=$output/infrastructure-foo/$2
cd "$(dirname "$0")/templates"
mkdir -p "$output/templates/kubeadm"
for folder in *; do
  name=$folder
  [[ $folder == clusterclass-* ]] || name=cluster-template-$folder
  "$kubectl" kustomize "$folder" > "$output/templates/$name.yaml"
done
# Both kinds of control plane have the same spec. clusterctl finds a ClusterClass by its name.
for file in "$output"/templates/cluster-template-{remediation,rollout,scale}.yaml \
  "$release"/{cluster-template-machine-deployment,cluster-template-topology,clusterclass-foo}.yaml; do
  sed -e 's/FooControlPlane/KubeadmControlPlane/' -e 's/name: foo$/name: kubeadm/' "$file" > "$output/templates/kubeadm/${file##*/}"
done
