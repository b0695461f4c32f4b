#include "extension/library/decompose.h"

const tenon::Decompositions tenon::kRealDecompositions = Decompose<double>::all();
