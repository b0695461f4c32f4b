# Benchmarks: bench/*.cpp, one executable, run by ./dev bench.
find_package(benchmark REQUIRED)
file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.cpp)
if(bench_sources)
  add_executable(tenon_bench ${bench_sources})
  target_link_libraries(tenon_bench PRIVATE tenon benchmark::benchmark_main tenon_flags)
endif()
