#!/bin/sh
# Runs before the package is removed or upgraded.
set -eu
case ${1:-} in
remove | 0) ;;
*) exit 0 ;; # running instances keep the system that they were made with
esac
# Each instance has its own mounts.
if grep -qsF /usr/lib/foo/systems/ /proc/[0-9]*/mounts; then
	echo "instances of a cloud use /usr/lib/foo: delete the clusters, and run: foocloud destroy" >&2
	exit 1
fi
if [ -d /run/systemd/system ]; then
	systemctl disable --now foocloud.service
fi
rm -rf /usr/lib/foo/kubernetes /usr/lib/foo/system /usr/lib/foo/systems
