# Tests. A room's own tests lie beside its code and see hidden symbols; tests/ makes claims about the whole, through
# what the shared library exports.
find_package(GTest REQUIRED)
include(GoogleTest)

# One executable of all given files; each TEST is one line of ctest.
function(tenon_test name label)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES;LINK")
  if(NOT arg_SOURCES)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gtest_main tenon_flags)
  set(cost 1)
  if(label STREQUAL "tiny")
    set(cost 1000)  # the dearest go first
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTIES LABELS ${label} COST ${cost} TIMEOUT 600)
endfunction()

file(GLOB tiny_tests CONFIGURE_DEPENDS tests/tiny/*_test.cpp)
tenon_test(tenon_tiny_tests tiny SOURCES ${tiny_tests} LINK tenon)

file(GLOB room_tests CONFIGURE_DEPENDS src/base/*_test.cpp src/shape/*_test.cpp src/type/*_test.cpp src/tensor/*_test.cpp
  src/ops/*_test.cpp src/plan/*_test.cpp src/kernel/*_test.cpp src/tile/*_test.cpp src/dispatch/*_test.cpp src/autograd/*_test.cpp)
tenon_test(tenon_room_tests rooms SOURCES ${room_tests} LINK tenon_core)
if(NOT TENON_SANITIZE AND NOT TENON_COVERAGE)
  # Instruction sets other than this machine's best.
  foreach(isa AVX2 baseline)
    add_test(NAME rooms.${isa} COMMAND tenon_room_tests --gtest_brief=1 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(rooms.${isa} PROPERTIES LABELS rooms TIMEOUT 600 ENVIRONMENT TENON_ISA=${isa})
  endforeach()
endif()

if(TARGET tenon_io)
  file(GLOB door_tests CONFIGURE_DEPENDS src/io/*_test.cpp src/expr/*_test.cpp src/cli/*_test.cpp)
  tenon_test(tenon_door_tests doors SOURCES ${door_tests} LINK tenon_io nlohmann_json::nlohmann_json)
endif()

find_package(nlohmann_json REQUIRED)
file(GLOB whole_tests CONFIGURE_DEPENDS tests/*_test.cpp)
tenon_test(tenon_tests whole SOURCES ${whole_tests} LINK tenon nlohmann_json::nlohmann_json)
if(TARGET tenon_tests)
  target_compile_definitions(tenon_tests PRIVATE TENON_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()

# The program that the comparison with a live PyTorch talks to.
add_executable(tenon-oracle EXCLUDE_FROM_ALL tests/oracle/oracle.cpp tests/oracle/graph.cpp)
target_link_libraries(tenon-oracle PRIVATE tenon nlohmann_json::nlohmann_json tenon_flags)

# Claims about files rather than calls.
find_package(Python3 3.9 COMPONENTS Interpreter REQUIRED)
function(tenon_check name)
  add_test(NAME check.${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(check.${name} PROPERTIES LABELS check TIMEOUT 300)
endfunction()
tenon_check(rooms ${Python3_EXECUTABLE} tools/check_rooms.py)
tenon_check(rooms_self_test ${Python3_EXECUTABLE} tools/check_rooms.py --self-test)
tenon_check(docs ${Python3_EXECUTABLE} tools/check_docs.py)
tenon_check(docs_self_test ${Python3_EXECUTABLE} tools/check_docs.py --self-test)
if(NOT TENON_SANITIZE AND NOT TENON_COVERAGE)
  if(TARGET tenon_cli)
    # Limits memory and looks at terminals: not under a sanitizer, which needs terabytes of addresses.
    add_test(NAME cli COMMAND ${Python3_EXECUTABLE} tests/cli_test.py $<TARGET_FILE:tenon_cli> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(cli PROPERTIES LABELS doors TIMEOUT 300)
  endif()
  tenon_check(header ${Python3_EXECUTABLE} tools/check_header.py)
  tenon_check(header_self_test ${Python3_EXECUTABLE} tools/check_header.py --self-test)
  tenon_check(exports ${Python3_EXECUTABLE} tools/check_library.py $<TARGET_FILE:tenon>)
  tenon_check(exports_self_test ${Python3_EXECUTABLE} tools/check_library.py --self-test ${CMAKE_CXX_COMPILER})
endif()
