#!/usr/bin/env bash
# Completes the operating system of nodes by what runs containers and by the images that containers are made from, unpacked:
# hack/build-store.sh bin/systems/amd64.tar bin/runtime bin/kubernetes bin/systems v1.36.3...
# It writes bin/systems/ID, which the root of every instance has as a layer, and makes the link bin/system to it.
set -euo pipefail

if [[ $EUID -ne 0 ]]; then
  echo "the operating system of nodes belongs to root: run this with sudo" >&2
  exit 1
fi
archive=$(realpath "$1")
runtime=$(realpath "$2")
kubernetes=$(realpath "$3")
systems=$(realpath "$4")
shift 4
cd "$(dirname "$0")/.."
# Beside those that kubeadm names: what containerd wants for each pod, and the network of the flavors.
extra=$(sed -nE 's/^ *sandbox = "(.*)"$/\1/p' node/runtime/etc/containerd/config.toml),ghcr.io/flannel-io/flannel:$(ls -v "$runtime/flannel" | tail -1)

work=$(mktemp -d "$systems/.new-XXXXXX")
pid=
finish() {
  if [[ -n $pid ]]; then
    kill "$pid" && wait "$pid" || true
  fi
  rm -rf "$work"
}
trap finish EXIT

echo "unpacking the operating system of nodes and the images of Kubernetes $*"
system=$work/system
store=$system/opt/foo/store
mkdir -p "$system"
tar -C "$system" --numeric-owner --exclude './dev/*' -xpf "$archive"
install -D -t "$system/opt/foo/runtime/bin" "$runtime"/{containerd,containerd-shim-runc-v2,ctr}
mkdir -p "$system"/etc/containerd/{conf.d,certs.d} "$system"/etc/cni/net.d "$system"/opt/cni/bin "$system"/var/lib/containerd "$store"
install -m 0644 -t "$system/etc/containerd" node/runtime/etc/containerd/*

go run ./hack/components --system "$archive" --kubernetes "$kubernetes" --runtime "$runtime" --extra "$extra" --output "$work/images.tar" "$@"

# containerd itself unpacks them, with the settings that it has on nodes but for what runs containers.
sed -e "s#^root = .*#root = \"$work/root\"#; s#^state = .*#state = \"$work/state\"#; s#/run/containerd/#$work/#" \
  -e '/^disabled_plugins/a \  "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime", "io.containerd.cri.v1.images",' \
  -e '/^imports/d' node/runtime/etc/containerd/config.toml > "$work/config.toml"
"$runtime/containerd" --config "$work/config.toml" 2> "$work/log" &
pid=$!
ctr() { "$runtime/ctr" --address "$work/containerd.sock" --namespace k8s.io "$@"; }
until ctr version > /dev/null 2>&1; do
  kill -0 "$pid" 2> /dev/null || { cat "$work/log" >&2; exit 1; }
done
# Pinned images are not garbage to the kubelet.
ctr images import --local --discard-unpacked-layers --snapshotter overlayfs \
  --label io.cri-containerd.image=managed --label io.cri-containerd.pinned=pinned "$work/images.tar" > /dev/null
ctr content prune references > /dev/null
kill "$pid"
wait "$pid" || true
pid=

plugins=$work/root/io.containerd
mkdir -p "$store/template/io.containerd."{metadata.v1.bolt,content.v1.content,snapshotter.v1.overlayfs}
cp "$plugins.metadata.v1.bolt/meta.db" "$store/template/io.containerd.metadata.v1.bolt/"
cp -R "$plugins.content.v1.content/blobs" "$store/template/io.containerd.content.v1.content/"
cp "$plugins.snapshotter.v1.overlayfs/metadata.db" "$store/template/io.containerd.snapshotter.v1.overlayfs/"
mv "$plugins.snapshotter.v1.overlayfs/snapshots" "$store/snapshots"
rm -rf "$store"/snapshots/*/work

# Programs that run in containers and on nodes are the same files, so that a machine has them in memory once.
for version in "$@"; do
  for name in kubernetes etcd etcdctl kubectl; do
    for program in "$store"/snapshots/*/fs/usr/local/bin/$name; do
      cmp -s "$program" "$kubernetes/$version/$name" && ln -f "$kubernetes/$version/$name" "$program" || true
    done
  done
done

id=$(cat "$archive" "$work/images.tar" node/runtime/etc/containerd/* "$system"/opt/foo/runtime/bin/* | sha256sum | head -c 16)
echo "$id" > "$store/id"
rm -rf "${systems:?}/$id"
mv "$system" "$systems/$id"
link=$(dirname "$systems")/system
[[ -L $link ]] || rm -rf "$link"
ln -sfn "systems/$id" "$link"
