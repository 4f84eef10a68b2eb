#!/bin/sh
# Runs before the package is removed or upgraded.
set -eu
case ${1:-} in
remove | 0) ;;
*) exit 0 ;; # running instances keep the system that they were created with
esac
# The service is ended below.
service=0
if [ -d /run/systemd/system ]; then
	service=$(systemctl show --property=MainPID --value foocloud.service)
fi
# A removal that was interrupted is repeated without it.
if [ -e /usr/lib/foo/removable.sh ] && ! reason=$(sh /usr/lib/foo/removable.sh "$service"); then
	echo "$reason" >&2
	exit 1
fi
if [ -d /run/systemd/system ]; then
	systemctl disable --now foocloud.service
fi
# postinstall.sh puts everything back if the link is gone, and then finds no part of it.
rm -rf /usr/lib/foo/system /usr/lib/foo/.new
[ ! -d /usr/lib/foo/systems ] || mv /usr/lib/foo/systems /usr/lib/foo/.new
rm -rf /usr/lib/foo/.new /usr/lib/foo/kubernetes
