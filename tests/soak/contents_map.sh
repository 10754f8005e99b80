#!/bin/sh
# contents_map.sh PROGRAM DIR
#
# Gives PROGRAM the Debian Contents index (every file of every package), unpacked into DIR. It is
# fetched by apt-file where the system does not have it yet. Exits with 77, which means skipped, and
# says why, when it cannot be had.
set -eu

program=$1
directory=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
least=1000000

skip()
{
    echo "skipped: $1"
    exit 77
}

# The index's files that apt has fetched.
index_files()
{
    # shellcheck disable=SC2016
    apt-get indextargets --format '$(FILENAME)' 'Created-By: Contents-deb' 2>/dev/null |
        while read -r file; do
            [ ! -f "$file" ] || echo "$file"
        done
}

command -v apt-get >/dev/null || skip "not a Debian system"
command -v apt-file >/dev/null || "$root/scripts/packages" soak ||
    skip "apt-file is not installed, and could not be"
files=$(index_files)
if [ -z "$files" ]; then
    sudo=
    [ "$(id -u)" = 0 ] || sudo='sudo -n'
    $sudo apt-file update || skip "the index could not be fetched (apt-file update)"
    files=$(index_files)
fi
[ -n "$files" ] || skip "apt has no Contents index"

mkdir -p "$directory"
index=$directory/contents
trap 'rm -f "$index" "$index".map*' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
# shellcheck disable=SC2086
/usr/lib/apt/apt-helper cat-file $files >"$index" || skip "the index cannot be unpacked"
lines=$(wc -l <"$index")
[ "$lines" -ge "$least" ] || skip "the index has $lines lines only"

"$program" "$index"
