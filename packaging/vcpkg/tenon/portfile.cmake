# An overlay port, which builds the checkout that it lies in. A port of vcpkg's own registry would take a release instead:
# vcpkg_from_github(OUT_SOURCE_PATH SOURCE_PATH REPO ... REF "v${VERSION}" SHA512 ...).
get_filename_component(SOURCE_PATH "${CURRENT_PORT_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS options FEATURES extension TENON_BUILD_EXTENSION)
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_find_acquire_program(PYTHON3)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${options}
    -DTENON_BUILD_TESTS=OFF
    -DTENON_BUILD_CLI=OFF
    -DTENON_BUILD_EXAMPLES=OFF
    -DTENON_WARNINGS_AS_ERRORS=OFF
    "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}"
    "-DPython3_EXECUTABLE=${PYTHON3}"
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME Tenon CONFIG_PATH lib/cmake/Tenon)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/NOTICE")
