#!/bin/sh
# Fails and says why if Foo must not be removed from the folder of this script: something of it runs,
# or clusters are stopped that nothing else could delete. A package ends its service itself:
#   removable.sh [PID]
set -eu
lib=$(dirname "$0")
real=$(cd "$lib" && pwd -P)
# Tests put another folder in the place of / for what is read from /proc, /usr and /var/lib.
root=${FOO_ROOT:-}

refuse() {
	echo "$1"
	exit 1
}

# stranded FOLDER succeeds if nothing else could delete the instances whose disks are there. After a
# reboot, they do not run before someone starts the cloud.
stranded() {
	for other in /usr/lib/foo /usr/local/lib/foo; do
		[ "$other" = "$real" ] || [ ! -e "$root$other/foocloud" ] || return 1
	done
	for instance in "$1"/instances/* "$1"/cloud/instances/*; do
		[ -d "$instance" ] || continue
		# The last layer is systems/ID in the installation that started the instance.
		layers=$(cat "$instance/layers" 2>/dev/null) || layers=
		other=${layers##*:}
		other=${other%/systems/*}
		[ "$other" != "$real" ] && [ -e "$other/foocloud" ] || return 0
	done
	return 1
}

remedy="delete those of foo with: foo delete cluster NAME, or: foo quickstart delete --state-dir=/var/lib/foo; for the service, delete its clusters, and run: systemctl stop foocloud && foocloud destroy"
# Each instance has its own mounts, whose layers have other names if it has a user namespace.
! grep -qsF -e "$real/systems/" -e /layers/0: "$root"/proc/[0-9]*/mounts || refuse "instances of a cloud use $lib: $remedy"
# Load balancers outlive the cloud and its instances.
for process in "$root"/proc/[0-9]*; do
	case $(readlink "$process/exe") in
	"$real"/*) ! grep -qszx serve-load-balancer "$process/cmdline" || refuse "load balancers of a cloud use $lib: $remedy" ;;
	esac
done
[ -z "$(find "$root"/proc/[0-9]*/exe ! -path "$root/proc/${1:-0}/exe" -lname "$real/*" 2>/dev/null)" ] ||
	refuse "programs of $lib are running: end them; a management cluster ends with: foo stop; the service ends with: systemctl disable --now foocloud"
for state in /var/lib/foo /var/lib/foo-quickstart /var/lib/foocloud; do
	stranded "$root$state" || continue
	remedy="foo quickstart delete --state-dir=$state"
	case $state in
	/var/lib/foo) remedy="foo start, and foo delete cluster NAME; or all of them with: $remedy" ;;
	/var/lib/foocloud) remedy="systemctl stop foocloud && foocloud destroy" ;;
	esac
	refuse "clusters are stopped, and nothing else could delete their disks and keys in $state: delete them first with: $remedy"
done
