#!/bin/sh
# Installs a release of Foo from its archive, or removes it; --help says how. It downloads nothing,
# and lists everything that this machine lacks before it changes anything.
#
# Everything is in one folder, PREFIX/lib/foo, except for links to it. The file "installed" there
# lists the links, and the folders that did not exist before.
set -eu
umask 022

program=${0##*/}
# Tests put another folder in the place of / for what is read from /proc, /sys, /lib/modules and /var/lib.
root=${FOO_ROOT:-}
# MiB of free memory that a small cluster needs.
memory=1024
# Space for the unpacked archive, which is three times as large, and for a first cluster.
times=5

usage() {
	cat <<-END
		Usage:
		  $program [--prefix FOLDER] [ARCHIVE]     Install a release of Foo, or upgrade to it
		  $program --check [--space MIB] [ARCHIVE] Only check whether this host can run Foo, and whether FOLDER has space;
		                                           with --without-packages, also if it lacks packages
		  $program --uninstall [--prefix FOLDER]   Remove it

		ARCHIVE is by default the one beside $program for this host's architecture.
		Programs are in FOLDER/lib/foo, with links in FOLDER/bin. FOLDER is /usr/local by default.
	END
}

# fail MESSAGE [CODE] ends with an error. Code 2 means that nothing was changed.
fail() {
	echo "$program: $1" >&2
	exit "${2:-1}"
}

lacking=

# lacks WHAT REMEDY reports what is wrong with this machine.
lacks() {
	echo "$program: $1: $2" >&2
	lacking=yes
}

check_machine() {
	[ "$(uname -s)" = Linux ] || lacks "this is $(uname -s)" "use a host with Linux"
	[ -n "$architecture" ] || lacks "the architecture is $(uname -m)" "use a host with amd64 (x86_64) or arm64 (aarch64)"
	[ "$(id -u)" = 0 ] || lacks "not root" "run it with sudo"
	check_kernel
	# Whoever upgrades may have clusters that use the memory.
	if [ "$action" != install ] || [ ! -e "$lib/installed" ]; then
		check_memory
	fi
	for controller in cpu cpuset memory pids; do
		controlled "$controller" ||
			lacks "there is no cgroup controller $controller" "mount cgroup v2 on /sys/fs/cgroup, and boot without cgroup_disable=$controller"
	done
	for tool in $packages; do
		command -v "${tool%:*}" >/dev/null ||
			lacks "${tool%:*} is not installed" "install your distribution's package ${tool#*:}, for example with: apt-get install ${tool#*:}"
	done
}

check_kernel() {
	release=$(uname -r)
	major=${release%%.*}
	minor=${release#*.}
	minor=${minor%%[!0-9]*}
	[ "$major" -gt 5 ] || { [ "$major" -eq 5 ] && [ "$minor" -ge 17 ]; } ||
		lacks "the kernel is Linux $release" "boot Linux 5.17 or newer"
	grep -qsw overlay "$root/proc/filesystems" || module overlay ||
		lacks "the kernel has no overlayfs" "boot one with CONFIG_OVERLAY_FS, or run: modprobe overlay"
	grep -qs " nf_tables_" "$root/proc/kallsyms" || module nf_tables ||
		lacks "the kernel has no nftables" "boot one with CONFIG_NF_TABLES, or run: modprobe nf_tables"
	[ -e "$root/proc/self/ns/net" ] || lacks "the kernel has no network namespaces" "boot one with CONFIG_NET_NS"
}

check_memory() {
	free=$(awk '$1 == "MemAvailable:" {print int($2 / 1024)}' "$root/proc/meminfo" 2>/dev/null) || free=
	[ "${free:-$memory}" -ge "$memory" ] ||
		lacks "the host has $free MiB of free memory, and a cluster needs $memory MiB" "end other programs, or use a larger host"
}

# module NAME succeeds if the kernel can load a module, or has it built in.
module() {
	{ command -v modprobe >/dev/null && modprobe -q -n "$1"; } ||
		grep -qs "/$1\.ko" "$root/lib/modules/$(uname -r)/modules.builtin"
}

# controlled NAME succeeds if cgroup v2 or v1 has a controller.
controlled() {
	grep -qsw "$1" "$root/sys/fs/cgroup/cgroup.controllers" || grep -Eqs "^cgroup .*[ ,]$1[ ,]" "$root/proc/mounts"
}

# check_space MIB checks the file system of the folder.
check_space() {
	parent=$prefix
	while [ ! -d "$parent" ]; do
		parent=$(dirname "$parent")
	done
	free=$(($(df -Pk "$parent" | awk 'NR == 2 {print $4}') / 1024))
	[ "$free" -ge "$1" ] || lacks "$parent has $free MiB of free space, and Foo needs $1 MiB" "free some, or choose another folder with --prefix"
}

# find_archive looks beside this script, which may be in an unpacked archive. To check only the machine,
# it need not find one.
find_archive() {
	here=$(cd "$(dirname "$0")" && pwd)
	set -- "$here"/foo-*-linux-"$architecture".tar.gz
	[ -e "$1" ] || set -- "$here.tar.gz"
	if [ ! -e "$1" ]; then
		[ "$action" = check ] || fail "there is no archive foo-VERSION-linux-$architecture.tar.gz in $here: name one" 2
		return
	fi
	[ $# = 1 ] || fail "there is more than one archive in $here: name one" 2
	archive=$1
}

# check_archive compares the architecture in the archive's name with this host's, and the archive's sum
# if the file with the release's sums is beside it.
check_archive() {
	[ -f "$archive" ] || fail "there is no archive $archive" 2
	case ${archive##*/} in
	*-linux-"$architecture".tar.gz) ;;
	*-linux-amd64.tar.gz | *-linux-arm64.tar.gz)
		other=${archive##*-linux-}
		fail "the archive $archive is for ${other%.tar.gz}, and this host is $architecture: download the one for $architecture" 2
		;;
	esac
	for sums in "$(dirname "$archive")/SHA256SUMS" "$(dirname "$archive")/../SHA256SUMS"; do
		want=$(awk -v name="${archive##*/}" '{sub(/.*\//, "", $2)} $2 == name {print $1}' "$sums" 2>/dev/null) || continue
		[ -z "$want" ] || [ "$(sha256sum <"$archive")" = "$want  -" ] ||
			fail "the archive $archive is damaged, since its sum is not the one in $sums: download it again" 2
	done
}

# check_links finds programs of others in the place of Foo's.
check_links() {
	for name in foo foocloud; do
		link=$prefix/bin/$name
		{ [ ! -e "$link" ] && [ ! -L "$link" ]; } || [ "$(readlink "$link")" = "$lib/$name" ] ||
			lacks "$link exists, but is not Foo's" "remove it, or choose another folder with --prefix"
	done
}

# folder PATH creates a folder with its parents.
folder() {
	[ ! -d "$1" ] || return 0
	folder "$(dirname "$1")"
	record "$1"
	mkdir "$1"
}

# place PATH TARGET makes a link.
place() {
	folder "$(dirname "$1")"
	record "$1"
	ln -sfn "$2" "$1"
}

# record PATH puts a path before the ones that it may be in, before it is made. At any time, and also
# if the disk is full, the file has the old paths or all of the new.
record() {
	recorded="$1
$(echo "$recorded" | grep -vxF "$1")"
	[ ! -d "$lib" ] || save
}

save() {
	echo "$recorded" >"$lib/installed.new"
	mv "$lib/installed.new" "$lib/installed"
}

# lock keeps a second installation or removal from the folder until this one has ended.
lock() {
	exec 9<"$lib"
	failure=0
	flock -n 9 || failure=$?
	[ "$failure" != 0 ] || return 0
	[ "$failure" != 1 ] || fail "another install.sh is changing $lib: wait until it has ended, and repeat this" 2
	# The folders that a first installation has just made.
	[ -e "$lib/installed" ] || remove_folders
	fail "cannot lock $lib: install your distribution's package util-linux, or choose a folder on a local disk with --prefix" 2
}

# remove_folders removes the recorded folders that are empty. Others use the rest.
remove_folders() {
	echo "$recorded" | while read -r path; do
		[ ! -d "$path" ] || rmdir "$path" 2>/dev/null || true
	done
}

# check_release refuses what was unpacked if it is not a release of Foo, or does not run on this host.
check_release() {
	for part in VERSION foo foocloud foocloud.service install.sh nodes.sh removable.sh unused.sh kubernetes system/etc completion man; do
		[ -e "$new/$part" ] || refuse_release "the archive $archive is no release of Foo, since it lacks $part: name one"
	done
	for name in foo foocloud; do
		"$new/$name" version >/dev/null 2>&1 ||
			refuse_release "the program $name of the archive $archive does not run on this host: use the archive for $architecture, and a folder that is not mounted with noexec"
	done
}

# refuse_release MESSAGE ends with an error, and with what was installed before, if anything.
refuse_release() {
	rm -rf "$new"
	if [ -n "$first" ]; then
		rm "$lib/installed"
		remove_folders
	fi
	fail "$1" 2
}

install_release() {
	recorded='' first=yes
	if [ -e "$lib" ]; then
		[ -f "$lib/installed" ] || fail "$lib exists, but $program did not create it: remove it, or choose another folder with --prefix" 2
		recorded=$(cat "$lib/installed") first=''
	fi
	trap 'fail "interrupted: repeat it, or remove what is there with --uninstall" 130' INT TERM
	folder "$lib"
	lock
	save
	new=$lib/.new
	rm -rf "$new"
	mkdir "$new"
	tar -xzf "$archive" -C "$new" --strip-components=1 --numeric-owner ||
		refuse_release "the archive $archive cannot be unpacked, for the reason above: solve that, or download it again"
	check_release
	sed -i "s#/usr/lib/foo#$lib#g" "$new/foocloud.service"
	"$new/nodes.sh" "$new" "$lib"
	# Each file is replaced at once.
	cp -alf "$new/." "$lib"
	rm -r "$new"
	place "$prefix/lib/systemd/system/foocloud.service" "$lib/foocloud.service"
	for name in foo foocloud; do
		place "$prefix/bin/$name" "$lib/$name"
		place "$prefix/share/bash-completion/completions/$name" "$lib/completion/$name.bash"
		place "$prefix/share/zsh/site-functions/_$name" "$lib/completion/$name.zsh"
		place "$prefix/share/fish/vendor_completions.d/$name.fish" "$lib/completion/$name.fish"
	done
	for page in "$lib"/man/*; do
		place "$prefix/share/man/man1/${page##*/}" "$page"
	done
	reload
	# Instances and load balancers outlive it.
	if [ -d "$root/run/systemd/system" ] && systemctl is-active --quiet foocloud.service; then
		systemctl restart foocloud.service
	fi
	"$lib/unused.sh"
	echo "Installed Foo $(cat "$lib/VERSION") in $lib. Bring up a cluster with: sudo $prefix/bin/foo quickstart"
}

reload() {
	[ ! -d "$root/run/systemd/system" ] || systemctl daemon-reload
}

# left lists what Foo has stored, which stays.
left() {
	for path in /var/lib/foo /var/lib/foo-quickstart /var/lib/foocloud /etc/default/foocloud; do
		[ ! -e "$root$path" ] || printf ' %s' "$path"
	done
}

uninstall() {
	[ -f "$lib/installed" ] || fail "there is no Foo in $lib that $program installed: name its folder with --prefix" 2
	# What was interrupted may lack it.
	[ ! -e "$lib/removable.sh" ] || reason=$(sh "$lib/removable.sh") || fail "$reason" 2
	lock
	trap 'fail "interrupted: repeat it" 130' INT TERM
	recorded=$(cat "$lib/installed")
	# What `systemctl enable` and `systemctl link` have made.
	[ ! -d "$root/etc/systemd/system" ] ||
		find "$root/etc/systemd/system" -lname "$lib/foocloud.service" -exec rm {} +
	echo "$recorded" | while read -r path; do
		[ ! -L "$path" ] || rm "$path"
	done
	# Whoever installs Foo again does not find a part of an operating system.
	rm -rf "$lib/.new"
	[ ! -d "$lib/systems" ] || mv "$lib/systems" "$lib/.new"
	# A removal that is repeated needs these.
	find "$lib" -mindepth 1 -maxdepth 1 ! -name installed ! -name install.sh ! -name removable.sh -exec rm -rf {} +
	rm -rf "$lib"
	remove_folders
	reload
	stays=$(left)
	echo "Removed Foo from $lib.${stays:+ These stay, unless you remove them:$stays}"
}

main() {
	action=install space=0 prefix=/usr/local archive='' unchecked='' packages='runc tar gzip flock:util-linux'
	case $(uname -m) in
	x86_64 | amd64) architecture=amd64 ;;
	aarch64 | arm64) architecture=arm64 ;;
	*) architecture= ;;
	esac
	while [ $# -gt 0 ]; do
		case $1 in
		--prefix)
			[ $# -gt 1 ] || fail "--prefix needs a folder" 2
			prefix=${2%/}
			shift
			;;
		--space)
			space=${2:-}
			case $space in
			*[!0-9]* | '') fail "--space '$space': must be a number of MiB" 2 ;;
			esac
			shift
			;;
		--without-packages) packages= ;;
		--check | --uninstall) action=${1#--} ;;
		--help | -h)
			usage
			exit 0
			;;
		-*) fail "unknown flag $1; see --help" 2 ;;
		*)
			[ -z "$archive" ] || fail "more than one archive; see --help" 2
			archive=$1
			;;
		esac
		shift
	done
	case $action:$prefix in
	check:*) ;;
	*:*[!A-Za-z0-9/._+-]* | *:[!/]* | *:) fail "--prefix '$prefix': must be an absolute path with only letters, digits and the characters / . _ + -" 2 ;;
	esac
	lib=$prefix/lib/foo

	if [ "$action" = uninstall ]; then
		[ "$(id -u)" = 0 ] || fail "not root: run it with sudo" 2
		uninstall
		return
	fi
	check_machine
	if [ -n "$architecture" ] && { [ "$action" = install ] || [ "$space" = 0 ]; }; then
		[ -n "$archive" ] || find_archive
		if [ -n "$archive" ]; then
			check_archive
			space=$(($(wc -c <"$archive") * times / 1048576))
		fi
	fi
	check_space "$space"
	[ "$action" = check ] || check_links
	[ -z "$lacking" ] || fail "nothing was changed: first solve what is listed above" 2
	if [ "$action" = check ]; then
		[ "$space" != 0 ] || unchecked=" Its free space was not checked: name an archive, or use --space."
		echo "This host can run Foo.$unchecked"
	else
		install_release
	fi
}

main "$@"
