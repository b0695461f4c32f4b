#include "extension/library/decompose.h"

const tenon::Decompositions tenon::kComplexDecompositions = Decompose<std::complex<double>>::all();
