# `./dev check systems`: builds and tests Tenon for other systems than this one. The script dev reads this file. Each
# system has its own folder under build/, with what its toolchain file (cmake/toolchains) looks for in sysroot.

WINDOWS_PACKAGES=(g++-mingw-w64-x86-64-posix libz-mingw-w64-dev wine wine64 dpkg-dev)
WINDOWS_HEADERS=(libhwy-dev googletest nlohmann-json3-dev libcli11-dev libeigen3-dev)
AARCH64_PACKAGES=(g++-aarch64-linux-gnu qemu-user)
AARCH64_LIBRARIES=(libhwy-dev libgtest-dev nlohmann-json3-dev libeigen3-dev)

check_systems() {
  local system failed=()
  [ $# -gt 0 ] || set -- windows aarch64
  for system in "$@"; do
    case "$system" in
      windows | aarch64) ;;
      *) echo "no such system: $system; there are windows and aarch64" >&2; return 2 ;;
    esac
    echo "== $system"
    "check_$system" || failed+=("$system")
  done
  [ ${#failed[@]} -eq 0 ] || { echo "failed: ${failed[*]}"; return 1; }
}

# Unpacks Debian's packages into build/SYSTEM/sysroot, without installing them.
unpack() { # system, options of apt-get in the array apt, packages
  local home="$PWD/build/$1" package
  shift
  [ ! -d "$home/sysroot" ] || return 0
  mkdir -p "$home/lists/partial" "$home/packages"
  rm -rf "$home/unpacked"
  if [ ${#apt[@]} -gt 0 ]; then apt-get -qq "${apt[@]}" "-oDir::State::Lists=$home/lists" -oDebug::NoLocking=1 update; fi
  (cd "$home/packages" && apt-get -qq "${apt[@]}" ${apt[@]:+"-oDir::State::Lists=$home/lists"} -oDebug::NoLocking=1 download "$@")
  for package in "$home"/packages/*.deb; do dpkg -x "$package" "$home/unpacked"; done
  mv "$home/unpacked" "$home/sysroot"
}

# Debian has no libpng for Windows: this compiles its source package.
windows_png() {
  local home="$PWD/build/windows" apt
  [ ! -e "$home/sysroot/usr/lib/libpng16.a" ] || return 0
  mkdir -p "$home/png/lists/partial"
  apt-get indextargets --format 'deb-src $(REPO_URI) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' >"$home/png/sources.list"
  apt=("-oDir::State::Lists=$home/png/lists" "-oDir::Etc::SourceList=$home/png/sources.list" -oDir::Etc::SourceParts=- -oDebug::NoLocking=1)
  apt-get -qq "${apt[@]}" update
  (cd "$home/png" && apt-get -qq "${apt[@]}" source libpng1.6 >source.log)
  cmake -G Ninja -S "$home"/png/libpng1.6-*/ -B "$home/png/build" -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/toolchains/mingw-w64.cmake" -DPNG_SHARED=OFF -DPNG_TESTS=OFF -DCMAKE_INSTALL_PREFIX=/usr >"$home/png/build.log"
  DESTDIR="$home/sysroot" cmake --build "$home/png/build" --target install >>"$home/png/build.log"
}

check_windows() {
  local apt=()
  setup "${WINDOWS_PACKAGES[@]}"
  unpack windows "${WINDOWS_HEADERS[@]}"
  windows_png
  build windows
  ctest --preset windows -j "$(nproc)" --no-label-summary
}

check_aarch64() {
  local apt=(-oAPT::Architecture=arm64 -oAPT::Architectures=arm64)
  setup "${AARCH64_PACKAGES[@]}"
  unpack aarch64 "${AARCH64_LIBRARIES[@]}"
  build aarch64 tenon_tiny_tests tenon_room_tests tenon_consumer
  qemu-aarch64 -L /usr/aarch64-linux-gnu build/aarch64/tenon_consumer
  ctest --preset aarch64 -j "$(nproc)" --no-label-summary
}
