// base: the one macro that decides which symbols leave the shared library.
#pragma once
#define TENON_API __attribute__((visibility("default")))
