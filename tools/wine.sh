#!/bin/sh
# Runs a program of build/windows under Wine: tools/wine.sh PROGRAM [ARGUMENT...]. Wine finds the DLLs of the library and of
# the compiler, and has a home of its own, where it needs neither a screen nor sound.
build=$(cd "$(dirname "$0")/.." && pwd)/build/windows
runtime=$(dirname "$(x86_64-w64-mingw32-g++-posix -print-file-name=libstdc++-6.dll)")
export WINEDEBUG=-all WINEPREFIX="${WINEPREFIX:-$build/wine}" WINEPATH="$build;$runtime;/usr/x86_64-w64-mingw32/lib"
exec wine "$@"
