#!/usr/bin/env bash
# Prints the size of the Go code at some commits, by top-level folder:
#   hack/size.sh [commit]...
# Tests, testdata and generated files do not count. Code is what is neither blank nor a comment on a
# line of its own. Names are exported constants, variables, types, functions and methods.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for commit in "${@:-HEAD}"; do
  mkdir "$work/tree"
  git -C "$(dirname "$0")/.." archive --end-of-options "$commit" | tar -x -C "$work/tree"
  (
    cd "$work/tree"
    find . -name '*.go' ! -name '*_test.go' ! -path '*/testdata/*' -print0 |
      xargs -0 grep -LE '^// Code generated .* DO NOT EDIT\.$' | sort >"$work/files"
    # shellcheck disable=SC2016
    xargs -a "$work/files" awk -v commit="$commit" '
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
      END {
        for (top in files) print top, commit, packages[top], files[top], lines[top], code[top], names[top] + 0
      }'
  )
  rm -r "$work/tree"
done | sort -k1,1 -s | awk '
  BEGIN { row = "%-12s %-10s %8s %6s %7s %7s %6s\n"; printf row, "folder", "commit", "packages", "files", "lines", "code", "names" }
  { printf row, $1, substr($2, 1, 10), $3, $4, $5, $6, $7 }
  !($2 in known) { known[$2] = 1; order[++n] = $2 }
  { for (i = 3; i <= 7; i++) total[$2, i] += $i }
  END { for (k = 1; k <= n; k++) { c = order[k]; printf row, "total", substr(c, 1, 10), total[c, 3], total[c, 4], total[c, 5], total[c, 6], total[c, 7] } }'
