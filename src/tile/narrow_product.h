// tile: products of 16-bit floats of which an operand or the result would be large in float32. Takes matrices; widens
// some rows at a time to a tile that stays in a cache, multiplies those, and rounds each result once.
#pragma once
#include "tile/product.h"

namespace tenon {

/// Whether multiply_by_tiles computes a product, whose `out` has the dtype of the operands.
bool multiplies_by_tiles(const Product& product);
/// out = a b, in a few MB of scratch memory, whatever the sizes. The bits are the same for any number of threads.
void multiply_by_tiles(const Product& product);

}  // namespace tenon
