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
# The package was removed before, and another installation of Foo may use its folders by now.
for path in /var/lib/foo /var/lib/foo-quickstart /var/lib/foocloud; do
	[ -d "$path" ] || continue
	real=$(cd "$path" && pwd -P)
	if grep -qsF -e "upperdir=$path/" -e "upperdir=$real/" /proc/[0-9]*/mounts ||
		[ -n "$(find /proc/[0-9]*/fd -lname "$real/*" 2>/dev/null)" ]; then
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
