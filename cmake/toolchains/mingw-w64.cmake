# Cross-compiles for Windows on Debian, with MinGW-w64's GCC; tests run under Wine. `./dev check systems windows` unpacks
# Debian's packages of headers, and the sources of the test framework, into build/windows/sysroot.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
# With the threads of POSIX: std::thread needs them in GCC 12.
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

# Programs use the compiler's DLLs, because exceptions pass between a program and the library.
get_filename_component(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/../../tools/wine.sh ABSOLUTE)
get_filename_component(packages ${CMAKE_CURRENT_LIST_DIR}/../../build/windows/sysroot ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH ${packages} /usr/x86_64-w64-mingw32)
set(CMAKE_PREFIX_PATH /usr)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${packages}/usr/lib/x86_64-linux-gnu/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${packages})
set(ENV{PKG_CONFIG_ALLOW_SYSTEM_CFLAGS} 1)
