# Tests. A room's tests are beside its code and may use hidden symbols; those in tests/ use what the shared library
# exports.
find_package(GTest)
if(NOT GTest_FOUND)
  # Compiled for this system from the sources that Debian's package googletest has.
  find_path(googletest googletest/src/gtest-all.cc PATHS /usr/src/googletest REQUIRED)
  set(shared ${BUILD_SHARED_LIBS})
  set(BUILD_SHARED_LIBS OFF)
  add_subdirectory(${googletest} ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
  set(BUILD_SHARED_LIBS ${shared})
endif()
include(GoogleTest)

# Keeps the files whose tests name threads, or results so large that threads share them.
function(tenon_keep_threaded variable)
  set(kept "")
  foreach(file IN LISTS ${variable})
    file(STRINGS ${file} named LIMIT_COUNT 1 REGEX "[Tt]hread|Large|Beyond|Far[A-Z]|PastTheCaches|streaming_threshold")
    if(named)
      list(APPEND kept ${file})
    endif()
  endforeach()
  set(${variable} ${kept} PARENT_SCOPE)
endfunction()

# One executable from the given files; each TEST is a test of ctest.
function(tenon_test name label)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;LINK")
  if(TENON_SANITIZE STREQUAL "thread")
    tenon_keep_threaded(arg_SOURCES)
  endif()
  if(NOT arg_SOURCES)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest_main tenon_flags)
  if(TENON_SANITIZE)
    # Half the time to compile. Those of the engine, whose own loops are long, stay optimised.
    set(quick ${arg_SOURCES})
    list(FILTER quick EXCLUDE REGEX "/src/(kernel|plan|tile)/")
    set_property(SOURCE ${quick} APPEND PROPERTY COMPILE_OPTIONS -O0)
  endif()
  set(cost 1)
  if(label STREQUAL "tiny")
    set(cost 1000)  # ctest starts tests of high cost first
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTIES LABELS ${label} COST ${cost} TIMEOUT 600)
endfunction()

