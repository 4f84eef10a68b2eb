#!/usr/bin/env bash
# Checks for git, Go and the programs named as arguments. As root it installs missing ones from
# Debian. A program whose package has a different name is given as program:package.
set -euo pipefail

if ! command -v go >/dev/null; then
  echo "Go is not installed: the project needs the version in go.mod or a newer one" >&2
  exit 1
fi

missing=()
for program in git "$@"; do
  command -v "${program%%:*}" >/dev/null || missing+=("${program##*:}")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null; then
  echo "these packages are missing; install them: ${missing[*]}" >&2
  exit 1
fi
echo "installing Debian packages: ${missing[*]}"
if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; }; then
  echo "cannot download Debian packages: connect this host to its package mirror, or install: ${missing[*]}" >&2
  exit 1
fi
