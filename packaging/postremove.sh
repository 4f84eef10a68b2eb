#!/bin/sh
# Runs after the package was removed. Purging a Debian package also removes the state of the cloud
# and of foo; RPM has no purge.
set -eu
case ${1:-} in
# Where systemd does not run, the service was not disabled before.
remove | purge | 0) rm -f /etc/systemd/system/multi-user.target.wants/foocloud.service ;;
esac
[ ! -d /run/systemd/system ] || systemctl daemon-reload
[ "${1:-}" = purge ] || exit 0

# startable FOLDER succeeds if another installation can start instances whose disks are there. After a
# reboot, they do not run before someone starts the cloud.
startable() {
	for instance in "$1"/instances/* "$1"/cloud/instances/*; do
		[ -d "$instance" ] || continue
		! command -v foocloud >/dev/null || return 0
		[ ! -e /usr/local/lib/foo/foocloud ] || return 0
		# The last layer is systems/ID in the installation that started the instance.
		layers=$(cat "$instance/layers" 2>/dev/null) || continue
		system=${layers##*:}
		[ ! -e "${system%/systems/*}/foocloud" ] || return 0
	done
	return 1
}

# The package was removed before, and another installation of Foo may use its folders by now.
for path in /var/lib/foo /var/lib/foo-quickstart /var/lib/foocloud; do
	[ -d "$path" ] || continue
	real=$(cd "$path" && pwd -P)
	if grep -qsF -e "upperdir=$path/" -e "upperdir=$real/" /proc/[0-9]*/mounts ||
		[ -n "$(find /proc/[0-9]*/fd -lname "$real/*" 2>/dev/null)" ] ||
		startable "$path"; then
		echo "another installation of Foo uses $path: delete its clusters, end its programs, and repeat this" >&2
		exit 1
	fi
done
# The network of a cloud that had no instances any more.
[ ! -r /proc/mounts ] || while read -r _ path _; do
	case $path in
	/var/lib/foo/* | /var/lib/foo-quickstart/* | /var/lib/foocloud/*) umount "$path" ;;
	esac
done </proc/mounts
# The user may have mounted a disk there, or made a link: these stay, without content.
for path in /var/lib/foo /var/lib/foo-quickstart /var/lib/foocloud; do
	[ -d "$path" ] || continue
	find "$path/" -xdev -mindepth 1 -delete
	[ -L "$path" ] || rmdir "$path" 2>/dev/null || true
done
rm -f /etc/default/foocloud
