#define TENON_SPECIAL plain
#include "kernel/special-inl.h"
