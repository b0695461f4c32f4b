# tenon_flags: options for all files of the project. tenon_strict: for all but tests, in which casts of small numbers
# would only be noise.
add_library(tenon_flags INTERFACE)
add_library(tenon_strict INTERFACE)
target_link_libraries(tenon_strict INTERFACE tenon_flags)
# For Clang -Wconversion includes changes of sign, for GCC not. This makes both equal.
target_compile_options(tenon_strict INTERFACE -Wconversion -Wno-sign-conversion)

target_compile_options(tenon_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  # The compiler may not merge a*b+c into one rounding: PyTorch's results are those of two.
  -ffp-contract=off
  -ffunction-sections -fdata-sections
  # The library's functions are not replaced from outside, so they may call each other directly.
  -fno-semantic-interposition
  # Except for kernels, -O3 only makes code larger.
  $<$<CONFIG:Release>:-O2>
  # As a part of a project that chose no build type.
  $<$<STREQUAL:$<CONFIG>,>:-O2>
  # Lists of a few dims are copied by a loop: a call of memcpy would cost more.
  $<$<CXX_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns>
  # GCC 12 sees overlapping copies inside its own std::string operator+ (GCC bug 105651).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  # Structs are cleared and copied by stores: "rep stos", GCC's choice, takes 30 cycles to begin.
  target_compile_options(tenon_flags INTERFACE -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign
                                               -mmemcpy-strategy=vector_loop:512:noalign,libcall:-1:noalign)
endif()
if(TENON_WARNINGS_AS_ERRORS)
  target_compile_options(tenon_flags INTERFACE -Werror)
endif()
target_link_options(tenon_flags INTERFACE -Wl,--gc-sections -Wl,-Bsymbolic-functions)

set(disabled_targets ${TENON_DISABLED_TARGETS})
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  # Kernels have arrays of vectors, which SVE does not allow: NEON is used instead.
  string(JOIN "|" disabled_targets ${disabled_targets} HWY_SVE HWY_SVE2 HWY_SVE_256 HWY_SVE2_128)
endif()
if(disabled_targets)
  target_compile_definitions(tenon_flags INTERFACE "HWY_DISABLED_TARGETS=(${disabled_targets})")
endif()

# Sanitizers and coverage must reach every object, those of the test framework's main included.
if(TENON_SANITIZE)
  add_compile_options(-fsanitize=${TENON_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TENON_SANITIZE})
  # Sanitizers do not detect an index outside a std::vector's elements but inside its capacity.
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
else()
  # A sanitizer's runtime is found by the executable, not by the library.
  target_link_options(tenon_flags INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>:-Wl,--no-undefined>)
endif()
if(TENON_BUILD_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(TENON_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

find_program(CCACHE_PROGRAM ccache)
if(PROJECT_IS_TOP_LEVEL AND CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the base are hashed as relative ones: the library, the static one and the wheel share their objects.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${CCACHE_PROGRAM})
endif()

# Kernels: no errno, no floating-point traps, so that loops become vectors; never -ffast-math, which changes results.
function(tenon_kernel_flags)
  foreach(file IN LISTS ARGN)
    if(file MATCHES "/src/kernel/")
      # Unoptimised vector code is a hundred times slower: a debug build optimises it, too.
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS
        -fno-math-errno -fno-trapping-math
        # Clang reports each loop it was asked to turn into vectors and could not, once per dtype.
        $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed> $<$<CONFIG:Debug>:-O2> $<$<CONFIG:Release>:-O3> $<$<STREQUAL:$<CONFIG>,>:-O3>
        # At -O2, GCC 12 sees a loop over the rest of a block run past the end of memory, which its bound forbids.
        $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Debug>>:-Wno-aggressive-loop-optimizations>
        # Kernels are checked but not counted: they have more branches than all the rest, and libFuzzer reads every
        # counter after each case.
        $<$<BOOL:${TENON_BUILD_FUZZ}>:-fno-sanitize=fuzzer-no-link>
        # Their lines are compiled once per instruction set, most of which this machine doesn't run: no lines are counted.
        $<$<BOOL:${TENON_COVERAGE}>:-fno-profile-arcs> $<$<BOOL:${TENON_COVERAGE}>:-fno-test-coverage>)
    endif()
  endforeach()
endfunction()
