#!/usr/bin/env bash
# Pushes the images of a release with their tags, each for all its architectures:
#   packaging/push.sh out v0.1.0 registry.example/foo
# CRANE names the program that pushes. It takes credentials from Docker's configuration.
set -euo pipefail

images=$1/images
version=$2
registry=${3%/}

shopt -s nullglob
archives=("$images"/*-"$version".tar)
if [[ ${#archives[@]} -eq 0 ]]; then
  echo "there are no images of $version in $images: build them with: make release VERSION=$version" >&2
  exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for archive in "${archives[@]}"; do
  name=$(basename "$archive" "-$version.tar")
  case $name in
  node-*) reference=node:${name#node-}-$version ;;
  *) reference=$name:$version ;;
  esac
  mkdir "$work/$name"
  tar -xf "$archive" -C "$work/$name"
  "${CRANE:-crane}" push "$work/$name" "$registry/$reference"
  rm -r "${work:?}/$name"
done
