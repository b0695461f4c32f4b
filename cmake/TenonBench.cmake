# Benchmarks: bench/*.cpp, one executable, run by ./dev bench. If PyTorch is found, the same cases are also timed in it.
find_package(benchmark REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwy REQUIRED IMPORTED_TARGET libhwy)
include(TenonTorch)

file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.cpp)
add_executable(tenon_bench ${bench_sources})
target_link_libraries(tenon_bench PRIVATE tenon benchmark::benchmark nlohmann_json::nlohmann_json PkgConfig::hwy tenon_strict)
set_source_files_properties(bench/chain_by_hand.cpp PROPERTIES COMPILE_OPTIONS "-O3;-march=native;-ffp-contract=off")
if(TARGET tenon_torch)
  target_link_libraries(tenon_bench PRIVATE tenon_torch)
  target_compile_definitions(tenon_bench PRIVATE TENON_BENCH_TORCH)
endif()

# Random cases. With the library's hidden symbols: the report says what the engine did.
file(GLOB sweep_sources CONFIGURE_DEPENDS bench/sweep/*.cpp)
add_executable(tenon_sweep ${sweep_sources} bench/measure.cpp)
target_link_libraries(tenon_sweep PRIVATE tenon_core benchmark::benchmark nlohmann_json::nlohmann_json PkgConfig::hwy tenon_strict)
file(GLOB loop_sources CONFIGURE_DEPENDS bench/sweep/plain_loops.cpp bench/sweep/nested_*.cpp)
set_source_files_properties(${loop_sources} PROPERTIES COMPILE_OPTIONS "-O3;-march=native")
if(TARGET tenon_torch)
  target_link_libraries(tenon_sweep PRIVATE tenon_torch)
  target_compile_definitions(tenon_sweep PRIVATE TENON_BENCH_TORCH)
endif()

# Measures what plain loops reach on this machine: an upper limit for the benchmarks.
add_executable(tenon_limits bench/limits/limits.cpp)
target_compile_options(tenon_limits PRIVATE -O3 -march=native)
target_link_libraries(tenon_limits PRIVATE PkgConfig::hwy tenon_strict)
