#!/usr/bin/env bash
# Packs the programs of one architecture as an archive, a Debian package and an RPM package:
#   packaging/archive.sh arm64 v0.1.0 bin bin/programs/arm64 out v1.36.3...
# bin has programs for this machine and the manifests, bin/programs/arm64 what is packed, and
# out/sbom the bill of materials. All times in the packages are SOURCE_DATE_EPOCH.
set -euo pipefail

architecture=$1
version=$2
native=$(realpath "$3")
programs=$(realpath "$4")
output=$(realpath -m "$5")
shift 5
cd "$(dirname "$0")/.."
# shellcheck disable=SC1091 # it only sets variables
. hack/reproducible.sh

echo "packing Foo $version with Kubernetes $* ($architecture)"
name=foo-$version-linux-$architecture
# Hard links need the file system of the programs.
work=$(mktemp -d "$programs/.archive-XXXXXX")
trap 'rm -rf "$work"' EXIT
stage=$work/$name
mkdir -p "$output/packages" "$stage"/{completion,kubernetes,man,systems,tools}

cp -lL "$programs"/{foo,foocloud,foonode,manager,runtime-extension} "$stage"
cp -lL "$programs"/tools/{clusterctl,core,kubeadm-bootstrap,kubeadm-control-plane} "$stage/tools"
for kubernetes in "$@"; do
  cp -al "$programs/kubernetes/$kubernetes" "$stage/kubernetes"
done
system=$(realpath "$programs/system")
cp -al "$system" "$stage/systems"
ln -s "systems/$(basename "$system")" "$stage/system"
mkdir "$stage/manifests"
cp -r "$native"/manifests/*/ "$stage/manifests"
cp -r "$programs/management" "$stage"
# The release has a configuration and bills of its own.
rm -rf "$stage/management"/{clusterctl.yaml,sbom}
chmod -R a-x,u=rwX,go=rX "$stage"/{management,manifests}
export TZ=UTC
for program in foo foocloud; do
  "$native/$program" reference --man "$stage/man"
  for shell in bash fish zsh; do
    "$native/$program" completion "$shell" >"$stage/completion/$program.$shell"
  done
done
# An emulator runs the programs of another architecture, as for the node's operating system.
for command in 'foo version' 'foocloud version' 'foonode version' 'manager --version' 'runtime-extension --version'; do
  # shellcheck disable=SC2086 # the name of the program and its argument are two words
  said=$("$stage/"$command)
  [[ " $said " == *" $version "* ]] || { echo "$command of $architecture says '$said', not $version: build it for this release" >&2; exit 1; }
done
install -m 0644 -t "$stage" LICENSE packaging/README.md packaging/foocloud.service "$output/sbom/$name".{cdx.json,licenses.txt}
install -t "$stage" packaging/{install,nodes,removable,unused}.sh
install -t "$output/packages" packaging/install.sh
echo "$version" >"$stage/VERSION"

pack() { tar -C "$1" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --numeric-owner --format=gnu -cf - "${@:2}" | gzip -n; }
pack "$work" "$name" >"$output/packages/$name.tar.gz" &
# Packages have no hard links, and no owners that the machine may not know.
pack "$stage" kubernetes system systems >"$work/nodes.tar.gz"
wait $!
rm -r "$stage"/{foocloud.service,install.sh,kubernetes,system,systems}
mv "$work/nodes.tar.gz" "$stage"
mv "$stage/man" "$work"
export ARCHITECTURE=$architecture VERSION=$version STAGE=$stage MAN=$work/man
for format in deb rpm; do
  "$native/tools/nfpm" package --config packaging/nfpm.yaml --packager "$format" --target "$output/packages/$name.$format" >/dev/null
done
