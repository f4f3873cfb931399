#!/bin/sh
# usage: run.sh FILE: exit 0 = Lua crashes with SIGSEGV, 1 = it runs FILE, 125 = FILE does not load, or ends with an error
programs=${DDSET_PROGRAMS:-$HOME/.cache/ddset/programs}
lua=$programs/lua-5.3.5/lua
if ! [ -x "$lua" ]; then
    echo "$0: no $lua; setup.sh lua installs it" >&2
    exit 125
fi

{ timeout 5 "$lua" "$1" >/dev/null; } 2>/dev/null
case $? in
139) exit 0 ;;
0) exit 1 ;;
*) exit 125 ;;
esac
