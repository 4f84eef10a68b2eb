#!/usr/bin/env bash
# Writes the sums of all files of all versions of a release to its SHA256SUMS:
#   hack/sums.sh out
# clusterctl.yaml has none: it has absolute paths, which are different everywhere.
set -euo pipefail

cd "$1"
find . -type f ! -name SHA256SUMS ! -name clusterctl.yaml -printf '%P\0' | LC_ALL=C sort -z | xargs -0 sha256sum >SHA256SUMS
