#!/usr/bin/env bash
# Builds the disk of a virtual machine as a user of Debian has it, for the stories with the label
# distribution:
#   test/e2e/build-machine.sh bookworm bin/machines/bookworm
# The folder gets disk.img, vmlinuz and initrd.img. The machine has what README.md requires,
# and an SSH server. It learns at its start who may log in.
set -euo pipefail

suite=$1
output=$2
cd "$(dirname "$0")/../.."

echo "building a machine with Debian $suite: the first time takes about three minutes"
rm -rf "$output"
mkdir -p "$(dirname "$output")"
work=$(mktemp -d "$(dirname "$output")/.new-XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
packages=linux-image-amd64,systemd-sysv,dbus,openssh-server,curl,iproute2,procps,ca-certificates,runc
hack/mmdebstrap.sh "$suite" "$output.tar" --variant=important --architectures=amd64 --include="$packages" \
  --customize-hook='rm "$1"/etc/hostname; echo debian > "$1"/etc/hostname; echo "127.0.1.1 debian" >> "$1"/etc/hosts' \
  --customize-hook='printf "LABEL=root / ext4 defaults 0 1\nLABEL=download /media ext4 ro,nofail 0 2\n" > "$1"/etc/fstab' \
  --customize-hook='printf "[Match]\nName=e*\n[Network]\nDHCP=yes\n" > "$1"/etc/systemd/network/uplink.network' \
  --customize-hook='chroot "$1" systemctl enable systemd-networkd ssh' \
  --customize-hook='rm -rf "$1"/var/cache/apt/* "$1"/var/lib/apt/lists/*'
mkdir "$work/root" "$work/machine"
tar --extract --xattrs --numeric-owner --file="$output.tar" --directory="$work/root"
rm "$output.tar"
cp "$work"/root/boot/vmlinuz-* "$work/machine/vmlinuz"
cp "$work"/root/boot/initrd.img-* "$work/machine/initrd.img"
mke2fs -q -t ext4 -L root -d "$work/root" "$work/machine/disk.img" 24G
mv "$work/machine" "$output"
