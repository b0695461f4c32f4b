# Debian packages, by `cpack -G DEB` (./dev deb): libtenon0.1 to run, libtenon-dev to compile, tenon for the shell.
set(so_version ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(names libtenon${so_version} libtenon-dev tenon)
set(CPACK_COMPONENTS_ALL library development tool)

set(CPACK_PACKAGE_NAME tenon)
set(CPACK_PACKAGE_VENDOR "The developers of Tenon")
if(NOT CPACK_PACKAGE_CONTACT)  # Debian wants an address: -DCPACK_PACKAGE_CONTACT="Name <address>"
  set(CPACK_PACKAGE_CONTACT "The developers of Tenon <tenon@localhost.localdomain>")
endif()
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "small tensor library with PyTorch's exact broadcasting")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SECTION math)

set(about "Shapes, results, dtypes, strides, in-place rules, warnings and error texts of\nbroadcasting are those of PyTorch.")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "${about}\n\nThis package has the shared library.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libtenon${so_version})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "${about}\n\nThis package has the headers and what CMake and pkg-config read.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtenon-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libtenon${so_version} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS libeigen3-dev)

set(CPACK_COMPONENT_TOOL_DESCRIPTION "${about}\n\nThis package has the command line.")
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME tenon)
set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOL_PACKAGE_RECOMMENDS libtenon${so_version})  # its libtenon_extension.so

# Each package has a copyright file and a changelog. `cmake --install` of everything leaves them out.
file(READ ${PROJECT_SOURCE_DIR}/NOTICE TENON_NOTICE)
string(REGEX REPLACE "\n\n+" "\n.\n" TENON_NOTICE "${TENON_NOTICE}")  # as a field of a file for Debian
string(REPLACE "\n" "\n " TENON_NOTICE "${TENON_NOTICE}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/copyright.in ${PROJECT_BINARY_DIR}/copyright @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/cmake/changelog.in ${PROJECT_BINARY_DIR}/changelog.Debian @ONLY)
find_program(GZIP_PROGRAM gzip)
if(GZIP_PROGRAM)
  execute_process(COMMAND ${GZIP_PROGRAM} -9nf ${PROJECT_BINARY_DIR}/changelog.Debian COMMAND_ERROR_IS_FATAL ANY)
endif()
foreach(component name IN ZIP_LISTS CPACK_COMPONENTS_ALL names)
  install(FILES ${PROJECT_BINARY_DIR}/copyright ${PROJECT_BINARY_DIR}/changelog.Debian.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL OPTIONAL)
endforeach()

set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/compress_manual.cmake)
include(CPack)
