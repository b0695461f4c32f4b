// base: the macro that marks symbols the shared library exports.
#pragma once
#ifndef _WIN32
#define TENON_API __attribute__((visibility("default")))
#elif defined(TENON_STATIC)  // for programs that use the static library
#define TENON_API
#elif defined(TENON_BUILDING)  // for the library itself
#define TENON_API __declspec(dllexport)
#else
#define TENON_API __declspec(dllimport)
#endif
