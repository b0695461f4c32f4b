# Fuzz targets: tests/fuzz/NAME_fuzz.cpp becomes build/asan/fuzz_NAME. They may use hidden symbols.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "libFuzzer comes with Clang: cmake --preset asan")
endif()

# The command line without its main.
list(FILTER cli_sources EXCLUDE REGEX "/cli/main\\.cpp$")
add_library(tenon_fuzz_cli STATIC EXCLUDE_FROM_ALL ${cli_sources})
target_include_directories(tenon_fuzz_cli PRIVATE examples)
target_link_libraries(tenon_fuzz_cli PUBLIC tenon_io PRIVATE CLI11::CLI11 nlohmann_json::nlohmann_json tenon_strict)

add_custom_target(fuzz)
file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/*_fuzz.cpp)
foreach(source IN LISTS fuzz_sources)
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" name ${name})
  add_executable(fuzz_${name} EXCLUDE_FROM_ALL ${source})
  target_include_directories(fuzz_${name} PRIVATE tests)
  target_link_libraries(fuzz_${name} PRIVATE tenon_fuzz_cli CLI11::CLI11 nlohmann_json::nlohmann_json ZLIB::ZLIB tenon_flags)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzz fuzz_${name})
endforeach()
