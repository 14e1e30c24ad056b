#!/usr/bin/env bash
# Makes what is published of a version: the program with its files as an archive, the wheel for Python, what the program is
# made of (CycloneDX), and checksums of all. The same again when it is made again of the same commit by the same toolchain:
# times are those of the commit (SOURCE_DATE_EPOCH), and no path of this machine is in it. Needs maturin for the wheel.
# usage: deploy/release.sh OUT                          builds everything and packs it
#        deploy/release.sh --pack OUT BINARY [WHEEL]    packs what is built already
#        deploy/release.sh --check OUT                  says whether a release is whole and its checksums agree
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
features=s3,otlp
files=(README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT deploy/clearance.toml deploy/clearance.service)
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"/\1/p' "$here/Cargo.toml")
target=$(rustc -vV | sed -n 's/^host: //p')
name=clearance-$version-$target
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$here" log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

fail() { echo "release: $*" >&2; exit 1; }

build() {
    local out=$1 built=${CARGO_TARGET_DIR:-$here/target}
    local cargo_home=${CARGO_HOME:-$HOME/.cargo}
    export RUSTFLAGS="--remap-path-prefix=$here=/clearance --remap-path-prefix=$cargo_home=/cargo ${RUSTFLAGS:-}"
    CLEARANCE_COMMIT=$(git -C "$here" rev-parse HEAD)
    export CLEARANCE_COMMIT
    cargo build --manifest-path "$here/Cargo.toml" --profile shipped --locked --bin clearance --features "$features"
    rm -rf "$built/wheels-shipped"
    maturin build --profile shipped --locked --manifest-path "$here/clients/wheel/Cargo.toml" --features "$features" \
        --out "$built/wheels-shipped"
    pack "$out" "$built/shipped/clearance" "$built"/wheels-shipped/clearance-*.whl
}

pack() {
    local out=$1 binary=$2 wheel=${3:-} root
    mkdir -p "$out"
    [ -z "$(ls -A "$out")" ] || fail "$out is not empty"
    root=$(mktemp -d)
    mkdir "$root/$name"
    install -m 755 "$binary" "$root/$name/clearance"
    for file in "${files[@]}"; do install -m 644 "$here/$file" "$root/$name"; done
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --format=ustar -C "$root" -cf - "$name" |
        gzip -9 -n >"$out/$name.tar.gz"
    rm -rf "$root"
    (cd "$here" && python3 deploy/sbom.py --features "$features") >"$out/$name.cdx.json"
    if [ -n "$wheel" ]; then install -m 644 "$wheel" "$out"; fi
    (cd "$out" && sha256sum -- * >SHA256SUMS)
    check "$out"
}

check() {
    local out=$1 listed there
    [ -f "$out/SHA256SUMS" ] || fail "there is no SHA256SUMS"
    (cd "$out" && sha256sum --quiet --strict --check SHA256SUMS) || fail "checksums do not agree"
    listed=$(sed 's/^[0-9a-f]*  //' "$out/SHA256SUMS" | LC_ALL=C sort)
    there=$(cd "$out" && ls | grep -vx SHA256SUMS | LC_ALL=C sort)
    [ "$listed" = "$there" ] || fail "SHA256SUMS lists other files than there are"
    for file in "$name.tar.gz" "$name.cdx.json"; do [ -f "$out/$file" ] || fail "there is no $file"; done
    listed=$(tar -tzf "$out/$name.tar.gz") || fail "the archive cannot be read"
    for file in clearance "${files[@]##*/}"; do
        grep -qxF "$name/$file" <<<"$listed" || fail "the archive has no $file"
    done
    python3 "$here/deploy/sbom.py" --check "$out/$name.cdx.json" >/dev/null || fail "what it is made of is not told"
    for wheel in "$out"/*.whl; do
        [ -f "$wheel" ] || continue
        case ${wheel##*/} in "clearance-$version-"*) ;; *) fail "${wheel##*/} is of another version" ;; esac
        python3 -m zipfile --test "$wheel" >/dev/null || fail "${wheel##*/} cannot be read"
    done
    echo "$out: $(wc -l <"$out/SHA256SUMS") files, and their checksums agree"
}

case ${1:-} in
    --pack) [ $# -ge 3 ] || fail "--pack needs a directory and a binary"; pack "$2" "$3" "${4:-}" ;;
    --check) [ $# -eq 2 ] || fail "--check needs a directory"; check "$2" ;;
    --* | '') fail "$(sed -n 's/^# usage: //p' "$0")" ;;
    *) build "$1" ;;
esac
