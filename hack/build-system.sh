#!/usr/bin/env bash
# Builds the operating system of nodes from Debian packages:
#   hack/build-system.sh amd64 bin/system.tar
# mmdebstrap fetches the packages, verifies their signatures and runs their scripts, which needs
# qemu-user for another architecture. PACKAGES names a file with another list of packages.
set -euo pipefail

architecture=$1
output=$2
cd "$(dirname "$0")/.."
packages=$(sed -E 's/[[:space:]]*#.*//; /^$/d' "${PACKAGES:-hack/node-packages.txt}" | paste -sd,)

echo "building the operating system of nodes from Debian packages ($architecture): the first time takes about a minute"
# Nodes need no documentation, translations or package manager caches. All file times are equal, so
# that the same packages give the same bytes.
SOURCE_DATE_EPOCH=0 hack/mmdebstrap.sh trixie "$output" --variant=essential --architectures="$architecture" --include="$packages" \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  --dpkgopt='path-exclude=/usr/lib/*/gconv/*' \
  --customize-hook='mkdir -p "$1"/etc/kubernetes "$1"/var/lib/etcd "$1"/var/lib/kubelet; rm -f "$1"/etc/hostname "$1"/etc/resolv.conf' \
  --customize-hook='rm -rf "$1"/var/cache/* "$1"/var/log/* "$1"/var/lib/apt/lists "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/*'
