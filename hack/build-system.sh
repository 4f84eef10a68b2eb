#!/usr/bin/env bash
# Builds the operating system of nodes from Debian packages:
#   hack/build-system.sh amd64 bin/system.tar [mirror...]
# mmdebstrap fetches the packages, verifies their signatures and runs their scripts, which needs
# qemu-user for another architecture. The default mirrors are the Debian mirrors of this machine's
# apt. PACKAGES names a file with another list of packages.
set -euo pipefail

if [[ $EUID -ne 0 ]]; then
  echo "building the operating system of nodes needs root, who owns its files: run this with sudo" >&2
  exit 1
fi
architecture=$1
output=$2
shift 2
cd "$(dirname "$0")/.."
suite=trixie
packages=$(sed -E 's/[[:space:]]*#.*//; /^$/d' "${PACKAGES:-hack/node-packages.txt}" | paste -sd,)

if [[ $# -eq 0 ]]; then
  sources=$(hack/debian-mirrors.sh "$suite")
  readarray -t sources <<<"$sources"
  set -- "${sources[@]}"
fi

echo "building the operating system of nodes from Debian packages ($suite, $architecture): the first time takes about a minute"
mkdir -p "$(dirname "$output")"
log=$output.log
# Nodes need no documentation, translations or package manager caches. All file times are equal, so
# that the same packages give the same bytes.
SOURCE_DATE_EPOCH=0 mmdebstrap --variant=essential --architectures="$architecture" --include="$packages" \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/info/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' \
  --dpkgopt='path-exclude=/usr/lib/*/gconv/*' \
  --customize-hook='mkdir -p "$1"/etc/kubernetes "$1"/var/lib/etcd "$1"/var/lib/kubelet; rm -f "$1"/etc/hostname "$1"/etc/resolv.conf' \
  --customize-hook='rm -rf "$1"/var/cache/* "$1"/var/log/* "$1"/var/lib/apt/lists "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/*' \
  "$suite" "$output.partial.tar" "$@" 2>"$log" || { tail -20 "$log" >&2; echo "the full log is in $log" >&2; exit 1; }
mv "$output.partial.tar" "$output"
rm "$log"
