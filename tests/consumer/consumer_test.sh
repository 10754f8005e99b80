#!/bin/sh
# consumer_test.sh BUILD WORK: installs what BUILD holds below WORK, and builds and runs users of it
# there: by find_package(), by pkg-config, shared and static, in C and C++.
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
for header in "$prefix"/include/bloomery/*.h; do
    name=bloomery/$(basename "$header")
    echo "#include <$name>" >"$work/alone.c"
    cp "$work/alone.c" "$work/alone.cpp"
    $cc -std=c11 $warnings -I"$prefix/include" -fsyntax-only "$work/alone.c" || fail "$name in C11"
    $cxx -std=c++17 $warnings -I"$prefix/include" -fsyntax-only "$work/alone.cpp" ||
        fail "$name in C++17"
done

needs_shared()
{
    LC_ALL=C readelf -d "$1" | grep -q 'NEEDED.*libbloomery\.so'
}

# By find_package(). CMake sets a run path, so the programs find the staged library.
cmake -S "$here" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" >"$work/cmake.log"
cmake --build "$work/cmake" >>"$work/cmake.log" || { cat "$work/cmake.log"; exit 1; }
for program in consumer_shared consumer_static consumer_cpp; do
    "$work/cmake/$program" || fail "find_package: $program"
done
needs_shared "$work/cmake/consumer_shared" || fail "consumer_shared does not use the shared library"
! needs_shared "$work/cmake/consumer_static" || fail "consumer_static uses the shared library"

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

# The installed program needs nothing of the build folder.
"$prefix/bin/bloomery" --version | grep -q '^bloomery [0-9]' || fail "bloomery --version"
# And it finds the installed module, which servers load only where it is executable.
"$prefix/bin/bloomery" serve --dry-run --server /bin/true |
    grep -q -- "--loadmodule $libdir/bloomery/bloomery.so\$" || fail "bloomery serve: no module"
echo "consumer: all built and ran"
