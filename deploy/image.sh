#!/usr/bin/env bash
# Builds an image from scratch of a binary that is built already, without a network and without a daemon; the same again
# when it is built again. Needs buildah.
# usage: deploy/image.sh BINARY [NAME]   NAME is clearance:latest
set -euo pipefail
binary=$1 name=${2:-clearance:latest}
here=$(cd "$(dirname "$0")" && pwd)
context=$(mktemp -d); trap 'rm -rf "$context"' EXIT
root=$context/rootfs
mkdir -p "$root/etc/ssl/certs" "$root/tmp"
install -m 755 "$binary" "$root/clearance"
strip "$root/clearance"
# What it is linked to, where the loader looks for it; the loader is named by its whole path.
ldd "$binary" | grep -o '/[^ ]*' | sort -u | while read -r library; do
    install -D -m 755 "$library" "$root$library"
done
printf 'clearance:x:65532:65532::/:/clearance\n' >"$root/etc/passwd"
printf 'clearance:x:65532:\n' >"$root/etc/group"
printf 'hosts: files dns\n' >"$root/etc/nsswitch.conf"
if [ -f /etc/ssl/certs/ca-certificates.crt ]; then install -m 644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs"; fi
chmod 1777 "$root/tmp"
# The time of a file is part of an image.
find "$root" -exec touch --no-dereference --date=@0 {} +
cp "$here/Containerfile" "$context/Containerfile"
buildah --storage-driver vfs bud --quiet --isolation chroot --timestamp 0 --tag "$name" -f "$context/Containerfile" "$context"
