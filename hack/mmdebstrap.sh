#!/usr/bin/env bash
# Writes the files of a Debian release to a tar file, with mmdebstrap's options:
#   hack/mmdebstrap.sh trixie root.tar --include=systemd...
# The packages come from the Debian mirrors of this machine's apt, or from MIRRORS, one source a line.
set -euo pipefail

if [[ $EUID -ne 0 ]]; then
  echo "building an operating system needs root, who owns its files: run this with sudo" >&2
  exit 1
fi
suite=$1
output=$2
shift 2
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
if [[ ! -e $keyring ]]; then
  echo "$keyring is missing, but is needed to verify Debian's packages: install the package debian-archive-keyring" >&2
  exit 1
fi
targets=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null || true)
site() { awk -v release="$1" '$2 ~ release && !found {print $1; found = 1}' <<<"$targets"; }
main=$(site '^[a-z]+$')
security=$(site '-security$')
debian="deb [signed-by=$keyring] ${main:-http://deb.debian.org/debian}"
readarray -t sources <<<"${MIRRORS:-$debian $suite main
$debian $suite-updates main
deb [signed-by=$keyring] ${security:-http://deb.debian.org/debian-security} $suite-security main}"

mkdir -p "$(dirname "$output")"
log=$output.log
mmdebstrap "$@" "$suite" "$output.partial.tar" "${sources[@]}" 2>"$log" || { tail -20 "$log" >&2; echo "the full log is in $log" >&2; exit 1; }
mv "$output.partial.tar" "$output"
rm "$log"
