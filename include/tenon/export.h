// base: the macro that marks symbols the shared library exports.
#pragma once
#define TENON_API __attribute__((visibility("default")))
