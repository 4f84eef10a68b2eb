#!/bin/sh
# Runs before the package is removed or upgraded.
set -eu
case ${1:-} in
remove | 0) ;;
*) exit 0 ;; # running instances keep the system that they were created with
esac
# Each instance has its own mounts, whose layers have other names if it has a user namespace.
if grep -qsF -e /usr/lib/foo/systems/ -e /layers/0: /proc/[0-9]*/mounts; then
	echo "instances of a cloud use /usr/lib/foo: delete those of foo with: foo delete cluster NAME, or: foo quickstart delete --state-dir=/var/lib/foo; for the service, delete its clusters, and run: systemctl stop foocloud && foocloud destroy" >&2
	exit 1
fi
# The service is ended below.
service=
if [ -d /run/systemd/system ]; then
	service=$(systemctl show --property=MainPID --value foocloud.service)
fi
if [ -n "$(find /proc/[0-9]*/exe ! -path "/proc/${service:-0}/exe" -lname '/usr/lib/foo/*' 2>/dev/null)" ]; then
	echo "programs of /usr/lib/foo are running: end them; a management cluster ends with: foo stop" >&2
	exit 1
fi
if [ -d /run/systemd/system ]; then
	systemctl disable --now foocloud.service
fi
# postinstall.sh puts everything back if the link is gone, and then finds no part of it.
rm -rf /usr/lib/foo/system /usr/lib/foo/.new
[ ! -d /usr/lib/foo/systems ] || mv /usr/lib/foo/systems /usr/lib/foo/.new
rm -rf /usr/lib/foo/.new /usr/lib/foo/kubernetes
