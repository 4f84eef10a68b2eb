#!/bin/sh
# Takes what nodes are made from out of an unpacked release into the folder of the installed one:
#   nodes.sh /usr/lib/foo/.new /usr/lib/foo
# Running instances have files of both folders that it changes. So an operating system that exists
# stays as it is, and so do programs that are the same, which nodes and containers share. The link
# `system` changes last: whatever interrupts this, it leads to a complete operating system.
set -eu
umask 022
new=$1
lib=$2

# Programs are in use as soon as there is `kubernetes`, the last one.
for program in "$new"/kubernetes/*/*; do
	old=$lib/${program#"$new"/}
	mkdir -p "${old%/*}" "$lib/systems"
	cmp -s "$program" "$old" 2>/dev/null || mv -f "$program" "$old"
done
system=$(readlink "$new/system")
[ -e "$lib/$system" ] || mv "$new/$system" "$lib/$system"
ln -sfn "$system" "$lib/system"
rm -rf "$new/kubernetes" "$new/systems" "$new/system"
