#!/usr/bin/env bash
# Completes the operating system of nodes with containerd and with the images that containers are made from, unpacked:
# hack/build-store.sh arm64 bin bin/programs/arm64 v1.36.3...
# It takes the operating system bin/systems/arm64.tar, and runtime and kubernetes from bin/programs/arm64. It writes
# bin/programs/arm64/systems/ID and makes the link bin/programs/arm64/system to it. bin/runtime and bin/kubernetes have the
# same programs for this machine. The local cloud's instances have bin/system: hack/build-store.sh amd64 bin bin v1.36.3...
set -euo pipefail

if [[ $EUID -ne 0 ]]; then
  echo "the operating system of nodes belongs to root: run this with sudo" >&2
  exit 1
fi
umask 022
architecture=$1
native=$(realpath "$2")
programs=$(realpath "$3")
shift 3
cd "$(dirname "$0")/.."
archive=$native/systems/$architecture.tar
runtime=$programs/runtime
kubernetes=$programs/kubernetes
systems=$programs/systems
# Images that kubeadm does not list: the one that containerd needs for each pod, and the flavors' network.
extra=$(sed -nE 's/^ *sandbox = "(.*)"$/\1/p' node/runtime/etc/containerd/config.toml),ghcr.io/flannel-io/flannel:$(ls -v "$runtime/flannel" | tail -1)

mkdir -p "$systems"
work=$(mktemp -d "$systems/.new-XXXXXX")
pid=
finish() {
  if [[ -n $pid ]]; then
    kill "$pid" && wait "$pid" || true
  fi
  rm -rf "$work"
}
trap finish EXIT

echo "unpacking the operating system of nodes and the images of Kubernetes $* ($architecture)"
system=$work/system
store=$system/opt/foo/store
mkdir -p "$system"
tar -C "$system" --numeric-owner --exclude './dev/*' -xpf "$archive"
go run ./node/store images --architecture "$architecture" --system "$system" --kubernetes "$kubernetes" --kubeadm "$native/kubernetes" \
  --runtime "$runtime" --extra "$extra" --output "$work/images.tar" "$@"

install -D -t "$system/opt/foo/runtime/bin" "$runtime"/{containerd,containerd-shim-runc-v2,ctr}
mkdir -p "$system"/etc/containerd/{conf.d,certs.d} "$system"/etc/cni/net.d "$system"/opt/cni/bin "$system"/var/lib/containerd "$store"
install -m 0644 -t "$system/etc/containerd" node/runtime/etc/containerd/*

# containerd itself unpacks them, with its settings on nodes, except for the plugins that run containers.
sed -e "s#^root = .*#root = \"$work/root\"#; s#^state = .*#state = \"$work/state\"#; s#/run/containerd/#$work/#" \
  -e '/^disabled_plugins/a \  "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime", "io.containerd.cri.v1.images",' \
  -e '/^imports/d' node/runtime/etc/containerd/config.toml > "$work/config.toml"
"$native/runtime/containerd" --config "$work/config.toml" 2> "$work/log" &
pid=$!
ctr() { CONTAINERD_SUPPRESS_DEPRECATION_WARNINGS=1 "$native/runtime/ctr" --address "$work/containerd.sock" --namespace k8s.io "$@"; }
until ctr version > /dev/null 2>&1; do
  kill -0 "$pid" 2> /dev/null || { cat "$work/log" >&2; exit 1; }
done
# Pinned images are not garbage to the kubelet.
ctr images import --local --platform "linux/$architecture" --discard-unpacked-layers --snapshotter overlayfs \
  --label io.cri-containerd.image=managed --label io.cri-containerd.pinned=pinned "$work/images.tar" > /dev/null
# When a lease ends, containerd deletes what no image refers to, such as unpacked layers.
ctr leases delete --sync "$(ctr leases create)" > /dev/null
kill "$pid"
wait "$pid" || true
pid=

plugins=$work/root/io.containerd
mkdir -p "$store/template/io.containerd.content.v1.content"
go run ./node/store databases --from "$work/root" --to "$store/template"
cp -R "$plugins.content.v1.content/blobs" "$store/template/io.containerd.content.v1.content/"
mv "$plugins.snapshotter.v1.overlayfs/snapshots" "$store/snapshots"
rm -rf "$store"/snapshots/*/work

# Only these versions are offered with this operating system.
printf '%s\n' "$@" > "$store/versions"
# The same files give the same ID, which tells an instance whether it already has these images.
id=$(tar -C "$system" --sort=name --mtime=@0 --numeric-owner -cf - . | sha256sum | head -c 16)
echo "$id" > "$store/id"
# Running instances keep the system that they were created with.
[[ -e $systems/$id ]] || mv "$system" "$systems/$id"

# Programs that run in containers and on nodes are the same files, so that a machine has them in memory once.
for version in "$@"; do
  for name in kubernetes etcd etcdctl kubectl; do
    for program in "$systems/$id"/opt/foo/store/snapshots/*/fs/usr/local/bin/$name; do
      if cmp -s "$program" "$kubernetes/$version/$name"; then
        ln -f "$kubernetes/$version/$name" "$program"
      fi
    done
  done
done

link=$programs/system
[[ -L $link ]] || rm -rf "$link"
ln -sfn "systems/$id" "$link"
