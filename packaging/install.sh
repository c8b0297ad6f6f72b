#!/bin/sh
# Installs rtl for one user, without root: curl -LsSf @URL@/install.sh | sh
#   RTL_PREFIX=FOLDER   where to; ~/.local by default
#   RTL_URL=URL         where the files of a release are
# The tools are static on machines whose C library is not glibc 2.28 or newer; librtl.so, which records, needs glibc.
set -eu

fail() {
    echo "error: $1" >&2
    echo "hint: $2" >&2
    exit 1
}

fetch() {
    curl --proto '=https,file' --location --silent --show-error --fail --output "$2" "$url/$1" ||
        fail "$url/$1 cannot be downloaded" "set RTL_URL to a folder with the files of a release"
}

platform() {
    machine=$(uname -m)
    case "$(uname -s) $machine" in
        "Linux x86_64") ;;
        "Linux aarch64" | "Linux arm64") echo aarch64-linux-musl; return ;;
        *) fail "there are no programs for $(uname -s) on $machine" "build them: cargo build --release -p multicall" ;;
    esac
    # Prints "glibc 2.36".
    version=$(getconf GNU_LIBC_VERSION 2>/dev/null || true)
    minor=${version#glibc 2.}
    case "$minor" in
        '' | *[!0-9]*) echo x86_64-linux-musl ;;
        *) if [ "$minor" -ge 28 ]; then echo x86_64-linux-gnu; else echo x86_64-linux-musl; fi ;;
    esac
}

# A function, so that a part of this script does nothing.
main() {
    url=${RTL_URL:-@URL@}
    prefix=${RTL_PREFIX:-$HOME/.local}
    command -v curl >/dev/null || fail "curl is missing" "install curl"
    platform=$(platform)
    mkdir -p "$prefix/bin" || fail "$prefix cannot be written" "set RTL_PREFIX to a folder of yours"
    # Beside the target: programs get their names in one step.
    work=$(mktemp -d "$prefix/.rtl.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    fetch SHA256SUMS "$work/sums"
    line=$(grep -E "^[0-9a-f]{64}  rtl-[^ /]*-$platform\.tar\.gz$" "$work/sums") ||
        fail "the release has no programs for $platform" "look at $url/SHA256SUMS"
    file=${line#*  }
    fetch "$file" "$work/$file"
    if command -v sha256sum >/dev/null; then sum=sha256sum; else sum='shasum -a 256'; fi
    [ "$($sum "$work/$file" | cut -d ' ' -f 1)" = "${line%% *}" ] ||
        fail "$file is not the file that SHA256SUMS names" "download it again; nothing was installed"
    tar -xzf "$work/$file" -C "$work"
    tree="$work/${file%.tar.gz}"
    (cd "$tree" && find . -type d) | while read -r folder; do mkdir -p "$prefix/$folder"; done
    (cd "$tree" && find . ! -type d) | while read -r path; do mv -f "$tree/$path" "$prefix/$path"; done
    echo "installed under $prefix: $("$prefix/bin/rtl" --version)"
    case ":$PATH:" in
        *":$prefix/bin:"*) ;;
        *) echo "hint: export PATH=$prefix/bin:\$PATH" ;;
    esac
}

main
