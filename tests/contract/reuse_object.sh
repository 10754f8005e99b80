#!/bin/sh
# reuse_object.sh COMPILER ARGUMENT...: a compiler launcher for CMake. If the table $REUSE_TABLE has an
# object that the same command made, copies it; else runs the command. Lines of the table: the command,
# a tab, the object. $REUSE_FROM in the command is written $REUSE_AS there.
key=$(printf '%s ' "$@" | sed "s, -MD -MT [^ ]* -MF [^ ]*,,; s,$REUSE_FROM,$REUSE_AS,g; s, \$,,")
made=$(key=$key awk -F '\t' '$1 == ENVIRON["key"] { print $2; exit }' "$REUSE_TABLE")
[ -f "$made" ] || exec "$@"
while [ $# -gt 0 ]; do
    case $1 in
    -MF) depends=$2 ;;
    -o) object=$2 ;;
    esac
    shift
done
cp "$made" "$object"
[ -z "${depends:-}" ] || echo "$object:" >"$depends"
