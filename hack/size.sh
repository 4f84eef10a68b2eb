#!/usr/bin/env bash
# Prints the size of the Go code at a revision, by top-level folder: hack/size.sh REVISION
# Tests, testdata and generated files do not count. Code is what is neither blank nor a comment on a
# line of its own. Names are exported constants, variables, types, functions and methods.
set -euo pipefail

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
git -c safe.directory='*' -C "$(dirname "$0")/.." archive --end-of-options "$1" | tar -x -C "$tree"
cd "$tree"
find . -name '*.go' ! -name '*_test.go' ! -path '*/testdata/*' -print0 |
  xargs -0 grep -LZE '^// Code generated .* DO NOT EDIT\.$' |
  xargs -0 awk '
    FNR == 1 {
      parts = split(FILENAME, part, "/")
      top = parts > 2 ? part[2] : "."
      folder = FILENAME; sub("/[^/]*$", "", folder)
      if (!seen[folder]++) packages[top]++
      files[top]++; block = 0
    }
    { lines[top]++ }
    !/^[ \t]*(\/\/.*)?$/ { code[top]++ }
    /^(const|var|type) \($/ { block = 1 }
    /^\)$/ { block = 0 }
    /^(func|type|const|var) [A-Z]/ || /^func \([^)]*\) [A-Z]/ || block && /^\t[A-Z][A-Za-z0-9_]*( |,|$)/ { names[top]++ }
    END { for (top in files) print top, packages[top], files[top], lines[top], code[top], names[top] + 0 }' |
  LC_ALL=C sort | awk '
    BEGIN { row = "%-12s %8s %6s %7s %7s %6s\n"; printf row, "folder", "packages", "files", "lines", "code", "names" }
    { printf row, $1, $2, $3, $4, $5, $6; for (i = 2; i <= 6; i++) total[i] += $i }
    END { printf row, "total", total[2], total[3], total[4], total[5], total[6]; exit !NR }'
