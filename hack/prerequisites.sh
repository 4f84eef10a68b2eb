#!/usr/bin/env bash
# Checks for what the project needs of the machine, and installs what Debian has of it when run as root.
set -euo pipefail

if ! command -v go >/dev/null; then
  echo "Go is not installed: the project needs the version that go.mod names or a newer one" >&2
  exit 1
fi

# command:package; kubeadm's preflight checks look for these in an instance, whose root is a view of this machine's.
needed=(ip:iproute2 git:git)
missing=()
for entry in "${needed[@]}"; do
  command -v "${entry%%:*}" >/dev/null || missing+=("${entry##*:}")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

if [[ $EUID -ne 0 ]] || ! command -v apt-get >/dev/null; then
  echo "these programs are missing; install the packages that have them: ${missing[*]}" >&2
  exit 1
fi
echo "installing Debian packages: ${missing[*]}"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
