# tenon_flags: options for all files of the project. tenon_strict: more warnings, for all files but tests, where casts of
# small numbers would only distract.
add_library(tenon_flags INTERFACE)
add_library(tenon_strict INTERFACE)
target_link_libraries(tenon_strict INTERFACE tenon_flags)
if(MSVC)
  # Not tried (docs/systems.md).
  target_compile_options(tenon_flags INTERFACE /W4 /permissive- /Zc:__cplusplus /utf-8 /bigobj /fp:precise)
else()
  # In Clang, -Wconversion includes -Wsign-conversion; in GCC it does not. This makes both equal.
  target_compile_options(tenon_strict INTERFACE -Wconversion -Wno-sign-conversion)

  target_compile_options(tenon_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
    # No fused multiply-add for a*b+c: it rounds once, and PyTorch's results are rounded twice.
    -ffp-contract=off
    -ffunction-sections -fdata-sections
    # The library's functions are not replaced from outside, so they may call each other directly.
    -fno-semantic-interposition
    # Except for kernels, -O3 only makes code larger.
    $<$<CONFIG:Release>:-O2>
    # Without a build type: in another project that chose none.
    $<$<STREQUAL:$<CONFIG>,>:-O2>
    # Lists of a few dims are copied by a loop: a call of memcpy would cost more.
    $<$<CXX_COMPILER_ID:GNU>:-fno-tree-loop-distribute-patterns>
    # GCC 12 warns of overlapping copies inside its own std::string operator+ (GCC bug 105651).
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  # Structs are cleared and copied by plain stores: "rep stos", GCC's default, takes 30 cycles to start.
  target_compile_options(tenon_flags INTERFACE -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign
                                               -mmemcpy-strategy=vector_loop:512:noalign,libcall:-1:noalign)
endif()
if(TENON_WARNINGS_AS_ERRORS)
  target_compile_options(tenon_flags INTERFACE $<IF:$<BOOL:${MSVC}>,/WX,-Werror>)
endif()
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  target_link_options(tenon_flags INTERFACE -Wl,--gc-sections -Wl,-Bsymbolic-functions)
endif()
if(MINGW)
  # Kernels have more sections than an object file of the old kind may.
  target_compile_options(tenon_flags INTERFACE -Wa,-mbig-obj)
  if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    # GCC keeps vectors of 32 and 64 bytes on a stack that Windows aligns to 16, and reads them by instructions that need
    # more (GCC bug 54412). The assembler writes those that do not.
    target_compile_options(tenon_flags INTERFACE -Wa,-muse-unaligned-vector-move)
  endif()
endif()

set(disabled_targets ${TENON_DISABLED_TARGETS})
if(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  # Kernels have arrays of vectors, which SVE does not allow: NEON is used instead.
  string(JOIN "|" disabled_targets ${disabled_targets} HWY_SVE HWY_SVE2 HWY_SVE_256 HWY_SVE2_128)
  # Highway compiles NEON for processors with cryptographic instructions, of which kernels use none. Constructors that
  # the compiler adds to classes with vectors must be compiled for the same processors.
  target_compile_options(tenon_flags INTERFACE -march=armv8-a+crypto)
endif()
if(disabled_targets)
  target_compile_definitions(tenon_flags INTERFACE "HWY_DISABLED_TARGETS=(${disabled_targets})")
endif()
if(TENON_BASELINE_TARGETS AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  # The kernels that run on any processor are left out.
  target_compile_definitions(tenon_flags INTERFACE "HWY_BASELINE_TARGETS=(${TENON_BASELINE_TARGETS})")
endif()
# With sanitizers, Highway's headers turn on assertions that call its library, which is not linked.
target_compile_definitions(tenon_flags INTERFACE HWY_IS_DEBUG_BUILD=0)

# Sanitizers and coverage apply to every object file, also to that of the test framework's main.
if(TENON_SANITIZE)
  add_compile_options(-fsanitize=${TENON_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TENON_SANITIZE})
  # Sanitizers do not detect an index outside a std::vector's elements but inside its capacity. TENON_SANITIZED: for tests.
  add_compile_definitions(_GLIBCXX_ASSERTIONS TENON_SANITIZED)
  # DLPack's deleters are called across libraries, each of which declares the struct that they take for itself.
  set_property(SOURCE src/dispatch/dlpack.cpp tests/capi_test.cpp APPEND PROPERTY COMPILE_OPTIONS
               $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
else()
  # A sanitizer's runtime is linked into the executable only; without one, the library may have no undefined symbols.
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(tenon_flags INTERFACE $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>:-Wl,--no-undefined>)
  endif()
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
  # ccache treats paths below CCACHE_BASEDIR as relative, so that builds in several folders share object files.
  # Nor do the folders in debug information keep them apart.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE_PROGRAM})
endif()

# Kernels: no errno, no floating-point traps, so that loops can be vectorised; never -ffast-math, which changes results.
function(tenon_kernel_flags)
  if(MSVC)
    return()
  endif()
  set(unchecked)
  if(TENON_SANITIZE MATCHES "address.*undefined")
    set(unchecked -fno-sanitize=null,object-size,pointer-overflow)
  endif()
  foreach(file IN LISTS ARGN)
    if(file MATCHES "/special_fused.cpp$")
      # Special functions for processors with fused multiply-add, which PyTorch's compilers use in them.
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS -ffp-contract=fast)
      if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|i.86")
        set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS -mfma)
      endif()
    endif()
    if(file MATCHES "/src/kernel/")
      # Unoptimised vector code is a hundred times slower: a debug build optimises it, too.
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS
        -fno-math-errno -fno-trapping-math
        # Nothing throws in a kernel or through it: tables for unwinding would be a twentieth of the library. Sanitizers and
        # debuggers of debug builds have them.
        $<$<NOT:$<OR:$<CONFIG:Debug>,$<BOOL:${TENON_SANITIZE}>>>:-fno-exceptions>
        $<$<NOT:$<OR:$<CONFIG:Debug>,$<BOOL:${TENON_SANITIZE}>>>:-fno-asynchronous-unwind-tables>
        # A short loop across two blocks that the processor fetches may be a quarter slower, and any change moves it.
        -falign-loops=32
        # These make several copies of a loop where one is as fast: the library is 280 KB smaller without. Bench: ./dev bench
        # --sweep, every family.
        $<$<CXX_COMPILER_ID:GNU>:-fno-unswitch-loops> $<$<CXX_COMPILER_ID:GNU>:-fno-loop-unroll-and-jam>
        # Clang warns of each loop that it was asked to vectorise and could not, once per dtype.
        $<$<CXX_COMPILER_ID:Clang>:-Wno-pass-failed> $<$<CONFIG:Debug>:-O2> $<$<CONFIG:Release>:-O3> $<$<STREQUAL:$<CONFIG>,>:-O3>
        # A header may have no function for the only instruction set of a build (TENON_BASELINE_TARGETS).
        $<$<CXX_COMPILER_ID:Clang>:-Wno-pragma-clang-attribute>
        # At -O2, GCC 12 warns that a loop over the rest of a block passes the end of memory; its bound prevents that.
        $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Debug>>:-Wno-aggressive-loop-optimizations>
        # Sanitizers check kernels, but libFuzzer does not count their branches: they have more than all other code, and
        # libFuzzer reads every counter after each case.
        $<$<BOOL:${TENON_BUILD_FUZZ}>:-fno-sanitize=fuzzer-no-link>
        # AddressSanitizer finds the accesses that these checks are for; they double the time to compile kernels.
        ${unchecked}
        # Lines of kernels are not counted: they are compiled once per instruction set, and a machine runs only one.
        $<$<BOOL:${TENON_COVERAGE}>:-fno-profile-arcs> $<$<BOOL:${TENON_COVERAGE}>:-fno-test-coverage>)
      if(file MATCHES "/src/kernel/product.cpp$")
        # Two copies of each loop of a tile, where one is as fast.
        set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS
          $<$<CXX_COMPILER_ID:GNU>:-fno-version-loops-for-strides>)
      endif()
      if(file MATCHES "/normalize.cpp$")
        # Its loops are written with vectors: -O3 only makes them a fifth larger.
        set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS $<$<NOT:$<CONFIG:Debug>>:-O2>)
      endif()
    endif()
  endforeach()
endfunction()
