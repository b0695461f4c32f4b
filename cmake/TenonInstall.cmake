# Installs the library and its headers, for find_package(Tenon) and for pkg-config.
include(CMakePackageConfigHelpers)

install(TARGETS tenon EXPORT TenonTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TENON_BUILD_EXTENSION)
  install(TARGETS tenon_extension LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/tenon ${TENON_GENERATED}/include/tenon DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT TenonTargets NAMESPACE Tenon:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)

configure_package_config_file(cmake/TenonConfig.cmake.in ${PROJECT_BINARY_DIR}/TenonConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TenonConfigVersion.cmake COMPATIBILITY SameMinorVersion)
if(NOT BUILD_SHARED_LIBS)
  set(TENON_PC_THREADS " -pthread")
endif()
configure_file(cmake/tenon.pc.in ${PROJECT_BINARY_DIR}/tenon.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/TenonConfig.cmake ${PROJECT_BINARY_DIR}/TenonConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)
install(FILES ${PROJECT_BINARY_DIR}/tenon.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
