// extension: the parts of libtenon_extension. Nothing here knows tensors.
#pragma once
#include "extension/extension.h"

namespace tenon {

extern const Decompositions kRealDecompositions, kComplexDecompositions;
extern const Transforms kFloatTransforms, kDoubleTransforms;

}  // namespace tenon
