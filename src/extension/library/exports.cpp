#include "extension/library/library.h"

/// The one symbol of the library.
extern "C" __attribute__((visibility("default"))) const tenon::Extension* tenon_extension() {
  using namespace tenon;
  static const Extension all = {
      Extension::kVersion, {kRealDecompositions, kComplexDecompositions}, {kFloatTransforms, kDoubleTransforms}};
  return &all;
}
