# Installs the library and its headers, for find_package(Tenon) and for pkg-config. What runs and what programs are compiled
# with are two components, because Debian packages them apart (TenonPackage.cmake).
include(CMakePackageConfigHelpers)

install(TARGETS tenon EXPORT TenonTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT library
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
if(TENON_BUILD_EXTENSION)
  install(TARGETS tenon_extension LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
endif()
install(DIRECTORY include/tenon ${TENON_GENERATED}/include/tenon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
set(config ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)
install(EXPORT TenonTargets NAMESPACE Tenon:: DESTINATION ${config} COMPONENT development)
configure_package_config_file(cmake/TenonConfig.cmake.in ${PROJECT_BINARY_DIR}/TenonConfig.cmake INSTALL_DESTINATION ${config})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TenonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TenonConfig.cmake ${PROJECT_BINARY_DIR}/TenonConfigVersion.cmake
  DESTINATION ${config} COMPONENT development)

# tenon.pc names its folders from its own place, so that an installed tree can be moved, as Debian's, vcpkg's and Conan's are.
set(TENON_PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
set(TENON_PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
set(TENON_PC_PREFIX ${CMAKE_INSTALL_PREFIX})
if(NOT IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" AND NOT IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(TENON_PC_PREFIX "\${pcfiledir}/${up}")
  set(TENON_PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
  set(TENON_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
# What the static library needs. Without a shared one, every program needs it.
list(TRANSFORM CMAKE_DL_LIBS PREPEND -l OUTPUT_VARIABLE dl)
string(JOIN " " needs -pthread ${dl})
if(BUILD_SHARED_LIBS)
  set(TENON_PC_PRIVATE "${needs} ")
else()
  set(TENON_PC_LIBS " ${needs}")
endif()
configure_file(cmake/tenon.pc.in ${PROJECT_BINARY_DIR}/tenon.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tenon.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

if(PROJECT_IS_TOP_LEVEL)
  include(TenonPackage)
endif()
