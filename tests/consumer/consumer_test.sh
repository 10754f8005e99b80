#!/bin/sh
# consumer_test.sh BUILD WORK: installs what BUILD holds below WORK, and builds and runs users of it
# there: by find_package(), by pkg-config, shared and static, in C and C++. Then the same from the
# sources, by add_subdirectory() and FetchContent.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$1 work=$2

fail()
{
    echo "consumer: $*" >&2
    exit 1
}

rm -rf "$work"
mkdir -p "$work"
DESTDIR=$work/stage cmake --install "$build" >"$work/install.log"
config=$(find "$work/stage" -name bloomery-config.cmake)
[ -n "$config" ] || fail "no CMake package was installed"
libdir=$(cd "$(dirname "$config")/../.." && pwd)
prefix=$(cd "$libdir" && while [ ! -d include ]; do cd ..; done && pwd)

cc=${CC:-cc} cxx=${CXX:-c++}
warnings="-Wall -Wextra -Wpedantic -Werror"

# Each header stands alone, in both languages.
for header in "$prefix"/include/bloomery.h "$prefix"/include/bloomery/*.h; do
    name=${header#"$prefix"/include/}
    echo "#include <$name>" >"$work/alone.c"
    cp "$work/alone.c" "$work/alone.cpp"
    $cc -std=c11 $warnings -I"$prefix/include" -fsyntax-only "$work/alone.c" || fail "$name in C11"
    $cxx -std=c++17 $warnings -I"$prefix/include" -fsyntax-only "$work/alone.cpp" ||
        fail "$name in C++17"
done

# <bloomery.h> has all others. On a 32-bit machine it says why it cannot be used.
for header in "$prefix"/include/bloomery/*.h; do
    grep -q "<bloomery/$(basename "$header")>" "$prefix/include/bloomery.h" ||
        fail "<bloomery.h> lacks $(basename "$header")"
done
if [ "$(uname -m)" = x86_64 ]; then
    echo "#include <bloomery.h>" >"$work/alone.c"
    ! $cc -m32 -ffreestanding -I"$prefix/include" -fsyntax-only "$work/alone.c" 2>"$work/m32.log" ||
        fail "<bloomery.h> compiles for 32 bits"
    grep -q 'needs a 64-bit machine' "$work/m32.log" || fail "for 32 bits: $(cat "$work/m32.log")"
fi

needs_shared()
{
    LC_ALL=C readelf -d "$1" | grep -q 'NEEDED.*libbloomery\.so'
}

# by DIR OPTION...: builds the project, and runs its programs. CMake sets a run path, so that they
# find the shared library.
generator=
! command -v ninja >/dev/null || generator='-G Ninja'
by()
{
    directory=$work/$1
    shift
    # shellcheck disable=SC2086
    cmake -S "$here" -B "$directory" $generator "$@" >"$directory.log" 2>&1 &&
        cmake --build "$directory" --parallel 2 >>"$directory.log" 2>&1 ||
        { cat "$directory.log"; fail "cmake $*"; }
    for program in consumer_shared consumer_static consumer_cpp; do
        "$directory/$program" || fail "$*: $program"
    done
    needs_shared "$directory/consumer_shared" || fail "$*: consumer_shared has no shared library"
    ! needs_shared "$directory/consumer_static" || fail "$*: consumer_static has the shared library"
}
by cmake -DBY=package -DCMAKE_PREFIX_PATH="$prefix"

# From the sources. To the project around it Bloomery does nothing: the build type stays unset, there
# are no further programs, and nothing of it is installed.
source=$(cd "$here/../.." && pwd)
for way in fetch subdirectory; do
    by source -DBY=$way -DBLOOMERY_SOURCE="$source"
    ! grep 'warning:' "$work/source.log" || fail "$way: warnings"
    grep -q '^CMAKE_BUILD_TYPE:STRING=$' "$work/source/CMakeCache.txt" || fail "$way: build type"
    [ -z "$(find "$work/source" -name bloomery -type f -o -name 'bloomery.so')" ] ||
        fail "$way: programs were built"
    DESTDIR=$work/installed cmake --install "$work/source" >>"$work/source.log"
    [ "$(find "$work/installed" ! -type d -printf '%f ')" = "consumer_shared " ] ||
        fail "$way: installs $(find "$work/installed" ! -type d)"
done

# By pkg-config.
export PKG_CONFIG_PATH="$libdir/pkgconfig"
flags=$(pkg-config --cflags --libs bloomery)
$cc -std=c11 $warnings "$here/consumer.c" -o "$work/pc_shared" $flags
LD_LIBRARY_PATH=$libdir "$work/pc_shared" || fail "pkg-config: shared"
needs_shared "$work/pc_shared" || fail "pc_shared does not use the shared library"
$cxx -std=c++17 $warnings "$here/consumer.cpp" -o "$work/pc_cpp" $flags
LD_LIBRARY_PATH=$libdir "$work/pc_cpp" || fail "pkg-config: C++"
flags=$(pkg-config --static --cflags --libs bloomery)
$cc -std=c11 $warnings -static "$here/consumer.c" -o "$work/pc_static" $flags
"$work/pc_static" || fail "pkg-config: static"

# A program that was built with a development version, whose library had another soname and names
# without a version, does not start with this library: structs of the interface have changed.
mkdir "$work/old"
echo 'const char *bry_version(void) { return "old"; }' |
    $cc -x c - -shared -fPIC -Wl,-soname,libbloomery.so.0.1 -o "$work/old/libbloomery.so"
echo 'const char *bry_version(void); int main(void) { return !bry_version(); }' |
    $cc -x c - -o "$work/old_program" -L"$work/old" -lbloomery
mv "$work/old/libbloomery.so" "$work/old/libbloomery.so.0.1"
LD_LIBRARY_PATH=$work/old "$work/old_program" || fail "old_program does not start with its library"
! LD_LIBRARY_PATH=$libdir "$work/old_program" 2>"$work/refused" ||
    fail "a program of a development version starts with this library"
grep -q 'libbloomery\.so\.0\.1: cannot open' "$work/refused" || fail "$(cat "$work/refused")"

# The client for clusters, shared and static. Only the shared library of hiredis is expected.
if [ -f "$libdir/pkgconfig/bloomery-cluster.pc" ]; then
    example=$here/../../clients/c/map_example.c
    # shellcheck disable=SC2046
    $cc -std=c11 $warnings "$example" -o "$work/pc_cluster" \
        $(pkg-config --cflags --libs bloomery-cluster)
    ! LD_LIBRARY_PATH=$libdir "$work/pc_cluster" redis://127.0.0.1:1/x 2>"$work/refused" ||
        fail "pkg-config: there is a server at port 1"
    grep -q 'Connection refused' "$work/refused" || fail "pkg-config: $(cat "$work/refused")"
    $cc -std=c11 $warnings "$example" -o "$work/pc_cluster_static" -I"$prefix/include" \
        "$libdir/libbloomery-cluster.a" "$libdir/libbloomery.a" -lhiredis -lxxhash -lm
    for language in c cpp; do
        echo "#include <bloomery_cluster_counters.h>" >"$work/alone.$language"
    done
    $cc -std=c11 $warnings -I"$prefix/include" -fsyntax-only "$work/alone.c" || fail "header in C"
    $cxx -std=c++17 $warnings -I"$prefix/include" -fsyntax-only "$work/alone.cpp" ||
        fail "header in C++"
fi

# What comes with the program.
for file in lib/systemd/system/bloomery.service share/doc/bloomery/examples/bloomery.conf \
    share/doc/bloomery/README.md share/doc/bloomery/doc/server.md \
    share/doc/bloomery/examples/quickstart.c share/bash-completion/completions/bloomery \
    share/zsh/site-functions/_bloomery share/fish/vendor_completions.d/bloomery.fish \
    share/man/man1/bloomery.1 share/man/man1/bloomery-map.1 share/man/man1/bloomery-bench.1; do
    [ -f "$prefix/$file" ] || fail "$file is not installed"
done
for app in dedup flows; do
    [ ! -x "$build/bloomery-$app" ] || "$prefix/bin/bloomery" $app --help >"$work/help" ||
        fail "bloomery $app does not start"
done
unit=$prefix/lib/systemd/system/bloomery.service
grep -q '^WantedBy=' "$unit" || fail "the service cannot be enabled"
program=$(sed -n 's/^ExecStart=\([^ ]*\) .*/\1/p' "$unit")
[ -x "$work/stage$program" ] || fail "the service starts $program, which is not installed"
"$prefix/bin/bloomery" serve --dry-run --server /bin/true --dir "$work" \
    --config "$prefix/share/doc/bloomery/examples/bloomery.conf" >/dev/null || fail "bloomery.conf"

# The installed program needs nothing of the build directory.
"$prefix/bin/bloomery" --version | grep -q '^bloomery [0-9]' || fail "bloomery --version"
# And it finds the installed module, which servers load only where it is executable.
"$prefix/bin/bloomery" serve --dry-run --server /bin/true |
    grep -q -- "--loadmodule $libdir/bloomery/bloomery.so\$" || fail "bloomery serve: no module"
echo "consumer: all built and ran"
