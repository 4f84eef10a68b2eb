#!/usr/bin/env bash
# Makes sure that this machine runs programs of these architectures, such as the scripts of Debian
# packages for nodes:
#   hack/emulate.sh amd64 arm64
# As root it installs Debian's emulator, and registers it with the kernel.
set -euo pipefail

cd "$(dirname "$0")/.."
native=$(go env GOHOSTARCH)
for architecture in "$@"; do
  case $architecture in
  "$native") continue ;;
  amd64) cpu=x86_64 ;;
  arm64) cpu=aarch64 ;;
  *)
    echo "ARCHITECTURES has '$architecture', want amd64 and arm64" >&2
    exit 2
    ;;
  esac
  hack/prerequisites.sh "qemu-$cpu-static:qemu-user-static" update-binfmts:binfmt-support arch-test
  # Where no service manager runs, nothing has registered it.
  if ! arch-test "$architecture" >/dev/null && { ! update-binfmts --enable "qemu-$cpu" || ! arch-test "$architecture" >/dev/null; }; then
    echo "this machine cannot run programs for $architecture: run update-binfmts --enable qemu-$cpu as root on its kernel, or leave the architecture out with ARCHITECTURES=$native" >&2
    exit 1
  fi
done
