# Makes the target tenon_torch if PyTorch is found: the benchmarks compare with it. A CPU build of PyTorch is enough.
set(TENON_TORCH_PYTHON "$ENV{TENON_TORCH_PYTHON}" CACHE FILEPATH "The Python whose torch the benchmarks compare with; default: .venv, else python3")
set(TENON_TORCH_DIR "" CACHE PATH "The folder of that torch (include/, lib/); default: asked of TENON_TORCH_PYTHON; OFF: none")

# The folder of the package that `import torch` would load.
function(tenon_torch_of_python python result)
  execute_process(COMMAND ${python} -c "import importlib.util, os; print(os.path.dirname(importlib.util.find_spec('torch').origin))"
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(found "")
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

set(tenon_torch_dir "${TENON_TORCH_DIR}")
if(tenon_torch_dir STREQUAL "")
  foreach(python IN ITEMS "${TENON_TORCH_PYTHON}" "${PROJECT_SOURCE_DIR}/.venv/bin/python" python3)
    if(NOT tenon_torch_dir AND python)
      tenon_torch_of_python("${python}" tenon_torch_dir)
    endif()
  endforeach()
endif()

if(tenon_torch_dir AND EXISTS "${tenon_torch_dir}/include/ATen/ATen.h")
  message(STATUS "Benchmarks compare with ${tenon_torch_dir}")
  # PyTorch is built with one of two versions of std::string; the library's symbols tell which.
  file(STRINGS "${tenon_torch_dir}/lib/libc10.so" cxx11 REGEX "__cxx11" LIMIT_COUNT 1)
  add_library(tenon_torch INTERFACE)
  target_include_directories(tenon_torch SYSTEM INTERFACE "${tenon_torch_dir}/include")
  target_compile_definitions(tenon_torch INTERFACE _GLIBCXX_USE_CXX11_ABI=$<BOOL:${cxx11}>)
  target_link_libraries(tenon_torch INTERFACE "${tenon_torch_dir}/lib/libtorch_cpu.so" "${tenon_torch_dir}/lib/libc10.so")
  target_link_options(tenon_torch INTERFACE "-Wl,-rpath,${tenon_torch_dir}/lib")
else()
  message(STATUS "Benchmarks measure Tenon alone: no PyTorch found (TENON_TORCH_PYTHON, TENON_TORCH_DIR)")
endif()
