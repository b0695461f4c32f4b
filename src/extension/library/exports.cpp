#include "extension/library/library.h"
#include "tenon/export.h"

/// The one symbol of the library.
extern "C" TENON_API const tenon::Extension* tenon_extension() {
  using namespace tenon;
  static const Extension all = {
      Extension::kVersion, {kRealDecompositions, kComplexDecompositions}, {kFloatTransforms, kDoubleTransforms}};
  return &all;
}
