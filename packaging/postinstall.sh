#!/bin/sh
# Runs after the package was installed or upgraded, or after its removal was refused.
set -eu
lib=/usr/lib/foo
case ${1:-} in
abort-*) [ ! -e $lib/system/etc ] || exit 0 ;; # nothing was removed
esac
rm -rf $lib/.new
trap 'rm -rf $lib/.new' EXIT # also if the disk is full
mkdir $lib/.new
tar -xzf $lib/nodes.tar.gz -C $lib/.new --numeric-owner
$lib/nodes.sh $lib/.new $lib
rm -r $lib/.new
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	# Instances and load balancers outlive it.
	systemctl try-restart foocloud.service
fi
$lib/unused.sh
