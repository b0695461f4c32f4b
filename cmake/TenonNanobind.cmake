# nanobind does not check three results of Python's functions: a failed allocation, or a subclass whose name is not
# UTF-8, would end the process. Its sources are copied and the checks inserted. Sources of another version are used
# unchanged.
function(tenon_check_in_nanobind file unchecked checked)
  file(READ "${NB_DIR}/src/${file}" text)
  string(REPLACE "${unchecked}" "${checked}" text "${text}")
  set(copy "${PROJECT_BINARY_DIR}/nanobind/src/${file}")
  set(before "")
  if(EXISTS "${copy}")
    file(READ "${copy}" before)
  endif()
  if(NOT before STREQUAL text)  # else everything would be compiled again
    file(WRITE "${copy}" "${text}")
  endif()
endfunction()

file(COPY "${NB_DIR}/" DESTINATION "${PROJECT_BINARY_DIR}/nanobind"
     PATTERN "nb_func.cpp" EXCLUDE PATTERN "nb_type.cpp" EXCLUDE PATTERN "__pycache__" EXCLUDE)
tenon_check_in_nanobind(nb_func.cpp
  "        mb->func = (nb_func *) self;"
  "        if (!mb)
            return nullptr;
        mb->func = (nb_func *) self;")
tenon_check_in_nanobind(nb_type.cpp
  "    char *name = strdup_check(PyUnicode_AsUTF8AndSize(name_o, nullptr));
    Py_DECREF(name_o);

    // Assemble"
  "    const char *name_utf8 = name_o ? PyUnicode_AsUTF8AndSize(name_o, nullptr) : nullptr;
    char *name = name_utf8 ? strdup_check(name_utf8) : nullptr;
    Py_XDECREF(name_o);
    if (!name && !PyErr_Occurred())
        PyErr_NoMemory();
    if (!name)
        return -1;

    // Assemble")
set(NB_DIR "${PROJECT_BINARY_DIR}/nanobind")
