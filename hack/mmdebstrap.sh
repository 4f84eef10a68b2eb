#!/usr/bin/env bash
# Prints the sources of a Debian release for mmdebstrap, one a line:
#   hack/debian-mirrors.sh trixie
# It uses the mirrors of this machine's apt.
set -euo pipefail

suite=$1
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
if [[ ! -e $keyring ]]; then
  echo "$keyring is missing, but is needed to verify Debian's packages: install the package debian-archive-keyring" >&2
  exit 1
fi
targets=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null || true)
site() { awk -v release="$1" '$2 ~ release && !found {print $1; found = 1}' <<<"$targets"; }
main=$(site '^[a-z]+$')
security=$(site '-security$')
echo "deb [signed-by=$keyring] ${main:-http://deb.debian.org/debian} $suite main"
echo "deb [signed-by=$keyring] ${main:-http://deb.debian.org/debian} $suite-updates main"
echo "deb [signed-by=$keyring] ${security:-http://deb.debian.org/debian-security} $suite-security main"
