#!/usr/bin/env bash
# Builds the disk of a virtual machine as a user of Debian has it, for the stories with the label
# distribution:
#   hack/build-machine.sh bookworm bin/machines/bookworm
# The folder gets disk.img, vmlinuz and initrd.img. The machine has what README.md requires,
# and an SSH server. It learns at its start who may log in.
set -euo pipefail

if [[ $EUID -ne 0 ]]; then
  echo "building a machine needs root, who owns its files: run this with sudo" >&2
  exit 1
fi
suite=$1
output=$2
cd "$(dirname "$0")/.."

echo "building a machine with Debian $suite: the first time takes about three minutes"
sources=$(hack/debian-mirrors.sh "$suite")
readarray -t sources <<<"$sources"
rm -rf "$output"
mkdir -p "$(dirname "$output")"
work=$(mktemp -d "$(dirname "$output")/.new-XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
log=$output.log
packages=linux-image-amd64,systemd-sysv,dbus,openssh-server,curl,iproute2,procps,ca-certificates,runc
mmdebstrap --variant=important --architectures=amd64 --include="$packages" \
  --customize-hook='rm "$1"/etc/hostname; echo debian > "$1"/etc/hostname; echo "127.0.1.1 debian" >> "$1"/etc/hosts' \
  --customize-hook='printf "LABEL=root / ext4 defaults 0 1\nLABEL=download /media ext4 ro,nofail 0 2\n" > "$1"/etc/fstab' \
  --customize-hook='printf "[Match]\nName=e*\n[Network]\nDHCP=yes\n" > "$1"/etc/systemd/network/uplink.network' \
  --customize-hook='chroot "$1" systemctl enable systemd-networkd ssh' \
  --customize-hook='rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/*' \
  "$suite" "$work/root.tar" "${sources[@]}" 2>"$log" || { tail -20 "$log" >&2; echo "the full log is in $log" >&2; exit 1; }
mkdir "$work/root" "$work/machine"
tar --extract --xattrs --numeric-owner --file="$work/root.tar" --directory="$work/root"
cp "$work"/root/boot/vmlinuz-* "$work/machine/vmlinuz"
cp "$work"/root/boot/initrd.img-* "$work/machine/initrd.img"
mke2fs -q -t ext4 -L root -d "$work/root" "$work/machine/disk.img" 24G
mv "$work/machine" "$output"
rm "$log"
