#!/usr/bin/env bash
# Builds the programs of cert-manager for one architecture, named as their images, and its manifest, which its own release has
# too:
#   hack/build-cert-manager.sh arm64 bin/programs/arm64/cert-manager
set -euo pipefail

architecture=$1
output=$(realpath -m "$2")
cd "$(dirname "$0")/tools"
. ../reproducible.sh

package=github.com/cert-manager/cert-manager
version=$(go list -modfile=cert-manager.mod -m -f '{{.Version}}' $package)
[[ -e $output/version ]] || echo "building cert-manager $version ($architecture): the first time takes about 5 minutes on 2 cores"
mkdir -p "$output"
for name in controller webhook cainjector; do
  GOOS=linux GOARCH=$architecture go build -modfile=cert-manager.mod -trimpath -ldflags "-s -w -X $package/pkg/util.AppVersion=$version" \
    -o "$output/cert-manager-$name" $package/cmd/$name
done

# What its `make static-manifests` does. The chart's version becomes the tag of the images.
chart=$(mktemp -d)
trap 'rm -rf "$chart"' EXIT
module=$(go list -modfile=cert-manager.mod -m -f '{{.Dir}}' $package)
cp -R --no-preserve=mode "$module/deploy/charts/cert-manager/." "$chart"
sed -E "s/^(version|appVersion): .*/\1: $version/" "$chart/Chart.template.yaml" > "$chart/Chart.yaml"
awk 'FNR == 1 {print "---"} {print}' "$module"/deploy/crds/*.yaml > "$chart/templates/crds.yaml"
go run -modfile=cert-manager.mod helm.sh/helm/v3/cmd/helm template cert-manager "$chart" --namespace cert-manager --kube-version 1.26 \
  --set creator=static --set startupapicheck.enabled=false > "$chart/cert-manager.yaml"
cat "$module/deploy/manifests/namespace.yaml" "$chart/cert-manager.yaml" > "$output/cert-manager.yaml"
echo "$version" > "$output/version"
