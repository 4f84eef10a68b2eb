#!/bin/sh
# Removes the operating systems of nodes that earlier releases have left beside it and that nothing
# uses any more.
set -eu
lib=$(cd "$(dirname "$0")" && pwd -P)
# Tests put another folder in the place of / for what is read from /proc and /var/lib.
root=${FOO_ROOT:-}

# A cloud that still runs the program of before starts instances with the system of before.
for process in "$root"/proc/[0-9]*; do
	case $(readlink "$process/exe") in
	"$lib/foocloud"*"(deleted)") ! grep -qszx serve "$process/cmdline" || exit 0 ;;
	esac
done
current=$(readlink "$lib/system")
for system in "$lib"/systems/*; do
	[ "$system" != "$lib/$current" ] || continue
	# Each instance has its own mounts, whose layers have other names if it has a user namespace.
	! grep -qsF -e "$system" -e /layers/0: "$root"/proc/[0-9]*/mounts || continue
	# An instance that is stopped starts again with the layers that it had.
	! grep -qsF ":$system" "$root"/var/lib/foo*/instances/*/layers "$root"/var/lib/foo*/cloud/instances/*/layers || continue
	# A cloud that was started between the unpacking of a package and its configuration.
	[ -z "$(find "$root"/proc/[0-9]*/fd -lname "$system" 2>/dev/null)" ] || continue
	# At no time is there a part of it that looks like all of it.
	mv "$system" "$lib/.new"
	rm -r "$lib/.new"
done
