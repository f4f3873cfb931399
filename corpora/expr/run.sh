#!/bin/sh
# usage: run.sh FILE: exit 0 = the calculator panics, 1 = it does not, 125 = FILE is no expression
case $0 in
*/*) here=${0%/*} ;;
*) here=. ;;
esac
target=${CARGO_TARGET_DIR:-../../target}
case $target in
/*) ;;
*) target=$here/$target ;; # cargo runs in this folder
esac
program=$target/debug/examples/calculator
if ! [ -x "$program" ]; then
    echo "$0: no $program; build it with: cargo build --example calculator" >&2
    exit 125
fi

RUST_BACKTRACE=0 "$program" "$1" >/dev/null 2>&1
case $? in
101) exit 0 ;;
2) exit 125 ;;
*) exit 1 ;;
esac
