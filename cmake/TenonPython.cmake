# tenon._tenon: the extension module, which contains the library.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module OPTIONAL_COMPONENTS Development.SABIModule)
if(NOT nanobind_DIR)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_DIR)
endif()
find_package(nanobind CONFIG REQUIRED)
include(TenonNanobind)

tenon_sources(python_sources python)
nanobind_add_module(_tenon STABLE_ABI FREE_THREADED NB_STATIC NB_SUPPRESS_WARNINGS NOMINSIZE ${python_sources})
target_link_libraries(_tenon PRIVATE tenon_core tenon_strict)
if(NOT TENON_SANITIZE)
  # The module has its own libstdc++, and hides it: loading takes less time, and an older one on the user's machine will do.
  target_link_options(_tenon PRIVATE -static-libstdc++ -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/python.map)
  set_property(TARGET _tenon APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/python.map)
  if(TENON_BUILD_EXTENSION)
    target_link_options(tenon_extension PRIVATE -static-libstdc++ -Wl,--exclude-libs,ALL)
  endif()
endif()
install(TARGETS _tenon LIBRARY DESTINATION tenon COMPONENT python)
if(TENON_BUILD_EXTENSION)
  install(TARGETS tenon_extension LIBRARY DESTINATION tenon COMPONENT python)
endif()
install(DIRECTORY ${TENON_GENERATED}/src/python/tenon DESTINATION . COMPONENT python)

if(TENON_SANITIZE)
  return()  # an ordinary Python cannot load the module, so no stubs can be made from it
endif()

# Type stubs are made from the built module, so that they contain every op of the table.
set(stubs ${PROJECT_BINARY_DIR}/stubs/__init__.pyi ${PROJECT_BINARY_DIR}/stubs/return_types.pyi)
add_custom_command(TARGET _tenon POST_BUILD
  COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/make_stubs.py $<TARGET_FILE_DIR:_tenon>
          ${PROJECT_SOURCE_DIR}/src/python/stubs.pyi ${PROJECT_BINARY_DIR}/stubs
  BYPRODUCTS ${stubs} ${PROJECT_BINARY_DIR}/stubs/nn/functional.pyi)
set_property(TARGET _tenon APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/tools/make_stubs.py
                                               ${PROJECT_SOURCE_DIR}/src/python/stubs.pyi
                                               ${PROJECT_SOURCE_DIR}/src/python/tenon/nn/functional.py)
install(FILES ${stubs} DESTINATION tenon COMPONENT python)
install(FILES ${PROJECT_BINARY_DIR}/stubs/nn/functional.pyi DESTINATION tenon/nn COMPONENT python)