file(GLOB tiny_tests CONFIGURE_DEPENDS tests/tiny/*_test.cpp)
tenon_test(tenon_tiny_tests tiny SOURCES ${tiny_tests} LINK tenon)

file(GLOB room_tests CONFIGURE_DEPENDS src/base/*_test.cpp src/shape/*_test.cpp src/type/*_test.cpp src/tensor/*_test.cpp
  src/ops/*_test.cpp src/plan/*_test.cpp src/kernel/*_test.cpp src/tile/*_test.cpp src/dispatch/*_test.cpp src/autograd/*_test.cpp src/fuse/*_test.cpp)
tenon_test(tenon_room_tests rooms SOURCES ${room_tests} LINK tenon_core)
if(TARGET tenon_room_tests)
  target_include_directories(tenon_room_tests PRIVATE tests)  # error_text.h, spec.h
  target_compile_definitions(tenon_room_tests PRIVATE TENON_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()
if(NOT TENON_SANITIZE AND NOT TENON_COVERAGE AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  # The same tests with other instruction sets than this machine's best, and as on a machine with a small cache: results
  # of a few MB are then beyond the caches.
  foreach(isa AVX2 baseline)
    add_test(NAME rooms.${isa} COMMAND tenon_room_tests --gtest_brief=1 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(rooms.${isa} PROPERTIES LABELS rooms TIMEOUT 600 ENVIRONMENT "TENON_ISA=${isa};TENON_CACHE_BYTES=4194304")
  endforeach()
endif()

if(TARGET tenon_io)
  file(GLOB outer_tests CONFIGURE_DEPENDS src/io/*_test.cpp src/expr/*_test.cpp src/cli/*_test.cpp)
  if(WIN32)
    list(FILTER outer_tests EXCLUDE REGEX "/output_test")  # file modes, pipes and links
  endif()
  tenon_test(tenon_outer_tests outer SOURCES ${outer_tests} LINK tenon_io nlohmann_json::nlohmann_json)
  if(TARGET tenon_outer_tests)
    target_include_directories(tenon_outer_tests PRIVATE tests)  # environment.h
  endif()
endif()

find_package(nlohmann_json REQUIRED)
file(GLOB whole_tests CONFIGURE_DEPENDS tests/*_test.cpp)
if(WIN32)
  list(FILTER whole_tests EXCLUDE REGEX "/fork_test|/memory_test")  # no fork; a program can't replace a DLL's allocator
endif()
find_package(Eigen3 3.4 REQUIRED NO_MODULE)  # headers; tenon/eigen.h includes them
tenon_test(tenon_tests whole SOURCES ${whole_tests} LINK tenon nlohmann_json::nlohmann_json Eigen3::Eigen)
if(TARGET tenon_tests)
  target_compile_definitions(tenon_tests PRIVATE TENON_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()

# Makes every allocation fail in turn. Replaces the allocator, so it does not work with sanitizers, and forks.
if(NOT TENON_SANITIZE AND NOT WIN32)
  file(GLOB fault_sources CONFIGURE_DEPENDS tests/faults/*.cpp)
  add_executable(tenon_faults ${fault_sources})
  target_include_directories(tenon_faults PRIVATE tests)
  target_link_libraries(tenon_faults PRIVATE tenon tenon_flags ${CMAKE_DL_LIBS})
  # "big/" is the part that runs with threads.
  add_test(NAME faults COMMAND tenon_faults --quick --without "big/")
  add_test(NAME faults.threads COMMAND tenon_faults --quick --filter "big/" --threads 3)
  set_tests_properties(faults faults.threads PROPERTIES LABELS whole TIMEOUT 1200 PROCESSORS 2)
endif()

# A user's program, compiled with the library's flags, and also with the checked containers of libstdc++.
foreach(name consumer consumer_checked)
  add_executable(tenon_${name} tests/consumer/consumer.cpp)
  target_link_libraries(tenon_${name} PRIVATE tenon tenon_flags)
  add_test(NAME ${name} COMMAND tenon_${name})
  set_tests_properties(${name} PROPERTIES LABELS whole)
endforeach()
target_compile_definitions(tenon_consumer_checked PRIVATE _GLIBCXX_DEBUG _GLIBCXX_DEBUG_PEDANTIC)

# The C header alone, by the strictest rules of its language, and as C++.
add_executable(tenon_c_header tests/consumer/c_header.c)
set_target_properties(tenon_c_header PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
if(TENON_SANITIZE)
  set_target_properties(tenon_c_header PROPERTIES LINKER_LANGUAGE CXX)  # for the sanitizers' run-time library of C++
endif()
target_compile_options(tenon_c_header PRIVATE -pedantic -Wall -Wextra -Wconversion -Wstrict-prototypes -Werror)
target_link_libraries(tenon_c_header PRIVATE tenon)
add_test(NAME c_header COMMAND tenon_c_header)
set_tests_properties(c_header PROPERTIES LABELS whole)

# A plug-in that is unloaded while the library's threads run.
if(NOT WIN32)
  add_library(tenon_plugin MODULE tests/unload/plugin.cpp)
  target_link_libraries(tenon_plugin PRIVATE tenon tenon_flags)
  add_executable(tenon_unload tests/unload/unload.cpp)
  target_link_libraries(tenon_unload PRIVATE Threads::Threads ${CMAKE_DL_LIBS} tenon_flags)
  add_test(NAME unload COMMAND tenon_unload $<TARGET_FILE:tenon_plugin>)
  set_tests_properties(unload PROPERTIES LABELS whole TIMEOUT 300)
endif()

# Tenon's side of the comparison with a live PyTorch: reads requests, writes answers.
add_executable(tenon-oracle EXCLUDE_FROM_ALL tests/oracle/oracle.cpp tests/oracle/graph.cpp)
target_include_directories(tenon-oracle PRIVATE ${TENON_GENERATED}/src)
target_link_libraries(tenon-oracle PRIVATE tenon nlohmann_json::nlohmann_json tenon_flags)

# Tests written in Python.
find_package(Python3 3.9 COMPONENTS Interpreter REQUIRED)
function(tenon_check name)
  add_test(NAME check.${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(check.${name} PROPERTIES LABELS check TIMEOUT 300)
endfunction()
tenon_check(rooms ${Python3_EXECUTABLE} tools/check_rooms.py ${PROJECT_BINARY_DIR})
tenon_check(rooms_self_test ${Python3_EXECUTABLE} tools/check_rooms.py --self-test ${CMAKE_CXX_COMPILER})
tenon_check(sizes ${Python3_EXECUTABLE} tools/check_sizes.py)
tenon_check(sizes_self_test ${Python3_EXECUTABLE} tools/check_sizes.py --self-test)
tenon_check(wheels_self_test ${Python3_EXECUTABLE} tools/check_wheels.py --self-test)
tenon_check(docs ${Python3_EXECUTABLE} tools/check_docs.py)
tenon_check(docs_self_test ${Python3_EXECUTABLE} tools/check_docs.py --self-test)
tenon_check(api ${Python3_EXECUTABLE} tools/api.py)
tenon_check(api_self_test ${Python3_EXECUTABLE} tools/api.py --self-test)
tenon_check(package ${Python3_EXECUTABLE} tests/package_test.py)
if(NOT TENON_SANITIZE AND NOT TENON_COVERAGE)
  if(TARGET tenon_cli AND NOT WIN32)
    # Not under a sanitizer: the test limits memory, and a sanitizer needs terabytes of addresses.
    add_library(tenon_short_io MODULE tests/io/short_io.cpp)  # preloaded by the test
    target_link_libraries(tenon_short_io PRIVATE ${CMAKE_DL_LIBS} tenon_flags)
    add_test(NAME cli COMMAND ${Python3_EXECUTABLE} tests/cli_test.py $<TARGET_FILE:tenon_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(cli PROPERTIES LABELS outer TIMEOUT 300 ENVIRONMENT TENON_SHORT_IO=$<TARGET_FILE:tenon_short_io>)
  endif()
  if(TARGET tenon_cli)
    tenon_check(documents ${Python3_EXECUTABLE} tests/docs_test.py ${PROJECT_BINARY_DIR})
    set_tests_properties(check.documents PROPERTIES ENVIRONMENT "CXX=${CMAKE_CXX_COMPILER};CC=${CMAKE_C_COMPILER}")
  endif()
  tenon_check(documents_self_test ${Python3_EXECUTABLE} tests/docs_test.py --self-test)
  tenon_check(header ${Python3_EXECUTABLE} tools/check_header.py)
  tenon_check(header_self_test ${Python3_EXECUTABLE} tools/check_header.py --self-test)
  tenon_check(exports ${Python3_EXECUTABLE} tools/check_library.py $<TARGET_FILE:tenon>)
  tenon_check(exports_self_test ${Python3_EXECUTABLE} tools/check_library.py --self-test ${CMAKE_CXX_COMPILER})
endif()
