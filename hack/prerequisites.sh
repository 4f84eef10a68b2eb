#!/usr/bin/env bash
# Checks for git, Go and the programs that are named as arguments, and installs what Debian has of it when run as root. A program whose
# package has another name is named program:package.
set -euo pipefail

if ! command -v go >/dev/null; then
  echo "Go is not installed: the project needs the version that go.mod names or a newer one" >&2
  exit 1
fi

missing=()
for program in git "$@"; do
  command -v "${program%%:*}" >/dev/null || missing+=("${program##*:}")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null; then
  echo "these programs are missing; install the packages that have them: ${missing[*]}" >&2
  exit 1
fi
echo "installing Debian packages: ${missing[*]}"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
