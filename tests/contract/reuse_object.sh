#!/bin/sh
# reuse_object.sh COMPILER ARGUMENT...: a compiler and linker launcher for CMake. If the table
# $REUSE_TABLE has a file that the same command made, copies it; else runs the command. Lines of the
# table: the words of the command, without -MD, -MT and -MF, a tab, the file. There are hundreds of
# calls, so this starts as few processes as it can.
key='' next='' object='' depends=''
for word in "$@"; do
    case $next in
    target) next='' && continue ;;
    depends) next='' depends=$word && continue ;;
    object) object=$word ;;
    esac
    next=''
    case $word in
    -MD) continue ;;
    -MT) next=target && continue ;;
    -MF) next=depends && continue ;;
    -o) next=object ;;
    esac
    key="$key$word "
done
made=$(grep -m 1 -F -- "${key% }	" "$REUSE_TABLE")
made=${made##*	}
[ -f "$made" ] || exec "$@"
cp "$made" "$object"
[ -z "$depends" ] || echo "$object:" >"$depends"
