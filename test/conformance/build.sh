#!/usr/bin/env bash
# Builds Kubernetes' end-to-end tests and the programs of the images that they use:
#   test/conformance/build.sh bin/conformance
set -euo pipefail

output=$(realpath -m "$1")
cd "$(dirname "$0")/suite"
. ../../../hack/reproducible.sh

version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
IFS=. read -r major minor _ <<<"${version#v}"
package=k8s.io/component-base/version
if [[ ! -e $output/e2e.test ]]; then
  echo "building the end-to-end tests of Kubernetes $version: the first time takes 5 to 10 minutes on 2 cores"
fi
mkdir -p "$output/programs"
flags=(-trimpath -ldflags "-s -w -X $package.gitVersion=$version -X $package.gitMajor=$major -X $package.gitMinor=$minor -X $package.gitTreeState=clean")
go build "${flags[@]}" -o "$output/programs/agnhost" k8s.io/kubernetes/test/images/agnhost
go build "${flags[@]}" -o "$output/programs/nnp" k8s.io/kubernetes/test/images/nonewprivs
go build "${flags[@]}" -o "$output/programs/sample-apiserver" k8s.io/sample-apiserver
go build "${flags[@]}" -o "$output/ginkgo" github.com/onsi/ginkgo/v2/ginkgo
images=$(go list -f '{{.Dir}}' k8s.io/kubernetes/test/images/agnhost)/..
for name in kitten nautilus; do
  install -D -m 0644 -t "$output/programs/$name" "$images/$name/html"/*
done
install -m 0644 -t "$output/programs" "$images"/agnhost/porter/localhost.{crt,key}
# These sources are not ours to vet. This comes last: its existence shows that everything is built.
go test -c -vet=off "${flags[@]}" -o "$output/e2e.test" .
