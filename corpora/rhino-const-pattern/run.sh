#!/bin/sh
# usage: run.sh FILE: exit 0 = Rhino's parser fails with a NullPointerException, 1 = it does not, 125 = FILE is no script,
# or takes too long
programs=${DDSET_PROGRAMS:-$HOME/.cache/ddset/programs}
rhino=$programs/rhino-1.7.7.2/rhino.jar
if ! [ -f "$rhino" ]; then
    echo "$0: no $rhino; setup.sh rhino installs it" >&2
    exit 125
fi

output=$(timeout 20 java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -cp "$rhino" \
    org.mozilla.javascript.tools.shell.Main "$1" 2>&1 >/dev/null)
code=$?
[ "$code" = 0 ] && exit 1
case $output in
*java.lang.NullPointerException*org.mozilla.javascript.Parser.addError*) exit 0 ;;
*"syntax error"* | "") exit 125 ;;
esac
[ "$code" = 124 ] && exit 125
exit 1
